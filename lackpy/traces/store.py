"""The store: one DuckDB file, opened for one task at a time, migrated by numbered files, never overwritten.

DuckDB lets one process have a file open for writing, and no other may read it meanwhile: so connections are short, a
locked file is waited for within a bound, and no one holds the store across calls.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lackpy import resources
from lackpy.errors import LackpyError

if TYPE_CHECKING:
    import duckdb

WAIT_S = 5.0
STORAGE_VERSION = "v1.2.0"  # readable by every DuckDB that this project or a sibling tool allows (>= 1.2)
_MAGIC_AT, _MAGIC = 8, b"DUCK"
_locks: dict[str, threading.RLock] = {}
_locks_guard = threading.Lock()


class StoreError(LackpyError):
    """The store can't be used; the sentence says why and what to do."""


class StoreLocked(StoreError):  # noqa: N818  # named as the condition it reports
    """Another process has the store open."""


class Store:
    """One store file.

    Args:
        path: The `.duckdb` file, or a folder (`.lackpy` or a workspace) that holds or will hold it.
        wait_s: Seconds to wait for another process to let go of the file.
    """

    def __init__(self, path: str | Path, *, wait_s: float = WAIT_S) -> None:
        """Resolve the path; nothing is opened."""
        given = Path(path)
        if given.is_dir() and given.suffix != ".duckdb":
            given = given / "traces.duckdb" if given.name == ".lackpy" else given / ".lackpy" / "traces.duckdb"
        self.path = given
        self._wait_s = wait_s

    @property
    def exists(self) -> bool:
        """Tell whether the file is there."""
        return self.path.exists()

    @contextmanager
    def write(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open for writing, create and migrate as needed, close at the end of the block.

        Raises:
            StoreLocked: Another process kept it open for longer than `wait_s`.
            StoreError: The file isn't a store, or can't be opened or migrated.
        """
        with _lock_for(self.path):
            self._refuse_foreign()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connect(read_only=False)
            try:
                migrate(connection)
                yield connection
            finally:
                connection.close()

    @contextmanager
    def read(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open for reading; a missing or older store is made and migrated first.

        Raises:
            StoreLocked: Another process kept it open for longer than `wait_s`.
            StoreError: The file isn't a store, or can't be opened or migrated.
        """
        with _lock_for(self.path):
            if not self.exists:
                with self.write():
                    pass
            self._refuse_foreign()
            connection = self._connect(read_only=True)
            if pending(connection):
                connection.close()
                with self.write():
                    pass
                connection = self._connect(read_only=True)
            try:
                yield connection
            finally:
                connection.close()

    def _connect(self, *, read_only: bool) -> duckdb.DuckDBPyConnection:
        import duckdb  # noqa: PLC0415  # 0.14 s, only callers of the store pay it

        deadline = time.monotonic() + self._wait_s
        options: dict[str, str | bool | int | float | list[str]] = {"threads": os.cpu_count() or 2}
        if not read_only:
            options["storage_compatibility_version"] = STORAGE_VERSION
        while True:
            try:
                return duckdb.connect(str(self.path), read_only=read_only, config=options)
            except duckdb.Error as exc:
                if "lock" not in str(exc).lower():
                    raise self._failure(exc) from exc
                if time.monotonic() >= deadline:
                    raise StoreLocked(
                        f"{self.path} is open in another process; close it there (a notebook or shell?) and try again"
                    ) from exc
            time.sleep(random.uniform(0.005, 0.03))  # noqa: S311  # spreads waiting processes out

    def _failure(self, exc: Exception) -> StoreError:
        text = str(exc).splitlines()[0]
        if "version" in text.lower():
            return StoreError(f"{self.path} was written by a newer DuckDB ({text}); upgrade duckdb, or move the file away")
        return StoreError(f"{self.path} can't be opened: {text}")

    def _refuse_foreign(self) -> None:
        """Leave a file alone that isn't DuckDB's."""
        try:
            with self.path.open("rb") as file:
                head = file.read(_MAGIC_AT + len(_MAGIC))
        except FileNotFoundError:
            return
        except OSError as exc:
            raise StoreError(f"{self.path} can't be read ({exc.strerror or exc})") from exc
        if head[_MAGIC_AT:] != _MAGIC:
            raise StoreError(f"{self.path} is not a DuckDB file; move it away and run again, nothing was changed")


def migrations() -> list[str]:
    """Return the numbered schema files' names, in order."""
    return sorted(p.stem for p in (resources.folder("sql") / "schema").glob("*.sql"))


def pending(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the schema files that this store has not seen."""
    known = connection.execute(
        "select count(*) from information_schema.tables where table_name = 'schema_migrations'"
    ).fetchone()
    if not known or not known[0]:
        return migrations()
    applied = {row[0] for row in connection.execute("select name from schema_migrations").fetchall()}
    return [name for name in migrations() if name not in applied]


def migrate(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Apply missing schema files, one transaction each; return their names."""
    todo = pending(connection)
    if not todo:
        return []
    connection.execute(
        "create table if not exists schema_migrations (name varchar primary key, applied_at timestamp not null)"
    )
    for name in todo:
        connection.execute("begin")
        try:
            connection.execute(resources.text(f"sql/schema/{name}.sql"))
            connection.execute(
                "insert into schema_migrations values (?, current_timestamp at time zone 'UTC')", [name]
            )
        except Exception:
            connection.execute("rollback")
            raise
        connection.execute("commit")
    return todo


def _lock_for(path: Path) -> threading.RLock:
    """Return this process's lock for one file: DuckDB refuses two configurations of a file within a process."""
    with _locks_guard:
        return _locks.setdefault(str(path.absolute()), threading.RLock())
