"""Has a folder changed since the last look? The kernel's word where it can be trusted, else "look yourself".

On Linux and a local file system the directory is watched through inotify: the event of a write is queued before
the write returns, so the next call always sees it, and a quiet folder costs one failed read. The folder is watched,
never a file's inode, so a save by rename is seen like any other. Elsewhere `changes` says that it can't tell.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from pathlib import Path
from typing import Any

# linux/inotify.h
_MODIFY, _ATTRIB, _CLOSE_WRITE, _FROM, _TO, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _UNMOUNT, _OVERFLOW, _IGNORED = 0x400, 0x800, 0x2000, 0x4000, 0x8000
_EVENTS = _MODIFY | _ATTRIB | _CLOSE_WRITE | _FROM | _TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
_LOST = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED
_HEADER = struct.Struct("iIII")

# statfs(2) f_type of file systems whose every write this kernel sees: ext, xfs, btrfs, tmpfs, overlay, f2fs, zfs,
# bcachefs.
_LOCAL = frozenset(
    (0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630, 0xF2F52010, 0x2FC12FC1, 0xCA451A4E)
)


class FolderWatch:
    """Watches one folder in this process; `close` gives the kernel's handle back."""

    __slots__ = ("_fd", "_libc", "_pid")

    def __init__(self) -> None:
        """Watch nothing yet."""
        self._fd = -1
        self._pid = 0
        self._libc: Any = None

    def start(self, folder: Path) -> bool:
        """Watch `folder` from now on; tell whether the watch can be trusted.

        Whoever starts it must look at the folder once afterwards: what happened before isn't reported.
        """
        self.close()
        if sys.platform != "linux":
            return False
        try:
            libc = self._libc = self._libc or ctypes.CDLL(None, use_errno=True)
            where = os.fsencode(folder)
            info = (ctypes.c_long * 64)()
            if libc.statfs(where, ctypes.byref(info)) != 0 or (info[0] & 0xFFFFFFFF) not in _LOCAL:
                return False
            fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            if fd < 0:
                return False
            self._fd, self._pid = fd, os.getpid()
            if libc.inotify_add_watch(fd, where, _EVENTS) < 0:
                self.close()
        except (OSError, AttributeError):
            self.close()
        return self._fd >= 0

    def changes(self) -> frozenset[str] | None:
        """Return the names that something happened to, empty for none, or `None`: it can't tell, look yourself.

        After `None` the watch is off until `start`.
        """
        if self._fd < 0 or self._pid != os.getpid():
            self.close()
            return None
        names: set[str] = set()
        while True:
            try:
                data = os.read(self._fd, 65_536)
            except BlockingIOError:
                return frozenset(names)
            except OSError:
                self.close()
                return None
            at = 0
            while at < len(data):
                _, mask, _, length = _HEADER.unpack_from(data, at)
                at += _HEADER.size
                if mask & _LOST:
                    self.close()
                    return None
                names.add(os.fsdecode(data[at : at + length].rstrip(b"\x00")))
                at += length

    def close(self) -> None:
        """Stop watching; safe to call twice. A forked child leaves its parent's watch alone."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()
