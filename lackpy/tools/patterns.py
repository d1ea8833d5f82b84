r"""Regular expressions as Python writes them → as RE2 reads them, and what to say of those it can't read.

The differences: `\Z` is `\z` there, `\uXXXX` is `\x{XXXX}`; look-around and back-references don't exist.
"""

from __future__ import annotations

import re

_UNSUPPORTED = (
    ("(?<=", "look-behind"),
    ("(?<!", "look-behind"),
    ("(?=", "look-ahead"),
    ("(?!", "look-ahead"),
    ("(?P=", "back-reference"),
    ("(?>", "atomic group"),
    ("(?(", "conditional group"),
    ("(?#", "comment"),
    ("(?x", "verbose flag"),
    ("(?L", "locale flag"),
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_BACK_REFERENCE = re.compile(r"(?<!\\)(?:\\\\)*\\([1-9])")


def to_re2(pattern: str) -> str:
    r"""Return `pattern` in RE2's spelling; `\A` and `\Z` mean the ends of a line, as every line is searched alone."""

    def spelled(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        if code:
            return f"\\x{{{code}}}"
        return {"A": "^", "Z": "$", "z": "$"}.get(match[3], match[0])

    return _ESCAPE.sub(spelled, pattern)


def explain(pattern: str, reason: str) -> str:
    """Return the sentence for a pattern that RE2 refused with `reason`."""
    shown = pattern if len(pattern) <= 80 else pattern[:79] + "…"
    for text, name in _UNSUPPORTED:
        at = pattern.find(text)
        if at >= 0:
            return _unsupported(shown, name, at)
    back = _BACK_REFERENCE.search(pattern)
    if back:
        return _unsupported(shown, "back-reference", back.start(1) - 1)
    what, _, where = reason.partition(": ")
    at = _position(pattern, where)
    if pattern.startswith("*") or re.fullmatch(r"[\w*./-]*\*\.\w+", pattern):
        return (
            f"{shown!r} isn't a regular expression ({what} at position {at}); it looks like a file pattern: "
            f"list files with glob({shown!r}), or pass it as grep(pattern, {shown!r})"
        )
    return (
        f"{shown!r} isn't a regular expression ({what} at position {at}); "
        f"to find that text itself write r'{re.escape(shown)}'"
    )


def _unsupported(shown: str, name: str, at: int) -> str:
    return (
        f"{shown!r} uses a {name} at position {at}, which is not supported (the engine takes linear time); "
        "match more and drop rows with an `if` on row['text']"
    )


def _position(pattern: str, where: str) -> int:
    """Return the 0-based position Python's own parser names, else that of the text RE2 names."""
    try:
        re.compile(pattern)
    except re.error as exc:
        if exc.pos is not None:
            return exc.pos
    except (RecursionError, OverflowError, Warning):  # a warning, where the host made them errors
        pass
    return max(pattern.find(where), 0) if where else 0
