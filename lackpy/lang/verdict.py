"""Records the language hands out: a violation, and the verdict over one program."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lackpy.lang.write import write

if TYPE_CHECKING:
    from lackpy.lang.signature import Grade


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason a program is refused.

    Attributes:
        rule: Stable kebab-case rule id, e.g. `unknown-name`.
        line: 1-based line in the program as given.
        column: 1-based column in characters.
        message: One clause: what is wrong, naming the offending text.
        hint: What to write instead; deterministic, never empty.
        text: The offending source text (cut at 80 characters).
    """

    rule: str
    line: int
    column: int
    message: str
    hint: str
    text: str = ""

    def __str__(self) -> str:
        return f"L{self.line}:{self.column} {self.rule}: {self.message}; {self.hint}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What validation says of one program.

    Attributes:
        ok: No violation was found.
        violations: In source order.
        grade: Join over the tools it calls (`Grade(0, 0)` when it calls none).
        calls: Names of the tools it calls, in source order, each once.
        source: The text as given.
        tree: The lowered tree that executors run; `None` unless `ok`.
    """

    ok: bool
    violations: tuple[Violation, ...]
    grade: Grade
    calls: tuple[str, ...]
    source: str
    tree: ast.Module | None = field(default=None, repr=False, compare=False)
    _text: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def program(self) -> str:
        """Source after lowering; the text as given when it isn't `ok`.

        Written from the tree on first use, so that a check alone doesn't pay for it and no executor
        ever parses a text whose tree wasn't checked.
        """
        if self.tree is None:
            return self.source
        if not self._text:
            self._text.append(write(self.tree))
        return self._text[0]

    def noting(self, text: str) -> Verdict:
        """Note the text of `tree` for one who has it already; return this verdict."""
        self._text[:] = [text]
        return self
