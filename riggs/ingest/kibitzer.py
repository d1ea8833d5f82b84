"""What kibitzer saw of an outer agent's calls: its event store, its interception log, its current state.

Reads `.kibitzer/store.sqlite` (read-only), `.kibitzer/intercept.log` and `.kibitzer/state.json`. Its hooks run outside
the agent, so a call's outcome is observed; a program generator's own report is self-reported.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riggs.errors import SourceError
from riggs.ingest import lines, shapes
from riggs.ingest.source import Batch, Cursor, Outcome, Problem, Provenance, Turn

NAME = "kibitzer"
BATCH_ROWS = 5000
_COLUMNS = (
    "id",
    "timestamp",
    "session_id",
    "event_type",
    "tool_name",
    "tool_input",
    "success",
    "mode",
    "data",
    "source",
)
# Event type → kind, outcome when the event itself says it, score category.
_EVENTS: Mapping[str, tuple[str, Outcome | None, str]] = {
    "tool_call": ("call", None, ""),
    "denial": ("call", Outcome.DENIED, "denied"),
    "floor_block": ("call", Outcome.DENIED, "floor-block"),
    "generation": ("generation", None, ""),
    "mode_switch": ("mode", Outcome.UNKNOWN, "mode-switch"),
    "shell_command": ("shell", Outcome.UNKNOWN, ""),
    "error": ("kibitzer", Outcome.UNKNOWN, "kibitzer-error"),
}


@dataclass(frozen=True, slots=True)
class Kibitzer:
    """kibitzer's files of one workspace."""

    workspace: Path

    @property
    def name(self) -> str:
        """Return the source's name."""
        return NAME

    @property
    def _folder(self) -> Path:
        return self.workspace / ".kibitzer"

    def absent(self) -> str | None:
        """Return why there is nothing to read."""
        if not self._folder.is_dir():
            return "no .kibitzer/ here; 'kibitzer init' makes one"
        present = [
            name for name in ("store.sqlite", "intercept.log", "state.json") if (self._folder / name).exists()
        ]
        return None if present else ".kibitzer/ holds no store, log or state yet"

    def read(self, cursors: Mapping[str, Cursor]) -> Iterator[Batch]:
        """Yield new events, new interceptions, and the state when it changed.

        Raises:
            SourceError: The store can't be read.
        """
        if (self._folder / "intercept.log").exists():
            yield from self._log(cursors.get("intercept.log"))
        if (self._folder / "state.json").exists():
            yield from self._state(cursors.get("state.json"))
        if (self._folder / "store.sqlite").exists():
            yield from self._events(cursors.get("store.sqlite"))

    def _events(self, cursor: Cursor | None) -> Iterator[Batch]:
        path = self._folder / "store.sqlite"
        try:
            with closing(_connect(path)) as con:
                born = con.execute("select id, timestamp from events order by id limit 1").fetchone()
                birth = hashlib.sha256(repr(born).encode()).hexdigest()[:16]
                known = cursor or {}
                fresh = known.get("birth") != birth
                last = 0 if fresh else int(known.get("id", 0))
                notes = ("replaced: read again from the start",) if cursor and fresh and born else ()
                names = {row[1] for row in con.execute("pragma table_info(events)")}
                picked = ", ".join(name if name in names else f"null as {name}" for name in _COLUMNS)
                query = f"select {picked} from events where id > ? order by id limit ?"  # noqa: S608  # fixed names
                while rows := con.execute(query, (last, BATCH_ROWS)).fetchall():
                    last = rows[-1][0]
                    yield self._batch(rows, birth, last, notes)
                    notes = ()
        except sqlite3.Error as exc:
            raise SourceError(f"{path} can't be read ({exc}); is another program changing it?") from exc

    def _batch(self, rows: list[tuple[Any, ...]], birth: str, last: int, notes: tuple[str, ...]) -> Batch:
        turns: list[Turn] = []
        problems: list[Problem] = []
        for row in rows:
            event = dict(zip(_COLUMNS, row, strict=True))
            turn = self._turn(event, birth)
            if turn is None:
                problems.append(Problem(int(event["id"]), "event without a type"))
            else:
                turns.append(turn)
        cursor = {"birth": birth, "id": last}
        return Batch("store.sqlite", tuple(turns), cursor, (), tuple(problems), len(rows), notes)

    def _turn(self, event: Mapping[str, Any], birth: str) -> Turn | None:
        kind_of_event = event["event_type"]
        if not isinstance(kind_of_event, str) or not kind_of_event:
            return None
        kind, outcome, category = _EVENTS.get(kind_of_event, (kind_of_event, Outcome.UNKNOWN, ""))
        arguments, data = _object(event["tool_input"]), _object(event["data"])
        tool = str(event["tool_name"] or "")
        if kind == "call" and outcome is None:
            kind = shapes.call_kind(tool, _command(arguments))
        own_report = kind_of_event == "generation"
        return Turn(
            turn_id=f"{NAME}:{birth}:{event['id']}",
            source=NAME,
            session_id=str(event["session_id"] or ""),
            ts=shapes.parse_utc(event["timestamp"]),
            project=self.workspace.name,
            kind=kind,
            tool="" if own_report else tool,
            outcome=shapes.outcome_of(event["success"]) if outcome is None else outcome,
            category=category,
            provenance=Provenance.SELF_REPORTED if own_report else Provenance.OBSERVED,
            intent=_optional(data.get("intent")) or (_command(data) if kind == "shell" else None),
            program=_optional(data.get("program")),
            detail={"args": shapes.cut(arguments), "mode": event["mode"], "by": event["source"]},
            result=shapes.cut(data),
        )

    def _log(self, cursor: Cursor | None) -> Iterator[Batch]:
        path = self._folder / "intercept.log"
        offset, note = lines.resume(path, cursor)
        turns: list[Turn] = []
        problems: list[Problem] = []
        read, end = 0, offset
        for line in lines.read_lines(path, offset):
            read, end = read + 1, line.end
            if line.record is None:
                problems.append(line.as_problem())
            else:
                turns.append(self._intercepted(line.record, line.start))
        if read or note:
            notes = (note,) if note else ()
            where = lines.cursor_at(path, end)
            yield Batch("intercept.log", tuple(turns), where, (), tuple(problems), read, notes)

    def _intercepted(self, record: Mapping[str, Any], position: int) -> Turn:
        text = json.dumps(record, sort_keys=True, ensure_ascii=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return Turn(
            turn_id=f"{NAME}:intercept:{digest}" + ("" if "timestamp" in record else f":{position}"),
            source=NAME,
            session_id="",
            ts=shapes.parse_utc(record.get("timestamp")),
            project=self.workspace.name,
            kind="intercept",
            tool="Bash",
            category="intercepted",
            detail={"args": {"command": shapes.cut(record.get("bash_command"))}},
            result=shapes.cut({k: record.get(k) for k in ("suggested_tool", "reason", "plugin")}),
        )

    def _state(self, cursor: Cursor | None) -> Iterator[Batch]:
        path = self._folder / "state.json"
        raw = path.read_bytes()
        digest = hashlib.sha256(raw).hexdigest()[:32]
        if (cursor or {}).get("digest") == digest:
            return
        try:
            state = json.loads(raw.decode("utf-8", "replace") or "{}")
        except (ValueError, RecursionError):
            state = None
        if not isinstance(state, dict):
            yield Batch("state.json", (), {"digest": digest}, (), (Problem(0, "not a JSON object"),), 1)
            return
        turn = Turn(
            turn_id=f"{NAME}:state:{digest}",
            source=NAME,
            session_id=str(state.get("session_id") or ""),
            ts=shapes.from_epoch(path.stat().st_mtime),
            project=self.workspace.name,
            kind="state",
            tool="",
            category="state",
            detail=shapes.cut({k: state.get(k) for k in _STATE_KEYS if k in state}),
        )
        yield Batch("state.json", (turn,), {"digest": digest}, read=1)


_STATE_KEYS = (
    "mode",
    "previous_mode",
    "total_calls",
    "success_count",
    "failure_count",
    "consecutive_failures",
    "turns_in_mode",
    "mode_switches",
    "edits_since_test",
)


def _connect(path: Path) -> sqlite3.Connection:
    """Open read-only; a store in write-ahead mode whose folder can't be written is read as it stands on disk."""
    uri = path.resolve().as_uri()
    con = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=5)
    con.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        con.execute("select 1 from events limit 1")
    except sqlite3.OperationalError:
        con.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        con = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, timeout=5)
        con.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return con


def _object(text: Any) -> dict[str, Any]:
    """Read a JSON object; the first 500 characters of one, as kibitzer keeps of long inputs, become `{"head": …}`."""
    if not isinstance(text, str) or not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"head": text}
    return value if isinstance(value, dict) else {"value": value}


def _command(arguments: Mapping[str, Any]) -> str:
    value = arguments.get("command") or arguments.get("head") or ""
    return value if isinstance(value, str) else ""


def _optional(value: Any) -> str | None:
    return value[: shapes.INTENT_CHARS] if isinstance(value, str) and value else None
