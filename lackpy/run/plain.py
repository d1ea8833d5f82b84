r"""The border: what may pass between a program and a tool, copied as plain data under a budget.

`copy_plain` consumes any object and returns fresh `None`, `bool`, `int`, `float`, `str`, `list`, `tuple`,
`dict`, `set` and `frozenset` objects of exactly these types; it never runs a method that the object's own
class defines. `json_safe` turns plain data into what strict JSON can hold. Neither touches files or clocks.

One rule a kind, at every border:

- a subclass instance becomes its base's value; an enum member its value; a named tuple or a dataclass a dict;
- a relative path becomes its text with forward slashes; an absolute one is refused, as it tells about the host;
- a UUID or decimal becomes its text, a date or time its ISO 8601 text;
- bytes become text, read as UTF-8 with each undecodable byte written as `\xNN`;
- a range or a view of a dict becomes a list; a lone surrogate in a text becomes U+FFFD;
- everything else (a generator, a module, any other object) is refused.
"""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import math
import pathlib
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lackpy.errors import LackpyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lackpy.run.record import Limits

MAX_DEPTH = 200
"""Deepest nesting that any limit can allow; the copy is recursive."""
BITS_PER_DIGIT = math.log2(10)


class PlainError(LackpyError):
    """A value is not plain data."""


class BudgetError(PlainError):
    """A value is larger than a budget of `Limits` allows."""


def copy_plain(value: Any, limits: Limits) -> Any:
    """Return a copy of `value` made of exact plain types that shares nothing with it.

    Args:
        value: Any object.
        limits: `nodes`, `depth`, `chars` and `digits` bound the copy; values reached twice count twice.

    Raises:
        BudgetError: The copy would be over a budget, or the value contains itself.
        PlainError: Some part is no plain data.
    """
    return _Copy(limits).copy(value, 0)


class _Copy:
    """One copy in progress: what is left of its budgets, and what it has met.

    A container met twice is copied once but counted twice, so that a value of shared parts is refused as
    soon as its parts are known, however large it is when walked.
    """

    __slots__ = ("bits", "chars", "depth", "kept", "limits", "nodes", "seen")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.nodes = limits.nodes
        self.chars = limits.chars
        self.depth = min(limits.depth, MAX_DEPTH)
        self.bits = int(limits.digits * BITS_PER_DIGIT) + 1
        self.seen: dict[int, tuple[Any, int, int]] = {}
        self.kept: list[Any] = []  # converted values stay alive, so that no id is used twice

    def copy(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is bool or kind is float:
            self.take(1, 0)
            return value
        if kind is int:
            self.take(1, 0)
            if value.bit_length() > self.bits:
                raise BudgetError(f"a whole number has more than {self.limits.digits:,} digits")
            return value
        if depth > self.depth:
            raise BudgetError(f"the value is nested deeper than {self.depth} levels")
        if kind in _FLAT:
            copied = self.flat(value, kind)
            if copied is not None:
                return copied
        seen = self.seen.get(id(value))
        if seen is not None:
            copied, nodes, chars = seen
            self.take(nodes, chars)
            return copied
        before = self.nodes, self.chars
        self.take(1, 0)
        copied = self.container(value, kind, depth + 1)
        self.seen[id(value)] = copied, before[0] - self.nodes, before[1] - self.chars
        return copied

    def flat(self, value: Any, kind: type) -> Any:
        """Copy a list, tuple or dict of scalars at once; `None` where one of them needs a closer look."""
        if kind is dict:
            if not _TEXT.issuperset(map(type, value)) or not all(map(str.isascii, value)):
                return None
            parts: Any = value.values()
        else:
            parts = value
        kinds = set(map(type, parts))
        if not kinds <= _SCALARS:
            return None
        texts = [part for part in parts if type(part) is str] if str in kinds else []
        if not all(map(str.isascii, texts)):
            return None
        if int in kinds and [part for part in parts if type(part) is int and part.bit_length() > self.bits]:
            return None
        if kind is dict:
            self.take(len(value), sum(map(len, value)))
        self.take(1 + len(parts), sum(map(len, texts)))
        return kind(value)

    def container(self, value: Any, kind: type, depth: int) -> Any:
        if kind is dict:
            return {self.key(k, depth): self.copy(v, depth) for k, v in value.items()}
        if kind in _SEQUENCES:
            return kind([self.copy(item, depth) for item in value])
        if kind in _SETS:
            return kind([self.key(item, depth) for item in value])
        plain = self.converted(value, kind)
        self.kept.append(plain)
        return self.copy(plain, depth)

    def take(self, nodes: int, chars: int) -> None:
        self.nodes -= nodes
        self.chars -= chars
        if self.nodes < 0:
            raise BudgetError(f"the value holds more than {self.limits.nodes:,} items")
        if self.chars < 0:
            raise BudgetError(f"the value holds more than {self.limits.chars:,} characters of text")

    def text(self, value: str) -> str:
        self.take(1, len(value))
        if value.isascii():
            return value
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return value

    def key(self, value: Any, depth: int) -> Any:
        copied = self.copy(value, depth)
        if type(copied) in _UNHASHABLE:
            raise PlainError(f"a {type(copied).__name__} can't be a key or a member of a set")
        return copied

    def converted(self, value: Any, kind: type) -> Any:
        """Return what stands for a value of no exact plain type, by the rules of the module's head."""
        if issubclass(kind, enum.Enum):
            return object.__getattribute__(value, "_value_")
        if kind is range and len(value[: self.nodes + 1]) > self.nodes:
            raise BudgetError(f"the value holds more than {self.limits.nodes:,} items")
        for base, convert in _CONVERSIONS:
            if issubclass(kind, base):
                return convert(value)
        fields = kind.__dict__.get("__dataclass_fields__")
        if fields is not None:
            return {name: object.__getattribute__(value, name) for name in fields}
        raise PlainError(
            f"a value of type {_type_name(kind)} is not plain data; return text, numbers, lists and dicts"
        )


_SEQUENCES = frozenset({list, tuple})
_FLAT = frozenset({list, tuple, dict})
_TEXT = frozenset({str})
_SCALARS = frozenset({str, int, float, bool, type(None)})
_SETS = frozenset({set, frozenset})
_UNHASHABLE = frozenset({list, dict, set})


def _type_name(kind: type) -> str:
    """Return the plain name of a type, whatever its metaclass says."""
    name = type.__dict__["__name__"].__get__(kind)
    return name if name.isidentifier() else "object"


def _tuple(value: tuple[Any, ...]) -> Any:
    names = type(value).__dict__.get("_fields")
    items = list(tuple.__iter__(value))
    if type(names) is tuple and len(names) == len(items) and all(type(name) is str for name in names):
        return dict(zip(names, items, strict=True))
    return tuple(items)


def _path(value: pathlib.PurePath) -> str:
    text = pathlib.PurePath.__str__(value)
    if pathlib.PurePosixPath(text).is_absolute() or pathlib.PureWindowsPath(text).drive:
        raise PlainError("a path object is absolute; return the path as text, relative to the workspace")
    return text.replace("\\", "/") if isinstance(value, pathlib.PureWindowsPath) else text


def _bytes(value: Any) -> str:
    return bytes(value).decode("utf-8", "backslashreplace")


def _iso(value: Any) -> str:
    base: Any = next(kind for kind in type(value).__mro__ if kind.__module__ == "datetime")
    if base is dt.timedelta:
        return dt.timedelta.__str__(value)
    return str(base.isoformat(value))


_CONVERSIONS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (dict, lambda value: dict(dict.items(value))),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, _tuple),
    (set, lambda value: set(set.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
    (bytes, lambda value: _bytes(bytes.__add__(value, b""))),
    ((bytearray, memoryview), _bytes),
    (pathlib.PurePath, _path),
    ((dt.date, dt.time, dt.timedelta), _iso),
    (uuid.UUID, uuid.UUID.__str__),
    (decimal.Decimal, decimal.Decimal.__str__),
    ((range, type({}.keys()), type({}.values()), type({}.items())), list),
    (collections.deque, lambda value: list(collections.deque.__iter__(value))),
)


@dataclass(frozen=True, slots=True)
class Converted:
    """What `json_safe` made of a value.

    Attributes:
        value: `None`, `bool`, `int`, finite `float`, `str`, `list` and `dict` with `str` keys only.
        notes: One sentence for each rule that changed something, each once, in the order met.
    """

    value: Any
    notes: tuple[str, ...]


NONFINITE_NOTE = 'a float that is not finite was written as the text "NaN", "Infinity" or "-Infinity"'
SET_NOTE = "a set was written as a sorted list"
KEY_NOTE = "a key that is no text was written as text"


def json_safe(value: Any) -> Converted:
    """Turn plain data into strict JSON's data: what `json.dumps(..., allow_nan=False)` takes and gives back.

    A tuple becomes a list and a set a sorted list. A float that is not finite becomes the text `NaN`,
    `Infinity` or `-Infinity`. Whole numbers stay exact, however large. A key that is no text becomes its
    JSON text (`1`, `true`, `null`), a tuple its Python text.

    Raises:
        PlainError: Two keys of one dict would become the same text.
    """
    notes: dict[str, None] = {}
    safe = _safe(value, notes)
    return Converted(safe, tuple(notes))


def _safe(value: Any, notes: dict[str, None]) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is float:
        if math.isfinite(value):
            return value
        notes[NONFINITE_NOTE] = None
        return _nonfinite(value)
    if kind is list or kind is tuple:
        if _JSON_SCALARS.issuperset(map(type, value)):
            return list(value)
        return [_safe(item, notes) for item in value]
    if kind is dict:
        return _safe_dict(value, notes)
    notes[SET_NOTE] = None
    return [_safe(item, notes) for item in sort_set(value)]


_JSON_SCALARS = frozenset({str, int, bool, type(None)})
"""What strict JSON holds as it is; floats may be infinite."""


def _nonfinite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _safe_dict(value: dict[Any, Any], notes: dict[str, None]) -> dict[str, Any]:
    if _TEXT.issuperset(map(type, value)) and _JSON_SCALARS.issuperset(map(type, value.values())):
        return dict(value)
    safe: dict[str, Any] = {}
    for key, item in value.items():
        name = key if type(key) is str else _key_text(key)
        if name is not key:
            notes[KEY_NOTE] = None
        if name in safe:
            raise PlainError(f"two keys of one dict both become the text {name[:80]!r}; use text keys")
        safe[name] = _safe(item, notes)
    return safe


def _key_text(key: Any) -> str:
    if key is None:
        return "null"
    if key is True or key is False:
        return str(key).lower()
    if type(key) is float and not math.isfinite(key):
        return _nonfinite(key)
    if type(key) is frozenset:
        return str(tuple(sort_set(key)))
    return str(key)


_RANKS: dict[type, int] = {type(None): 0, bool: 1, int: 1, float: 1, str: 2, tuple: 3}


def sort_set(items: Any) -> list[Any]:
    """Return the members of a set in one order that does not depend on hashing: by type, then by value."""
    return sorted(items, key=_rank)


def _rank(item: Any) -> tuple[int, Any, str]:
    rank = _RANKS.get(type(item), 4)
    if rank == 1 and not (type(item) is float and math.isnan(item)):
        return rank, item, ""
    if rank == 2:
        return rank, 0, item
    return rank, 0, repr(tuple(sort_set(item)) if type(item) is frozenset else item)
