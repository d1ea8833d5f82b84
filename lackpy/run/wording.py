"""Sentences about what went wrong: one line, bounded, no addresses, host paths or secrets. Pure."""

from __future__ import annotations

import re
from typing import Any

from lackpy.errors import LackpyError

MAX_CHARS = 300
"""Longest sentence made from an exception's text."""

_SECRET = re.compile(
    r"""(?ix) [\w.-]* (?: passwo?r?d | passphrase | secret | api[_-]?key | credentials? ) [\w.-]* ["']? \s* [=:] \s* \S+
      | [\w.-]* (?: token | auth ) [\w.-]* \s* = \s* \S+
      | \b bearer \s+ \S+
      | :// [^/\s:@]+ : [^/\s@]+ @"""
)
_ADDRESS = re.compile(
    r"<[^<>]*\bat 0x[0-9a-fA-F]+>|\b0x[0-9a-fA-F]{6,}\b|<(?:class|function|built-in|module|frame|code|bound)\b[^<>]*>"
)
_PATH = re.compile(r"(?<![\w.:/])(?:[A-Za-z]:[\\/]|/)(?:[^\s'\"<>|:]+[\\/])+")


def one_line(text: str) -> str:
    """Return the first sentence-like line of `text`: control characters gone, cut at `MAX_CHARS`."""
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    line = "".join(c if c.isprintable() else " " for c in line[: 4 * MAX_CHARS])
    return line if len(line) <= MAX_CHARS else line[: MAX_CHARS - 1] + "…"


def guarded(text: str) -> str:
    """Return one line of `text` with secrets, object addresses and the folders of absolute paths taken out."""
    line = one_line(text)
    line = _SECRET.sub("[masked]", line)
    return _PATH.sub("…/", without_objects(line))


def without_objects(text: str) -> str:
    """Return `text` with the reprs of objects that aren't data, and memory addresses, taken out."""
    return _ADDRESS.sub("[object]", text)


def of_exception(exc: BaseException) -> str:
    """Return `Type: text` of what a tool raised.

    The text of an exception that isn't an `Exception` (an exit, an interrupt) is left out; one that
    lackpy raised is a sentence already and stays as it is.
    """
    name = type(exc).__name__
    if isinstance(exc, LackpyError):
        return one_line(str(exc))
    if not isinstance(exc, Exception):
        return f"it tried to end the process ({name})"
    text = guarded(_text_of(exc))
    return f"{name}: {text}" if text else name


def _text_of(exc: Exception) -> str:
    if isinstance(exc, OSError) and exc.strerror:
        where = f": {exc.filename!r}" if isinstance(exc.filename, str) else ""
        return f"{exc.strerror}{where}"
    args: tuple[Any, ...] = exc.args
    if isinstance(exc, KeyError) and len(args) == 1 and type(args[0]) in (str, int):
        return repr(args[0])
    if all(type(arg) in (str, int, float, bool, type(None)) for arg in args):
        return ", ".join(str(arg) for arg in args)
    try:
        return str(exc)
    except Exception:  # noqa: BLE001  # an exception's own __str__ may fail in any way
        return ""
