"""Moves journal segments into the store: idempotent by trace id, resumable by byte offset, never fatal for one record.

Reads only lines that end in a newline. A line that isn't a record is counted and reported with its place; a torn last
line waits for the rest of it. A locked store delays the drain, nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy.traces.clean import clean_data
from lackpy.traces.journal import fcntl, lock_segment
from lackpy.traces.store import Store, StoreLocked

if TYPE_CHECKING:
    import duckdb

CHUNK_BYTES = 16_000_000
MAX_LINE_BYTES = 4_000_000
STALE_S = 86_400.0  # where owners can't lock, a segment this old has no owner

TRACE_COLUMNS = {
    "trace_id": "VARCHAR", "ts": "TIMESTAMP", "project": "VARCHAR", "session_id": "VARCHAR", "intent": "VARCHAR",
    "kit": "VARCHAR", "params": "JSON", "tier": "VARCHAR", "provider": "VARCHAR", "model": "VARCHAR",
    "template": "VARCHAR", "slots": "JSON", "program": "VARCHAR", "program_given": "VARCHAR", "attempts": "JSON",
    "valid": "BOOLEAN", "success": "BOOLEAN", "error_kind": "VARCHAR", "error": "VARCHAR", "grade_w": "TINYINT",
    "grade_d": "TINYINT", "calls": "JSON", "output_preview": "VARCHAR", "output_bytes": "BIGINT",
    "printed_bytes": "BIGINT", "executor": "VARCHAR", "gen_ms": "DOUBLE", "validate_ms": "DOUBLE", "run_ms": "DOUBLE",
    "total_ms": "DOUBLE", "tokens_in": "BIGINT", "tokens_out": "BIGINT", "cost_usd": "DOUBLE",
    "lackpy_version": "VARCHAR",
}  # fmt: skip
_FILE_COLUMNS = {"kind": "VARCHAR", **TRACE_COLUMNS, "verdict": "VARCHAR", "note": "VARCHAR"}
_REQUIRED = ("trace_id", "ts")


@dataclass(slots=True)
class DrainReport:
    """What a drain did: records inserted, lines skipped with their places, and whether the store was locked."""

    inserted: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    locked: bool = False


def drain(state_dir: Path, store: Store | None = None, *, wait_s: float = 5.0) -> DrainReport:
    """Bring every complete journal line of `state_dir` into the store.

    Args:
        state_dir: A `.lackpy` folder.
        store: Where to; `state_dir/traces.duckdb` when absent.
        wait_s: Seconds to wait for a store that another process has open.

    Raises:
        StoreError: The store file can't be used at all.
    """
    report = DrainReport()
    folder = state_dir / "journal"
    segments = pending_segments(folder)
    if not segments:
        return report
    target = store or Store(state_dir, wait_s=wait_s)
    try:
        with target.write() as connection:
            for segment in segments:
                _drain_segment(connection, segment, report)
    except StoreLocked:
        report.locked = True
    return report


def pending_segments(folder: Path) -> list[Path]:
    """Return the journal's segments, oldest first."""
    try:
        return sorted(p for p in folder.iterdir() if p.suffix == ".jsonl")
    except (FileNotFoundError, NotADirectoryError):
        return []


def read_pending(state_dir: Path) -> list[dict[str, Any]]:
    """Return every record still in the journal, without touching the store; for readers that find it locked."""
    records = []
    for segment in pending_segments(state_dir / "journal"):
        with contextlib.suppress(OSError):
            for line in segment.read_bytes().split(b"\n")[:-1]:
                record = _parsed(line)
                if record is not None:
                    records.append(record)
    return records


def _drain_segment(connection: duckdb.DuckDBPyConnection, segment: Path, report: DrainReport) -> None:
    row = connection.execute(
        "select offset_bytes from journal_segments where segment = ?", [segment.name]
    ).fetchone()
    offset = int(row[0]) if row else 0
    try:
        with segment.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < offset:
                report.problems.append(f"{segment}: shorter than what was read of it; read again from the start")
                offset = 0
            file.seek(offset)
            while True:
                lines, consumed = _complete_lines(file.read(CHUNK_BYTES), file)
                if not consumed:
                    break
                _store_lines(connection, segment, offset, lines, consumed, report)
                offset += consumed
                file.seek(offset)
            _retire(connection, segment, offset, file.fileno(), size)
    except OSError as exc:
        report.problems.append(f"{segment}: can't be read ({exc.strerror or exc})")


def _complete_lines(chunk: bytes, file: Any) -> tuple[list[bytes], int]:
    """Return the chunk's newline-ended lines and the bytes they take; a line longer than a chunk is read on."""
    while chunk and b"\n" not in chunk:
        more = file.read(CHUNK_BYTES)
        if not more:
            return [], 0
        chunk += more
    end = chunk.rfind(b"\n") + 1
    return chunk[:end].split(b"\n")[:-1], end


def _store_lines(
    connection: duckdb.DuckDBPyConnection,
    segment: Path,
    offset: int,
    lines: list[bytes],
    consumed: int,
    report: DrainReport,
) -> None:
    """Insert one chunk and move the cursor in the same transaction."""
    before = report.inserted, report.skipped, len(report.problems)
    try:
        _transact(connection, segment, offset, consumed, lines, report)
    except _duckdb_error():
        report.inserted, report.skipped = before[:2]
        del report.problems[before[2] :]
        good = _checked_lines(segment, offset, lines, report)
        try:
            _transact(connection, segment, offset, consumed, good, report)
        except _duckdb_error():
            _one_by_one(connection, segment, offset, consumed, good, report)


def _transact(
    connection: duckdb.DuckDBPyConnection,
    segment: Path,
    offset: int,
    consumed: int,
    lines: list[bytes],
    report: DrainReport,
) -> None:
    connection.execute("begin")
    try:
        inserted = _insert(connection, lines)
        connection.execute(
            "insert or replace into journal_segments values (?, ?, ?)",
            [segment.name, offset + consumed, report.skipped],
        )
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")
    report.inserted += inserted


def _one_by_one(
    connection: duckdb.DuckDBPyConnection,
    segment: Path,
    offset: int,
    consumed: int,
    lines: list[bytes],
    report: DrainReport,
) -> None:
    """Last resort: each line in its own transaction, so that only what can't be stored is left out."""
    for line in lines:
        try:
            _transact(connection, segment, offset, 0, [line], report)
        except _duckdb_error() as exc:
            report.skipped += 1
            report.problems.append(f"{segment}: a record can't be stored ({str(exc).splitlines()[0]})")
    _transact(connection, segment, offset, consumed, [], report)


def _insert(connection: duckdb.DuckDBPyConnection, lines: list[bytes]) -> int:
    """Insert the records that the store doesn't hold yet; return how many lines were records."""
    if not lines:
        return 0
    with tempfile.NamedTemporaryFile(suffix=".ndjson", delete=False) as part:
        part.write(b"\n".join(lines) + b"\n")
    try:
        columns = ", ".join(f"{name}: '{kind}'" for name, kind in _FILE_COLUMNS.items())
        names = ", ".join(TRACE_COLUMNS)
        connection.execute(
            "create or replace temp table journal_chunk as select * from read_json(?, format = 'newline_delimited', "
            f"columns = {{{columns}}}, maximum_object_size = 16000000)",  # noqa: S608  # names of our own table
            [part.name],
        )
        broken = connection.execute(
            "select count(*) from journal_chunk where kind is null or trace_id is null or ts is null "
            "or (kind = 'trace' and (valid is null or success is null or session_id is null or intent is null))"
        ).fetchone()
        if broken and broken[0]:
            raise _duckdb_error()("a line is not a record")
        connection.execute(
            f"insert into traces ({names}) select {names} from journal_chunk as c where kind = 'trace' "  # noqa: S608
            "and not exists (select 1 from traces as t where t.trace_id = c.trace_id) "
            "qualify row_number() over (partition by trace_id) = 1"
        )
        connection.execute(
            "insert into feedback select distinct trace_id, ts, verdict, note from journal_chunk as c "
            "where kind = 'feedback' and verdict is not null and not exists "
            "(select 1 from feedback as f where f.trace_id = c.trace_id and f.ts = c.ts and f.verdict = c.verdict)"
        )
        connection.execute("drop table journal_chunk")
    finally:
        with contextlib.suppress(OSError):
            Path(part.name).unlink()
    return len(lines)


def _checked_lines(segment: Path, offset: int, lines: list[bytes], report: DrainReport) -> list[bytes]:
    """Keep the lines that are records, rewritten clean; report the others with their place."""
    good = []
    at = offset
    for line in lines:
        record = _parsed(line)
        if record is not None:
            good.append(json.dumps(record, ensure_ascii=True, allow_nan=False).encode("ascii"))
        elif line.strip(b"\x00\r \t"):
            report.skipped += 1
            report.problems.append(f"{segment}: byte {at}: not a record, skipped")
        at += len(line) + 1
    return good


def _parsed(line: bytes) -> dict[str, Any] | None:
    if not line or len(line) > MAX_LINE_BYTES:
        return None
    try:
        record = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or record.get("kind") not in ("trace", "feedback"):
        return None
    if not all(isinstance(record.get(key), str) and record[key] for key in _REQUIRED):
        return None
    defaults = {"valid": False, "success": False, "session_id": "", "intent": "", "project": "", "kit": ""}
    if record["kind"] == "trace":
        record = {**defaults, **record}
    cleaned: dict[str, Any] = clean_data(record)
    return cleaned


def _retire(connection: duckdb.DuckDBPyConnection, segment: Path, offset: int, fd: int, size: int) -> None:
    """Delete a segment that is read whole and whose process is gone, then forget its cursor.

    A torn last line of a dead process was never acknowledged: it goes with its segment.
    """
    if fcntl is None:
        ownerless = offset == size and time.time() - segment.stat().st_mtime > STALE_S
    else:
        ownerless = lock_segment(fd)
    if ownerless and os.fstat(fd).st_size == size:
        segment.unlink()
        connection.execute("delete from journal_segments where segment = ?", [segment.name])


def _duckdb_error() -> type[Exception]:
    import duckdb  # noqa: PLC0415  # loaded with the store

    return duckdb.Error
