"""Template files on disk: portable names, atomic writes, nothing overwritten by accident."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import unicodedata
from pathlib import Path

from lackpy.templates.format import Template, TemplateError, dump, parse

SUFFIX = ".tmpl"
MAX_NAME_BYTES = 100
"""Longest file name, suffix included, in bytes."""
_STEM_CHARS = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


def content_hash(text: str) -> str:
    """Return a short digest of a file's text; a changed file has another one."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def slug(name: str) -> str:
    """Return a portable file stem for a template name: lower-case ASCII letters, digits and `-`.

    >>> slug("Find callers of {name}!"), slug("CON"), slug("../x"), slug("?!")
    ('find-callers-of-name', 'template-con', 'x', 'template')
    """
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    stem = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:_STEM_CHARS].strip("-")
    return f"template-{stem}".rstrip("-") if not stem or _RESERVED.match(stem) else stem


def read_regular(path: Path, limit: int = 1_000_000) -> bytes:
    """Return up to `limit` bytes of a regular file; a FIFO or device is refused and never waited for.

    Raises:
        OSError: It can't be read.
        TemplateError: It isn't a regular file.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            raise TemplateError(f"{path}: not a regular file")
        return source.read(limit)


def find_template(folder: Path, name: str) -> Path | None:
    """Return the file whose front matter says `name`; `None` when there is none. Unreadable files are skipped."""
    for path in sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else ():
        with contextlib.suppress(TemplateError, OSError, UnicodeDecodeError):
            if parse(read_regular(path).decode("utf-8-sig"), str(path)).name == name:
                return path
    return None


def write_template(folder: Path, template: Template, *, replace: bool = False) -> Path:
    """Write a template under a name of its own and return the path.

    A taken file name gets a hash suffix; a taken *template* name is an error unless `replace`.

    Raises:
        TemplateError: The name is taken, or the file can't be written.
    """
    text = dump(template)
    if parse(text).name != template.name:
        raise TemplateError(f"template name {template.name!r} can't be written; use plain text")
    present = find_template(folder, template.name)
    if present is not None:
        if not replace:
            raise TemplateError(
                f"a template named '{template.name}' exists ({present}); choose another name or replace it on purpose"
            )
        return write_atomic(present, text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise TemplateError(f"{folder} can't be created ({exc.strerror or exc})") from exc
    stem = slug(template.name)
    digest = hashlib.sha256(template.name.encode("utf-8", "surrogatepass")).hexdigest()
    for length in (0, 8, 16, 32):
        path = folder / (f"{stem}-{digest[:length]}{SUFFIX}" if length else f"{stem}{SUFFIX}")
        with contextlib.suppress(FileExistsError):
            return _write_new(path, text)
    raise TemplateError(f"no free file name for template '{template.name}' in {folder}; rename it")


def write_atomic(path: Path, text: str) -> Path:
    """Replace a file's content in one step: readers see the old text or the new one, never a part.

    A link stays and its target is replaced; the mode is kept; the folder is synced.

    Raises:
        TemplateError: It can't be written; the old content is intact and no temporary file is left.
    """
    target = Path(os.path.realpath(path))
    temporary = _temporary_name(target.parent)
    try:
        _write_synced(temporary, text)
        with contextlib.suppress(FileNotFoundError):
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
        _sync_folder(target.parent)
    except (OSError, UnicodeEncodeError) as exc:
        raise TemplateError(f"{path} can't be written ({_why(exc)}); its content is unchanged") from exc
    finally:
        _discard(temporary)
    return path


def _write_new(path: Path, text: str) -> Path:
    """Create a file that isn't there yet, whole or not at all.

    Raises:
        FileExistsError: The name is taken, in any case or Unicode form the file system treats as equal.
        TemplateError: It can't be written.
    """
    temporary = _temporary_name(path.parent)
    try:
        _write_synced(temporary, text)
        _claim(temporary, path)
        _sync_folder(path.parent)
    except FileExistsError:
        raise
    except (OSError, UnicodeEncodeError) as exc:
        raise TemplateError(f"{path} can't be written ({_why(exc)})") from exc
    finally:
        _discard(temporary)
    return path


def _temporary_name(folder: Path) -> Path:
    return folder / f".{secrets.token_hex(8)}.tmp"


def _write_synced(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", newline="") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


def _claim(temporary: Path, path: Path) -> None:
    """Give the finished file its name unless that is taken; a hard link is the only such step that never races."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(path):
            raise FileExistsError(str(path)) from None
        temporary.replace(path)


def _sync_folder(folder: Path) -> None:
    """Make the rename durable where folders can be synced; some file systems refuse, the file itself is safe."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _discard(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)


def _why(exc: Exception) -> str:
    return str(getattr(exc, "strerror", None) or exc)
