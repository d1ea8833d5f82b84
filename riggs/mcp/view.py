"""A workspace's store as it is now, in a copy: journals are read and counted there, so the workspace keeps every byte.

A copy lives until the store, a journal segment or the configuration changes; the next look makes a new one.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from lackpy import config as configuration
from lackpy.traces.drain import pending_segments
from lackpy.traces.store import Store as TraceStore
from riggs.observe import trust_config_of
from riggs.store import Store
from riggs.trust_store import refresh

WAIT_S = 2.0
"""Seconds to wait for a store that another process has open; then the client is told."""
Print = tuple[tuple[str, int, int, int], ...]


class Copy(Store):
    """riggs' store over a copy; `workspace` is the real one, for its kits, templates and configuration."""

    def __init__(self, workspace: Path, folder: Path, traces: TraceStore) -> None:
        """Read `workspace`'s settings, keep state in `folder`."""
        super().__init__(workspace)
        self.state_dir = folder
        self.traces = traces


class View:
    """Hands out an up-to-date copy of a workspace's store.

    Args:
        workspace: Folder with a `.lackpy` folder; it need not have one.
    """

    def __init__(self, workspace: Path) -> None:
        """Copy nothing yet."""
        self.workspace = workspace
        self._lock = threading.Lock()
        self._print: Print | None = None
        self._copy: Copy | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @contextmanager
    def store(self) -> Iterator[Copy]:
        """Return the store as of now; one reader at a time.

        Raises:
            LackpyError: The configuration can't be used, or the store is locked or no store.
        """
        with self._lock:
            source = configuration.trace_store(self.workspace, wait_s=WAIT_S)
            seen = self._look(source)
            if self._copy is None or seen != self._print:
                self._renew(source)
                self._print = seen
            if self._copy is not None:
                yield self._copy

    def close(self) -> None:
        """Delete the copy."""
        with self._lock:
            self._drop()

    def _look(self, source: TraceStore) -> Print:
        state = self.workspace / configuration.STATE_DIR
        files = [source.path, source.path.with_name(source.path.name + ".wal"), state / "config.toml"]
        found = []
        for path in [*files, *pending_segments(state / "journal")]:
            with contextlib.suppress(OSError):
                info = path.stat()
                found.append((str(path), info.st_ino, info.st_size, info.st_mtime_ns))
        return tuple(found)

    def _renew(self, source: TraceStore) -> None:
        self._drop()
        self._folder = tempfile.TemporaryDirectory(prefix="riggs-")
        folder = Path(self._folder.name)
        journal = folder / "journal"
        journal.mkdir()
        # The journal first: a segment that is drained in between is in the copied store too, and counts once.
        for segment in pending_segments(self.workspace / configuration.STATE_DIR / "journal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(segment, journal / segment.name)
        copy = Copy(self.workspace, folder, source.copy_to(folder))
        copy.sync()
        with copy.write() as connection:
            refresh(connection, trust_config_of(configuration.load(self.workspace)), datetime.now(UTC))
        self._copy = copy

    def _drop(self) -> None:
        self._copy = self._print = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
