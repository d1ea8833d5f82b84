"""`grep`: lines that match a regular expression, in time linear in the text whatever the pattern (RE2).

A line is the text between newlines without a trailing carriage return. Files are read as `read` reads them; one over
8 MB is walked in blocks as UTF-8. Binary and unreadable files are passed over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lackpy.tools.decode import utf8
from lackpy.tools.errors import ToolError
from lackpy.tools.files import FileTools
from lackpy.tools.limits import BLOCK_BYTES, LINE_BYTES, READ_BYTES, ROWS, Clock, cut, text_argument
from lackpy.tools.patterns import explain, to_re2
from lackpy.tools.rows import GrepRow

_ENGINE_BYTES = 64 * 1024 * 1024  # memory one compiled pattern may take


class GrepTools:
    """Searches the text of one workspace."""

    def __init__(self, files: FileTools) -> None:
        """Search the files that `files` lists."""
        self._files = files

    def grep(self, pattern: str, glob: str = "**/*") -> list[GrepRow]:
        """Search files for a regular expression; `glob` narrows to a file, a folder or a pattern.

        Raises:
            ToolError: The pattern can't be read, `glob` points outside the workspace, or too many lines match.
        """
        search = compile_pattern(text_argument(pattern, "'pattern'"))
        clock = Clock()
        rows: list[GrepRow] = []
        for path in self._files.select(text_argument(glob, "'glob'"), clock, places=True):
            clock.check()
            for line, text in self._hits(search, path, clock):
                rows.append({"file": path, "line": line, "text": text})
                if len(rows) > ROWS:
                    raise ToolError(
                        f"{pattern!r} matches more than {ROWS:,} lines; write a narrower pattern or glob"
                    )
        return rows

    def _hits(self, search: Any, path: str, clock: Clock) -> Iterator[tuple[int, str]]:
        data = self._files.workspace.load_listed(path)
        if data is None:
            yield from self._large(search, path, clock)
            return
        text = utf8(data)
        if text is not None:
            yield from _in_text(search, text, 0)

    def _large(self, search: Any, path: str, clock: Clock) -> Iterator[tuple[int, str]]:
        try:
            fd, facts = self._files.workspace.open_listed(path)
        except ToolError:  # gone or unreadable since it was listed
            return
        with os.fdopen(fd, "rb", buffering=0) as file:
            if facts.st_size > READ_BYTES:
                yield from _in_blocks(search, file, clock)


def _in_text(search: Any, data: bytes, before: int) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of each matching line of `data`, which starts after `before` lines."""
    if b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    if not data:
        return
    data = data[:-1] if data.endswith(b"\n") else data.removesuffix(b"\r")
    at, counted, number = 0, 0, before + 1
    while at <= len(data):
        match = search(data, at)
        if match is None:
            return
        start, end = match.span()
        first = data.rfind(b"\n", 0, start) + 1
        last = data.find(b"\n", start)
        last = len(data) if last < 0 else last
        number += data.count(b"\n", counted, first)
        counted = first
        yield number, _shown(data, first, last, start, end)
        at = last + 1


def _shown(data: bytes, first: int, last: int, start: int, end: int) -> str:
    if last - first <= 4096:
        line = data[first:last].decode("utf-8", errors="replace")
        return cut(
            line,
            len(data[first:start].decode("utf-8", "replace")),
            len(data[first:end].decode("utf-8", "replace")),
        )
    low, high = max(first, start - 2048), min(last, start + 2048)  # a long line: only the part around the hit
    around = data[low:high].decode("utf-8", errors="ignore")
    shown = len(data[low:start].decode("utf-8", errors="ignore"))
    return cut(around, shown, shown + min(end - start, high - start))


def _in_blocks(search: Any, file: Any, clock: Clock) -> Iterator[tuple[int, str]]:
    """Yield matching lines of a large file with at most one block and one line in memory."""
    rest, lines = b"", 0
    while block := _block(file):
        clock.check()
        if b"\0" in block:
            return
        rest += block
        end = rest.rfind(b"\n") + 1
        if not end and len(rest) < LINE_BYTES:
            continue
        whole, rest = (rest[:end], rest[end:]) if end else (rest, b"")
        yield from _in_text(search, whole, lines)
        lines += whole.count(b"\n")
    yield from _in_text(search, rest, lines)


def _block(file: Any) -> bytes:
    try:
        return file.read(BLOCK_BYTES) or b""
    except OSError:
        return b""


@lru_cache(maxsize=64)
def compile_pattern(pattern: str) -> Any:
    """Return a function (UTF-8 bytes, start) → match or `None`; a match never crosses a line.

    Raises:
        ToolError: The pattern isn't a regular expression, or uses what a linear-time engine can't do.
    """
    import re2  # noqa: PLC0415  # 20 ms to load, only grep needs it

    if "\b" in pattern:
        fixed = pattern.replace("\b", r"\b")
        raise ToolError(
            f"the pattern holds a backspace character, which '\\b' means in a plain string; write r'{fixed}'"
        )
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.max_mem = _ENGINE_BYTES
    try:
        return re2.compile(f"(?m){to_re2(pattern)}".encode(), options).search
    except re2.error as exc:
        reason = exc.args[0] if exc.args else b""
        raise ToolError(
            explain(pattern, reason.decode() if isinstance(reason, bytes) else str(reason))
        ) from exc
