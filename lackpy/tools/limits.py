"""Budgets of the builtin tools, and the clock that long scans poll."""

from __future__ import annotations

import time

from lackpy import deadline
from lackpy.tools.errors import ToolError

READ_BYTES = 8 * 1024 * 1024
"""Largest file that `read` returns and the code tools parse, in bytes."""

BLOCK_BYTES = 4 * 1024 * 1024
"""`grep` walks a larger file in blocks of this many bytes."""

LINE_BYTES = 32 * 1024 * 1024
"""A line longer than this many bytes is searched in pieces."""

ROWS = 20_000
"""Rows that one call returns; more is an error that says how to narrow."""

PATHS = 100_000
"""Paths that one `glob` returns."""

TEXT_CHARS = 500
"""Characters of a line that a row shows; a longer line is cut around the hit."""

PATTERN_CHARS = 10_000
"""Characters of a regular expression, glob or name."""

PATH_CHARS = 4_096
"""Characters of a path."""

SCAN_S = 25.0
"""Seconds that one scan of the tree may take, below the executors' default of 30 s a tool call."""

TESTS_S = 300.0
"""Seconds that one `run_tests` may take."""


class Clock:
    """A deadline `seconds` from now that a scan polls between files."""

    __slots__ = ("_call", "_end", "seconds")

    def __init__(self, seconds: float = SCAN_S) -> None:
        """Start the clock."""
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._call = deadline.current()

    def check(self) -> None:
        """Do nothing while there is time left.

        Raises:
            ToolError: The deadline has passed, or the executor gave the call up.
        """
        if self._call is not None and self._call.stopped:
            raise ToolError("the call was given up")
        if time.monotonic() > self._end:
            raise ToolError(f"gave up after {self.seconds:g} s; ask for fewer files")


def text_argument(value: object, what: str, limit: int = PATTERN_CHARS) -> str:
    """Return `value` when it is non-empty text without NUL and not longer than `limit` characters.

    Raises:
        ToolError: It isn't; the sentence starts with `what`.
    """
    if not isinstance(value, str):
        raise ToolError(f"{what} must be text (got {type(value).__name__})")
    if not value:
        raise ToolError(f"{what} is empty")
    if "\0" in value:
        raise ToolError(f"{what} holds a NUL character")
    if len(value) > limit:
        raise ToolError(f"{what} is {len(value)} characters long; at most {limit} are allowed")
    try:
        value.encode()
    except UnicodeEncodeError as exc:
        raise ToolError(f"{what} holds a lone surrogate, which no file name or text contains") from exc
    return value


def cut(line: str, start: int = 0, end: int = 0) -> str:
    """Return `line` stripped, or the part around characters `start`-`end` when it is too long to show."""
    if len(line) <= TEXT_CHARS:
        return line.strip()
    shown = min(max(end - start, 1), TEXT_CHARS)
    first = max(0, start - (TEXT_CHARS - shown) // 2)
    last = min(len(line), first + TEXT_CHARS)
    first = max(0, last - TEXT_CHARS)
    return ("…" if first else "") + line[first:last].strip() + ("…" if last < len(line) else "")
