"""What people ask of the traces: list, show, follow, count. Drains first; a locked store is answered from the journal."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lackpy.errors import LackpyError
from lackpy.traces.drain import TRACE_COLUMNS, drain, pending_segments, read_pending
from lackpy.traces.store import Store, StoreLocked

_JSON_COLUMNS = ("params", "slots", "attempts", "calls")
_LISTED = (
    "trace_id", "ts", "session_id", "intent", "kit", "tier", "provider", "template", "program", "success",
    "error_kind", "error", "total_ms",
)  # fmt: skip
LOCKED_WAIT_S = 1.0


def list_traces(
    workspace: Path, *, limit: int = 20, session: str | None = None, tier: str | None = None, failed: bool = False
) -> list[dict[str, Any]]:
    """Return the newest traces, newest first.

    Raises:
        StoreError: The store file can't be used.
    """
    wanted = {"session_id": session, "tier": tier}
    filters = {key: value for key, value in wanted.items() if value is not None}
    return [
        {key: row[key] for key in (*_LISTED, *(("feedback",) if "feedback" in row else ()))}
        for row in _newest(workspace, limit, filters, failed=failed)
    ]


def get_trace(workspace: Path, trace_id: str) -> dict[str, Any] | None:
    """Return one whole trace by id, or by a unique prefix or suffix of at least four characters.

    Raises:
        LackpyError: The part names several traces.
    """
    if len(trace_id) < 4:
        raise LackpyError(f"'{trace_id}' is too short for a trace id; give at least four characters")
    rows = _matching(workspace, trace_id)
    exact = [row for row in rows if row["trace_id"] == trace_id]
    if len(exact or rows) > 1:
        raise LackpyError(f"'{trace_id}' names {len(rows)} traces; give more of the id")
    return (exact or rows or [None])[0]


def count_traces(workspace: Path) -> int:
    """Return how many traces the store and the journal hold.

    Raises:
        StoreError: The store file can't be used.
    """
    if not _has_state(workspace):
        return 0
    drain(workspace / ".lackpy", wait_s=LOCKED_WAIT_S)
    with Store(workspace / ".lackpy", wait_s=LOCKED_WAIT_S).read() as connection:
        row = connection.execute("select count(*) from traces").fetchone()
    return int(row[0]) if row else 0


def tail_traces(workspace: Path, *, follow: bool = True, poll_s: float = 0.25) -> Iterator[dict[str, Any]]:
    """Yield traces in the order they are written: the last ten, then, with `follow`, each new one."""
    seen: set[str] = set()
    for row in reversed(list_traces(workspace, limit=10)):
        seen.add(row["trace_id"])
        yield row
    offsets = {segment: 0 for segment in pending_segments(workspace / ".lackpy" / "journal")}
    while follow:
        for record in _fresh(workspace, offsets):
            if record.get("kind") == "trace" and record.get("trace_id") not in seen:
                seen.add(record["trace_id"])
                yield {key: record.get(key) for key in _LISTED}
        time.sleep(poll_s)


def _fresh(workspace: Path, offsets: dict[Path, int]) -> Iterator[dict[str, Any]]:
    for segment in pending_segments(workspace / ".lackpy" / "journal"):
        try:
            with segment.open("rb") as file:
                file.seek(offsets.get(segment, 0))
                chunk = file.read()
        except OSError:
            continue
        end = chunk.rfind(b"\n") + 1
        offsets[segment] = offsets.get(segment, 0) + end
        for line in chunk[:end].splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record


def _has_state(workspace: Path) -> bool:
    state = workspace / ".lackpy"
    return (state / "traces.duckdb").exists() or bool(pending_segments(state / "journal"))


def _newest(workspace: Path, limit: int, filters: Mapping[str, str], *, failed: bool) -> list[dict[str, Any]]:
    where = [f"{key} = ?" for key in filters] + (["not success"] if failed else [])
    clause = f"where {' and '.join(where)} " if where else ""
    query = f"{_SELECT} {clause}order by ts desc, trace_id desc limit {int(limit)}"
    return _query(
        workspace,
        query,
        list(filters.values()),
        lambda row: all(row.get(k) == v for k, v in filters.items()) and not (failed and row.get("success")),
    )[:limit]


def _matching(workspace: Path, part: str) -> list[dict[str, Any]]:
    query = f"{_SELECT} where starts_with(trace_id, ?) or ends_with(trace_id, ?) limit 100"
    return _query(
        workspace, query, [part, part], lambda row: row["trace_id"].startswith(part) or row["trace_id"].endswith(part)
    )


_SELECT = f"select {', '.join(TRACE_COLUMNS)}, feedback, feedback_note from traces_v"  # noqa: S608  # our own columns


def _query(workspace: Path, query: str, values: list[Any], keep: Any) -> list[dict[str, Any]]:
    """Run a query over the drained store; while another process holds it, answer from the journal alone."""
    if not _has_state(workspace):
        return []
    state = workspace / ".lackpy"
    report = drain(state, wait_s=LOCKED_WAIT_S)
    try:
        with Store(state, wait_s=LOCKED_WAIT_S).read() as connection:
            rows = connection.execute(query, values).fetchall()
    except StoreLocked:
        rows = []
        report.locked = True
    found = [_row(row) for row in rows]
    if report.locked:
        known = {row["trace_id"] for row in found}
        waiting = [r for r in read_pending(state) if r["kind"] == "trace" and r["trace_id"] not in known and keep(r)]
        found += [{**dict.fromkeys(TRACE_COLUMNS), "feedback": None, **r} for r in waiting]
        found.sort(key=lambda row: (row["ts"], row["trace_id"]), reverse=True)
    return found


def _row(values: tuple[Any, ...]) -> dict[str, Any]:
    row = dict(zip((*TRACE_COLUMNS, "feedback", "feedback_note"), values, strict=True))
    row["ts"] = row["ts"].strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    for key in _JSON_COLUMNS:
        if isinstance(row[key], str):
            row[key] = json.loads(row[key])
    return row
