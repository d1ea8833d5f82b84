"""One workspace folder: every path a tool is given is resolved here, links included, and refused when it leaves.

Never opens anything but regular files, and never names the workspace's own place on disk in an error.
"""

# ruff: noqa: PTH118  # strings and os.path: a scan makes no Path object a file

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from lackpy.tools.errors import ToolError
from lackpy.tools.limits import PATH_CHARS, READ_BYTES, text_argument

PRIVATE = frozenset({".git", ".lackpy"})
"""Folders that listings skip and `write` refuses (compared in lower case)."""

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(
    os, "O_NONBLOCK", 0
)  # a FIFO must not block, a late link not win


class Workspace:
    """A folder that tools are confined to.

    Args:
        root: The folder; links in it are resolved once.
    """

    def __init__(self, root: str | Path) -> None:
        """Resolve `root`."""
        self.root = os.path.realpath(root)
        self._prefix = self.root if self.root.endswith(os.sep) else self.root + os.sep

    def holds(self, real: str) -> bool:
        """Tell whether the resolved path `real` is the root or below it."""
        return real == self.root or real.startswith(self._prefix)

    def resolve(self, path: object, what: str = "path") -> str:
        """Return the real path of `path` (relative to the root, or absolute and inside it).

        Raises:
            ToolError: It isn't text, is malformed, or leaves the workspace.
        """
        given = text_argument(path, f"'{what}'", PATH_CHARS)
        real = os.path.realpath(os.path.join(self.root, given))
        if not self.holds(real):
            raise ToolError(f"path outside the workspace: {given!r}; paths are relative to the workspace")
        return real

    def relative(self, real: str) -> str:
        """Return a resolved path as results show it: relative, forward slashes."""
        return os.path.relpath(real, self.root).replace(os.sep, "/")

    def open(self, real: str, shown: str) -> tuple[int, os.stat_result]:
        """Open a resolved regular file for reading; the caller closes the descriptor.

        Raises:
            ToolError: It is missing, no regular file, or can't be opened.
        """
        try:
            fd = os.open(real, _FLAGS | _CAREFUL)
        except OSError as exc:
            raise ToolError(_why(exc, shown)) from exc
        facts = os.fstat(fd)
        if stat.S_ISREG(facts.st_mode):
            return fd, facts
        os.close(fd)
        if stat.S_ISDIR(facts.st_mode):
            raise ToolError(
                f"{shown!r} is a folder; name a file, or list it with glob({shown.rstrip('/') + '/**/*'!r})"
            )
        raise ToolError(f"{shown!r} is no regular file (a pipe, socket or device)")

    def load(self, path: object) -> bytes:
        """Return the bytes of a file inside the workspace, at most `READ_BYTES`.

        Raises:
            ToolError: As `resolve` and `open`, or the file is too large.
        """
        real = self.resolve(path)
        return self.load_real(real, str(path))

    def load_real(self, real: str, shown: str) -> bytes:
        """Return the bytes of a resolved file, at most `READ_BYTES`.

        Raises:
            ToolError: As `open`, or the file is too large.
        """
        fd, facts = self.open(real, shown)
        try:
            if facts.st_size > READ_BYTES:
                raise ToolError(_too_large(shown, facts.st_size))
            data = _all(fd, facts.st_size)
        except OSError as exc:
            raise ToolError(_why(exc, shown)) from exc
        finally:
            os.close(fd)
        if len(data) > READ_BYTES:
            raise ToolError(_too_large(shown, len(data)))
        return data

    def open_listed(self, path: str) -> tuple[int, os.stat_result]:
        """Open a file that a listing named; the caller closes the descriptor.

        A listing follows no link to a folder, so only a file that is itself a link is resolved again.

        Raises:
            ToolError: It is gone, became something else, or can't be opened.
        """
        try:
            return self.open(self._prefix + path, path)
        except ToolError as exc:
            if isinstance(exc.__cause__, OSError) and exc.__cause__.errno == errno.ELOOP:
                return self.open(self.resolve(path), path)
            raise

    def load_listed(self, path: str) -> bytes | None:
        """Return the bytes of a file that a listing named, `None` when it is gone, unreadable or over `READ_BYTES`."""
        try:
            fd, facts = self.open_listed(path)
        except ToolError:
            return None
        try:
            return _all(fd, facts.st_size) if facts.st_size <= READ_BYTES else None
        except OSError:
            return None
        finally:
            os.close(fd)


def _all(fd: int, size: int) -> bytes:
    """Read up to `READ_BYTES` + 1 bytes; `size` is what the file said it holds."""
    data = os.read(fd, size + 1)
    if 0 < len(data) <= size:  # a short read is the end; a file in /proc says it holds nothing
        return data
    while len(data) <= READ_BYTES and (more := os.read(fd, READ_BYTES + 1 - len(data))):
        data += more
    return data


def _too_large(shown: str, size: int) -> str:
    limit = READ_BYTES // 1024 // 1024
    return (
        f"{shown!r} is {size:,} bytes, over the limit of {limit} MB; search it with grep(pattern, {shown!r})"
    )


def _why(exc: OSError, shown: str) -> str:
    if exc.errno == errno.ENOENT:
        return f"no such file: {shown!r}; list what is there with glob"
    if exc.errno == errno.ELOOP:
        return f"{shown!r} is a link that leads to itself or changed while it was opened"
    if exc.errno == errno.ENXIO:
        return f"{shown!r} is no regular file (a pipe, socket or device)"
    if exc.errno == errno.ENOTDIR:
        return f"no such file: {shown!r}; a part of the path is a file, not a folder"
    return f"can't open {shown!r}: {exc.strerror or exc}"
