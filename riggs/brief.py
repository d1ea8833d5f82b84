"""One screen: what changed since last time, trust and its direction, what waits for a decision, what is in trouble.

Gathers lines of words out of the store and the candidates; two Jinja2 files lay them out as text or Markdown. The
moment of the last project brief is kept, so that the next one starts there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import jinja2

from lackpy import config as configuration
from lackpy import resources, sqlfiles
from riggs.candidates import Status, review
from riggs.observe import trust_config_of
from riggs.trust import ARROWS, direction, recommend
from riggs.trust_store import refresh, series, states

if TYPE_CHECKING:
    import duckdb

    from riggs.candidates import Review
    from riggs.store import Store
    from riggs.trust_config import TrustConfig

MOST = 5
"""Lines of one kind, so that the whole stays one screen."""
WORDS = 100
"""Longest line, characters."""
FIRST_SPAN = timedelta(days=7)
"""What the first brief looks back on."""
_EVER = datetime(1, 1, 1)  # noqa: DTZ001  # the store's times are naive UTC


@dataclass(frozen=True, slots=True)
class Brief:
    """One brief, as lines of words and as data.

    Attributes:
        title, span: What it is about, and which time.
        is_project: It is about the project, with candidates and templates.
        calls_line, saved_line, seen_lines, trust_line, tool_lines: What happened, and how far to trust it.
        waiting_line, candidate_lines: Candidates that wait for a person.
        template_line, template_lines: Templates out of service or moved.
        data: The same as plain JSON data.
    """

    title: str
    span: str
    is_project: bool
    calls_line: str
    saved_line: str
    seen_lines: tuple[str, ...]
    trust_line: str
    tool_lines: tuple[str, ...]
    waiting_line: str
    candidate_lines: tuple[str, ...]
    template_line: str
    template_lines: tuple[str, ...]
    data: dict[str, Any]


def render(brief: Brief, *, markdown: bool = False) -> str:
    """Return the brief's text."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701  # not HTML
    text = resources.text(f"data/brief/brief.{'md' if markdown else 'txt'}.j2")
    return environment.from_string(text).render(brief=brief)


def project_brief(
    store: Store, now: datetime, *, since: datetime | None = None, keep_mark: bool = False
) -> Brief:
    """Return the brief of the project since the last one.

    Args:
        store: A store that is up to date.
        now: Aware UTC.
        since: Start instead of the last brief, aware UTC.
        keep_mark: Don't move the mark that the next brief starts from.

    Raises:
        StoreError, ConfigError: The store or the configuration can't be used.
    """
    config = trust_config_of(configuration.load(store.workspace))
    name, until = store.workspace.name, _naive(now)
    waiting = review(store, keeps=not keep_mark)
    with store.write() as con:
        refresh(con, config, now)
        mark = con.execute(sqlfiles.load("brief/mark").text, {"project": name}).fetchone()
        start = _naive(since) if since else mark[0] if mark else until - FIRST_SPAN
        spoken = (
            f"since the last brief, {_minute(start)} UTC"
            if mark and not since
            else f"since {_minute(start)} UTC"
        )
        found = _gather(con, config, now, "project", name, start, None)
        troubled = _rows(con, "brief/troubled", {"since": start})
        if not keep_mark:
            con.execute(sqlfiles.load("brief/set_mark").text, {"project": name, "marked_at": until})
    ready = [one for one in waiting if one.status is Status.READY]
    out = [row for row in troubled if row["state"] == "quarantined"]
    return Brief(
        title=f"{name}: project brief",
        span=spoken,
        is_project=True,
        **found,
        waiting_line=_waiting(waiting, len(ready)),
        candidate_lines=_cut_list([_candidate(one) for one in waiting], "riggs candidates"),
        template_line=f"{len(out)} out of service, {sum(row['is_new'] for row in troubled)} moved",
        template_lines=_cut_list([_troubled(row) for row in troubled], "riggs history"),
        data={
            "project": name,
            "since": start.isoformat() + "Z",
            **_data(found),
            "candidates": [one.to_json() for one in waiting],
            "templates": [{**row, "since": row["since"].isoformat() + "Z"} for row in troubled],
        },
    )


def session_brief(store: Store, now: datetime, session: str | None = None) -> Brief | None:
    """Return the brief of one session from its start, by default the newest; `None` when there is none.

    Raises:
        StoreError, ConfigError: The store or the configuration can't be used.
    """
    config = trust_config_of(configuration.load(store.workspace))
    with store.write() as con:
        refresh(con, config, now)
        if session is None:
            newest = con.execute(
                sqlfiles.load("brief/newest_session").text, {"until": _naive(now)}
            ).fetchone()
            if newest is None:
                return None
            session = str(newest[0])
        found = _gather(con, config, now, "session", session, _EVER, session)
    return Brief(
        title=f"{store.workspace.name}: session {session}",
        span="from its start",
        is_project=False,
        **found,
        waiting_line="",
        candidate_lines=(),
        template_line="",
        template_lines=(),
        data={"project": store.workspace.name, "session": session, **_data(found)},
    )


def _gather(
    con: duckdb.DuckDBPyConnection,
    config: TrustConfig,
    now: datetime,
    scope: str,
    key: str,
    start: datetime,
    session: str | None,
) -> dict[str, Any]:
    values = {"since": start, "until": _naive(now), "session": session}
    (calls,) = _rows(con, "brief/calls", values)
    return {
        "calls_line": _calls(calls),
        "saved_line": _saved(calls),
        "seen_lines": tuple(_seen(row) for row in _rows(con, "brief/turns", values)),
        "trust_line": _trust(con, config, now, scope, key),
        "tool_lines": _tools(con, config) if scope == "project" else (),
    }


def _data(found: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def _calls(row: dict[str, Any]) -> str:
    if not row["calls"]:
        return "none"
    parts = [
        f"{row[column]} {word}"
        for column, word in (
            ("by_template", "by template"),
            ("by_rule", "by rule"),
            ("by_model", "by model"),
            ("by_caller", "by the caller's program"),
            ("unserved", "unserved"),
        )
        if row[column]
    ]
    count = row["bad_serves"]
    bad = f"; {count} bad serve{'s' if count > 1 else ''}" if count else ""
    return f"{row['calls']}, {row['good']} good: {', '.join(parts)}{bad}"


def _saved(row: dict[str, Any]) -> str:
    if not row["calls"]:
        return "nothing, without a call"
    return (
        f"{row['saved_seconds']:.1f} s of model time and ${row['saved_usd']:.4f}; "
        f"spent {row['spent_seconds']:.1f} s and ${row['spent_usd']:.4f}"
    )


def _seen(row: dict[str, Any]) -> str:
    counts = [
        f"{row[c]} {w}"
        for c, w in (("successes", "good"), ("failures", "failed"), ("denied", "denied"))
        if row[c]
    ]
    where = f" in {row['sessions']} sessions" if row["sessions"] > 1 else ""
    turns = f"{row['turns']} turn{'' if row['turns'] == 1 else 's'}"
    return f"{row['source']}: {turns}{where}" + (f", {', '.join(counts)}" if counts else "")


def _trust(con: duckdb.DuckDBPyConnection, config: TrustConfig, now: datetime, scope: str, key: str) -> str:
    state = next((s for s in states(con, scope) if s.key == key), None)
    if state is None:
        return "no scored event yet"
    advice = recommend(series(con, config, now, scope, key, 2000), config)
    windows = state.windows
    arrow = ARROWS[direction(windows, config)]
    return (
        f"{windows.session:.2f} {arrow} (immediate {windows.immediate:.2f}, baseline {windows.baseline:.2f}, "
        f"{windows.events} events): {advice.advice}, {advice.reason}"
    )


def _tools(con: duckdb.DuckDBPyConnection, config: TrustConfig) -> tuple[str, ...]:
    """Name the tools that are low or falling; a tool with few events is neither."""
    known = [s for s in states(con, "tool") if s.windows.events >= config.min_events]
    low = [s for s in known if s.windows.session < config.tighten_until]
    low.sort(key=lambda s: (s.windows.session, s.key))
    lines = [f"{s.key} {s.windows.session:.2f} {ARROWS[direction(s.windows, config)]}" for s in low]
    return _cut_list(lines, "riggs trust --tool")


def _waiting(waiting: Sequence[Review], ready: int) -> str:
    if not waiting:
        return "no candidate"
    held = len(waiting) - ready
    return f"{ready} candidate{'' if ready == 1 else 's'} ready to promote" + (
        f", {held} held up" if held else ""
    )


def _candidate(one: Review) -> str:
    evidence = one.candidate.evidence
    why = "" if one.status is Status.READY else f" [{one.status}]"
    rate = f"{evidence.successes} of {evidence.successes + evidence.failures}, {evidence.sessions} sessions"
    return f"{one.id} {one.candidate.pattern.pattern} ({rate}){why}"


def _troubled(row: dict[str, Any]) -> str:
    return f"{row['template']}: {row['state']} since {_minute(row['since'])}, {row['reason']}"


def _cut_list(lines: Sequence[str], more: str) -> tuple[str, ...]:
    shown = [_one_line(line) for line in lines[:MOST]]
    if len(lines) > MOST:
        shown.append(f"… and {len(lines) - MOST} more: {more}")
    return tuple(shown)


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= WORDS else flat[: WORDS - 1] + "…"


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


def _rows(con: duckdb.DuckDBPyConnection, name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    cursor = con.execute(sqlfiles.load(name).text, values)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
