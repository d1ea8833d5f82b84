"""riggs' side of the store: normal forms and counts derived from traces, incrementally, and what is read of them.

Opens the store for one task at a time. `sync` is the only writer here; promotion writes decisions in `riggs.promote`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy import sqlfiles
from lackpy.errors import LackpyError
from lackpy.traces.drain import drain
from lackpy.traces.store import Store as TraceStore
from riggs.normalise import NORMALISER_VERSION, normalise
from riggs.thresholds import Thresholds

if TYPE_CHECKING:
    from datetime import datetime

    import duckdb

BATCH = 20_000
_FORM_COLUMNS: Mapping[str, str] = {
    "norm_id": "HUGEINT",
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


@dataclass(frozen=True, slots=True)
class Observation:
    """One distinct (intent, program, kit) with its counts; `sessions` are those with a success."""

    intent: str
    program: str
    kit: str
    group_id: str | None
    intent_normalized: str | None
    program_template: str | None
    successes: int
    failures: int
    bad: int
    served: int
    sessions: tuple[str, ...]
    model_ms: float
    cost_usd: float
    last_at: datetime


def group_id(kit: str, program_template: str) -> str:
    """Return a group's stable id: 12 hex digits over kit and program template."""
    return sha256(f"{kit}\x1f{program_template}".encode()).hexdigest()[:12]


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
        self.traces = TraceStore(self.state_dir / "traces.duckdb", wait_s=wait_s)

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

    def observations(self) -> list[Observation]:
        """Return every distinct request with its counts."""
        with self.read() as connection:
            rows = connection.execute(sqlfiles.statement("ratchet/observations")).fetchall()
        return [
            Observation(*row[:6], *(int(n) for n in row[6:10]), tuple(row[10] or ()), float(row[11]), float(row[12]), row[13])
            for row in rows
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
        "select norm_id, intent, program, kit from normalised where normaliser_version <> ?", [NORMALISER_VERSION]
    ).fetchall()
    fresh = connection.execute(sqlfiles.statement("ratchet/forms_new"), {"seen": _seen(connection)[0]}).fetchall()
    if stale:
        connection.execute("delete from normalised where normaliser_version <> ?", [NORMALISER_VERSION])
    todo = [*stale, *fresh]
    for start in range(0, len(todo), BATCH):
        _insert_forms(connection, [_form(*row) for row in todo[start : start + BATCH]])
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
        found = normalise(intent, program, kit=kit)
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
        if seen:
            _recount_judged(connection, feedback_seen, seen)
        _insert_counts(connection, seen, total, None)
        connection.execute("update rollup_state set traces_seen = ?, feedback_seen = ?", [total, feedback])
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")
    return total - seen


def _recount_judged(connection: duckdb.DuckDBPyConnection, feedback_seen: int, seen: int) -> None:
    judged = connection.execute(
        "select distinct n.norm_id from feedback as f inner join traces as t on t.trace_id = f.trace_id "
        "inner join normalised as n on n.intent = t.intent and n.program = t.program and n.kit = t.kit "
        "where f.rowid >= ?",
        [feedback_seen],
    ).fetchall()
    if judged:
        ids = [row[0] for row in judged]
        connection.execute("delete from rollup where list_contains(?::hugeint[], norm_id)", [ids])
        _insert_counts(connection, 0, seen, ids)


def _insert_counts(
    connection: duckdb.DuckDBPyConnection, seen: int, until: int, norm_ids: list[int] | None
) -> None:
    connection.execute(
        "insert into rollup " + sqlfiles.statement("ratchet/rollup_rows"),
        {"seen": seen, "until": until, "norm_ids": norm_ids},
    )


def _seen(connection: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    row = connection.execute("select traces_seen, feedback_seen from rollup_state").fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    row = connection.execute(f"select count(*) from {sqlfiles.quote_identifier(table)}").fetchone()  # noqa: S608
    return int(row[0]) if row else 0
