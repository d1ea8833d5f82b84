"""The journal: append-only JSON lines, one segment per process; an fsynced append is the acknowledgement.

Never reads, never touches the store. A segment is locked while its process lives, so that the drain knows when it may
delete it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lackpy.errors import LackpyError
from lackpy.traces.clean import as_mapping, to_line
from lackpy.traces.record import Feedback, Trace

try:
    import fcntl
except ImportError:  # Windows: a live segment is recognised by its age instead
    fcntl = None  # type: ignore[assignment]

MAX_LINE_BYTES = 1_000_000
MAX_SEGMENT_BYTES = 8_000_000
# Cut in this order, to these lengths, until a line fits.
_CUTS = (("output_preview", 2_000), ("calls", 50), ("attempts", 4), ("program_given", 20_000), ("program", 50_000))
_REASONS = {errno.ENOSPC: "disk full", errno.EDQUOT: "disk quota reached", errno.EROFS: "read-only file system"}


class JournalError(LackpyError):
    """A record could not be written; the sentence says why."""


class Journal:
    """This process's segment of one journal folder; thread-safe, and safe across `fork`.

    Args:
        folder: `.lackpy/journal`; made when missing.
    """

    def __init__(self, folder: Path) -> None:
        """Remember the folder; the segment is opened by the first append."""
        self._folder = folder
        self._fd: int | None = None
        self._pid = 0
        self._size = 0
        self._torn = False
        self._lock = threading.Lock()
        self.path: Path | None = None

    def append(self, record: Trace | Feedback | Mapping[str, Any]) -> None:
        """Write one record and fsync it.

        Raises:
            JournalError: It is not on disk (disk full, folder read-only).
        """
        line = _bounded_line(record)
        with self._lock:
            try:
                fd = self._open()
                self._write(fd, b"\n" + line if self._torn else line)
                os.fsync(fd)
            except OSError as exc:
                self._torn = True
                reason = _REASONS.get(exc.errno or 0, exc.strerror or str(exc))
                raise JournalError(f"{reason} ({self._folder})") from exc
            self._torn = False
            self._size += len(line)

    def close(self) -> None:
        """Close the segment; the drain may delete it once it is read."""
        with self._lock:
            self._close()

    def _open(self) -> int:
        if self._fd is not None and self._pid == os.getpid() and self._size < MAX_SEGMENT_BYTES:
            return self._fd
        self._close()
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self.path = self._folder / name
        self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
        self._pid, self._size, self._torn = os.getpid(), 0, False
        lock_segment(self._fd)
        _sync_folder(self._folder)
        return self._fd

    def _close(self) -> None:
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = None

    @staticmethod
    def _write(fd: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]


def lock_segment(fd: int) -> bool:
    """Take the segment's owner lock without waiting; `False` when another process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Make the new segment's name durable, where folders can be fsynced."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _bounded_line(record: Trace | Feedback | Mapping[str, Any]) -> bytes:
    kind = "trace" if isinstance(record, Trace) else "feedback" if isinstance(record, Feedback) else None
    data = as_mapping(record)
    if kind is not None:
        data = {"kind": kind, **data}
    line = to_line(data)
    for name, length in _CUTS:
        if len(line) <= MAX_LINE_BYTES:
            return line
        value = data.get(name)
        if isinstance(value, str | list | tuple) and len(value) > length:
            data[name] = value[:length]
            line = to_line(data)
    if len(line) <= MAX_LINE_BYTES:
        return line
    kept = {k: v for k, v in data.items() if not isinstance(v, str | list | tuple | dict) or len(str(v)) < 10_000}
    return to_line({**kept, "error": kept.get("error") or "record cut: it was larger than a journal line may be"})
