"""The files of a workspace, fast on the second look: a folder is read again only when it changed.

Links to folders are not followed; a link to a file counts when it resolves to a regular file inside the workspace.
Names that aren't UTF-8 or hold a line break can't be written in a program and are left out.
"""

# ruff: noqa: PTH116, PTH118  # strings and os.path: a scan makes no Path object a file

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from lackpy.tools import ignore
from lackpy.tools.ignore import Ignore
from lackpy.tools.limits import Clock
from lackpy.tools.workspace import PRIVATE, Workspace

_SETTLED_NS = 2_000_000_000  # a folder changed less than 2 s before it was read may change again unseen
_DEPTH = 200  # folders deep


@dataclass(frozen=True, slots=True)
class _Folder:
    stamp: tuple[int, int, int] | None
    rules: Ignore
    files: tuple[str, ...]
    links: tuple[str, ...]
    folders: tuple[str, ...]
    has_rules: bool


class Listing:
    """Lists one workspace; safe to use from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        """Start with nothing known."""
        self._workspace = workspace
        self._known: dict[str, _Folder] = {}
        self._lock = threading.Lock()

    def files(self, clock: Clock, *, hidden: bool = False) -> list[str]:
        """Return every file that git doesn't ignore, relative, sorted by plain string order.

        Args:
            clock: Polled once a folder.
            hidden: Also those below a name that starts with ".".

        Raises:
            ToolError: The clock ran out.
        """
        with self._lock:
            return sorted(self._walk("", ignore.outside(self._workspace.root), clock, hidden, 0))

    def _walk(self, folder: str, above: Ignore, clock: Clock, hidden: bool, depth: int) -> Iterator[str]:
        clock.check()
        found = self._folder(folder, above)
        if found is None:
            return
        for name in found.files:
            if hidden or name[0] != ".":
                yield folder + name
        for name in found.links:
            if (hidden or name[0] != ".") and self._is_file_inside(folder + name):
                yield folder + name
        if depth < _DEPTH:
            for name in found.folders:
                if hidden or name[0] != ".":
                    yield from self._walk(f"{folder}{name}/", found.rules, clock, hidden, depth + 1)

    def _folder(self, folder: str, above: Ignore) -> _Folder | None:
        real = os.path.join(self._workspace.root, folder)
        try:
            facts = os.stat(real, follow_symlinks=not folder)
        except OSError:
            self._known.pop(folder, None)
            return None
        stamp = (facts.st_mtime_ns, facts.st_ino, facts.st_dev)
        known = self._known.get(folder)
        fresh = known is not None and known.stamp == stamp
        if known is not None and fresh:
            rules = self._rules(folder, above) if known.has_rules else above
            if rules.same(known.rules):
                return known
        settled = time.time_ns() - facts.st_mtime_ns > _SETTLED_NS
        read = self._read(folder, real, above, stamp if settled else None)
        self._known[folder] = read
        return read

    def _rules(self, folder: str, above: Ignore) -> Ignore:
        text = ignore.read(os.path.join(self._workspace.root, folder, ".gitignore"))
        return above.below(folder, text) if text else above

    def _read(self, folder: str, real: str, above: Ignore, stamp: tuple[int, int, int] | None) -> _Folder:
        files, links, folders = [], [], []
        try:
            with os.scandir(real) as entries:
                listed = [entry for entry in entries if _nameable(entry.name)]
        except OSError:  # unreadable: as empty
            listed = []
        has_rules = any(entry.name == ".gitignore" and not entry.is_symlink() for entry in listed)
        rules = self._rules(folder, above) if has_rules else above
        for entry in listed:
            path = folder + entry.name
            if entry.is_symlink():
                if not rules.ignores(path):
                    links.append(entry.name)
            elif entry.is_dir(follow_symlinks=False):
                if not rules.ignores(path + "/"):
                    folders.append(entry.name)
            elif entry.is_file(follow_symlinks=False) and not rules.ignores(path):
                files.append(entry.name)
        return _Folder(stamp, rules, tuple(files), tuple(links), tuple(folders), has_rules)

    def _is_file_inside(self, path: str) -> bool:
        real = os.path.realpath(os.path.join(self._workspace.root, path))
        try:
            return self._workspace.holds(real) and stat.S_ISREG(os.lstat(real).st_mode)
        except OSError:
            return False


def _nameable(name: str) -> bool:
    if name.lower() in PRIVATE or "\n" in name or "\r" in name:
        return False
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
