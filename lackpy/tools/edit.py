"""`write` and `edit`: the new content is there in full or not at all; no byte changes that wasn't asked for."""

# ruff: noqa: PTH101, PTH103, PTH105, PTH108, PTH110, PTH112, PTH116, PTH120, PTH123  # strings and os.path: a scan makes no Path object a file

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress

from lackpy.tools.decode import decode
from lackpy.tools.errors import ToolError
from lackpy.tools.limits import READ_BYTES
from lackpy.tools.rows import Edited, Written
from lackpy.tools.workspace import PRIVATE, Workspace

_ENDINGS = (b"\r\n", b"\n", b"\r")


class EditTools:
    """Tools that change the files of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        """Confine every change to `workspace`."""
        self._workspace = workspace

    def write(self, path: str, text: str) -> Written:
        """Store text as a file, exactly as given (UTF-8), creating folders as needed.

        Raises:
            ToolError: Outside the workspace, in `.git` or `.lackpy`, a folder, no text, too large or not writable.
        """
        real = self._target(path)
        data = _encoded(text, "text")
        try:
            os.makedirs(os.path.dirname(real), exist_ok=True)
        except OSError as exc:
            raise ToolError(f"can't create the folder of {path!r}: {exc.strerror}") from exc
        self._store(real, path, data)
        return {"path": self._workspace.relative(real), "bytes": len(data)}

    def edit(self, path: str, old: str, new: str) -> Edited:
        """Replace the one place where `old` stands in a file by `new`.

        Line breaks in `old` match the file's own, and those in `new` are stored as the file's most common kind.

        Raises:
            ToolError: `old` is empty, missing or not unique, or the file can't be read or written.
        """
        real = self._target(path)
        data = self._workspace.load_real(real, str(path))
        text = decode(data)
        if text is None:
            raise ToolError(f"{path!r} is binary; only text can be edited")
        if text.encode() not in data:
            raise ToolError(f"{path!r} isn't UTF-8; rewrite it with write(path, text)")
        wanted, given = _encoded(old, "old"), _encoded(new, "new")
        if not wanted:
            raise ToolError("'old' is empty; give the text to replace")
        if data.count(wanted) == 0:
            ending = _ending(data)
            wanted, given = _ended(wanted, ending), _ended(given, ending)
        elif b"\n" not in wanted and b"\r" not in wanted:
            given = _ended(given, _ending(data)) if _ending(data) == b"\r\n" else given
        start = data.find(wanted)
        if start < 0:
            raise ToolError(f"'old' does not occur in {path!r}; read the file and copy the text exactly")
        if data.find(wanted, start + 1) >= 0:
            count = _overlapping(data, wanted)
            raise ToolError(f"'old' occurs {count} times in {path!r}; give more lines around it")
        self._store(real, path, data[:start] + given + data[start + len(wanted) :])
        return {"path": self._workspace.relative(real), "replaced": 1}

    def _target(self, path: object) -> str:
        """Return the real path to change; a link's target is what changes."""
        real = self._workspace.resolve(path)
        inner = self._workspace.relative(real)
        private = next((part for part in inner.split("/") if part.lower() in PRIVATE), None)
        if private is not None:
            raise ToolError(f"{path!r} is inside {private!r}, which tools don't change")
        if os.path.isdir(real):
            raise ToolError(f"{path!r} is a folder; name a file")
        if os.path.lexists(real) and not stat.S_ISREG(os.lstat(real).st_mode):
            raise ToolError(f"{path!r} is no regular file (a pipe, socket, device or broken link)")
        return real

    def _store(self, real: str, shown: str, data: bytes) -> None:
        folder = os.path.dirname(real)
        temporary = ""
        try:
            mode = stat.S_IMODE(os.stat(real).st_mode) if os.path.exists(real) else 0o666 & ~_umask()
            fd, temporary = tempfile.mkstemp(prefix=".lackpy-", suffix=".tmp", dir=folder)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, mode)
            if os.path.realpath(real) != real:
                raise ToolError(f"{shown!r} became a link while it was written; nothing was changed")
            os.replace(temporary, real)
            temporary = ""
        except OSError as exc:
            raise ToolError(f"can't write {shown!r}: {exc.strerror or exc}") from exc
        finally:
            if temporary:
                with suppress(OSError):
                    os.unlink(temporary)


def _umask() -> int:
    """Return the process's umask without a moment in which it is another (Linux), else the usual one."""
    try:
        with open("/proc/self/status", "rb") as status:
            for line in status:
                if line.startswith(b"Umask:"):
                    return int(line.split()[1], 8)
    except OSError:
        pass
    return 0o022


def _encoded(text: object, what: str) -> bytes:
    if not isinstance(text, str):
        raise ToolError(f"'{what}' must be text (got {type(text).__name__})")
    try:
        data = text.encode()
    except UnicodeEncodeError as exc:
        raise ToolError(
            f"'{what}' holds a lone surrogate at character {exc.start}, which can't be stored"
        ) from exc
    if len(data) > READ_BYTES:
        raise ToolError(f"'{what}' is {len(data):,} bytes, over the limit of {READ_BYTES // 1024 // 1024} MB")
    return data


def _ending(data: bytes) -> bytes:
    """Return the most common line ending."""
    crlf = data.count(b"\r\n")
    counts = (crlf, data.count(b"\n") - crlf, data.count(b"\r") - crlf)
    return _ENDINGS[counts.index(max(counts))] if any(counts) else b"\n"


def _ended(text: bytes, ending: bytes) -> bytes:
    """Return `text` with every line ending written as `ending`."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", ending)


def _overlapping(data: bytes, wanted: bytes) -> int:
    count, at = 0, data.find(wanted)
    while at >= 0:
        count, at = count + 1, data.find(wanted, at + 1)
    return count
