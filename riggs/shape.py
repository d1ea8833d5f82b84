"""A program's canonical shape with its literals taken out, so that equal shapes are worked out once.

Canonical form costs a parse and several passes; most traces repeat a shape with other literals. The source is cut at
its plain string literals, the rest is canonicalised with stand-ins, and the result is cached. Pure; touches no file.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from lackpy.lang import canonical

_MARK = "⁘"
_NUMBERS = 990_000_000
"""Stand-ins for numbers count up from here."""
_CUT = re.compile(
    r"""(?P<string>(?<![A-Za-z0-9_])(?:[rR]?"(?!"")(?:[^"\\\n]|\\.)*"|[rR]?'(?!'')(?:[^'\\\n]|\\.)*'))"""
    r"""|(?P<other>[A-Za-z]+["']|\"{3}|'{3}|\#)"""
    r"""|(?P<number>(?<![\w.])\d{1,8}(?![\w.]))"""
)
_PIECE = re.compile(rf"'{_MARK}(\d+){_MARK}'|{_MARK}n(\d+){_MARK}")
_KEY_METHODS = frozenset(("get", "setdefault", "pop"))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a literal stands.

    Attributes:
        literal: Index into the literals of the program, or -1 for a number.
        number: The number, when it is one.
        call: Name of the function or method it is an argument of, "" for none.
        arg: Position of that argument; -1 = keyword.
        key: It selects a field (`row["file"]`, a dictionary's key), so it is part of the shape.
        free: The call is to a free name (a tool) rather than to a method.
    """

    literal: int
    number: int = 0
    call: str = ""
    arg: int = -1
    key: bool = False
    free: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """Canonical text cut at its literals: `texts[0] places[0] texts[1] … texts[n]`."""

    texts: tuple[str, ...]
    places: tuple[Place, ...]

    def written(self, literals: tuple[str, ...]) -> str:
        """Return the canonical program with these literals."""
        out = [self.texts[0]]
        for place, after in zip(self.places, self.texts[1:], strict=True):
            out.append(str(place.number) if place.literal < 0 else repr(literals[place.literal]))
            out.append(after)
        return "".join(out)


def shape_of(program: str) -> tuple[Shape, tuple[str, ...]]:
    """Return a program's shape and its string literals; numbers stand in the shape's places.

    A literal is worth masking only if canonical form can't depend on it; one with braces or a percent sign can.
    """
    literals: list[str] = []
    numbers: list[int] = []
    parts: list[str] = []
    spans: list[int] = []
    at = 0
    for match in _CUT.finditer(program):
        if match["other"] is not None:
            return _shape(program), ()
        if match["number"] is not None:
            parts += (program[at : match.start()], str(_NUMBERS + len(numbers)))
            numbers.append(int(match["number"]))
            at = match.end()
            continue
        source = match["string"]
        value = _value(source)
        if value is None:
            return _shape(program), ()
        parts += (program[at : match.start()], f"'{_MARK}{len(literals)}{_MARK}'")
        spans.append(len(parts) - 1)
        literals.append(value)
        at = match.end()
    parts.append(program[at:])
    if any(_loaded(value) for value in literals):
        for i, value in zip(spans, literals, strict=True):
            if _loaded(value):
                parts[i] = repr(value)
    masked = "".join(parts)
    if numbers and "**" in masked:  # a power of small numbers is lowered by its value
        return _shape(program), ()
    shape = _shape(masked)
    if not shape.places and (literals or numbers):  # it doesn't parse
        return Shape((canonical(program),), ()), ()
    if numbers:
        shape = Shape(shape.texts, tuple([_numbered(p, numbers) for p in shape.places]))
    return shape, tuple(literals)


def _numbered(place: Place, numbers: list[int]) -> Place:
    if place.literal >= 0 or place.number < _NUMBERS:
        return place
    return Place(-1, numbers[place.number - _NUMBERS], place.call, place.arg, place.key, place.free)


def _loaded(value: str) -> bool:
    return any(c in value for c in "{}%") or _MARK in value


def _value(source: str) -> str | None:
    if "\\" not in source and source[0] in "'\"":
        return source[1:-1]
    try:
        value = ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str) else None


@lru_cache(maxsize=20_000)
def _shape(masked: str) -> Shape:
    text = canonical(masked)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Shape((text,), ())
    finder = _Finder()
    marked = ast.unparse(finder.visit(tree))
    texts: list[str] = []
    places: list[Place] = []
    at = 0
    for match in _PIECE.finditer(marked):
        texts.append(marked[at : match.start()])
        number = match[2]
        places.append(finder.numbers[int(number)] if number else finder.strings[int(match[1])])
        at = match.end()
    return Shape((*texts, marked[at:]), tuple(places))


class _Finder(ast.NodeTransformer):
    """Mark numbers and note where every literal stands."""

    def __init__(self) -> None:
        self.strings: dict[int, Place] = {}
        self.numbers: list[Place] = []
        self.context = Place(-1)

    def under(self, node: ast.expr, context: Place) -> ast.expr:
        outer, self.context = self.context, context
        visited = cast("ast.expr", self.visit(node))
        self.context = outer
        return visited

    def visit_Call(self, node: ast.Call) -> ast.AST:
        free = isinstance(node.func, ast.Name)
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        node.func = self.under(node.func, Place(-1))
        key = (not free and name in _KEY_METHODS) or name == "sort_by"
        node.args = [
            self.under(a, Place(-1, call=name, arg=i, key=key, free=free)) for i, a in enumerate(node.args)
        ]
        for keyword in node.keywords:
            keyword.value = self.under(keyword.value, Place(-1, call=name, key=key, free=free))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.under(node.value, Place(-1))
        node.slice = self.under(node.slice, Place(-1, key=isinstance(node.slice, ast.Constant)))
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        node.keys = [k if k is None else self.under(k, Place(-1, key=True)) for k in node.keys]
        node.values = [self.under(v, Place(-1)) for v in node.values]
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        c = self.context
        if isinstance(node.value, str):
            found = re.fullmatch(rf"{_MARK}(\d+){_MARK}", node.value)
            if found:
                index = int(found[1])
                self.strings[index] = Place(index, 0, c.call, c.arg, c.key, c.free)
        elif isinstance(node.value, int) and not isinstance(node.value, bool):
            self.numbers.append(Place(-1, node.value, c.call, c.arg, c.key, c.free))
            return ast.Name(id=f"{_MARK}n{len(self.numbers) - 1}{_MARK}", ctx=ast.Load())
        return node
