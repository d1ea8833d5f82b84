"""Trust windows in the store: kept up to date on new events, rebuilt where history changed behind them.

`refresh` compares each subject's stored windows with its history by a fingerprint. Where nothing changed before the
last event they hold, only the events after it are folded in; a late event, a new verdict on an old trace or another
score table makes the subject's windows anew, so that both ways always agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lackpy import sqlfiles
from riggs.trust import Windows, fold, tail_length
from riggs.trust_config import TrustConfig

if TYPE_CHECKING:
    import duckdb

SCOPES = ("project", "session", "tool", "template")
_ALL = 2**62
_BITS = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class State:
    """One subject's windows as stored."""

    scope: str
    key: str
    windows: Windows
    last_ts: datetime | None
    last_event_id: str = ""
    fingerprint: int = 0


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """What a refresh did: subjects left as they were, folded forward, rebuilt, dropped."""

    kept: int
    folded: int
    rebuilt: int
    dropped: int


def refresh(con: duckdb.DuckDBPyConnection, config: TrustConfig, now: datetime) -> RefreshReport:
    """Bring `trust_state` up to date; `now` is aware UTC, events dated after it are left out until their time."""
    values = {**_values(config, now), "settings": config.settings}
    folded, rebuilt, dropped = set[tuple[str, str]](), defaultdict[str, list[str]](list), []
    kept = 0
    for scope, key, is_kept, is_gone, after in _rows(con, "trust/checks", values):
        if is_gone:
            dropped.append((scope, key))
        elif not is_kept:
            rebuilt[scope].append(key)
        elif after:
            folded.add((scope, key))
        else:
            kept += 1
    states = [state for scope, keys in rebuilt.items() for state in compute(con, config, now, scope, keys)]
    if folded:
        states += _fold_fresh(con, config, now, folded)
    con.execute("begin")
    try:
        for scope, key in dropped:
            con.execute(sqlfiles.load("trust/drop_state").text, {"scope": scope, "key": key})
        _put(con, states, config.settings)
    except BaseException:
        con.execute("rollback")
        raise
    con.execute("commit")
    return RefreshReport(kept, len(folded), sum(map(len, rebuilt.values())), len(dropped))


def compute(
    con: duckdb.DuckDBPyConnection,
    config: TrustConfig,
    now: datetime,
    scope: str | None = None,
    keys: Iterable[str] | None = None,
) -> list[State]:
    """Return windows over the whole history: SQL in closed form, event by event where one is self-reported."""
    values = {
        **_values(config, now),
        "scope": scope,
        "keys": None if keys is None else list(keys),
        "prior": config.prior,
        "immediate": config.immediate,
        "session": config.session,
        "baseline": config.baseline,
    }
    states, capped = [], list[tuple[str, str, State]]()
    for row in _rows(con, "trust/windows", values):
        (
            found_scope,
            key,
            events,
            immediate,
            session,
            baseline,
            last_ts,
            last_id,
            fingerprint,
            self_reported,
        ) = row
        windows = Windows(immediate, session, baseline, events)
        state = State(found_scope, key, windows, last_ts, last_id, fingerprint)
        if self_reported:
            capped.append((found_scope, key, state))
        else:
            states.append(state)
    for found_scope, key, state in capped:
        exact = series(con, config, now, found_scope, key)[-1]
        states.append(State(found_scope, key, exact, state.last_ts, state.last_event_id, state.fingerprint))
    return sorted(states, key=lambda s: (s.scope, s.key))


def series(
    con: duckdb.DuckDBPyConnection,
    config: TrustConfig,
    now: datetime,
    scope: str,
    key: str,
    newest: int | None = None,
) -> list[Windows]:
    """Return a subject's windows after each event, oldest first; with `newest` about that many at the end.

    The events before those are read as far as the start still matters to twelve digits; `events` counts from there.
    """
    wanted = _ALL if newest is None else newest + tail_length(config)
    values = {**_values(config, now), "scope": scope, "keys": [key], "newest": wanted}
    scores = [(score, capped) for _, _, _, score, capped in _rows(con, "trust/events", values)]
    found = fold(scores, config)
    return found if newest is None else found[-newest:]


def timeline(
    con: duckdb.DuckDBPyConnection, config: TrustConfig, now: datetime, scope: str, key: str, newest: int
) -> list[tuple[datetime | None, Windows]]:
    """Return (time of the event, windows after it), oldest first, at most `newest`."""
    values = {
        **_values(config, now),
        "scope": scope,
        "keys": [key],
        "newest": newest + tail_length(config),
    }
    rows = _rows(con, "trust/events", values)
    windows = fold(((score, capped) for _, _, _, score, capped in rows), config)
    return [(row[1], one) for row, one in zip(rows, windows, strict=True)][-newest:]


def states(con: duckdb.DuckDBPyConnection, scope: str) -> list[State]:
    """Return stored windows of a scope, those with most events first."""
    rows = _rows(con, "trust/states", {"scope": scope})
    return [State(scope, key, Windows(i, s, b, events), ts) for key, events, i, s, b, ts in rows]


def _fold_fresh(
    con: duckdb.DuckDBPyConnection, config: TrustConfig, now: datetime, wanted: set[tuple[str, str]]
) -> list[State]:
    start = {(s.scope, s.key): s for s in _stored(con)}
    moved: dict[tuple[str, str], State] = {}
    for scope, key, ts, event_id, score, is_capped, mark in _rows(con, "trust/fresh", _values(config, now)):
        where = (scope, key)
        if where not in wanted:
            continue
        state = moved.get(where) or start[where]
        windows = state.windows.then(score, config, is_capped=is_capped)
        moved[where] = State(scope, key, windows, ts, event_id, (state.fingerprint ^ mark) & _BITS)
    return list(moved.values())


def _stored(con: duckdb.DuckDBPyConnection) -> list[State]:
    rows = _rows(con, "trust/stored", {})
    return [
        State(scope, key, Windows(i, s, b, n), ts, last, mark)
        for scope, key, n, i, s, b, ts, last, mark in rows
    ]


def _put(con: duckdb.DuckDBPyConnection, found: list[State], settings: str) -> None:
    if not found:
        return
    columns = {
        "scope": [s.scope for s in found],
        "key": [s.key for s in found],
        "events": [s.windows.events for s in found],
        "immediate": [s.windows.immediate for s in found],
        "session": [s.windows.session for s in found],
        "baseline": [s.windows.baseline for s in found],
        "last_ts": [s.last_ts for s in found],
        "last_event_id": [s.last_event_id for s in found],
        "fingerprint": [s.fingerprint for s in found],
        "settings": settings,
    }
    con.execute(sqlfiles.load("trust/put_state").text, columns)


def _values(config: TrustConfig, now: datetime) -> dict[str, Any]:
    until = now.astimezone(UTC).replace(tzinfo=None) + timedelta(seconds=config.clock_slack_s)
    return {
        "categories": list(config.scores),
        "scores": list(config.scores.values()),
        "ignored": sorted(config.ignored),
        "until": until,
    }


def _rows(con: duckdb.DuckDBPyConnection, name: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return con.execute(sqlfiles.load(name).text, dict(values)).fetchall()
