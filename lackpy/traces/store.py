"""The store: one DuckDB file, opened for one task at a time, migrated by numbered files, never overwritten.

DuckDB lets one process have a file open for writing, and no other may read it meanwhile: so connections are short, a
locked file is waited for within a bound, and nobody holds the store across calls.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lackpy import sqlfiles
from lackpy.errors import LackpyError

if TYPE_CHECKING:
    import duckdb

WAIT_S = 5.0
FILE_NAME = "traces.duckdb"
# Every DuckDB from 1.2 on reads it; a newer file would shut out sibling tools that pin an older DuckDB.
STORAGE_VERSION = "v1.2.0"
_MAGIC_AT, _MAGIC = 8, b"DUCK"
_BUSY = re.compile(
    r"Could not set lock on file|different configuration than existing|being used by another process"
)
_HOLDER = re.compile(r"held in (?P<program>\S+) \(PID (?P<pid>\d+)\)")


class StoreError(LackpyError):
    """The store can't be used; the sentence says why and what to do."""


class StoreLocked(StoreError):  # noqa: N818  # named as the condition it reports
    """Another process, or another connection of this one, has the store open."""


class Store:
    """One store file.

    Args:
        where: The `.duckdb` file, the folder that holds it (a workspace or its `.lackpy`), or an address
            `duckdb:PATH`.
        base: Folder that a relative `duckdb:PATH` starts from; the current one when absent.
        wait_s: Seconds to wait for another process to let go of the file.

    Raises:
        StoreError: An address of a kind that this installation can't open.
    """

    def __init__(self, where: str | Path, *, base: Path | None = None, wait_s: float = WAIT_S) -> None:
        """Resolve the address; nothing is opened."""
        self.path = resolve(where, base)
        self._wait_s = wait_s

    @property
    def exists(self) -> bool:
        """Tell whether the file is there."""
        return self.path.exists()

    @contextmanager
    def write(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open for writing, create and migrate as needed, close at the end of the block.

        Raises:
            StoreLocked: Somebody else kept it open for longer than `wait_s`.
            StoreError: The file isn't a store, or can't be made, opened or migrated.
        """
        with self._turn():
            if not self.exists:
                self._create()
            connection = self._connect(read_only=False)
            try:
                migrate(connection)
                yield connection
            finally:
                connection.close()

    @contextmanager
    def read(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open for reading; an older store is migrated first, a missing one reads as empty and is not made.

        Raises:
            StoreLocked: Somebody else kept it open for longer than `wait_s`.
            StoreError: The file isn't a store, or can't be opened or migrated.
        """
        with self._turn():
            connection = self._connect(read_only=True) if self.exists else empty()
            if pending(connection):
                connection.close()
                with self.write():
                    pass
                connection = self._connect(read_only=True)
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Copy the store and open the copy: for long looks that must keep nobody from writing.

        Raises:
            StoreLocked: Somebody else kept it open for longer than `wait_s`.
            StoreError: The file isn't a store, or can't be opened or copied.
        """
        with (
            tempfile.TemporaryDirectory(prefix="lackpy-") as folder,
            self.copy_to(Path(folder)).read() as connection,
        ):
            yield connection

    def copy_to(self, folder: Path) -> Store:
        """Copy the file into `folder` and return the copy, which is missing when the store is; changes nothing here.

        Raises:
            StoreLocked: Somebody else kept it open for longer than `wait_s`.
            StoreError: The file isn't a store, or can't be opened or copied.
        """
        copy = folder / self.path.name
        with self._turn():
            if not self.exists:
                return Store(copy)
            connection = self._connect(read_only=True)
            try:
                with contextlib.ExitStack() as opened:  # closing either file would end the lock on it
                    for file in (self.path, _wal(self.path)):
                        if file.exists():
                            source = opened.enter_context(file.open("rb"))
                            target = opened.enter_context((folder / file.name).open("wb"))
                            shutil.copyfileobj(source, target, 1 << 20)
            except OSError as exc:
                raise StoreError(f"{self.path} can't be copied ({exc.strerror or exc})") from exc
            finally:
                connection.close()
        return Store(copy)

    def compact(self) -> tuple[int, int]:
        """Rewrite the file without the space that old rows left behind; return its bytes before and after.

        Safe with other processes: they see the old file or the new one. A missing store stays missing.

        Raises:
            StoreLocked: Somebody else kept it open for longer than `wait_s`.
            StoreError: The file isn't a store, or the new one can't be written.
        """
        if not self.exists:
            return 0, 0
        import duckdb  # noqa: PLC0415  # 0.14 s, only callers of the store pay it

        part = self._part()
        with self.write() as connection:
            connection.execute("checkpoint")
            before = self.path.stat().st_size
            try:
                database = connection.execute("select current_database()").fetchone() or ("",)
                connection.execute(
                    f"attach {_quoted_text(str(part))} as compacted (storage_version '{STORAGE_VERSION}')"
                )
                source = (
                    sqlfiles.quote_identifier(database[0]) if "." not in database[0] else f'"{database[0]}"'
                )
                connection.execute(f"copy from database {source} to compacted")
                connection.execute("detach compacted")
                after = part.stat().st_size
                part.replace(self.path)
            except (OSError, duckdb.Error) as exc:
                raise StoreError(
                    f"{self.path} can't be compacted ({_first_line(exc)}); it is unchanged"
                ) from exc
            finally:
                _remove(part, _wal(part))
        return before, after

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Take this process's turn at the file: DuckDB refuses two configurations of a file within a process."""
        lock = _lock_for(self.path)
        if not lock.acquire(timeout=max(self._wait_s, 0.0)):
            raise StoreLocked(f"{self.path} is in use by another thread of this process; try again")
        try:
            yield
        finally:
            lock.release()

    def _create(self) -> None:
        """Make the store beside its place and put it there whole; whoever is second uses the first one's."""
        import duckdb  # noqa: PLC0415  # 0.14 s, only callers of the store pay it

        part = self._part()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with duckdb.connect(
                str(part), config={"storage_compatibility_version": STORAGE_VERSION}
            ) as connection:
                migrate(connection)
            _put_if_absent(part, self.path)
        except (OSError, duckdb.Error) as exc:
            raise StoreError(f"{self.path} can't be made ({_first_line(exc)})") from exc
        finally:
            _remove(part, _wal(part))

    def _part(self) -> Path:
        return self.path.with_name(f"{self.path.stem}-{os.getpid()}-{secrets.token_hex(4)}.tmp")

    def _connect(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        import duckdb  # noqa: PLC0415  # 0.14 s, only callers of the store pay it

        deadline = time.monotonic() + self._wait_s
        pause_s = 0.004
        while True:
            try:
                before = self._identity()
                connection = duckdb.connect(str(self.path), read_only=read_only)
            except duckdb.Error as exc:
                if not _BUSY.search(str(exc)):
                    raise self._failure(exc) from exc
                if time.monotonic() >= deadline:
                    raise self._locked(exc) from exc
            else:
                state = self.path.stat()
                if (state.st_dev, state.st_ino) == before:
                    return connection
                connection.close()  # a compaction put another file there while this one was being opened
            time.sleep(random.uniform(pause_s / 2, pause_s))  # noqa: S311  # spreads waiting processes out
            pause_s = min(pause_s * 1.5, 0.1)

    def _identity(self) -> tuple[int, int]:
        """Return what tells this file from one put in its place; refuse what isn't DuckDB's.

        Closing any descriptor of a file ends all POSIX locks of this process on it, DuckDB's too: so the file is opened
        here once in its life, before DuckDB opens it.
        """
        try:
            state = self.path.stat()
            key = (state.st_dev, state.st_ino)
            if key in _verified:
                return key
            with self.path.open("rb") as file:
                head = file.read(_MAGIC_AT + len(_MAGIC))
        except OSError as exc:
            raise StoreError(
                f"{self.path} can't be read ({exc.strerror or exc}); move it away or fix it"
            ) from exc
        if head[_MAGIC_AT:] != _MAGIC:
            what = "is empty (0 bytes)" if not head else "is no DuckDB file"
            raise StoreError(
                f"{self.path} {what}; nothing was changed, move it away and a new store is begun"
            )
        _verified.add(key)
        return key

    def _locked(self, exc: Exception) -> StoreLocked:
        holder = _HOLDER.search(str(exc))
        if holder:
            who = f"in {Path(holder['program']).name} (process {holder['pid']})"
        else:
            who = "in this process" if "configuration" in str(exc) else "in another process"
        return StoreLocked(f"{self.path} is open {who}; close it there (a notebook or shell?) and try again")

    def _failure(self, exc: Exception) -> StoreError:
        import duckdb  # noqa: PLC0415  # already loaded by the caller

        text = _first_line(exc)
        if "version number" in text:
            return StoreError(
                f"{self.path} was made by a newer DuckDB than this one ({duckdb.__version__}): {text}; upgrade duckdb, "
                "or move the file away and a new store is begun"
            )
        return StoreError(f"{self.path} can't be opened ({text}); move it away and a new store is begun")


def resolve(where: str | Path, base: Path | None = None) -> Path:
    """Return the store file that a path, a folder or an address names.

    >>> resolve("duckdb:/data/team.duckdb").as_posix()
    '/data/team.duckdb'

    Raises:
        StoreError: An address of a kind that can't be opened.
    """
    scheme, sep, rest = str(where).partition(":")
    if sep and scheme == "duckdb":
        where = (base or Path()) / rest
    elif sep and scheme == "ducklake":
        raise StoreError(
            "a 'ducklake:' store needs DuckDB's ducklake extension and a catalogue without keys, which this version "
            "doesn't write; use 'duckdb:PATH', or attach the lake from a notebook"
        )
    elif sep and len(scheme) > 1 and re.fullmatch(r"[a-z][a-z0-9+]*", scheme) and "/" not in scheme:
        raise StoreError(f"store address '{where}' is of no known kind; write 'duckdb:PATH'")
    path = Path(where)
    if path.suffix == ".duckdb":
        return path
    return path / FILE_NAME if path.name == ".lackpy" else path / ".lackpy" / FILE_NAME


def empty() -> duckdb.DuckDBPyConnection:
    """Return an empty store in memory."""
    import duckdb  # noqa: PLC0415  # 0.14 s, only callers of the store pay it

    connection = duckdb.connect()
    migrate(connection)
    return connection


def pending(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the schema files that this store has not seen, in order."""
    known = connection.execute(
        "select count(*) from duckdb_tables() where table_name = 'schema_migrations' and not temporary"
    ).fetchone()
    names = [change.name for change in sqlfiles.migrations()]
    if not known or not known[0]:
        return names
    applied = {row[0] for row in connection.execute("select name from schema_migrations").fetchall()}
    return [name for name in names if name not in applied]


def migrate(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Apply missing schema files, one transaction each; return their names.

    Raises:
        StoreError: A schema file fails; those before it stay applied.
    """
    import duckdb  # noqa: PLC0415  # already loaded by the caller

    todo = pending(connection)
    if not todo:
        return []
    changes = {change.name: change for change in sqlfiles.migrations()}
    for name in todo:
        try:
            connection.execute("begin")
            connection.execute(
                "create table if not exists schema_migrations "
                "(name varchar primary key, digest varchar not null, applied_at timestamp not null)"
            )
            connection.execute(changes[name].text)
            connection.execute(
                "insert into schema_migrations values (?, ?, current_timestamp at time zone 'UTC')",
                [name, changes[name].digest],
            )
            connection.execute("commit")
        except duckdb.Error as exc:
            with contextlib.suppress(duckdb.Error):
                connection.execute("rollback")
            raise StoreError(
                f"schema change {name} failed ({_first_line(exc)}); the store is as before it"
            ) from exc
    return todo


def _put_if_absent(part: Path, target: Path) -> None:
    """Give a finished file its name unless something has that name already."""
    try:
        os.link(part, target)
    except FileExistsError:
        return
    except OSError as exc:
        if exc.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EACCES) or target.exists():
            raise
        part.rename(target)  # a file system without hard links


def _remove(*paths: Path) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def _wal(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _first_line(exc: BaseException) -> str:
    return (str(exc).splitlines() or [type(exc).__name__])[0]


def _quoted_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_verified: set[tuple[int, int]] = set()  # device and inode of files seen to be DuckDB's
_locks: dict[str, threading.RLock] = {}
_locks_guard = threading.Lock()


def _lock_for(path: Path) -> threading.RLock:
    with _locks_guard:
        return _locks.setdefault(str(path.absolute()), threading.RLock())


def _forget_locks() -> None:
    """Begin with free locks in a forked child: whoever held one doesn't exist there."""
    global _locks_guard  # noqa: PLW0603  # a lock held at the fork can't be released
    _locks.clear()
    _locks_guard = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_locks)
