"""Moves journal segments into the store: idempotent by id, resumable by byte offset, never fatal for one line.

Reads only lines that end in a newline, split on the newline byte alone. Each batch of records and the offsets behind it
are one transaction, so a killed drain neither loses nor doubles. A line that is no record is counted, reported with
file and line, and remembered in `journal_problems`; a torn last line is left alone quietly. A segment is deleted when
it is read whole, committed, and its owner is gone. A locked store delays the drain, nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from lackpy import sqlfiles
from lackpy.traces.clean import clean_data, clean_text
from lackpy.traces.ids import id_time, iso_utc, parse_time
from lackpy.traces.journal import SUFFIX, UNBORN_SUFFIX, lock_segment
from lackpy.traces.mask import mask_text
from lackpy.traces.record import Trace
from lackpy.traces.store import Store, StoreLocked

if TYPE_CHECKING:
    import duckdb

MAX_LINE_BYTES = 4_000_000  # no journal of ours writes a quarter of it
BATCH_BYTES = 16_000_000
BATCH_LINES = 10_000
SAMPLE_CHARS = 200
REPORTED_PROBLEMS = 100
STALE_S = 3_600.0  # an unnamed segment this old belongs to a process that died while making it
DUE_SEGMENTS = 64
DUE_BYTES = 4_000_000
_BLOCK_BYTES = 1 << 20
_OPEN_FILES_GO = os.name == "posix"  # elsewhere a file that is open can't be deleted

TRACE_COLUMNS = tuple(f.name for f in fields(Trace))
# Only a line with one of these can hold what needs cleaning: an escaped NUL or surrogate, a number that is none.
_SUSPECT = (b"\\u0000", b"\\ud", b"\\uD", b"NaN", b"Infinity")
_KNOWN = {*TRACE_COLUMNS, "kind", "extra"}


@dataclass(slots=True)
class DrainReport:
    """What a drain did.

    Attributes:
        read: Lines read.
        inserted: Records added to the store.
        known: Records the store had already.
        skipped: Lines that were no records.
        problems: The first of them, as `file:line: reason`.
        torn: Unfinished last lines left behind by processes that are gone.
        deleted: Segments deleted.
        locked: The store was open elsewhere; what was not read waits for the next drain.
    """

    read: int = 0
    inserted: int = 0
    known: int = 0
    skipped: int = 0
    problems: list[str] = field(default_factory=list)
    torn: int = 0
    deleted: int = 0
    locked: bool = False


def drain(state_dir: str | Path, store: Store | None = None, *, wait_s: float = 5.0) -> DrainReport:
    """Bring every complete journal line of `state_dir` into the store.

    Args:
        state_dir: A `.lackpy` folder.
        store: Where to; `state_dir/traces.duckdb` when absent.
        wait_s: Seconds to wait for a store that another process has open.

    Raises:
        StoreError: The store file can't be used at all; the journal stays as it is.
    """
    report = DrainReport()
    folder = Path(state_dir) / "journal"
    if not pending_segments(folder):
        return report
    target = store or Store(Path(state_dir) / "traces.duckdb", wait_s=wait_s)
    try:
        with target.write() as connection:
            _Drain(connection, folder, report).run()
    except StoreLocked:
        report.locked = True
    return report


def drain_due(state_dir: str | Path) -> bool:
    """Tell cheaply, without opening the store, whether the journal has grown enough to be worth a drain."""
    count = size = 0
    for path in pending_segments(Path(state_dir) / "journal"):
        with contextlib.suppress(OSError):
            count, size = count + 1, size + path.stat().st_size
    return count >= DUE_SEGMENTS or size >= DUE_BYTES


def pending_segments(folder: Path) -> list[Path]:
    """Return the journal's segments, oldest first."""
    try:
        return sorted(p for p in folder.iterdir() if p.suffix == SUFFIX)
    except (FileNotFoundError, NotADirectoryError):
        return []


def read_pending(state_dir: str | Path) -> list[dict[str, Any]]:
    """Return every record in the journal, drained or not, without the store: for readers that find it locked."""
    records = []
    for segment in pending_segments(Path(state_dir) / "journal"):
        with contextlib.suppress(OSError), segment.open("rb") as file:
            for _, line, _ in _lines(file):
                record = parse_record(line)
                if isinstance(record, dict):
                    records.append(record)
    return records


def parse_record(line: bytes | None) -> dict[str, Any] | str:
    """Return a line's record, cleaned and with its `kind`, id and UTC time settled; else why it is none."""
    found = _parse(line)
    return found if isinstance(found, str) else found[0]


def _parse(line: bytes | None) -> tuple[dict[str, Any], str | None] | str:
    """Return a line's record and its text when that can be stored as it stands; else why it is no record."""
    if line is None:
        return f"longer than {MAX_LINE_BYTES} bytes"
    text: str | None = line.decode("utf-8", "replace")
    try:
        record = json.loads(text or "")
    except RecursionError:
        return "nested too deep"
    except ValueError:
        return "not JSON"
    if not isinstance(record, dict):
        return "not a JSON object"
    if any(mark in line for mark in _SUSPECT):
        record, text = clean_data(record), None
    trace_id, ts = record.get("trace_id"), record.get("ts")
    if not isinstance(trace_id, str) or not trace_id:
        return "no trace_id"
    kind = record.setdefault("kind", "feedback" if "verdict" in record else "trace")
    if kind not in ("trace", "feedback"):
        return f"unknown kind '{clean_text(str(kind))[:40]}'"
    moment = parse_time(ts) or id_time(trace_id)
    if moment is None:
        return "no time"
    if kind == "feedback" and record.get("verdict") not in ("good", "bad"):
        return "verdict is neither good nor bad"
    record["ts"] = iso_utc(moment)
    return record, text if ts == record["ts"] else None


class _Drain:
    """One pass over the segments with the store open."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, folder: Path, report: DrainReport) -> None:
        self._connection = connection
        self._folder = folder
        self._report = report
        self._cursors: dict[str, tuple[int, int]] = {}
        self._clear()

    def run(self) -> None:
        for name, offset, lines in self._connection.execute(sqlfiles.statement("store/segments")).fetchall():
            self._cursors[name] = (offset, lines)
        finished = [segment for segment in pending_segments(self._folder) if self._read(segment)]
        self._flush()
        for segment in finished:
            self._retire(segment)
        present = [segment.name for segment in pending_segments(self._folder)]
        if set(self._cursors) - set(present):
            self._connection.execute(sqlfiles.statement("store/forget_segments"), {"present": present})
        _remove_unborn(self._folder)

    def _clear(self) -> None:
        self._traces: dict[str, str] = {}
        self._feedback: dict[str, str] = {}
        self._bad: list[tuple[str, int, int, str, str]] = []
        self._moved: dict[str, tuple[int, int]] = {}
        self._bytes = self._count = 0

    def _read(self, segment: Path) -> bool:
        """Collect a segment's new lines; `True` when all of it could be read."""
        offset, number = self._cursors.get(segment.name, (0, 0))
        try:
            with segment.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size < offset:  # put back from a copy: ids keep it from counting twice
                    offset = number = 0
                file.seek(offset)
                for start, line, after in _lines(file, offset):
                    number += 1
                    self._take(segment, number, start, line)
                    self._moved[segment.name] = (after, number)
                    self._bytes += after - start
                    self._count += 1
                    if self._bytes >= BATCH_BYTES or self._count >= BATCH_LINES:
                        self._flush()
        except OSError as exc:
            self._problem(f"{segment}: can't be read ({exc.strerror or exc})")
            return False
        return True

    def _take(self, segment: Path, number: int, start: int, line: bytes | None) -> None:
        self._report.read += 1
        if line is not None and not line.strip(b"\0\r \t"):
            return
        found = _parse(line)
        if isinstance(found, str):
            self._report.skipped += 1
            self._problem(f"{segment}:{number}: {found}")
            sample = clean_text((line or b"")[:SAMPLE_CHARS].decode("utf-8", "replace"))
            self._bad.append((segment.name, number, start, found, mask_text(sample)))
            return
        record, text = found
        if record["kind"] == "feedback":
            given = str(record.get("feedback_id") or "") or hashlib.sha256(line or b"").hexdigest()
            self._feedback.setdefault(given, _json({**record, "feedback_id": given}))
        else:
            if not record.keys() <= _KNOWN:
                record["extra"] = {key: record.pop(key) for key in set(record) - _KNOWN}
                text = None
            self._traces.setdefault(record["trace_id"], text or _json(record))

    def _problem(self, text: str) -> None:
        if len(self._report.problems) < REPORTED_PROBLEMS:
            self._report.problems.append(text)

    def _flush(self) -> None:
        """Write what was collected and the offsets behind it in one transaction."""
        if not self._moved:
            return
        now = datetime.now(UTC).replace(tzinfo=None)
        connection = self._connection
        connection.execute("begin")
        try:
            added = self._insert("store/insert_traces", self._traces, now)
            added += self._insert("store/insert_feedback", self._feedback, now)
            if self._bad:
                names = ("segments", "lines", "offsets", "reasons", "samples")
                columns = dict(zip(names, map(list, zip(*self._bad, strict=True)), strict=True))
                connection.execute(sqlfiles.statement("store/insert_problems"), {**columns, "now": now})
            connection.execute(
                sqlfiles.statement("store/set_segments"),
                {
                    "segments": list(self._moved),
                    "offsets": [offset for offset, _ in self._moved.values()],
                    "lines": [lines for _, lines in self._moved.values()],
                },
            )
            connection.execute("commit")
        except BaseException:
            connection.execute("rollback")
            raise
        self._report.inserted += added
        self._report.known += len(self._traces) + len(self._feedback) - added
        self._cursors.update(self._moved)
        self._clear()

    def _insert(self, name: str, lines: dict[str, str], now: datetime) -> int:
        if not lines:
            return 0
        values = {"lines": list(lines.values()), "now": now}
        row = self._connection.execute(sqlfiles.statement(name), values).fetchone()
        return int(row[0]) if row else 0

    def _retire(self, segment: Path) -> None:
        """Delete a segment whose owner is gone and whose every whole line is in the store.

        An unfinished last line of a process that is gone was never acknowledged: it goes with its segment.
        """
        offset, _ = self._cursors.get(segment.name, (0, 0))
        try:
            with segment.open("rb") as file:
                if not lock_segment(file.fileno()):
                    return
                file.seek(offset)
                rest = file.read()
                if b"\n" in rest:  # written between the read and its owner's end
                    return
                if _OPEN_FILES_GO:
                    segment.unlink()
            segment.unlink(missing_ok=True)
        except OSError:
            return  # still open there, or not ours to delete; the next drain tries again
        self._report.deleted += 1
        self._report.torn += bool(rest)


def _lines(file: IO[bytes], offset: int = 0) -> Iterator[tuple[int, bytes | None, int]]:
    """Yield each whole line as (first byte, line without newline, byte after it); `None` for one that is too long."""
    start, held, size = offset, list[bytes](), 0
    while block := file.read(_BLOCK_BYTES):
        *whole, rest = block.split(b"\n")
        for piece in whole:
            size += len(piece)
            after = start + size + 1
            yield start, b"".join((*held, piece)) if size <= MAX_LINE_BYTES else None, after
            start, held, size = after, [], 0
        size += len(rest)
        held = [*held, rest] if size <= MAX_LINE_BYTES else []


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _remove_unborn(folder: Path) -> None:
    """Remove segments that a process died over before they had a name; nothing is in them."""
    with contextlib.suppress(OSError):
        for path in folder.glob(f"*{UNBORN_SUFFIX}"):
            if time.time() - path.stat().st_mtime > STALE_S:
                path.unlink()
