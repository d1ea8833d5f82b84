"""The store: short connections, numbered migrations, nothing foreign overwritten."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest
from traces_support import make_trace

from lackpy import sqlfiles
from lackpy.sqlfiles import Migration
from lackpy.traces.drain import drain
from lackpy.traces.journal import Journal
from lackpy.traces.record import Trace
from lackpy.traces.store import Store, StoreError, StoreLocked, empty, migrate, resolve

HOLD = (
    "import duckdb, sys\n"
    "connection = duckdb.connect(sys.argv[1], read_only=len(sys.argv) > 2)\n"
    "print('open', flush=True)\n"
    "sys.stdin.read()\n"
)
# The first schema as released; a store of this shape must stay upgradable.
OLDEST = ("001_traces",)


@pytest.fixture
def holder(state):
    """Start a process that holds the store open until it is told to end."""
    with Store(state).write():
        pass
    held = []

    def hold(*extra: str) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(state / "traces.duckdb"), *extra],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        held.append(process)
        assert process.stdout.readline() == "open\n"
        return process

    yield hold
    for process in held:
        process.stdin.close()
        process.stdout.close()
        process.wait()


def schema(connection: duckdb.DuckDBPyConnection) -> list[tuple]:
    return (
        connection.execute(
            "select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns "
            "where table_name <> 'schema_migrations' order by table_name, ordinal_position"
        ).fetchall()
        + connection.execute(
            "select view_name, sql, null, null, null from duckdb_views() where not internal order by 1"
        ).fetchall()
    )


def test_blank_and_oldest_store_migrate_to_the_same_schema(state) -> None:
    with duckdb.connect(str(state / "traces.duckdb")) as connection:
        connection.execute(
            "create table schema_migrations "
            "(name varchar primary key, digest varchar not null, applied_at timestamp not null)"
        )
        for change in sqlfiles.migrations():
            if change.name in OLDEST:
                connection.execute(change.text)
                connection.execute(
                    "insert into schema_migrations values (?, ?, now()::timestamp)", [change.name, ""]
                )
    with Store(state).read() as old, empty() as blank:
        assert schema(old) == schema(blank)
        applied = [row[0] for row in old.execute("select name from schema_migrations order by 1").fetchall()]
        assert applied == [change.name for change in sqlfiles.migrations()]


def test_failing_migration_leaves_the_store_as_it_was(monkeypatch) -> None:
    with duckdb.connect() as connection:
        changes = (
            Migration("001_good", "create table good (a integer)", "x"),
            Migration("002_half", "create table half (a integer); create table good (b integer)", "y"),
        )
        monkeypatch.setattr(sqlfiles, "migrations", lambda: changes)
        with pytest.raises(
            StoreError, match=r"schema change 002_half failed \(.*good.*\); the store is as before it"
        ):
            migrate(connection)
        tables = [
            row[0]
            for row in connection.execute("select table_name from duckdb_tables() order by 1").fetchall()
        ]
        assert tables == ["good", "schema_migrations"]


def test_migrations_are_applied_by_name_not_by_highest_number(monkeypatch) -> None:
    """A file with a lower number that arrives later is applied all the same."""
    with duckdb.connect() as connection:
        late, early = (
            Migration("100_b", "create table b (x integer)", ""),
            Migration("002_a", "create table a (x integer)", ""),
        )
        monkeypatch.setattr(sqlfiles, "migrations", lambda: (late,))
        assert migrate(connection) == ["100_b"]
        monkeypatch.setattr(sqlfiles, "migrations", lambda: (early, late))
        assert migrate(connection) == ["002_a"]
        assert migrate(connection) == []


def test_traces_table_has_every_field_of_the_record() -> None:
    with empty() as connection:
        columns = [row[0] for row in connection.execute("describe traces").fetchall()]
    assert columns == [*Trace.__slots__, "extra", "ingested_at"]


def test_store_is_made_in_a_format_that_older_duckdb_reads(state) -> None:
    with Store(state).write() as connection:
        tags = connection.execute(
            "select tags from duckdb_databases() where database_name = 'traces'"
        ).fetchone()[0]
    assert tags["storage_version"].startswith("v1.2.0")


@pytest.mark.parametrize(
    "content", [b"", b"SQLite format 3\0" + b"\0" * 100, b"hello", b"\0" * 8 + b"DUCK" + b"\0" * 20]
)
def test_foreign_file_is_refused_in_one_sentence_and_kept(state, content) -> None:
    path = state / "traces.duckdb"
    path.write_bytes(content)
    journal = Journal(state / "journal")
    journal.append(make_trace())
    for attempt in (
        lambda: drain(state),
        lambda: Store(state).read().__enter__(),
        lambda: Store(state).compact(),
    ):
        with pytest.raises(
            StoreError, match=r"traces\.duckdb .*move it away and a new store is begun$"
        ) as caught:
            attempt()
        assert "\n" not in str(caught.value)
    assert path.read_bytes() == content
    path.unlink()
    journal.close()
    assert drain(state).inserted == 1


def test_folder_or_sqlite_in_the_stores_place_is_refused(state) -> None:
    (state / "traces.duckdb").mkdir()
    with pytest.raises(StoreError, match=r"can't be read \(Is a directory\)"), Store(state).write():
        pass
    other = state / "other.duckdb"
    with sqlite3.connect(other) as connection:
        connection.execute("create table t (a)")
    connection.close()
    with pytest.raises(StoreError, match="is no DuckDB file"), Store(other).read():
        pass


def test_newer_file_is_refused_with_both_versions(state, monkeypatch) -> None:
    with Store(state).write():
        pass

    def refuse(*_args, **_kwargs):
        raise duckdb.IOException(
            "IO Error: Trying to read a database file with version number 99, but we can only read 64"
        )

    monkeypatch.setattr(duckdb, "connect", refuse)
    with pytest.raises(
        StoreError, match=rf"made by a newer DuckDB than this one \({duckdb.__version__}\): .*number 99"
    ):
        Store(state).read().__enter__()


def test_missing_store_reads_as_empty_and_is_not_made(state) -> None:
    with Store(state).read() as connection:
        assert connection.execute("select count(*) from traces_v").fetchone() == (0,)
    assert list(state.iterdir()) == []


def test_locked_store_names_its_holder(state, holder) -> None:
    process = holder()
    with pytest.raises(StoreLocked, match=rf"is open in python\S* \(process {process.pid}\); close it there"):
        Store(state, wait_s=0.05).read().__enter__()
    assert drain(state, wait_s=0.0).locked is False, "nothing to drain, nothing to wait for"
    Journal(state / "journal").append(make_trace())
    assert drain(state, wait_s=0.05).locked is True


def test_reader_elsewhere_delays_a_writer_only(state, holder) -> None:
    holder("read")
    with Store(state, wait_s=0.05).read() as connection:
        assert connection.execute("select count(*) from traces").fetchone() == (0,)
    with pytest.raises(StoreLocked):
        Store(state, wait_s=0.05).write().__enter__()


def test_waiting_ends_when_the_holder_lets_go(state, holder) -> None:
    process = holder()
    releaser = threading.Timer(0.1, process.stdin.close)
    releaser.start()
    with Store(state, wait_s=30).write() as connection:
        assert connection.execute("select count(*) from traces").fetchone() == (0,)
    releaser.join()


def test_two_threads_take_turns(state) -> None:
    said = []

    def look() -> None:
        with pytest.raises(StoreLocked) as caught:
            Store(state, wait_s=0.0).read().__enter__()
        said.append(str(caught.value))

    with Store(state).write():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert "another thread of this process" in said[0]


def test_own_connection_of_the_process_is_reported(state) -> None:
    with Store(state).write():
        pass
    with (
        duckdb.connect(str(state / "traces.duckdb"), read_only=True),
        pytest.raises(StoreLocked, match="open in this process"),
    ):
        Store(state, wait_s=0.0).write().__enter__()


def test_first_store_of_many_processes_is_one(state) -> None:
    code = (
        "import sys\n"
        "from lackpy.traces.store import Store\n"
        "with Store(sys.argv[1], wait_s=60).write() as connection:\n"
        "    for _ in range(20):\n"
        "        connection.execute(\"insert into feedback select uuid(), 't', now(), 'good', '', now()\")\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(state)]) for _ in range(4)]
    assert [process.wait(timeout=120) for process in running] == [0] * 4
    with Store(state).read() as connection:
        assert connection.execute("select count(*) from feedback").fetchone() == (80,)
    assert [p.name for p in state.iterdir()] == ["traces.duckdb"]


def test_snapshot_keeps_nobody_from_writing(state) -> None:
    with Store(state).write() as connection:
        connection.execute(
            "insert into feedback values ('f', 't', now()::timestamp, 'good', '', now()::timestamp)"
        )
    with Store(state).snapshot() as looked, Store(state, wait_s=0.0).write() as connection:
        connection.execute("delete from feedback")
        assert looked.execute("select count(*) from feedback").fetchone() == (1,)


def test_compact_keeps_rows_order_and_schema(state) -> None:
    with Store(state).write() as connection:
        connection.execute(
            "insert into feedback select i::varchar, 't', now()::timestamp, 'good', repeat(md5(i::varchar), 4), "
            "now()::timestamp from range(60000) as r(i)"
        )
        connection.execute("checkpoint")
        connection.execute("delete from feedback where rowid > 100")
        before = schema(connection)
    bytes_before, bytes_after = Store(state).compact()
    assert bytes_after < bytes_before
    assert (state / "traces.duckdb").stat().st_size == bytes_after
    with Store(state).read() as connection:
        assert schema(connection) == before
        rows = connection.execute("select rowid, feedback_id from feedback order by rowid").fetchall()
    assert rows == [(i, str(i)) for i in range(101)]
    assert [p.name for p in state.iterdir()] == ["traces.duckdb"]
    assert Store(state / "none").compact() == (0, 0)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("/w", "/w/.lackpy/traces.duckdb"),
        ("/w/.lackpy", "/w/.lackpy/traces.duckdb"),
        ("/w/x.duckdb", "/w/x.duckdb"),
        (Path("/w/x.duckdb"), "/w/x.duckdb"),
        ("duckdb:/t/team.duckdb", "/t/team.duckdb"),
        ("duckdb:team.duckdb", "team.duckdb"),
    ],
)
def test_address_names_a_file(where, expected) -> None:
    assert resolve(where).as_posix() == expected


def test_relative_address_starts_from_its_base(state) -> None:
    assert Store("duckdb:team.duckdb", base=state).path == state / "team.duckdb"
    assert Store("duckdb:/abs/team.duckdb", base=state).path == Path("/abs/team.duckdb")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("ducklake:postgres:dbname=x", "needs DuckDB's ducklake extension"),
        ("postgres://x", "is of no known kind; write 'duckdb:PATH'"),
    ],
)
def test_unusable_address_is_one_sentence(where, message) -> None:
    with pytest.raises(StoreError, match=message):
        Store(where)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_child_has_free_locks(state) -> None:
    code = (
        "import os, sys\n"
        "from lackpy.traces.store import Store\n"
        "with Store(sys.argv[1])._turn():\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        with Store(sys.argv[1], wait_s=0.5)._turn(): os._exit(0)\n"
        "    assert os.waitpid(pid, 0)[1] == 0\n"
    )
    subprocess.run([sys.executable, "-c", code, str(state)], check=True, timeout=60)


def test_times_come_back_as_utc_without_a_zone_package(state) -> None:
    with Store(state).read() as connection:
        kinds = connection.execute(
            "select distinct data_type from information_schema.columns where data_type like 'TIMESTAMP%'"
        ).fetchall()
    assert kinds == [("TIMESTAMP",)]
