"""Builds and test runs that blq captured: `.bird/blq.duckdb`, attached read-only, nothing copied but one row a run.

blq watched the process, so an exit code is observed. A run without an outcome is still going or was given up; it ends
in a later reading. An unchanged file isn't opened again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lackpy import sqlfiles
from riggs.errors import SourceError
from riggs.ingest import shapes
from riggs.ingest.source import Batch, Cursor, Ending, Outcome, Turn

NAME = "blq"
BATCH_ROWS = 5000
_TEST_FORMATS = (
    "pytest",
    "unittest",
    "cargo_test",
    "go_test",
    "jest",
    "vitest",
    "mocha",
    "junit",
    "rspec",
    "tap",
)


@dataclass(frozen=True, slots=True)
class Blq:
    """blq's database of one workspace."""

    workspace: Path

    @property
    def name(self) -> str:
        """Return the source's name."""
        return NAME

    @property
    def _path(self) -> Path:
        return self.workspace / ".bird" / "blq.duckdb"

    def absent(self) -> str | None:
        """Return why there is nothing to read."""
        return None if self._path.is_file() else "no .bird/blq.duckdb here; 'blq init' makes one"

    def read(self, cursors: Mapping[str, Cursor]) -> Iterator[Batch]:
        """Yield every run the database holds when its file changed; runs that are stored already add nothing.

        Raises:
            SourceError: blq has it open for writing, or it can't be read.
        """
        stamp = _stamp(self._path)
        if cursors.get(self._path.name, {}).get("stamp") == stamp:
            return
        for rows in _rows(self._path):
            turns = tuple(self._turn(row) for row in rows)
            endings = tuple(_ending(row) for row in rows if row["is_done"])
            yield Batch(self._path.name, turns, {"stamp": ""}, endings, read=len(rows))
        yield Batch(self._path.name, (), {"stamp": stamp})

    def _turn(self, row: Mapping[str, Any]) -> Turn:
        command = row["cmd"] or ""
        return Turn(
            turn_id=f"{NAME}:{row['id']}",
            source=NAME,
            session_id=row["session_id"] or "",
            ts=_utc(row["started_at"]),
            project=self.workspace.name,
            kind="tests" if row["format_hint"] in _TEST_FORMATS else shapes.call_kind("", command),
            tool=f"blq.{row['source_type'] or 'run'}",
            detail={
                "command": shapes.cut(command),
                "name": row["source_name"],
                "git_commit": row["git_commit"],
            },
        )


def _ending(row: Mapping[str, Any]) -> Ending:
    code = row["exit_code"]
    outcome, category = Outcome.UNKNOWN, "abandoned"
    if row["is_timeout"]:
        outcome, category = Outcome.FAILURE, "timeout"
    elif row["signal"]:
        category = "interrupted"
    elif code is not None:
        outcome, category = (Outcome.SUCCESS if code == 0 else Outcome.FAILURE), ""
    result = {"exit_code": code, "duration_ms": row["duration_ms"], "errors": row["errors"]}
    return Ending(f"{NAME}:{row['id']}", outcome, category, _utc(row["completed_at"]), result)


def _utc(moment: datetime | None) -> datetime | None:
    """Read blq's local time as UTC."""
    return None if moment is None else moment.astimezone(UTC)


def _stamp(path: Path) -> str:
    """Return what changes when the database does."""
    parts = []
    for one in (path, path.with_name(path.name + ".wal")):
        if one.exists():
            info = one.stat()
            parts.append(f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}")
    return " ".join(parts)


def _literal(text: str) -> str:
    """Quote text for `attach`, which takes no bound parameter."""
    return "'" + text.replace("'", "''") + "'"


def _rows(path: Path) -> Iterator[list[dict[str, Any]]]:
    import duckdb  # noqa: PLC0415  # 0.14 s, only paid when there is something to read

    try:
        with duckdb.connect() as con:
            con.execute(f"attach {_literal(str(path))} as blq (read_only)")
            cursor = con.execute(sqlfiles.load("ingest/blq_runs").text)
            names = [column[0] for column in cursor.description or ()]
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield [dict(zip(names, row, strict=True)) for row in rows]
    except duckdb.Error as exc:
        first = str(exc).splitlines()[0]
        if "lock" in first.lower():
            raise SourceError(f"{path} is open in another program; its runs are read next time") from exc
        raise SourceError(f"{path} can't be read: {first}") from exc
