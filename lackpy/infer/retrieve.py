"""Which example programs a prompt shows: those whose wording is closest to the intent, at most six.

Examples come from the shipped bank (`data/examples/*.txt`), from live templates and from past successes;
`lackpy.infer.rank` orders them. Only examples whose program is valid with the request's tools are eligible. Reads
shipped files only.
"""

from __future__ import annotations

import ast
import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lackpy import resources
from lackpy.infer.rank import Index
from lackpy.lang import Signature, check

MAX_EXAMPLES = 6
MAX_EXTRA = 2_000
"""Most examples taken from one extra source; the newest are kept."""
LEAST_SHARE = 0.75
"""An example whose closeness is below this share of the best one's isn't shown: it would only mislead."""
SEPARATOR = "\n---\n"


@dataclass(frozen=True, slots=True)
class Example:
    """One intent with a program that answers it.

    Attributes:
        id: Stable id kept in traces, e.g. `find:3f2a9c`, `template:find-callers`.
        phrasings: Ways to say it, at least one.
        program: Valid program.
    """

    id: str
    phrasings: tuple[str, ...]
    program: str


@dataclass(frozen=True, slots=True)
class Picked:
    """An example chosen for one intent, with the phrasing to show and its closeness (higher is closer)."""

    example: Example
    phrasing: str
    score: float


Source = Callable[[], Iterable[Example]]
"""Yields examples newest first; asked again on every request, so a source should cache."""


def parse_examples(topic: str, text: str) -> tuple[Example, ...]:
    """Read a bank file: blocks between `---` lines, each `# phrasing` lines then a program.

    Raises:
        ValueError: A block has no phrasing or no program.
    """
    found = []
    for block in text.strip("\n").split(SEPARATOR):
        lines = block.strip("\n").split("\n")
        phrasings = []
        while lines and lines[0].startswith("# "):
            phrasings.append(lines.pop(0)[2:].strip())
        program = "\n".join(lines).strip("\n")
        if not phrasings or not program:
            raise ValueError(
                f"examples '{topic}': a block needs '# phrasing' lines and a program (got {block[:60]!r})"
            )
        digest = hashlib.sha256(program.encode()).hexdigest()[:6]
        found.append(Example(f"{topic}:{digest}", tuple(phrasings), program))
    return tuple(found)


@cache
def bank() -> tuple[Example, ...]:
    """Return the shipped examples, in file order."""
    paths = sorted(resources.folder("data").joinpath("examples").glob("*.txt"))
    return tuple(e for path in paths for e in parse_examples(path.stem, path.read_text(encoding="utf-8")))


@cache
def variable_names() -> frozenset[str]:
    """Return the names that the shipped examples give their variables."""
    nodes = (n for e in bank() for n in ast.walk(ast.parse(e.program)) if isinstance(n, ast.Name))
    return frozenset(n.id for n in nodes if isinstance(n.ctx, ast.Store))


class Retriever:
    """Ranks examples for intents; keeps one index per set of examples. Thread-safe.

    Args:
        examples: The fixed part; `None` uses the shipped bank.
        sources: Further examples, asked on every request.
    """

    def __init__(self, examples: Sequence[Example] | None = None, sources: Sequence[Source] = ()) -> None:
        """Keep the parts; the index is built on the first request."""
        self._fixed = examples
        self._sources = tuple(sources)
        self._indexes: dict[Any, _Eligible] = {}
        self._lock = threading.Lock()

    def pick(
        self,
        intent: str,
        signatures: Mapping[str, Signature],
        limit: int = MAX_EXAMPLES,
        budget_chars: int | None = None,
        least: float = LEAST_SHARE,
    ) -> tuple[Picked, ...]:
        """Return the closest examples, closest last (next to the intent in the prompt).

        Args:
            intent: The caller's words.
            signatures: Tools an example may call.
            limit: Most examples.
            budget_chars: Characters that phrasings and programs may take together; the closest is always kept.
            least: Share of the best one's closeness that an example must have.
        """
        if limit <= 0:
            return ()
        with self._lock:
            index = self._index(signatures)
        chosen: list[Picked] = []
        left = budget_chars
        for picked in index.closest(intent, limit, least):
            size = len(picked.phrasing) + len(picked.example.program)
            if left is not None and chosen and size > left:
                continue
            if left is not None:
                left -= size
            chosen.append(picked)
        return tuple(reversed(chosen))

    def _index(self, signatures: Mapping[str, Signature]) -> _Eligible:
        fixed = bank() if self._fixed is None else tuple(self._fixed)
        extra: list[Example] = []
        for source in self._sources:
            for n, example in enumerate(source()):
                if n >= MAX_EXTRA:
                    break
                extra.append(example)
        key = (tuple(sorted((s.name, s.text()) for s in signatures.values())), tuple(e.id for e in extra))
        index = self._indexes.get(key)
        if index is None:
            if len(self._indexes) > 8:
                self._indexes.clear()
            self._indexes[key] = index = _Eligible((*extra, *fixed), signatures)
        return index


class _Eligible:
    """The examples that validate with some tools, one per program (the first wins), and their index."""

    def __init__(self, examples: Iterable[Example], signatures: Mapping[str, Signature]) -> None:
        unique = {e.program: e for e in reversed(list(examples)) if check(e.program, signatures).ok}
        self.examples = tuple(reversed(unique.values()))
        self.index = Index([e.phrasings for e in self.examples], [e.program for e in self.examples])

    def closest(self, intent: str, limit: int, share: float) -> list[Picked]:
        """Return the closest examples, closest first, without those that would only mislead."""
        ranked = self.index.rank(intent, limit)
        least = max((s for _, _, s in ranked), default=0.0) * share
        return [
            Picked(self.examples[e], said, round(s, 3))
            for n, (e, said, s) in enumerate(ranked)
            if n == 0 or s >= least
        ]


def from_template(name: str, pattern: str, program: str, slots: Mapping[str, str]) -> Example:
    """Turn a live template into an example: the pattern read as one phrasing, slots shown as sample values.

    Args:
        name: Template name.
        pattern: Its pattern, alternatives and optional parts included.
        program: Its program with `{slot}` holes.
        slots: Slot name → slot type.
    """
    phrasing = _plain(pattern)
    for slot, kind in slots.items():
        value = _SAMPLES.get(kind.split("(")[0].strip(), "some_name")
        phrasing = phrasing.replace("{" + slot + "}", value)
        program = program.replace("{" + slot + "}", value)
    return Example(f"template:{name}", (phrasing,), program)


_SAMPLES = {
    "identifier": "some_name",
    "dotted": "pkg.some_name",
    "path": "lib/some_file.py",
    "dir": "lib",
    "glob": "**/*.py",
    "number": "3",
    "word": "word",
    "text": "some text",
    "quoted": "some text",
}


def _plain(pattern: str) -> str:
    """Read a pattern as one sentence: first alternative of a group, optional parts dropped."""
    out: list[str] = []
    stack: list[int] = []
    skipping = 0
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c == "(":
            stack.append(len(out))
        elif c == "|" and stack:
            skipping = skipping or len(stack)
        elif c == ")" and stack:
            if skipping == len(stack):
                skipping = 0
            start = stack.pop()
            if pattern[i + 1 : i + 2] == "?":
                del out[start:]
                i += 1
        elif c == "?" and out and not skipping:
            out.pop()
        elif not skipping:
            out.append(c)
        i += 1
    return " ".join("".join(out).replace("\\", "").split())
