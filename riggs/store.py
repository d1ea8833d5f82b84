"""riggs' side of the store: normal forms and counts derived from traces, incrementally, and what is read of them.

Opens the store for one task at a time. `sync` is the only writer here; promotion writes decisions in `riggs.promote`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy import sqlfiles
from lackpy.config import trace_store
from lackpy.errors import LackpyError
from lackpy.traces.drain import drain
from riggs.learn import Observation, group_id
from riggs.normalise import NORMALISER_VERSION, normalise
from riggs.thresholds import Thresholds

if TYPE_CHECKING:
    import duckdb

BATCH = 20_000
_FORM_COLUMNS: Mapping[str, str] = {
    "norm_id": "UHUGEINT",
    "intent": "VARCHAR",
    "program": "VARCHAR",
    "kit": "VARCHAR",
    "normaliser_version": "INTEGER",
    "intent_normalized": "VARCHAR",
    "program_template": "VARCHAR",
    "program_canonical": "VARCHAR",
    "slots": "JSON",
    "group_id": "VARCHAR",
    "problem": "VARCHAR",
}


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did: journal records read, forms normalised, traces counted, and problems met."""

    drained: int
    normalised: int
    counted: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """One program group that passed the thresholds; counts over unserved valid attempts."""

    group_id: str
    kit: str
    program_template: str
    attempts: int
    successes: int
    failures: int
    sessions: int
    success_rate: float
    wilson_low: float


class Store:
    """A workspace's store as riggs reads it.

    Args:
        workspace: Folder with a `.lackpy` folder.
        wait_s: Seconds to wait for another process to let go of the store.

    Raises:
        LackpyError: `workspace` isn't a folder.
    """

    def __init__(self, workspace: str | Path = ".", *, wait_s: float = 10.0) -> None:
        """Resolve the workspace; nothing is opened."""
        self.workspace = Path(workspace).resolve()
        if not self.workspace.is_dir():
            raise LackpyError(f"workspace '{workspace}' is not a folder")
        self.state_dir = self.workspace / ".lackpy"
        self.traces = trace_store(self.workspace, wait_s=wait_s)

    def read(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """Open for reading."""
        return self.traces.read()

    def write(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """Open for writing."""
        return self.traces.write()

    def sync(self) -> SyncReport:
        """Drain the journal, normalise what is new, bring the rollup up to date; a second call does no work.

        Raises:
            StoreError: The store is locked or can't be used.
        """
        drained = drain(self.state_dir, self.traces)
        with self.write() as connection:
            done = normalise_new(connection)
            counted = roll_up(connection)
        return SyncReport(drained.inserted, done, counted, tuple(drained.problems))

    def groups(self, thresholds: Thresholds, *, cold: bool = False) -> list[Group]:
        """Return the groups that pass; `cold` counts all traces instead of reading the rollup."""
        text = sqlfiles.statement("candidates" if cold else "candidates_rollup")
        values = {
            "frequency": thresholds.frequency,
            "sessions": thresholds.sessions,
            "success_rate": thresholds.success_rate,
        }
        with self.read() as connection:
            return [Group(*row) for row in connection.execute(text, values).fetchall()]

    def observations(self, *, keep: int = 20) -> list[Observation]:
        """Return what the learner reads; of requests alike but for slot values, `keep` stand for all."""
        with self.read() as connection:
            rows = connection.execute(sqlfiles.statement("ratchet/observations"), {"keep": keep}).fetchall()
        return [
            Observation(
                intent=intent,
                program=program,
                kit=kit,
                successes=int(successes),
                failures=int(failures),
                bad=int(bad),
                sessions=frozenset(sessions or ()),
                seconds=model_ms / 1000.0,
                cost_usd=cost_usd,
            )
            for intent, program, kit, successes, failures, bad, sessions, model_ms, cost_usd in rows
        ]

    def rows(self, query: str, values: Mapping[str, Any] | Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return a query's rows as dictionaries."""
        with self.read() as connection:
            cursor = connection.execute(query, values)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def normalise_new(connection: duckdb.DuckDBPyConnection) -> int:
    """Normalise requests that have no normal form, and all of them after a new normaliser version; return how many."""
    stale = connection.execute(
        "select norm_id, intent, program, kit from normalised where normaliser_version <> ?",
        [NORMALISER_VERSION],
    ).fetchall()
    fresh = connection.execute(
        sqlfiles.statement("ratchet/forms_new"), {"seen": _seen(connection)[0]}
    ).fetchall()
    if stale:
        connection.execute("delete from normalised where normaliser_version <> ?", [NORMALISER_VERSION])
    todo = [*stale, *fresh]
    for start in range(0, len(todo), BATCH):
        _insert_forms(connection, [_form(*row) for row in todo[start : start + BATCH]])
    if stale:
        _refresh_groups(connection, None, [])
    return len(todo)


def _form(norm_id: int, intent: str, program: str, kit: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "norm_id": str(norm_id),
        "intent": intent,
        "program": program,
        "kit": kit,
        "normaliser_version": NORMALISER_VERSION,
    }
    try:
        found = normalise(intent, program)
    except (LackpyError, ValueError, SyntaxError, RecursionError) as exc:
        return {**row, "problem": str(exc)}
    return {
        **row,
        "intent_normalized": found.intent_normalized,
        "program_template": found.program_template,
        "program_canonical": found.program_canonical,
        "slots": [{"name": s.name, "type": s.type, "value": s.value} for s in found.slots],
        "group_id": group_id(kit, found.program_template),
    }


def _insert_forms(connection: duckdb.DuckDBPyConnection, rows: Iterable[Mapping[str, Any]]) -> None:
    columns = ", ".join(f"{name}: '{kind}'" for name, kind in _FORM_COLUMNS.items())
    names = ", ".join(_FORM_COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forms.ndjson"
        with path.open("w", encoding="ascii") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        connection.execute(
            f"insert or replace into normalised by name select {names} from read_json(?, "  # noqa: S608  # our columns
            f"format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = 16000000)",
            [str(path)],
        )


def roll_up(connection: duckdb.DuckDBPyConnection) -> int:
    """Count traces since the last time, and again those of requests that got feedback since; return how many traces."""
    seen, feedback_seen = _seen(connection)
    total = _count(connection, "traces")
    feedback = _count(connection, "feedback")
    if total < seen or feedback < feedback_seen:  # the store was rebuilt
        connection.execute("delete from rollup")
        seen = feedback_seen = 0
    if total == seen and feedback == feedback_seen:
        return 0
    connection.execute("begin")
    try:
        judged = _judged(connection, feedback_seen) if seen else []
        if judged:
            connection.execute("delete from rollup where list_contains(?, norm_id::varchar)", [judged])
            _insert_counts(connection, 0, seen, judged)
        before = _next_rowid(connection)
        _insert_counts(connection, seen, total, None)
        _refresh_groups(connection, None if not seen else before, judged)
        connection.execute("update rollup_state set traces_seen = ?, feedback_seen = ?", [total, feedback])
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")
    return total - seen


def _judged(connection: duckdb.DuckDBPyConnection, feedback_seen: int) -> list[str]:
    """Return the normal forms whose traces got feedback since."""
    rows = connection.execute(
        "select distinct n.norm_id::varchar from feedback as f inner join traces as t on t.trace_id = f.trace_id "
        "inner join normalised as n on n.intent = t.intent and n.program = t.program and n.kit = t.kit "
        "where f.rowid >= ?",
        [feedback_seen],
    ).fetchall()
    return [row[0] for row in rows]


def _insert_counts(
    connection: duckdb.DuckDBPyConnection, seen: int, until: int, norm_ids: list[str] | None
) -> None:
    connection.execute(
        "insert into rollup " + sqlfiles.statement("ratchet/rollup_rows"),
        {"seen": seen, "until": until, "norm_ids": norm_ids},
    )


def _refresh_groups(connection: duckdb.DuckDBPyConnection, before: int | None, judged: list[str]) -> None:
    """Count touched groups anew: those of rollup rows added after `before` and of `judged`; all when it is `None`."""
    groups: list[str] | None = None
    if before is None:
        connection.execute("delete from group_counts")
    else:
        rows = connection.execute(
            "select distinct n.group_id from normalised as n where n.group_id is not null and "
            "(n.norm_id in (select norm_id from rollup where rowid >= ?) or list_contains(?, n.norm_id::varchar))",
            [before, judged],
        ).fetchall()
        groups = [row[0] for row in rows]
        connection.execute("delete from group_counts where list_contains(?, group_id)", [groups])
    connection.execute(
        "insert into group_counts " + sqlfiles.statement("ratchet/group_rows"), {"group_ids": groups}
    )


def _seen(connection: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    row = connection.execute("select traces_seen, feedback_seen from rollup_state").fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def _next_rowid(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute("select coalesce(max(rowid) + 1, 0) from rollup").fetchone()
    return int(row[0]) if row else 0


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    row = connection.execute(f"select count(*) from {sqlfiles.quote_identifier(table)}").fetchone()  # noqa: S608
    return int(row[0]) if row else 0
