"""Records as strict JSON lines: ASCII, no NUL, no lone surrogate, no NaN, and no byte that could split a line.

One stated rule for what JSON can't hold: a non-finite number becomes the text `NaN`, `Infinity` or `-Infinity`; a set
becomes a sorted list; a key becomes text; bytes and any other object become their text; what lies deeper than
`MAX_DEPTH` or has more than `MAX_DIGITS` digits becomes a mark that begins with `[cut`. Integers stay exact.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

MAX_DEPTH = 64
MAX_DIGITS = 4_000
_MAX_INT = 10**MAX_DIGITS
_UNSAFE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


def clean_text(text: str) -> str:
    r"""Replace NUL and lone surrogates with U+FFFD.

    >>> clean_text("a\0b")
    'a\ufffdb'
    """
    return _NOT_TEXT.sub("\ufffd", text)


def clean_data(value: Any, depth: int = 0) -> Any:
    """Return plain data that strict JSON can hold, by the module's rule.

    >>> clean_data({"a": float("nan"), 1: {2}})
    {'a': 'NaN', '1': [2]}
    """
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if -_MAX_INT < value < _MAX_INT else "[cut: integer of too many digits]"
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _NON_FINITE.get(value, "NaN")
    if isinstance(value, Mapping | list | tuple | set | frozenset) or _is_record(value):
        return _clean_nested(value, depth + 1) if depth < MAX_DEPTH else "[cut: nested too deep]"
    if isinstance(value, bytes | bytearray):
        return clean_text(bytes(value).decode("utf-8", "replace"))
    return clean_text(str(value))


def as_mapping(record: Any) -> dict[str, Any]:
    """Return a record's or mapping's fields as a dictionary; nested records stay for the encoder."""
    if isinstance(record, Mapping):
        return dict(record)
    return {f.name: getattr(record, f.name) for f in fields(record)}


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return one strict JSON line, ASCII only, ending in a newline."""
    try:
        text = _dump(record)
    except (ValueError, TypeError, RecursionError):
        text = ""
    if not text or _UNSAFE.search(text):
        text = _dump(clean_data(record))
    return text.encode("ascii") + b"\n"


_NON_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_encode)


def _encode(value: Any) -> Any:
    if isinstance(value, Mapping) or _is_record(value):
        return as_mapping(value)
    return clean_data(value)


def _is_record(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _clean_nested(value: Any, depth: int) -> Any:
    if isinstance(value, set | frozenset):
        return sorted((clean_data(v, depth) for v in value), key=str)
    if isinstance(value, list | tuple):
        return [clean_data(v, depth) for v in value]
    return {clean_text(str(k)): clean_data(v, depth) for k, v in as_mapping(value).items()}
