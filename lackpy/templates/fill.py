"""From a template and captured values to a checked program, without the values ever being code.

Where a hole may be is `lackpy.lang.fill`'s decision. A template's program is checked once with stand-ins in its
holes; the lowered tree that results remembers where each stand-in went. Filling copies the path from the root to
those constants and nothing else, so a value is always (part of) one constant and the tree's shape, calls and grade
are those that were checked. Touches no file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from lackpy.lang import Grade, Signature, SlotError, Verdict, Violation, check, form
from lackpy.templates.format import Template, TemplateError

Value = str | int
MAX_NUMBER = 999_999_999
MAX_VALUE_CHARS = 100_000
_HOLE = re.compile(r"\{([^\W\d]\w*)\}")
_NUMERIC = frozenset(("number",))
# Types whose values mean the same as a regex: no special characters, or only the dots of a dotted name.
_REGEX_SAFE = frozenset(("identifier", "dotted", "module", "number", "language"))
_REGEX_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")
_REGEX_TOOL, _REGEX_PARAM = "grep", "pattern"


def slot_names(text: str) -> list[str]:
    """Return the names written as `{name}`, in order, each once."""
    return list(dict.fromkeys(_HOLE.findall(text)))


def quote_regex(value: str) -> str:
    r"""Return a regex that matches `value` literally; text without special characters stays as it is.

    >>> quote_regex("type: ignore"), quote_regex("a.b(")
    ('type: ignore', 'a\\.b\\(')
    """
    return _REGEX_SPECIAL.sub(r"\\\1", value)


@dataclass(frozen=True, slots=True)
class _Hole:
    """One constant with slots in it: literal text and slots in turn, or one number slot.

    Attributes:
        parts: `(False, text)` or `(True, slot)` in order.
        alone: The slot whose value is the whole constant as it comes; `None` when something is done to it.
        quoted: Slots whose values are quoted for a regex.
    """

    parts: tuple[tuple[bool, str], ...]
    alone: str | None
    quoted: frozenset[str]

    def constant(self, values: Mapping[str, Value]) -> Value:
        """Return what the constant holds once filled."""
        if self.alone is not None:
            return values[self.alone]
        return "".join(
            [
                (quote_regex(str(values[part])) if part in self.quoted else str(values[part]))
                if is_slot
                else part
                for is_slot, part in self.parts
            ]
        )


# Where to go from a node: (field, index or None, what is there).
_Plan = tuple[tuple[str, int | None, Any], ...]


class Filler:
    """One template, checked against one set of signatures and ready to be filled.

    Attributes:
        grade: Grade of every program it yields.
        calls: Tools it calls, in source order.
    """

    __slots__ = ("_pieces", "_plan", "_slots", "_tree", "calls", "grade")

    def __init__(self, verdict: Verdict, slots: Mapping[str, str], marks: Mapping[str, Value]) -> None:
        """Find where the stand-ins `marks` of `slots` went in a checked tree."""
        tree = cast("ast.Module", verdict.tree)
        self.grade: Grade = verdict.grade
        self.calls: tuple[str, ...] = verdict.calls
        self._tree = tree
        self._slots = dict(slots)
        names = {str(mark): name for name, mark in marks.items()}
        self._plan = _plan(tree, _Marks(names, self._slots), regex=False)
        self._pieces: tuple[str | _Hole, ...] | None = self._text_pieces(marks)

    def __call__(self, values: Mapping[str, Value]) -> Verdict:
        """Return the checked program with `values` in its holes.

        Raises:
            TemplateError: A value is missing, of the wrong kind, or can't stand in a program.
        """
        given = {name: _checked(name, kind, values) for name, kind in self._slots.items()}
        tree = self._filled(given)
        if self._pieces is None:
            text = ast.unparse(tree)
        else:
            text = "".join([p if isinstance(p, str) else repr(p.constant(given)) for p in self._pieces])
        verdict = Verdict(ok=True, violations=(), grade=self.grade, calls=self.calls, source=text, tree=tree)
        return verdict.noting(text)

    def _filled(self, values: Mapping[str, Value]) -> ast.Module:
        return cast("ast.Module", self._copy(self._tree, self._plan, values))

    def _copy(self, node: ast.AST, plan: _Plan, values: Mapping[str, Value]) -> ast.AST:
        new = type(node).__new__(type(node))
        old, fresh = node.__dict__, new.__dict__
        fresh.update(old)
        for field, index, inner in plan:
            if inner.__class__ is _Hole:
                fresh[field] = inner.constant(values)
            elif index is None:
                fresh[field] = self._copy(old[field], inner, values)
            else:
                if fresh[field] is old[field]:
                    fresh[field] = list(old[field])
                fresh[field][index] = self._copy(old[field][index], inner, values)
        return new

    def _text_pieces(self, marks: Mapping[str, Value]) -> tuple[str | _Hole, ...] | None:
        """Return the program's text cut at its holes, or `None` where only writing the tree gives the text."""
        rest = ast.unparse(self._tree)
        pieces: list[str | _Hole] = []
        for hole in _holes(self._plan):
            before, found, rest = rest.partition(repr(hole.constant(marks)))
            if not found:
                return None
            pieces += [before, hole]
        pieces.append(rest)
        self._pieces = tuple(pieces)
        for probe in ("probe", "a'b\"c\n{}\\"):
            sample: dict[str, Value] = {n: 7 if k in _NUMERIC else probe for n, k in self._slots.items()}
            if "".join(
                [p if isinstance(p, str) else repr(p.constant(sample)) for p in pieces]
            ) != ast.unparse(self._filled(sample)):
                return None
        return self._pieces


def _checked(name: str, kind: str, values: Mapping[str, Value]) -> Value:
    value = values.get(name)
    if kind in _NUMERIC:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_NUMBER:
            raise TemplateError(
                f"slot '{name}' takes a whole number up to {MAX_NUMBER:,} (got {value!r:.80})"
            )
        return value
    if not isinstance(value, str) or len(value) > MAX_VALUE_CHARS:
        raise TemplateError(
            f"slot '{name}' takes text up to {MAX_VALUE_CHARS:,} characters (got {value!r:.80})"
        )
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise TemplateError(f"slot '{name}' holds half a character (a lone surrogate); send valid text")
    return value


@dataclass(frozen=True, slots=True)
class _Marks:
    """Stand-ins as text → slot name, and the slots' types."""

    names: Mapping[str, str]
    slots: Mapping[str, str]

    def hole(self, value: object, *, regex: bool) -> _Hole | None:
        """Return the hole that a constant is, or `None` when no stand-in is in it."""
        if isinstance(value, int) and not isinstance(value, bool) and str(value) in self.names:
            slot = self.names[str(value)]
            return _Hole(((True, slot),), slot, frozenset())
        if not isinstance(value, str) or not self.names:
            return None
        pieces = re.split("(" + "|".join(map(re.escape, self.names)) + ")", value)
        if len(pieces) == 1:
            return None
        parts = tuple((i % 2 == 1, self.names[p] if i % 2 else p) for i, p in enumerate(pieces) if p)
        used = {part for is_slot, part in parts if is_slot}
        quoted = frozenset(name for name in used if regex and self.slots[name] not in _REGEX_SAFE)
        plain = len(parts) == 1 and not quoted and self.slots[parts[0][1]] not in _NUMERIC
        return _Hole(parts, parts[0][1] if plain else None, quoted)


def _plan(node: ast.AST, marks: _Marks, *, regex: bool) -> _Plan:
    """Return the way to every constant that holds a mark."""
    steps: list[tuple[str, int | None, Any]] = []
    if isinstance(node, ast.Constant):
        hole = marks.hole(node.value, regex=regex)
        return (("value", None, hole),) if hole else ()
    for field, value in ast.iter_fields(node):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                inner = _plan(child, marks, regex=_is_regex(node, field, index, child, inherited=regex))
                if inner:
                    steps.append((field, index, inner))
    return tuple(steps)


def _is_regex(node: ast.AST, field: str, index: int | None, child: ast.AST, *, inherited: bool) -> bool:
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id == _REGEX_TOOL
        by_keyword = isinstance(child, ast.keyword) and child.arg == _REGEX_PARAM
        return named and ((field == "args" and index == 0) or by_keyword)
    return inherited


def _holes(plan: _Plan) -> Iterator[_Hole]:
    """Yield the holes in the order that the tree's text shows them, as far as field order tells."""
    for _, _, inner in plan:
        if isinstance(inner, _Hole):
            yield inner
        else:
            yield from _holes(inner)


def compile_template(template: Template, signatures: Mapping[str, Signature]) -> Filler:
    """Check a template's program against a kit's signatures and make it ready to be filled.

    Raises:
        TemplateError: It can't be served with these signatures; the sentence says why.
    """
    name = f"template '{template.name}'"
    wanted, declared = slot_names(template.pattern), list(template.slots)
    for slot in wanted:
        if slot not in template.slots:
            raise TemplateError(f"{name}: pattern slot '{{{slot}}}' has no type; add it to 'slots'")
    for slot in declared:
        if slot not in wanted:
            raise TemplateError(f"{name}: slot '{slot}' isn't in the pattern; remove it from 'slots'")
    marks = _marks(template)
    try:
        holes = form(template.program, template.slots)
        text = holes.text(marks)
    except SlotError as exc:
        raise TemplateError(f"{name}: {exc}") from exc
    verdict = check(text, signatures)
    if not verdict.ok:
        raise TemplateError(f"{name}: {explain(verdict, template, signatures)}")
    for slot in declared:
        if slot not in holes.used:
            raise TemplateError(
                f"{name}: the program doesn't use slot '{slot}'; an intent's value would be ignored"
            )
    return Filler(verdict, template.slots, marks)


def explain(verdict: Verdict, template: Template, signatures: Mapping[str, Signature]) -> str:
    """Return why a program is refused, by the lines of the file's program where it is refused as it stands."""
    as_written = check(template.program, signatures)
    found: tuple[Violation, ...] = verdict.violations if as_written.ok else as_written.violations
    return "; ".join(str(v) for v in found)


def _marks(template: Template) -> dict[str, Value]:
    """Return a stand-in for each slot that occurs nowhere in the program."""
    marks: dict[str, Value] = {}
    salt = 0
    while f"hole{salt}x" in template.program:
        salt += 1
    number = 7_001
    for index, (slot, kind) in enumerate(template.slots.items()):
        if kind in _NUMERIC:
            while str(number) in template.program:
                number += 1
            marks[slot] = number
            number += 1
        else:
            marks[slot] = f"hole{salt}x{index}x"
    return marks


def sample_values(template: Template) -> dict[str, Value]:
    """Return a value of the right kind for every slot, for a type check of the filled program."""
    return {name: 1 if kind in _NUMERIC else "x" for name, kind in template.slots.items()}


def instantiate(
    template: Template, values: Mapping[str, Value], signatures: Mapping[str, Signature]
) -> Verdict:
    """Check a template and fill it in one go; serving keeps the `Filler` instead.

    Raises:
        TemplateError: The template or a value can't be used.
    """
    return compile_template(template, signatures)(values)
