"""kibitzer, blq and jetsam files in every state they can be in, and the round that reads them all."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from lackpy.traces.store import Store
from riggs.errors import RiggsError, SourceError
from riggs.ingest.blq import Blq
from riggs.ingest.jetsam import Jetsam
from riggs.ingest.kibitzer import Kibitzer
from riggs.ingest.registry import NAMES, sources_of
from riggs.ingest.sink import collect
from riggs.ingest.source import Batch, Outcome, Turn

EVENTS = (
    "create table events (id integer primary key autoincrement, timestamp text, session_id text, event_type text, "
    "tool_name text, tool_input text, success integer, mode text, data text, source text)"
)


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    root = tmp_path / "app"
    root.mkdir()
    return root


def read(ws: Path, source):
    (report,) = collect(Store(ws), [source])
    return report


def rows(ws: Path, what: str) -> list[tuple]:
    with Store(ws).read() as con:
        return con.execute(f"select {what} from turns_v order by ts nulls first, turn_id").fetchall()


class Events:
    """kibitzer's store, written as kibitzer writes it."""

    def __init__(self, ws: Path) -> None:
        self.path = ws / ".kibitzer" / "store.sqlite"
        self.path.parent.mkdir()
        self.add()

    def add(self, *events: tuple, schema: str = EVENTS) -> None:
        with closing(sqlite3.connect(self.path)) as con, con:
            con.execute("pragma journal_mode=wal")
            if not con.execute("select 1 from sqlite_master where name = 'events'").fetchone():
                con.execute(schema)
            con.executemany(
                "insert into events (timestamp, session_id, event_type, tool_name, tool_input, success, data) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                events,
            )


def test_kibitzer_events_of_every_kind(ws: Path) -> None:
    """DDB-14: empty strings, cut JSON, trailing text and unknown kinds in a sibling's JSON columns."""
    at = "2026-05-01 10:00:0{}"
    Events(ws).add(
        (at.format(0), "s", "tool_call", "Bash", '{"command": "pytest -q"}', 1, None),
        (at.format(1), "s", "tool_call", "Read", "", 0, ""),
        (at.format(2), "s", "tool_call", "Read", '{"file_path": "a', None, "null"),
        (at.format(3), None, "denial", "Write", "{}", None, '{"reason": "no"} x'),
        (
            at.format(4),
            "s",
            "generation",
            "qwen",
            None,
            1,
            '{"intent": "find x", "program": "grep(1)", "success": true}',
        ),
        (at.format(5), "s", "brand_new", None, None, None, "[1]"),
        (at.format(6), "s", "", None, None, None, None),
        ("not a time", "s", "mode_switch", None, None, None, "{}"),
    )
    report = read(ws, Kibitzer(ws))
    assert (report.read, report.turns, report.problems, report.error) == (8, 7, 1, "")
    assert rows(ws, "category, outcome, provenance, intent") == [
        ("mode-switch", "unknown", "observed", None),
        ("tests-success", "success", "observed", None),
        ("call-failure", "failure", "observed", None),
        ("call-unknown", "unknown", "observed", None),
        ("denied", "denied", "observed", None),
        ("generation-success", "success", "self_reported", "find x"),
        ("brand_new-unknown", "unknown", "observed", None),
    ]
    assert read(ws, Kibitzer(ws)).read == 0


def test_a_new_kibitzer_store_is_read_from_its_start(ws: Path) -> None:
    events = Events(ws)
    events.add(*[("2026-05-01 10:00:00", "s", "tool_call", "Read", "{}", 1, None)] * 3)
    read(ws, Kibitzer(ws))
    for path in events.path.parent.glob("store.sqlite*"):
        path.unlink()
    events.add(("2026-05-02 10:00:00", "s", "tool_call", "Read", "{}", 1, None))
    report = read(ws, Kibitzer(ws))
    assert (report.turns, report.notes) == (1, ("store.sqlite: replaced: read again from the start",))


def test_an_older_kibitzer_store_lacks_columns(ws: Path) -> None:
    events = Events(ws)
    for path in events.path.parent.glob("store.sqlite*"):
        path.unlink()
    events.add(
        ("2026-05-01 10:00:00", "s", "tool_call", "Read", "{}", 1, None),
        schema=EVENTS.replace(", source text", "").replace(", mode text", ""),
    )
    assert read(ws, Kibitzer(ws)).turns == 1


def test_kibitzer_log_and_state(ws: Path) -> None:
    folder = ws / ".kibitzer"
    folder.mkdir()
    assert Kibitzer(ws).absent() == ".kibitzer/ holds no store, log or state yet"
    line = {
        "timestamp": "2026-05-01T12:00:00+02:00",
        "bash_command": "pytest",
        "suggested_tool": "blq run test",
    }
    old = {"bash_command": "grep x"}
    text = "".join(json.dumps(r) + "\n" for r in (line, old, old)) + "{torn"
    (folder / "intercept.log").write_text(text, encoding="utf-8")
    (folder / "state.json").write_text(
        '{"mode": "implement", "session_id": "s", "total_calls": 4}', encoding="utf-8"
    )
    assert read(ws, Kibitzer(ws)).turns == 4
    assert read(ws, Kibitzer(ws)).turns == 0
    assert next(str(ts) for (ts,) in rows(ws, "ts") if ts is not None) == "2026-05-01 10:00:00"
    (folder / "state.json").write_text("{half", encoding="utf-8")
    assert read(ws, Kibitzer(ws)).problems == 1


def test_a_damaged_kibitzer_store_stops_only_itself(ws: Path) -> None:
    folder = ws / ".kibitzer"
    folder.mkdir()
    (folder / "store.sqlite").write_bytes(b"not a database at all" * 100)
    (folder / "state.json").write_text('{"mode": "free"}', encoding="utf-8")
    report = read(ws, Kibitzer(ws))
    assert report.turns == 1
    assert report.error.startswith(f"{folder / 'store.sqlite'} can't be read")


BLQ = """
create table attempts (id uuid, session_id varchar, timestamp timestamp, cmd varchar, source_name varchar,
    source_type varchar, format_hint varchar, git_commit varchar);
create table outcomes (attempt_id uuid, completed_at timestamp, duration_ms bigint, exit_code integer,
    signal integer, timeout boolean);
create table invocations (id uuid, session_id varchar, timestamp timestamp, duration_ms bigint, cmd varchar,
    exit_code integer, format_hint varchar, source_name varchar, source_type varchar, git_commit varchar);
create table events (invocation_id uuid, severity varchar);
"""


class Runs:
    """blq's database with the columns that riggs reads."""

    def __init__(self, ws: Path) -> None:
        self.path = ws / ".bird" / "blq.duckdb"
        self.path.parent.mkdir()
        with duckdb.connect(str(self.path)) as con:
            con.execute(BLQ)

    def attempt(self, number: int, cmd: str, hint: str | None = None) -> str:
        key = f"00000000-0000-4000-8000-{number:012}"
        at = datetime(2026, 5, 1, 10, number)  # noqa: DTZ001  # blq's times are local
        with duckdb.connect(str(self.path)) as con:
            con.execute(
                "insert into attempts values (?, 's', ?, ?, null, 'run', ?, null)", [key, at, cmd, hint]
            )
        return key

    def end(self, key: str, code: int | None, signal: int | None = None, *, timeout: bool = False) -> None:
        with duckdb.connect(str(self.path)) as con:
            con.execute("insert into outcomes values (?, now(), 5, ?, ?, ?)", [key, code, signal, timeout])


def test_blq_runs_end_when_they_end(ws: Path) -> None:
    runs = Runs(ws)
    keys = [
        runs.attempt(n, cmd, hint)
        for n, (cmd, hint) in enumerate([("make", None), ("x", "pytest"), ("sleep", None)])
    ]
    assert read(ws, Blq(ws)).turns == 3
    assert {r[0] for r in rows(ws, "outcome")} == {"unknown"}
    assert read(ws, Blq(ws)).read == 0
    runs.end(keys[0], 0)
    runs.end(keys[1], 1)
    runs.end(keys[2], -9, 9)
    for n, (code, timeout) in enumerate([(None, True), (None, False)], 3):
        runs.end(runs.attempt(n, "go test ./..."), code, timeout=timeout)
    assert read(ws, Blq(ws)).endings == 5
    assert rows(ws, "category, outcome") == [
        ("call-success", "success"),
        ("tests-failure", "failure"),
        ("interrupted", "unknown"),
        ("timeout", "failure"),
        ("abandoned", "unknown"),
    ]


def test_a_blq_database_of_another_shape_is_reported(ws: Path) -> None:
    (ws / ".bird").mkdir()
    with duckdb.connect(str(ws / ".bird" / "blq.duckdb")) as con:
        con.execute("create table something (a integer)")
    report = read(ws, Blq(ws))
    assert "can't be read: Catalog Error" in report.error
    (ws / ".bird" / "blq.duckdb").write_bytes(b"")
    assert "can't be read" in read(ws, Blq(ws)).error


def test_a_path_with_a_quote_is_attached(tmp_path: Path) -> None:
    ws = tmp_path / "it's"
    ws.mkdir()
    Runs(ws).attempt(1, "make")
    assert read(ws, Blq(ws)).turns == 1


def git(ws: Path, *argv: str) -> None:
    name = ("-c", "user.email=a@example.org", "-c", "user.name=A")
    subprocess.run(["git", *name, *argv], cwd=ws, check=True, capture_output=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def plans(ws: Path, tmp_path: Path) -> Path:
    git(ws, "init", "-q")
    folder = tmp_path / "plans"
    folder.mkdir()
    return folder


def plan(folder: Path, ws: Path, name: str, message: str, **fields) -> Path:
    path = folder / f"{name}.json"
    values = {
        "plan_id": name,
        "verb": "save",
        "steps": [{"action": "stage"}, {"action": "commit", "message": message}],
        "params": {"message": message},
        "repo_root": str(ws),
        "created_at": 1_700_000_000.5,
        **fields,
    }
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


def commit(ws: Path, message: str) -> None:
    git(ws, "commit", "-q", "--allow-empty", "-m", message)


def test_a_plan_ends_with_its_commit_and_only_with_it(ws: Path, plans: Path, tmp_path: Path) -> None:
    commit(ws, "before")
    plan(plans, ws, "p_01", "add a")
    plan(plans, ws, "p_02", "add b")
    plan(plans, tmp_path, "p_03", "another repository")
    (plans / "p_04.json").write_text("{half", encoding="utf-8")
    (plans / "p_zz.json").write_text("{}", encoding="utf-8")
    source = Jetsam(ws, plans)
    assert read(ws, source).turns == 3
    (plans / "p_01.json").unlink()
    (plans / "p_02.json").unlink()
    commit(ws, "add a")
    commit(ws, "unplanned")
    git(ws, "reset", "-q", "--soft", "HEAD~1")
    report = read(ws, source)
    assert (report.turns, report.endings, report.problems) == (2, 1, 0)
    found = {tool: [] for (tool,) in rows(ws, "tool")}
    for tool, outcome in rows(ws, "tool, outcome"):
        found[tool].append(outcome)
    assert found["git.commit"] == ["success", "success"]
    assert sorted(found["jetsam.save"]) == ["success", "unknown"]
    assert found["git.reset"] == ["unknown"]
    assert read(ws, source).read == 0


def test_a_repository_that_jetsam_never_touched_yields_nothing(ws: Path, plans: Path) -> None:
    commit(ws, "by hand")
    assert read(ws, Jetsam(ws, plans)).read == 0


def test_a_plan_made_after_the_commit_is_not_settled_by_it(ws: Path, plans: Path) -> None:
    commit(ws, "add a")
    plan(plans, ws, "p_01", "add a", created_at=datetime.now(UTC).timestamp() + 3600)
    assert read(ws, Jetsam(ws, plans)).endings == 0


def test_jetsam_absent(ws: Path, tmp_path: Path) -> None:
    source = Jetsam(ws, tmp_path / "none")
    assert source.absent() == "no .jetsam/ here and no jetsam plan of this user"
    (ws / ".jetsam").mkdir()
    assert source.absent() is None
    assert read(ws, source).error == ""


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"enable": []}, "[sources]: unknown key 'enable'; known: enabled, claude_folder, jetsam_plans"),
        ({"enabled": "blq"}, "[sources]: 'enabled' must be a list of source names (got 'blq')"),
        ({"enabled": ["git"]}, "[sources]: no source 'git'; there are kibitzer, blq, jetsam, claude_code"),
        ({"jetsam_plans": 3}, "[sources]: 'jetsam_plans' must be a folder's path (got 3)"),
    ],
)
def test_bad_configuration_is_one_sentence(ws: Path, section: dict, message: str) -> None:
    with pytest.raises(RiggsError) as caught:
        sources_of(ws, section)
    assert str(caught.value) == message


def test_sources_can_be_chosen(ws: Path) -> None:
    assert [s.name for s in sources_of(ws)] == list(NAMES)
    assert [s.name for s in sources_of(ws, {"enabled": ["claude_code", "blq"]})] == ["blq", "claude_code"]


class Failing:
    """Yields one batch, then fails."""

    name = "failing"

    def absent(self) -> None:
        return None

    def read(self, cursors):
        yield Batch(
            "f",
            (Turn("failing:1", "failing", "s", None, "p", "call", "T", Outcome.SUCCESS),),
            {"at": 1},
            read=1,
        )
        raise SourceError("it is open elsewhere")


def test_a_source_that_fails_keeps_what_it_gave_and_stops_no_other(ws: Path) -> None:
    Events(ws).add(("2026-05-01 10:00:00", "s", "tool_call", "Read", "{}", 1, None))
    first, second = collect(Store(ws), [Failing(), Kibitzer(ws)])
    assert (first.turns, first.error) == (1, "it is open elsewhere")
    assert second.turns == 1


def test_the_round_by_its_command(cli, workspace: Path, tmp_path: Path) -> None:
    """`riggs ingest` reads what is there, names what isn't, and a second time changes nothing."""
    Events(workspace).add(("2026-05-01 10:00:00", "s", "tool_call", "Read", "{}", 1, None))
    env = {
        "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "c"),
    }
    first = cli("riggs", "ingest", "--json", env=env)
    assert first.returncode == 0, first.stderr
    found = {r["source"]: r for r in json.loads(first.stdout)["sources"]}
    assert found["kibitzer"]["turns"] == 1
    assert found["blq"]["absent"] == "no .bird/blq.duckdb here; 'blq init' makes one"
    assert json.loads(first.stdout)["trust"]["rebuilt"] == 3
    second = json.loads(cli("riggs", "ingest", "--json", env=env).stdout)
    assert all(r["turns"] == r["endings"] == 0 for r in second["sources"])
    assert second["trust"] == {"kept": 3, "folded": 0, "rebuilt": 0, "dropped": 0}
    only = cli("riggs", "ingest", "--source", "blq", env=env)
    assert only.stdout.splitlines()[1:] == [
        "source\tread\tturns\tendings\tunreadable\tremark",
        "blq\t0\t0\t0\t0\tskipped: no .bird/blq.duckdb here; 'blq init' makes one",
    ]
