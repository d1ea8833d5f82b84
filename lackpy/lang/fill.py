"""Slots: putting values into a program as data.

A program text with slots is parsed once, as it stands. A slot `{name}` is a hole only where it was
declared and only in three places: inside a plain string, inside the literal text of an f-string
(`f"{name}: {len(rows)}"` and `f"{{name}}…"` alike), or bare, as a whole number (`rows[:{n}]`). All
holes of a string are filled in one pass over the template's text, so a value is never looked at
again; it becomes part of one constant, and the shape of the tree stays what it was.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from lackpy.lang.parse import parse
from lackpy.lang.verdict import Violation
from lackpy.lang.write import write

if TYPE_CHECKING:
    from collections.abc import Mapping

NUMBER = "number"
"""The slot type whose holes may stand bare, as a whole number."""
_MAX_DIGITS = 18
_STEM = "LACKPY_HOLE"

Value: TypeAlias = str | int


class SlotError(ValueError):
    """A slot stands where none can, or a value doesn't fit its slot."""


@dataclass(frozen=True, slots=True)
class Form:
    """A program with holes, parsed once.

    Attributes:
        program: The text with its slots.
        slots: Slot types by name, as declared.
        used: Names of the slots the program has a hole for.
    """

    program: str
    slots: Mapping[str, str]
    used: frozenset[str] = field(default=frozenset())
    _tree: ast.Module = field(default_factory=lambda: ast.Module([], []), repr=False, compare=False)
    _holes: Mapping[int, _Hole] = field(default_factory=dict, repr=False, compare=False)
    _pieces: tuple[str, ...] | None = field(default=None, repr=False, compare=False)
    _order: tuple[_Hole, ...] = field(default=(), repr=False, compare=False)

    def tree(self, values: Mapping[str, Value]) -> ast.Module:
        """Return the filled tree; parts without a hole are shared with every other filling.

        Raises:
            SlotError: A value is missing or doesn't fit.
        """
        filled = _filled(self._tree, self._holes, self._checked(values))
        if not isinstance(filled, ast.Module):  # pragma: no cover - a module stays a module
            raise SlotError("the program cannot be filled")
        return filled

    def text(self, values: Mapping[str, Value]) -> str:
        """Return the source of the filled program, which parses to the same tree.

        Raises:
            SlotError: A value is missing, doesn't fit, or can't be written as source.
        """
        checked = self._checked(values)
        if self._pieces is not None:
            parts = [self._pieces[0]]
            for hole, piece in zip(self._order, self._pieces[1:], strict=True):
                parts += (repr(hole.value(checked)), piece)
            return "".join(parts)
        tree = self.tree(values)
        try:
            text = write(tree)
            same = ast.dump(ast.parse(text)) == ast.dump(tree)
        except (ValueError, SyntaxError) as exc:
            raise SlotError(
                "a value holds quotes that its f-string cannot carry; use a plain string"
            ) from exc
        if not same:
            raise SlotError("a value holds characters that its f-string cannot carry; use a plain string")
        return text

    def _checked(self, values: Mapping[str, Value]) -> dict[str, Value]:
        checked: dict[str, Value] = {}
        for name in self.used:
            if name not in values:
                raise SlotError(f"slot '{name}' has no value")
            checked[name] = _fit(name, self.slots[name], values[name])
        return checked


@dataclass(frozen=True, slots=True)
class _Hole:
    """The template's text of one constant, cut at its slots: odd parts are slot names; or one bare number."""

    parts: tuple[str, ...]
    bare: bool = False

    def value(self, values: Mapping[str, Value]) -> Value:
        """Return what the constant holds once filled."""
        if self.bare:
            return int(values[self.parts[1]])
        return "".join(str(values[part]) if i % 2 else part for i, part in enumerate(self.parts))


def _fit(name: str, kind: str, value: Value) -> Value:
    if kind == NUMBER:
        text = str(value)
        if isinstance(value, bool) or not (text.isascii() and text.isdecimal()) or len(text) > _MAX_DIGITS:
            raise SlotError(f"slot '{name}' takes a whole number (got {text[:40]!r})")
        return text if isinstance(value, str) else value
    if not isinstance(value, str):
        return str(value)
    return value


def form(program: str, slots: Mapping[str, str]) -> Form:
    """Parse a program with slots.

    Args:
        program: Source with `{slot}` holes.
        slots: Slot types by name; only `number` means something here.

    Raises:
        SlotError: The program doesn't parse, or a slot stands in code.
    """
    return _form(program, tuple(slots.items()))


@lru_cache(maxsize=4096)
def _form(program: str, declared: tuple[tuple[str, str], ...]) -> Form:
    slots = dict(declared)
    tree = parse(program)
    if isinstance(tree, Violation):
        raise SlotError(f"the program does not parse: {tree}")
    if not slots:
        return Form(program, slots, _tree=tree)
    finder = _Finder(tree, slots)
    finder.visit(tree)
    pieces, order = _cut(tree, finder)
    return Form(program, slots, frozenset(finder.used), tree, finder.holes, pieces, order)


class _Finder(ast.NodeTransformer):
    """Finds holes; rewrites a declared slot that an f-string reads into literal text of the f-string."""

    def __init__(self, tree: ast.Module, slots: Mapping[str, str]) -> None:
        self.slots = slots
        self.cut = re.compile(r"\{(" + "|".join(re.escape(name) for name in slots) + r")\}")
        self.bound = {
            n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        } | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        self.holes: dict[int, _Hole] = {}
        self.used: set[str] = set()
        self.in_text = False
        self.inside: set[int] = set()
        self.depth = 0

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str) and "{" in node.value:
            parts = tuple(self.cut.split(node.value))
            if len(parts) > 1:
                self._hole(node, _Hole(parts))
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        name = self._bare(node)
        if name is None:
            return self.generic_visit(node)
        if self.slots[name] != NUMBER:
            raise SlotError(
                f"L{node.lineno}: slot '{name}' stands in code; only a number may, put it into quotes"
            )
        constant = ast.copy_location(ast.Constant(0), node)
        self._hole(constant, _Hole(("", name, ""), bare=True))
        return constant

    def _bare(self, node: ast.Set) -> str | None:
        only = node.elts[0] if len(node.elts) == 1 else None
        if isinstance(only, ast.Name) and only.id in self.slots and only.id not in self.bound:
            return only.id
        return None

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.depth += 1
        node.values = self._merged(node)
        for part in node.values:
            if not isinstance(part, ast.Constant):
                self.visit(part)
        self.depth -= 1
        return node

    def _merged(self, node: ast.JoinedStr) -> list[ast.expr]:
        """Return the parts of an f-string with slots it reads turned into text, neighbours joined."""
        merged: list[tuple[list[str], ast.expr] | ast.expr] = []
        for part in node.values:
            pieces = self._text_of(part)
            if pieces is None:
                merged.append(part)
            elif merged and isinstance(merged[-1], tuple):
                last = merged[-1][0]
                last[-1] += pieces[0]
                last.extend(pieces[1:])
            else:
                merged.append((pieces, part))
        parts: list[ast.expr] = []
        for entry in merged:
            if not isinstance(entry, tuple):
                parts.append(entry)
                continue
            pieces, at = entry
            constant = ast.copy_location(ast.Constant("".join(pieces)), at)
            if len(pieces) > 1:
                self._hole(constant, _Hole(tuple(pieces)))
            parts.append(constant)
        return parts

    def _text_of(self, part: ast.expr) -> list[str] | None:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            return self.cut.split(part.value)
        if not isinstance(part, ast.FormattedValue) or not isinstance(part.value, ast.Name):
            return None
        name = part.value.id
        if name not in self.slots or name in self.bound:
            return None
        if part.conversion != -1 or part.format_spec is not None:
            raise SlotError(f"L{part.lineno}: slot '{name}' takes no conversion or format in an f-string")
        return ["", name, ""]

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.visit(node.value)
        for part in ast.walk(node.format_spec) if node.format_spec is not None else ():
            is_slot = isinstance(part, ast.Name) and part.id in self.slots and part.id not in self.bound
            if is_slot or (isinstance(part, ast.Constant) and self.cut.search(str(part.value))):
                raise SlotError(
                    f"L{node.lineno}: a slot stands in a format specification; put it into quotes"
                )
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if self.depth and node.id in self.slots and node.id not in self.bound:
            raise SlotError(f"L{node.lineno}: slot '{node.id}' stands in code; put it into quotes")
        return node

    def _hole(self, node: ast.Constant, hole: _Hole) -> None:
        self.holes[id(node)] = hole
        self.used.update(hole.parts[1::2])
        if self.depth:
            self.inside.add(id(node))


def _cut(tree: ast.Module, finder: _Finder) -> tuple[tuple[str, ...] | None, tuple[_Hole, ...]]:
    """Return the source around the holes, in order, where every hole is a plain constant."""
    first = tree.body[0] if tree.body else None
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if finder.inside or is_docstring or not finder.holes:
        return None, ()
    stem = _STEM
    while stem in _all_text(tree):
        stem += "_"
    order = list(finder.holes.items())
    marked = _marked(tree, {node: f"{stem}{i}." for i, (node, _) in enumerate(order)})
    pieces = re.split(rf"'{stem}(\d+)\.'", ast.unparse(marked))
    return tuple(pieces[::2]), tuple(order[int(i)][1] for i in pieces[1::2])


def _all_text(tree: ast.Module) -> str:
    """Return all text constants and names of a tree, to find a marker none of them holds."""
    return "\n".join(
        str(n.value) if isinstance(n, ast.Constant) else n.id
        for n in ast.walk(tree)
        if isinstance(n, (ast.Constant, ast.Name))
    )


def _marked(tree: ast.AST, marks: Mapping[int, str]) -> ast.AST:
    return _copied(tree, {node: ast.Constant(mark) for node, mark in marks.items()})


def _filled(tree: ast.AST, holes: Mapping[int, _Hole], values: Mapping[str, Value]) -> ast.AST:
    return _copied(tree, {node: ast.Constant(hole.value(values)) for node, hole in holes.items()})


def _copied(node: ast.AST, new: Mapping[int, ast.Constant]) -> ast.AST:
    """Return `node` with some constants replaced; only the nodes above these are copied."""
    constant = new.get(id(node))
    if constant is not None:
        return ast.copy_location(constant, node)
    changed: dict[str, object] = {}
    for name, old in ast.iter_fields(node):
        if isinstance(old, ast.AST):
            fresh: object = _copied(old, new)
        elif isinstance(old, list):
            items = [_copied(entry, new) if isinstance(entry, ast.AST) else entry for entry in old]
            fresh = items if any(a is not b for a, b in zip(items, old, strict=True)) else old
        else:
            continue
        if fresh is not old:
            changed[name] = fresh
    if not changed:
        return node
    fields = {name: changed.get(name, old) for name, old in ast.iter_fields(node)}
    return ast.copy_location(type(node)(**fields), node)


def fill(program: str, slots: Mapping[str, str], values: Mapping[str, Value]) -> str:
    r"""Return the source of `program` with its slots filled.

    >>> fill('find_callers("{name}")', {"name": "identifier"}, {"name": 'a") or write("'})
    'find_callers(\'a") or write("\')'

    Args:
        program: Source with `{slot}` holes.
        slots: Slot types by name.
        values: A value for every slot the program has a hole for.

    Raises:
        SlotError: A slot stands in code, or a value is missing or doesn't fit.
    """
    return form(program, slots).text(values)
