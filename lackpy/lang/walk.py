"""The state of one walk over one program, and how it reports.

The walk visits nodes in the order the program would evaluate them. What to do at a node is in two
tables, `EXPRESSIONS` and `STATEMENTS`, which `walk_expr`, `walk_call` and `walk_stmt` fill: a node
type in neither is refused.
"""

from __future__ import annotations

import ast
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from lackpy.lang import grammar, lower, violations
from lackpy.lang.parse import source_lines
from lackpy.lang.violations import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lackpy.lang.fresh import Fresh
    from lackpy.lang.signature import Signature
    from lackpy.lang.verdict import Violation

_NO_NAMES: frozenset[str] = frozenset()


class Walk:
    """State of one walk over one program."""

    __slots__ = (
        "_lines",
        "bound",
        "calls",
        "escaped",
        "found",
        "free",
        "local",
        "loop",
        "loops",
        "missing",
        "mutated",
        "names",
        "not_sets",
        "pending",
        "prints",
        "replaced",
        "scopes",
        "sets",
        "shared",
        "snapshots",
        "source",
        "strict",
        "structural",
        "tool_calls",
        "tools",
        "unscoped",
    )

    def __init__(
        self,
        source: str,
        tools: Mapping[str, Signature],
        params: Iterable[str],
        names: Fresh,
        *,
        strict: bool = False,
        free: bool = False,
    ) -> None:
        self.source = source
        self.tools = tools
        self.names = names
        self.strict = strict
        self.free = free
        self.found: list[Violation] = []
        self.bound: set[str] = set(params)
        self.local: frozenset[str] = _NO_NAMES
        self.calls: dict[str, list[tuple[int, int]]] = {}
        self.tool_calls = 0
        self.loops: list[tuple[int, int]] = []
        self.prints: list[tuple[int, int]] = []
        self.loop = 0
        self.scopes = 0
        self.pending: list[ast.Name] = []
        self.missing: list[ast.Name] = []
        self.replaced: dict[int, ast.AST] = {}
        self.structural = False
        # What decides whether a loop needs a snapshot: names that may share an object with another
        # name, and the root names of what a body changes (`None` where there is no such name).
        self.shared: set[str] = set(self.bound)
        self.escaped: set[str] = set()
        self.mutated: list[str | None] = []
        self.sets: set[str] = set()
        self.not_sets: set[str] = set()
        self.snapshots: list[tuple[ast.For | ast.comprehension, list[str | None]]] = []
        self._lines: list[str] | None = None

    # -- the whole program --

    def run(self, tree: ast.Module) -> None:
        """Walk `tree`; what it finds is in `found`, `calls`, `replaced`, `structural`."""
        if len(self.source) > grammar.MAX_NODES and self._too_many_nodes(tree):
            self.found.append(violations.too_many_nodes(Place(), grammar.MAX_NODES))
            return
        walk_block(self, tree.body, 0)
        if self.missing:
            self._resolve()
        if self.snapshots and not self.strict and not self.found:
            self._take_snapshots()

    def lower(self, tree: ast.Module) -> bool:
        """Put in place what the walk decided to rewrite; tell whether the tree must be walked again."""
        rewritten = lower.output(tree.body, self.names)
        if self.replaced:
            lower.replace(tree, self.replaced)
        if self.structural:
            lower.structure(tree, self.names)
        return rewritten or bool(self.replaced) or self.structural

    def _too_many_nodes(self, tree: ast.Module) -> bool:
        count = 0
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                count += 1
                if count > grammar.MAX_NODES:
                    return True
        return False

    def _take_snapshots(self) -> None:
        changed = self.shared | self.escaped
        for node, roots in self.snapshots:
            if any(root is None or root in changed for root in roots):
                lower.snapshot(node)

    # -- places --

    def place(self, node: ast.AST, text: str | None = None) -> Place:
        """Return where `node` is, in characters; the text is the node's own unless given."""
        line = getattr(node, "lineno", 1)
        offset = getattr(node, "col_offset", 0)
        return self.place_at((line, offset), self._text(node) if text is None else text)

    def place_at(self, at: tuple[int, int], text: str) -> Place:
        """Return the place of a (line, byte offset) pair."""
        line, offset = at
        lines = self.lines()
        row = lines[line - 1] if line <= len(lines) else ""
        column = len(row.encode("utf-8", "replace")[:offset].decode("utf-8", "replace")) + 1
        return Place(line, column, text[:80])

    def lines(self) -> list[str]:
        """Return the source by line."""
        if self._lines is None:
            self._lines = source_lines(self.source.removeprefix("\ufeff"))
        return self._lines

    def _text(self, node: ast.AST) -> str:
        line = getattr(node, "lineno", 0)
        lines = self.lines()
        if not 1 <= line <= len(lines):
            return ""
        row = lines[line - 1].encode("utf-8", "replace")
        end = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", line) == line else len(row)
        return row[getattr(node, "col_offset", 0) : end].decode("utf-8", "replace").strip()

    # -- refusals --

    def refuse(self, node: ast.AST, kind: str | None = None, *, at: ast.AST | None = None) -> None:
        """Report a node type outside the whitelist."""
        kind = kind or type(node).__name__
        refusal = grammar.REFUSED_NODES.get(kind)
        place = self.place(at or node)
        if refusal is None:
            self.found.append(
                violations.forbidden_syntax(place, f"'{kind}'", "write it with the constructs of the spec")
            )
        else:
            self.found.append(violations.forbidden_syntax(place, refusal.what, refusal.hint))

    def no_such_name(self, node: ast.Name) -> None:
        """Report a name that nothing binds, or that can't be a value."""
        identifier = node.id
        place = self.place(node, identifier)
        if identifier in self.tools:
            self.found.append(violations.tool_as_value(place, identifier))
        elif identifier in grammar.BUILTINS:
            self.found.append(violations.builtin_as_value(place, identifier))
        elif self.free:
            return
        elif self.loop:
            self.pending.append(node)
        else:
            self.missing.append(node)

    def _resolve(self) -> None:
        """Report the names that had no value where they were read."""
        for node in self.missing:
            identifier = node.id
            place = self.place(node, identifier)
            if identifier in self.bound:
                self.found.append(violations.used_before(place, identifier))
            else:
                self.found.append(violations.unknown_name(place, identifier, self._near(identifier)))

    def _near(self, identifier: str) -> str:
        reserved = grammar.REFUSED_NAMES.get(identifier)
        if reserved is not None:
            return reserved
        known = [*self.tools, *sorted(self.bound), *grammar.BUILTINS]
        close = get_close_matches(identifier, known, n=1, cutoff=0.7)
        if close:
            return f"did you mean '{close[0]}'?"
        if self.tools:
            shown = ", ".join(sorted(self.tools)[:12])
            return f"assign it first, or use a tool: {shown}"
        return "assign it first"

    def bind(self, node: ast.Name) -> None:
        """Bind a target name, or report why it can't be one."""
        identifier = node.id
        if identifier in self.tools:
            self.found.append(violations.rebound(self.place(node, identifier), identifier, "tool"))
        elif identifier in grammar.BUILTINS:
            self.found.append(violations.rebound(self.place(node, identifier), identifier, "builtin"))
        elif identifier.startswith("__") or identifier in grammar.RESERVED_NAMES:
            self.found.append(violations.reserved_name(self.place(node, identifier), identifier))
        else:
            self.bound.add(identifier)

    def local_name(self, identifier: str, node: ast.AST) -> None:
        """Check a name that a comprehension or a lambda binds for itself."""
        if identifier in self.tools:
            self.found.append(violations.rebound(self.place(node, identifier), identifier, "tool"))
        elif identifier in grammar.BUILTINS:
            self.found.append(violations.rebound(self.place(node, identifier), identifier, "builtin"))
        elif identifier.startswith("__") or identifier in grammar.RESERVED_NAMES:
            self.found.append(violations.reserved_name(self.place(node, identifier), identifier))


EXPRESSIONS: dict[type, Callable[[Walk, Any, int], None]] = {}
STATEMENTS: dict[type, Callable[[Walk, Any, int], None]] = {}


def walk_expression(w: Walk, n: ast.expr, d: int) -> None:
    """Walk one expression, `d` levels deep."""
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    handler = EXPRESSIONS.get(type(n))
    if handler is None:
        w.refuse(n)
    else:
        handler(w, n, d + 1)


def walk_block(w: Walk, body: list[ast.stmt], d: int) -> None:
    """Walk the statements of a block, `d` levels deep."""
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    d += 1
    for statement in body:
        handler = STATEMENTS.get(type(statement))
        if handler is None:
            w.refuse(statement)
        else:
            handler(w, statement, d)
