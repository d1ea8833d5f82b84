"""Values that a small model copied from a shown example although the request doesn't state them.

An example says "calls of hash_key outside lib/cache.py"; a model asked for the calls of `term_len` keeps the condition
on `lib/cache.py`. A text that is a value of a shown example's wording, stands in the program and has no word in common
with the intent was copied, and so was a kind of definition that the intent doesn't ask for. Where it is only a
condition, the condition goes; elsewhere the program is refused. Pure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from lackpy.infer.retrieve import Picked
from lackpy.lang.verdict import Violation

_WORD = re.compile(r"[A-Za-z]{3,}|\d{2,}")
_EDGE = "*/^$ "
_KINDS = {
    "class": (
        "class",
        "exception",
        "error",
        "type",
        "inherit",
        "base",
        "derive",
        "model",
        "hierarch",
        "mixin",
    ),
    "function": ("func", "def ", "defs", "callable", "helper", "test", "fixture", "decorator", "hook"),
    "method": ("method", "member", "propert", "dunder", "constructor"),
}
"""Kind of definition → words of an intent that ask for it."""
_NOBODYS = frozenset((*_KINDS, "__init__", "__main__"))
"""Texts that are nobody's own value."""


def copied_values(program: ast.Module, intent: str, shown: Iterable[Picked]) -> frozenset[str]:
    """Return the texts of a program that come from an example's wording and not from the intent."""
    shown = tuple(shown)
    said = {v for picked in shown for v in _values(picked)}
    kinds = {k for picked in shown for k in _kinds(ast.parse(picked.example.program))}
    told = {w.lower() for w in _WORD.findall(intent)}
    copied = {t for t in _texts(program) & said if not any(_told(w.lower(), told) for w in _WORD.findall(t))}
    low = intent.lower()
    copied |= {k for k in _kinds(program) & kinds if not any(word in low for word in _KINDS[k])}
    return frozenset(copied)


def without_copies(program: str, intent: str, shown: Iterable[Picked]) -> tuple[str, bool]:
    """Return the program without conditions on copied values, and whether one was dropped.

    Args:
        program: A program; one that doesn't parse is returned as it is.
        intent: The caller's words.
        shown: The examples of the prompt.
    """
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return program, False
    copied = copied_values(tree, intent, shown)
    if not copied:
        return program, False
    fix = _Conditions(copied)
    tree = ast.fix_missing_locations(fix.visit(tree))
    return (ast.unparse(tree), True) if fix.changed else (program, False)


def problems(program: str, intent: str, shown: Iterable[Picked]) -> tuple[Violation, ...]:
    """Return one violation for each copied value that is left in a program that parses."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    copied = copied_values(tree, intent, shown)
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value in copied]
    return tuple(
        Violation(
            "copied-value",
            node.lineno,
            node.col_offset + 1,
            f"{node.value!r} isn't in the request",
            "use the request's own names, files and folders, or leave it out",
            repr(node.value)[:80],
        )
        for node in nodes
    )


class _Conditions(ast.NodeTransformer):
    """Takes out the conditions that test a copied value."""

    def __init__(self, copied: frozenset[str]) -> None:
        self.copied = copied
        self.changed = False

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        kept = [left for test in node.ifs if (left := self._left(test)) is not None]
        node.ifs = kept
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if node.orelse:
            return node
        left = self._left(node.test)
        if left is None:
            return node.body
        node.test = left
        return node

    def _left(self, test: ast.expr) -> ast.expr | None:
        """Return what is left of a condition, `None` for nothing."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            kept = [left for part in test.values if (left := self._left(part)) is not None]
            if len(kept) < 2:
                return kept[0] if kept else None
            test.values = kept
            return test
        if not self.copied.intersection({*_texts(test), *_kinds(test)}):
            return test
        self.changed = True
        return None


def _values(picked: Picked) -> set[str]:
    """Return the texts of an example's program that its wording states."""
    found = set()
    for text in _texts(ast.parse(picked.example.program)):
        core = text.strip(_EDGE)
        if len(core) > 1 and core[0] != "." and core in picked.phrasing and _WORD.search(core):
            found.add(text)
    return found


def _kinds(tree: ast.AST) -> set[str]:
    """Return the kinds of definition that a tree asks for by `row["type"] == kind`."""
    return {
        right.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq)
        for right in node.comparators
        if isinstance(right, ast.Constant) and right.value in _KINDS
    }


def _texts(tree: ast.AST) -> set[str]:
    """Return the texts of a tree that may be values: row keys and kinds of definitions are the language's own."""
    keys = {id(n.slice) for n in ast.walk(tree) if isinstance(n, ast.Subscript)}
    return {
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant)
        and isinstance(n.value, str)
        and id(n) not in keys
        and n.value not in _NOBODYS
    }


def _told(word: str, told: set[str]) -> bool:
    """Tell whether the intent says a word, give or take an ending (`tests` for `testing`)."""
    return any(word == other or (len(word) > 3 and word[:4] == other[:4]) for other in told)
