"""The circuit breaker: a template that failed three times in a row isn't served again for a while.

Counts live in one small file, so that short-lived processes count together. Only a failure, or a success after
failures, writes. A changed template starts anew; an open breaker lets one serve through when its rest is over, and
rests twice as long when that fails too. An unreadable or unwritable file opens nothing and never fails a call.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from lackpy.templates.files import write_atomic
from lackpy.templates.format import TemplateError

try:
    import fcntl
except ImportError:  # pragma: no cover  # Windows: counts of two processes may overlap
    fcntl = None  # type: ignore[assignment,unused-ignore]

BAD_IN_A_ROW = 3
REST_S = 600.0
"""Seconds an open breaker rests before one trial serve."""
MAX_REST_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Count:
    """Bad serves in a row of one template.

    Attributes:
        bad: How many.
        digest: Hash of the template's text they belong to.
        opened_at: UTC seconds when the breaker last opened; 0 while closed.
        rest_s: Seconds it rests from then on.
    """

    bad: int
    digest: str
    opened_at: float = 0.0
    rest_s: float = 0.0


class Breaker:
    """Breakers of one workspace; thread-safe, shared between processes through `path`.

    Args:
        path: The file; `None` keeps counts in this process only.
        clock: UTC seconds.
    """

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time) -> None:
        """Read nothing yet."""
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._counts: dict[str, Count] = {}
        self._stamp: tuple[int, int, int, int] | None = None

    def why_open(self, name: str, digest: str) -> str | None:
        """Return why the template isn't served now, or `None` when it may be."""
        with self._lock:
            self._load()
            count = self._counts.get(name)
            if count is None or count.digest != digest or not count.opened_at:
                return None
            left = count.opened_at + count.rest_s - self._clock()
            if left <= 0 or left > count.rest_s:
                return None
            return f"failed {count.bad} times in a row; it rests for {left:.0f} s more, or until its file changes"

    def report(self, name: str, digest: str, *, ok: bool) -> None:
        """Count one serve."""
        with self._lock:
            if ok:
                self._load()
                if name not in self._counts:
                    return
            with self._exclusive():
                self._load()
                if ok:
                    self._counts.pop(name, None)
                else:
                    self._counts[name] = self._worse(self._counts.get(name), digest)
                self._save()

    def _worse(self, count: Count | None, digest: str) -> Count:
        if count is None or count.digest != digest:
            return Count(1, digest)
        bad = count.bad + 1
        if bad < BAD_IN_A_ROW:
            return Count(bad, digest)
        rest = min(count.rest_s * 2, MAX_REST_S) if count.opened_at else REST_S
        return Count(bad, digest, self._clock(), rest)

    def _load(self) -> None:
        """Read the file when it changed since the last look."""
        if self._path is None:
            return
        try:
            info = os.stat(self._path)  # noqa: PTH116  # once per call on the fast path
        except OSError:
            if self._stamp is not None:
                self._counts, self._stamp = {}, None
            return
        stamp = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            data = json.loads(self._path.read_text(encoding="utf-8"))
            self._counts = {name: Count(**count) for name, count in data["counts"].items()}

    def _save(self) -> None:
        if self._path is None:
            return
        counts = {name: asdict(count) for name, count in sorted(self._counts.items())}
        with contextlib.suppress(TemplateError, OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(self._path, json.dumps({"version": 1, "counts": counts}, indent=1) + "\n")
            info = self._path.stat()
            self._stamp = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the folder's lock while reading, counting and writing; without one, count anyway."""
        handle = None
        if self._path is not None and fcntl is not None:
            with contextlib.suppress(OSError):
                handle = os.open(self._path.parent, os.O_RDONLY)
                fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            yield
        finally:
            if handle is not None:
                os.close(handle)
