"""Batches into the store: a batch and its cursor in one transaction, each row once, whatever was read twice.

The store is opened for one batch at a time, so that reading a large log keeps no one else waiting. Text is cleaned and
secrets are masked here, in the one place that writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from lackpy import sqlfiles
from lackpy.traces.clean import clean_data, clean_text
from lackpy.traces.mask import mask_data, mask_text
from riggs.errors import SourceError

if TYPE_CHECKING:
    from datetime import datetime

    import duckdb

    from lackpy.traces.store import Store
    from riggs.ingest.source import Batch, Cursor, Ending, Problem, Source, Turn


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What reading one source came to.

    Attributes:
        source: Its name.
        read: Records looked at.
        turns, endings: Rows added.
        problems: Unreadable records added.
        absent: Why there was nothing to read; "" when there was.
        error: Why reading stopped; "" when it didn't.
        notes: `STREAM: what happened to it`.
    """

    source: str
    read: int = 0
    turns: int = 0
    endings: int = 0
    problems: int = 0
    absent: str = ""
    error: str = ""
    notes: tuple[str, ...] = ()


def collect(store: Store, sources: Iterable[Source]) -> list[SourceReport]:
    """Read each source from where it was left; one that is absent or fails doesn't stop the others.

    Raises:
        StoreLocked: Another process kept the store for longer than the store waits; what was read before is kept.
        StoreError: The store can't be used.
    """
    return [_collect_one(store, source) for source in sources]


def _collect_one(store: Store, source: Source) -> SourceReport:
    absent = source.absent()
    if absent is not None:
        return SourceReport(source.name, absent=absent)
    with store.write() as con:
        cursors = read_cursors(con, source.name)
    read = turns = endings = problems = 0
    notes: list[str] = []
    error = ""
    try:
        for batch in source.read(cursors):
            with store.write() as con:
                added = write_batch(con, source.name, batch)
            read += batch.read
            turns, endings, problems = turns + added[0], endings + added[1], problems + added[2]
            notes += [f"{batch.stream}: {note}" for note in batch.notes]
    except (SourceError, OSError) as exc:
        error = str(exc)
    return SourceReport(source.name, read, turns, endings, problems, "", error, tuple(notes))


def read_cursors(con: duckdb.DuckDBPyConnection, source: str) -> dict[str, Cursor]:
    """Return stream → cursor of one source."""
    rows = con.execute(sqlfiles.load("ingest/cursors").text, {"source": source}).fetchall()
    return {stream: json.loads(cursor) for stream, cursor in rows}


def write_batch(con: duckdb.DuckDBPyConnection, source: str, batch: Batch) -> tuple[int, int, int]:
    """Store one batch with its cursor in one transaction; return turns, endings and problems added."""
    con.execute("begin")
    try:
        counts = (
            _add(con, "ingest/add_turns", _turn_columns(batch.turns)),
            _add(con, "ingest/add_endings", _ending_columns(batch.endings)),
            _add(con, "ingest/add_problems", _problem_columns(source, batch.stream, batch.problems)),
        )
        cursor = {"source": source, "stream": batch.stream, "cursor": _json(batch.cursor)}
        con.execute(sqlfiles.load("ingest/set_cursor").text, cursor)
    except BaseException:
        con.execute("rollback")
        raise
    con.execute("commit")
    return counts


def _add(con: duckdb.DuckDBPyConnection, name: str, columns: Mapping[str, Any] | None) -> int:
    if columns is None:
        return 0
    row = con.execute(sqlfiles.load(name).text, columns).fetchone()
    return int(row[0]) if row else 0


def _turn_columns(given: tuple[Turn, ...]) -> dict[str, Any] | None:
    turns = list({turn.turn_id: turn for turn in reversed(given)}.values())[::-1]
    if not turns:
        return None
    return {
        "turn_id": [clean_text(t.turn_id) for t in turns],
        "source": [t.source for t in turns],
        "session_id": [clean_text(t.session_id) for t in turns],
        "ts": [_naive(t.ts) for t in turns],
        "project": [clean_text(t.project) for t in turns],
        "kind": [clean_text(t.kind) for t in turns],
        "tool": [clean_text(t.tool) for t in turns],
        "outcome": [t.outcome.value for t in turns],
        "category": [clean_text(t.category) for t in turns],
        "provenance": [t.provenance.value for t in turns],
        "parent_id": [_text(t.parent_id) for t in turns],
        "is_sidechain": [t.is_sidechain for t in turns],
        "intent": [_text(t.intent) for t in turns],
        "program": [_text(t.program) for t in turns],
        "detail": [_json(t.detail) for t in turns],
        "result": [_json(t.result) for t in turns],
        "ended_at": [_naive(t.ended_at) for t in turns],
    }


def _ending_columns(given: tuple[Ending, ...]) -> dict[str, Any] | None:
    endings = list({one.turn_id: one for one in reversed(given)}.values())[::-1]
    if not endings:
        return None
    return {
        "turn_id": [clean_text(e.turn_id) for e in endings],
        "outcome": [e.outcome.value for e in endings],
        "category": [clean_text(e.category) for e in endings],
        "result": [_json(e.result) for e in endings],
        "ended_at": [_naive(e.ended_at) for e in endings],
    }


def _problem_columns(source: str, stream: str, problems: tuple[Problem, ...]) -> dict[str, Any] | None:
    unique = {problem.position: problem.reason for problem in problems}
    if not unique:
        return None
    return {"source": source, "stream": stream, "position": list(unique), "reason": list(unique.values())}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(
        clean_data(mask_data(dict(value))), ensure_ascii=True, allow_nan=False, separators=(",", ":")
    )


def _text(value: str | None) -> str | None:
    return None if value is None else clean_text(mask_text(value))


def _naive(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)
