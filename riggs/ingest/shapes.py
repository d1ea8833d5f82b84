"""What several sources must agree on: what counts as a test run, how times are read, how long a kept text may be."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from riggs.ingest.source import Outcome

HEAD_CHARS = 2000
"""Characters kept of a result: enough to see which of its values a later call used."""
ARG_CHARS = 1000
"""Characters kept of one argument."""
MAX_ARGS = 20
INTENT_CHARS = 4000

_RUNNERS = re.compile(
    r"(?:^|[\s;&|(])(?:"
    r"(?:\S*/)?(?:py\.test|pytest|tox|nox)\b|"
    r"(?:\S*/)?python[\d.]*\s+-m\s+(?:pytest|unittest)\b|"
    r"(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test\b|"
    r"(?:cargo|go|dotnet|mvn|gradle|\./gradlew|swift|mix|deno|zig\s+build)\s+test\b|"
    r"make\s+(?:\S+\s+)*(?:test|tests|check)\b|"
    r"(?:npx\s+)?(?:jest|vitest|mocha|rspec|phpunit|ctest)\b"
    r")"
)


def call_kind(tool: str, command: str) -> str:
    """Return `tests` for a shell command that runs tests, else `call`."""
    return "tests" if tool in ("Bash", "") and command and _RUNNERS.search(command[:4000]) else "call"


def outcome_of(success: Any) -> Outcome:
    """Return the outcome of a recorded success flag; anything that is no flag is unknown."""
    if success in (True, 1):
        return Outcome.SUCCESS
    return Outcome.FAILURE if success is not None and success in (False, 0) else Outcome.UNKNOWN


def parse_utc(text: Any) -> datetime | None:
    """Read an ISO 8601 time as aware UTC; one without an offset is UTC; anything else is `None`."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def from_epoch(seconds: Any) -> datetime | None:
    """Read UTC seconds since 1970 as aware UTC; anything else is `None`."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def cut(value: Any, chars: int = ARG_CHARS, depth: int = 3) -> Any:
    """Return plain data with long text, long lists and deep nesting cut, so that one record stays small."""
    if isinstance(value, str):
        return value if len(value) <= chars else value[:chars] + "…"
    if isinstance(value, dict):
        if depth <= 0:
            return "{…}"
        return {str(k)[:100]: cut(v, chars, depth - 1) for k, v in list(value.items())[:MAX_ARGS]}
    if isinstance(value, list):
        if depth <= 0:
            return "[…]"
        return [cut(v, chars, depth - 1) for v in value[:MAX_ARGS]]
    return value
