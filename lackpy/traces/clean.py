"""Records as strict JSON lines: no NUL, no lone surrogate, no NaN, no byte that could split a line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

_UNSAFE = re.compile(r"\\u0000|\\ud[89a-f]", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replace NUL and lone surrogates with U+FFFD."""
    return _SURROGATE.sub("\ufffd", text).replace("\x00", "\ufffd")


def clean_data(value: Any) -> Any:
    """Return plain data that JSON can hold: text cleaned, non-finite numbers as text, other types as their text."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {clean_text(str(k)): clean_data(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [clean_data(v) for v in value]
    return clean_text(str(value))


def as_mapping(record: Any) -> dict[str, Any]:
    """Return a record's fields as a dictionary; nested records stay for the encoder."""
    if isinstance(record, Mapping):
        return dict(record)
    return {f.name: getattr(record, f.name) for f in fields(record)}


def _encode(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return as_mapping(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


def to_line(record: Mapping[str, Any]) -> bytes:
    """Return one JSON line, ASCII only, ending in a newline."""
    try:
        text = json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=_encode)
    except (ValueError, TypeError):
        text = ""
    if not text or _UNSAFE.search(text):
        plain = clean_data(json.loads(json.dumps(record, default=_encode, skipkeys=True)))
        text = json.dumps(plain, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.encode("ascii") + b"\n"
