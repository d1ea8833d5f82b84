"""How large the result of a text method may get, in bytes, before it is called. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lackpy.run.meter import LISTS, VIEWS


def _joined(text: str, args: list[Any]) -> int:
    total = sum(len(part) for arg in args if type(arg) is not str for part in _texts(arg))
    count = sum(_length(arg) for arg in args)
    return total + (max(count, 1) - 1) * len(text) + sum(len(arg) for arg in args if type(arg) is str)


def _length(items: Any) -> int:
    return len(items) if type(items) is dict or type(items) in LISTS or type(items) in VIEWS else 0


def _texts(items: Any) -> list[str]:
    if type(items) is dict or type(items) in LISTS or type(items) in VIEWS:
        return [item for item in items if type(item) is str]
    return []


def _replaced(text: str, args: list[Any]) -> int:
    if len(args) < 2 or type(args[0]) is not str or type(args[1]) is not str:
        return len(text)
    old, new = args[0], args[1]
    count = text.count(old)
    if len(args) > 2 and type(args[2]) is int and args[2] >= 0:
        count = min(count, args[2])
    return len(text) + count * max(0, len(new) - len(old)) * (1 if new.isascii() else 4)


def _padded(text: str, args: list[Any]) -> int:
    width = args[0] if args and type(args[0]) is int else 0
    wide = len(args) > 1 and type(args[1]) is str and not args[1].isascii()
    return max(len(text), width) * (4 if wide else 1)


def _expanded(text: str, args: list[Any]) -> int:
    width = args[0] if args and type(args[0]) is int else 8
    return len(text) + text.count("\t") * max(0, width)


def _split(text: str, args: list[Any]) -> int:
    separator = args[0] if args and type(args[0]) is str and args[0] else None
    count = text.count(separator) if separator else len(text) // 2
    return 2 * len(text) + count * (64 if separator else 16)


def _lines(text: str, _args: list[Any]) -> int:
    return 2 * len(text) + text.count("\n") * 64


def _cased(text: str, _args: list[Any]) -> int:
    return len(text) * (1 if text.isascii() else 12)


TEXT_BYTES: dict[str, Callable[[str, list[Any]], int]] = {
    "join": _joined,
    "replace": _replaced,
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), _padded),
    "expandtabs": _expanded,
    "split": _split,
    "rsplit": _split,
    "splitlines": _lines,
    **dict.fromkeys(("upper", "lower", "casefold", "title", "capitalize", "swapcase"), _cased),
}
"""Methods whose result can be larger than their receiver, with an estimate of its bytes."""
