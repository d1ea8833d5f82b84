"""What a source yields: turns with an outcome, in batches that carry the cursor to resume from.

A turn is one step that some tool of the workspace recorded (a tool call, a test run, a commit). Its id is
derived from the source's own key, so that reading a record twice names the same turn. How a step ended may stand
in a later record: then the turn comes first, with an unknown outcome, and an `Ending` with the same id follows,
in this batch or another. Sources read; they never write, and never decide what an outcome is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from datetime import datetime

Cursor = Mapping[str, Any]
"""Where a stream was left, as plain JSON data that only its source understands."""


class Outcome(StrEnum):
    """How a step ended, as far as the record tells."""

    SUCCESS = "success"
    FAILURE = "failure"
    DENIED = "denied"
    UNKNOWN = "unknown"


class Provenance(StrEnum):
    """Who says so."""

    OBSERVED = "observed"
    """A third process saw it: an exit code, a hook, a harness, git."""
    SELF_REPORTED = "self_reported"
    """The one who acted says so; never raises trust."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One step.

    Attributes:
        turn_id: Stable key, `SOURCE:OWN-KEY`.
        source: Source's name.
        session_id: Session as the source names it.
        ts: When it started, aware UTC; `None` = the record doesn't tell.
        project: Workspace folder's name.
        kind: What it was: `call`, `tests`, `commit`, `prompt`, `mode`, …
        tool: Tool's name, "" when no tool was called.
        outcome: How it ended; unknown when an `Ending` is to follow.
        category: Key of the trust score table; "" = `KIND-OUTCOME`, e.g. `tests-failure`.
        provenance: Who says so.
        parent_id: Turn or agent that a side chain belongs to.
        is_sidechain: A helper of the outer agent did it.
        intent: What a person or agent asked for, in words.
        program: Program text, where the record has one.
        detail: What was asked: arguments, command; plain JSON data.
        result: How it ended: exit code, size, first characters; plain JSON data.
        ended_at: When it ended, aware UTC.
    """

    turn_id: str
    source: str
    session_id: str
    ts: datetime | None
    project: str
    kind: str
    tool: str
    outcome: Outcome = Outcome.UNKNOWN
    category: str = ""
    provenance: Provenance = Provenance.OBSERVED
    parent_id: str | None = None
    is_sidechain: bool = False
    intent: str | None = None
    program: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How an earlier turn ended; the first ending of a turn counts.

    Attributes:
        turn_id: The turn's key.
        outcome: Never unknown unless the turn was interrupted.
        category: As in `Turn`; "" = the turn's kind with this outcome.
        ended_at: Aware UTC.
        result: As in `Turn`.
    """

    turn_id: str
    outcome: Outcome
    category: str = ""
    ended_at: datetime | None = None
    result: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that couldn't be read; counted, never fatal.

    Attributes:
        position: Where in the stream: byte offset or record id.
        reason: One clause.
    """

    position: int
    reason: str


@dataclass(frozen=True, slots=True)
class Batch:
    """A piece of one stream; stored together with its cursor or not at all.

    Attributes:
        stream: File or table within the source; cursors and problems are kept a stream.
        turns, endings, problems: What the piece holds.
        cursor: Where to go on from.
        read: Records looked at, bad ones included.
        notes: What happened to the stream, e.g. `rewritten: read again from the start`.
    """

    stream: str
    turns: tuple[Turn, ...]
    cursor: Cursor
    endings: tuple[Ending, ...] = ()
    problems: tuple[Problem, ...] = ()
    read: int = 0
    notes: tuple[str, ...] = ()


class Source(Protocol):
    """Something that recorded what happened in one workspace."""

    @property
    def name(self) -> str:
        """Return the name that turns, cursors and messages carry."""
        ...

    def absent(self) -> str | None:
        """Return why there is nothing to read, one clause; `None` when there is."""
        ...

    def read(self, cursors: Mapping[str, Cursor]) -> Iterator[Batch]:
        """Yield what is new since `cursors` (stream → cursor), in memory bounded by one batch.

        Raises:
            SourceError: It is there but can't be read now (locked, damaged); the sentence says what to do.
        """
        ...
