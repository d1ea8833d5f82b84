"""The journal: append-only JSON lines, one segment file per process; an fsynced append is the acknowledgement.

Never reads a record and never touches the store. A segment's owner keeps it locked while it may still write, so that
the drain knows which segments it may delete.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lackpy.errors import LackpyError
from lackpy.traces.clean import as_mapping, clean_data, to_line
from lackpy.traces.ids import new_id
from lackpy.traces.record import Feedback, Trace

if sys.platform != "win32":
    import fcntl

MAX_LINE_BYTES = 1_000_000
SEGMENT_BYTES = 8_000_000
SUFFIX = ".jsonl"
UNBORN_SUFFIX = ".new"
CUT_MARK = "…[cut {} characters]"
_KEPT_ITEMS, _KEPT_CHARS, _LEAST_CHARS, _KEPT_DEPTH = (
    1_000,
    100_000,
    100,
    6,
)  # each round of cuts takes a quarter
_IDENTITY = ("kind", "trace_id", "feedback_id", "ts", "session_id", "project", "kit", "intent", "verdict")
_REASONS = {
    errno.ENOSPC: "disk full",
    errno.EDQUOT: "disk quota reached",
    errno.EROFS: "read-only file system",
    errno.EACCES: "permission denied",
    errno.EFBIG: "file size limit reached",
}


class JournalError(LackpyError):
    """A record is not on disk; the sentence says why."""


class Journal:
    """This process's segment of one journal folder; thread-safe, and safe across `fork`.

    Args:
        folder: `.lackpy/journal`; made by the first append.
        segment_bytes: A segment of this size is closed and a new one begun.
        sync: Flush each record to the disk; `False` only for simulations that may lose their tail.
    """

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES, sync: bool = True) -> None:
        """Remember the folder; the segment is made by the first append."""
        self.folder = Path(folder)
        self.path: Path | None = None
        self._segment_bytes = segment_bytes
        self._sync = sync
        self._fd: int | None = None
        self._size = 0
        self._lock = threading.Lock()
        _live.add(self)

    def append(self, record: Trace | Feedback | Mapping[str, Any]) -> None:
        """Write one record and fsync it.

        Raises:
            JournalError: It is not on disk, e.g. "disk full (…/.lackpy/journal)".
        """
        line = bounded_line(record)
        with self._lock:
            try:
                self._write(self._open(), line)
            except OSError as exc:
                reason = _REASONS.get(exc.errno or 0) or exc.strerror or str(exc)
                raise JournalError(f"{reason} ({self.folder})") from exc

    def close(self) -> None:
        """Close the segment; the drain may delete it once it is read. A later append begins a new one."""
        with self._lock:
            self._close()

    def _open(self) -> int:
        if self._fd is not None and self._size < self._segment_bytes:
            return self._fd
        self._close()
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(6)}"
        unborn, path = self.folder / f"{name}{UNBORN_SUFFIX}", self.folder / f"{name}{SUFFIX}"
        # Locked before it has its real name: no drain ever sees a segment that looks abandoned.
        fd = os.open(
            unborn, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600
        )
        try:
            lock_segment(fd)
            unborn.rename(path)
        except OSError:
            os.close(fd)
            with contextlib.suppress(OSError):
                unborn.unlink()
            raise
        if self._sync:
            _sync_folder(self.folder)
        self._fd, self.path, self._size = fd, path, 0
        return fd

    def _write(self, fd: int, line: bytes) -> None:
        """Append at the end of a whole line; a record that fails half-way is taken back."""
        start = os.fstat(fd).st_size
        if start != self._size and start and not _ends_line(fd, start):
            line = b"\n" + line
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(fd, view) :]
            if self._sync:
                os.fsync(fd)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(fd, start)
            raise
        self._size = start + len(line)

    def _close(self) -> None:
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.close(self._fd)
        self._fd, self._size = None, 0

    def _after_fork(self) -> None:
        """Let go of the parent's segment; the lock may have been held by a thread that doesn't exist here."""
        self._lock = threading.Lock()
        self._close()
        self.path = None


_live: weakref.WeakSet[Journal] = weakref.WeakSet()


def _forget_parents_segments() -> None:
    for journal in list(_live):
        journal._after_fork()  # noqa: SLF001  # the hook belongs to the class


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents_segments)


def lock_segment(fd: int) -> bool:
    """Take a segment's owner lock without waiting; `False` when its owner lives or the file system can't tell."""
    if sys.platform == "win32":
        return True  # an open file can't be deleted there, which protects a live segment as well
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def bounded_line(record: Trace | Feedback | Mapping[str, Any]) -> bytes:
    """Return a record's line, at most `MAX_LINE_BYTES`: too long texts and lists are cut, and say so.

    A cut record has `"cut": true`.
    """
    data = as_mapping(record)
    if "kind" not in data:
        data = {"kind": "feedback" if isinstance(record, Feedback) or "verdict" in data else "trace", **data}
    if data["kind"] == "feedback" and not data.get("feedback_id"):
        data["feedback_id"] = new_id()
    line = to_line(data)
    if len(line) <= MAX_LINE_BYTES:
        return line
    plain = clean_data(data)
    items, chars = _KEPT_ITEMS, _KEPT_CHARS
    while len(line) > MAX_LINE_BYTES and chars > _LEAST_CHARS:
        line = to_line({**_cut(plain, items, chars, 0), "cut": True})
        items, chars = max(items // 4, 4), chars // 4
    if len(line) > MAX_LINE_BYTES:
        kept = [key for key in _IDENTITY if isinstance(plain.get(key), str)]
        line = to_line({**{key: plain[key][:1_000] for key in kept}, "cut": True})
    return line


def _cut(value: Any, items: int, chars: int, depth: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= chars else value[:chars] + CUT_MARK.format(len(value) - chars)
    if isinstance(value, list | dict) and depth > _KEPT_DEPTH:
        return "[cut: nested too deep]"
    if isinstance(value, list):
        return [_cut(item, items, chars, depth + 1) for item in value[:items]]
    if isinstance(value, dict):
        kept = list(value.items())[: items if depth else _KEPT_ITEMS]
        return {_cut(k, items, chars, 0): _cut(v, items, chars, depth + 1) for k, v in kept}
    return value


def _ends_line(fd: int, size: int) -> bool:
    if not hasattr(os, "pread"):
        return False
    return os.pread(fd, 1, size - 1) == b"\n"


def _sync_folder(folder: Path) -> None:
    """Make a new segment's name durable, where folders can be fsynced."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
