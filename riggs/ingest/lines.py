r"""JSON Lines read as bytes from where the last reading stopped, whatever happened to the file meanwhile.

Lines end at `\n` and nowhere else. The cursor moves only past lines that end: a last line without a newline is handed
out when it is a whole JSON object (no prefix of an object is one), but read again next time. A file that shrank or
was replaced is seen by digests of the bytes before the cursor, and read anew from its start.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from riggs.ingest.source import Problem

MAX_LINE_BYTES = 32 * 1024 * 1024
"""A longer line is passed over and counted: it holds an image or a dump, and parsing it costs several times as much."""
_CHUNK_BYTES = 1024 * 1024
_PROBE_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """One record, or why there is none.

    Attributes:
        start: Byte offset of the line.
        end: Byte offset to go on from when this line is done with.
        record: The JSON object; `None` with `problem` set.
        problem: Why it couldn't be read.
    """

    start: int
    end: int
    record: dict[str, Any] | None
    problem: str = ""

    def as_problem(self) -> Problem:
        """Return the problem record."""
        return Problem(self.start, self.problem)


def resume(path: Path, cursor: Mapping[str, Any] | None) -> tuple[int, str]:
    """Return the offset to go on from, and a note when the file isn't the one the cursor is about.

    Raises:
        OSError: The file can't be read.
    """
    if not cursor:
        return 0, ""
    offset = int(cursor.get("offset", 0))
    if not offset:
        return 0, ""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < offset:
            return 0, "truncated: read again from the start"
        if _probe(file, offset) != cursor.get("probe"):
            return 0, "rewritten: read again from the start"
    return offset, ""


def cursor_at(path: Path, offset: int) -> dict[str, Any]:
    """Return the cursor for `offset`: the offset and a digest of the bytes at the start and before it.

    Raises:
        OSError: The file can't be read.
    """
    with path.open("rb") as file:
        return {"offset": offset, "probe": _probe(file, offset)}


def _probe(file: IO[bytes], offset: int) -> str:
    file.seek(0)
    digest = hashlib.sha256(file.read(min(_PROBE_BYTES, offset)))
    file.seek(max(0, offset - _PROBE_BYTES))
    digest.update(file.read(min(_PROBE_BYTES, offset)))
    return digest.hexdigest()[:32]


def read_lines(path: Path, offset: int = 0, *, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
    """Yield the records from `offset` on; memory is bounded by one line.

    Raises:
        OSError: The file can't be read.
    """
    with path.open("rb") as file:
        file.seek(offset)
        start, parts, length, too_long = offset, list[bytes](), 0, False
        while chunk := file.read(_CHUNK_BYTES):
            at = 0
            while (end := chunk.find(b"\n", at)) >= 0:
                length += end - at
                after = start + length + 1
                if too_long or length > max_line_bytes:
                    yield Line(start, after, None, f"line longer than {max_line_bytes} bytes")
                else:
                    parts.append(chunk[at:end])
                    yield from _line(b"".join(parts), start, after)
                start, parts, length, too_long, at = after, [], 0, False, end + 1
            length += len(chunk) - at
            too_long = too_long or length > max_line_bytes
            parts = [] if too_long else [*parts, chunk[at:]]
        if length and not too_long:
            yield from _tail(b"".join(parts), start)


def _line(raw: bytes, start: int, end: int) -> Iterator[Line]:
    text = raw.strip(b"\x00 \t\r")
    if not text:
        if b"\x00" in raw:
            yield Line(start, end, None, "only NUL bytes, as a power loss leaves them")
        return
    try:
        record = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as exc:
        yield Line(start, end, None, f"not JSON ({type(exc).__name__})")
        return
    if isinstance(record, dict):
        yield Line(start, end, record)
    else:
        yield Line(start, end, None, "not a JSON object")


def _tail(raw: bytes, start: int) -> Iterator[Line]:
    """Yield an unended last line if it is whole; the cursor stays before it."""
    text = raw.strip(b"\x00 \t\r")
    if not text.endswith(b"}"):
        return
    try:
        record = json.loads(text.decode("utf-8", "strict"))
    except (ValueError, RecursionError):
        return
    if isinstance(record, dict):
        yield Line(start, start, record)
