"""Ids and the wall clock of traces. Durations never come from here: they are measured with the monotonic clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import uuid_utils


def new_id() -> str:
    """Return a UUIDv7 as text: unique across processes, ascending within one, also after a fork."""
    return str(uuid_utils.uuid7())


def utc_now(*, ago_ms: float = 0.0) -> str:
    """Return the time `ago_ms` milliseconds ago, UTC, ISO 8601 with microseconds and `Z`."""
    return iso_utc(datetime.now(UTC) - timedelta(milliseconds=ago_ms))


def iso_utc(moment: datetime) -> str:
    """Return an aware time as ISO 8601 UTC with microseconds and `Z`.

    >>> iso_utc(datetime(2025, 3, 30, 2, 30, tzinfo=UTC))
    '2025-03-30T02:30:00.000000Z'
    """
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def id_time(trace_id: str) -> datetime | None:
    """Return the UTC time inside a UUIDv7, `None` for any other text.

    >>> id_time("01890a5d-ac96-774b-bcce-b302099a8057").year
    2023
    """
    digits = trace_id.replace("-", "")
    try:
        if len(digits) != 32 or digits[12] != "7":
            return None
        return datetime.fromtimestamp(int(digits[:12], 16) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def parse_time(text: object) -> datetime | None:
    """Return an ISO 8601 time as UTC; a time without zone counts as UTC; `None` when it is no time.

    >>> parse_time("2025-01-01T02:00:00+02:00").isoformat()
    '2025-01-01T00:00:00+00:00'
    """
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        return None
