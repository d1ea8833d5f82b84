"""What people ask of the traces: list, show, follow, count.

Drains first; what a locked store keeps back is answered from the journal.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lackpy import sqlfiles
from lackpy.errors import LackpyError
from lackpy.traces.drain import TRACE_COLUMNS, drain, parse_record, pending_segments, read_pending
from lackpy.traces.store import Store, StoreLocked

LOCKED_WAIT_S = 1.0
TAIL_START = 10
_JSON_COLUMNS = ("params", "slots", "attempts", "calls", "extra")
_VERDICT = ("feedback", "feedback_note")
_LISTED = (
    "trace_id", "ts", "session_id", "intent", "kit", "tier", "provider", "template", "program", "success",
    "error_kind", "error", "total_ms", "feedback",
)  # fmt: skip

Rows = list[dict[str, Any]]


def list_traces(
    workspace: Path,
    *,
    limit: int = 20,
    session: str | None = None,
    tier: str | None = None,
    failed: bool = False,
    store: Store | None = None,
    on_partial: Callable[[str], None] | None = None,
) -> Rows:
    """Return the newest traces, newest first.

    Args:
        workspace: Folder with a `.lackpy` folder; without one there are no traces.
        limit: How many at most.
        session: Only this session.
        tier: Only this tier.
        failed: Only calls that failed.
        store: Where the traces are; the workspace's own file when absent.
        on_partial: Called with a sentence when the store is locked and only the journal could be read.

    Raises:
        StoreError: The store file can't be used.
    """
    values = {"limit": limit, "session": session, "tier": tier, "failed": failed}
    filters = {key: value for key, value in (("session_id", session), ("tier", tier)) if value is not None}

    def wanted(row: Mapping[str, Any]) -> bool:
        return all(row.get(k) == v for k, v in filters.items()) and not (failed and row.get("success"))

    rows = _query(workspace, "store/traces_newest", values, wanted, store, on_partial)
    return [{key: row[key] for key in _LISTED} for row in rows[:limit]]


def get_trace(workspace: Path, trace_id: str, *, store: Store | None = None) -> dict[str, Any] | None:
    """Return one whole trace by id, or by a unique prefix or suffix of at least four characters.

    Raises:
        LackpyError: The part is too short or names several traces.
        StoreError: The store file can't be used.
    """
    if len(trace_id) < 4:
        raise LackpyError(f"'{trace_id}' is too short for a trace id; give at least four characters")

    def wanted(row: Mapping[str, Any]) -> bool:
        return str(row["trace_id"]).startswith(trace_id) or str(row["trace_id"]).endswith(trace_id)

    rows = _query(workspace, "store/traces_by_id", {"part": trace_id}, wanted, store)
    found = [row for row in rows if row["trace_id"] == trace_id] or rows
    if len(found) > 1:
        raise LackpyError(f"'{trace_id}' names {len(found)} traces; give more of the id")
    return found[0] if found else None


def count_traces(workspace: Path, *, store: Store | None = None) -> int:
    """Return how many traces the store and the journal hold.

    Raises:
        StoreError: The store file is locked or can't be used.
    """
    state = workspace / ".lackpy"
    target = store or Store(state, wait_s=LOCKED_WAIT_S)
    drain(state, target)
    with target.read() as connection:
        row = connection.execute(sqlfiles.statement("store/counts")).fetchone()
    return int(row[0]) if row else 0


def tail_traces(
    workspace: Path, *, follow: bool = True, poll_s: float = 0.25, store: Store | None = None
) -> Iterator[dict[str, Any]]:
    """Yield traces in the order they are written: the last ten, then, with `follow`, each new one.

    Reads the journal, and the store only after a drain changed it.

    Raises:
        StoreError: The store file can't be used.
    """
    state = workspace / ".lackpy"
    target = store or Store(state, wait_s=LOCKED_WAIT_S)
    seen: dict[str, None] = {}
    offsets: dict[str, int] = {}
    changed = _changed_at(target)
    rows = list_traces(workspace, limit=TAIL_START, store=target)[::-1]
    before = (
        {row["trace_id"] for row in list_traces(workspace, limit=1_000, store=target)} if follow else set()
    )
    seen.update(dict.fromkeys(before))
    while True:
        for row in rows:
            seen[row["trace_id"]] = None
            yield row
        if not follow:
            return
        time.sleep(poll_s)
        found = [r for r in _fresh(state, offsets) if r["kind"] == "trace"]
        if (now := _changed_at(target)) != changed:
            changed = now
            found += list_traces(workspace, limit=200, store=target)[::-1]
        new = {
            r["trace_id"]: {key: r.get(key) for key in _LISTED} for r in found if r["trace_id"] not in seen
        }
        rows = sorted(new.values(), key=lambda row: (row["ts"], row["trace_id"]))
        for key in list(seen)[:-10_000]:
            del seen[key]


def _fresh(state: Path, offsets: dict[str, int]) -> Rows:
    """Return the journal's records after `offsets`, and move those on."""
    records = []
    for segment in pending_segments(state / "journal"):
        try:
            with segment.open("rb") as file:
                file.seek(offsets.get(segment.name, 0))
                chunk = file.read()
        except OSError:
            continue  # drained and deleted meanwhile
        end = chunk.rfind(b"\n") + 1
        offsets[segment.name] = offsets.get(segment.name, 0) + end
        for line in chunk[:end].split(b"\n"):
            record = parse_record(line)
            if isinstance(record, dict):
                records.append(record)
    return records


def _changed_at(store: Store) -> int:
    try:
        return store.path.stat().st_mtime_ns
    except OSError:
        return 0


def _query(
    workspace: Path,
    name: str,
    values: Mapping[str, Any],
    wanted: Callable[[Mapping[str, Any]], bool],
    store: Store | None,
    on_partial: Callable[[str], None] | None = None,
) -> Rows:
    """Run a shipped query over the drained store; what a locked store keeps back is answered from the journal."""
    state = workspace / ".lackpy"
    target = store or Store(state, wait_s=LOCKED_WAIT_S)
    if not target.exists and not pending_segments(state / "journal"):
        return []
    locked = drain(state, target).locked
    found: Rows = []
    try:
        with target.read() as connection:
            cursor = connection.execute(sqlfiles.statement(name), values)
            names = [column[0] for column in cursor.description or ()]
            found = [_row(dict(zip(names, row, strict=True))) for row in cursor.fetchall()]
    except StoreLocked as exc:
        locked = True
        if on_partial is not None:
            on_partial(f"only traces that still wait in the journal are shown: {exc}")
    if locked:
        found = _with_pending(found, read_pending(state), wanted)
    return found


def _with_pending(found: Rows, pending: Rows, wanted: Callable[[Mapping[str, Any]], bool]) -> Rows:
    known = {row["trace_id"] for row in found}
    verdicts = {r["trace_id"]: r for r in pending if r["kind"] == "feedback"}
    rows = {row["trace_id"]: row for row in found}
    for record in pending:
        if record["kind"] == "trace" and record["trace_id"] not in known and wanted(record):
            rows[record["trace_id"]] = {**dict.fromkeys((*TRACE_COLUMNS, *_VERDICT)), **record}
    for trace_id, verdict in verdicts.items():
        if trace_id in rows:
            rows[trace_id] |= {"feedback": verdict["verdict"], "feedback_note": verdict.get("note")}
    return sorted(rows.values(), key=lambda row: (row["ts"], row["trace_id"]), reverse=True)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    for key in ("ts", "ingested_at"):
        row[key] = row[key].isoformat(timespec="microseconds") + "Z"
    for key in _JSON_COLUMNS:
        if isinstance(row[key], str):
            row[key] = json.loads(row[key])
    return row
