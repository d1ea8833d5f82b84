"""The answers themselves, as plain dictionaries that keep the catalogue's schemas. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lackpy import config as configuration
from lackpy.templates.format import Origin
from lackpy.templates.loader import TemplateLibrary
from riggs.analytics import model, plain_rows
from riggs.candidates import Status, review
from riggs.mcp.catalogue import ROWS
from riggs.observe import trust_config_of
from riggs.trust import direction, recommend
from riggs.trust_store import series, states

if TYPE_CHECKING:
    from riggs.store import Store

Arguments = Mapping[str, Any]
EMPTY = "no traces yet: nothing was delegated in this workspace, or its journal is elsewhere"
ADVISED = ("project", "session")
ADVICE_EVENTS = 500
"""Newest events a recommendation is worked out over."""


def candidates(store: Store, arguments: Arguments) -> dict[str, Any]:
    """Return the candidates."""
    found = review(store, rejected=arguments.get("rejected", False), keeps=False)
    note = (
        "" if found else _or_empty(store, "nothing recurs enough yet; see [candidates] in the configuration")
    )
    rows = [one.to_json() for one in found[: arguments.get("limit", ROWS)]]
    return {"candidates": rows, "total": len(found), "note": note}


def trust(store: Store, arguments: Arguments) -> dict[str, Any]:
    """Return a scope's windows."""
    scope = arguments.get("scope", "project")
    config = trust_config_of(configuration.load(store.workspace))
    rows = []
    with store.read() as connection:
        found = states(connection, scope)
        for one in found[: arguments.get("limit", ROWS)]:
            row = {
                "key": one.key,
                "events": one.windows.events,
                "immediate": round(one.windows.immediate, 4),
                "session": round(one.windows.session, 4),
                "baseline": round(one.windows.baseline, 4),
                "direction": direction(one.windows, config).value,
                "last_at": f"{one.last_ts.isoformat()}Z" if one.last_ts else None,
            }
            if scope in ADVISED:
                past = series(connection, config, datetime.now(UTC), scope, one.key, newest=ADVICE_EVENTS)
                advice = recommend(past, config)
                row |= {"advice": advice.advice.value, "reason": advice.reason}
            rows.append(row)
    note = "" if found else _or_empty(store, f"no {scope} has scored events yet")
    return {"scope": scope, "subjects": rows, "total": len(found), "note": note}


def convergence(store: Store, arguments: Arguments) -> dict[str, Any]:
    """Return the curve's newest days, oldest first."""
    days = plain_rows(model(store, "template_share_daily"))
    summary = plain_rows(model(store, "crossover"))
    one = summary[0] if summary else {}
    return {
        "crossover_day": one.get("crossover_day"),
        "crossover_number": one.get("crossover_number"),
        "steady_share": one.get("steady_share"),
        "calls": int(one.get("calls") or 0),
        "days": days[-arguments.get("limit", ROWS) :],
        "total": len(days),
        "note": "" if days else EMPTY,
    }


def templates(store: Store, arguments: Arguments) -> dict[str, Any]:
    """Return templates with how their serves went."""
    config = configuration.load(store.workspace)
    library = TemplateLibrary(
        store.workspace / configuration.STATE_DIR / "templates", starter=config.templates.starter, keeps=False
    )
    try:
        current = library.current()
    finally:
        library.close()
    serves = {row["template"]: row for row in model(store, "template_serves")}
    rows: list[dict[str, Any]] = []
    for name, loaded in sorted(current.templates.items()):
        one, served = loaded.template, serves.get(name, {})
        rows.append(
            {
                "name": name,
                "pattern": one.pattern,
                "kit": one.kit,
                "state": one.state.value,
                "origin": one.origin.value,
                "served": int(served.get("served") or 0),
                "failures": int(served.get("failures") or 0),
                "bad": int(served.get("bad") or 0),
            }
        )
    wanted = arguments.get("state")
    rows = [row for row in rows if wanted in (None, row["state"])]
    rows.sort(key=lambda row: (-row["served"], row["origin"] != Origin.WORKSPACE.value, row["name"]))
    problems = [{"name": p.name, "reason": p.reason} for p in current.problems]
    return {
        "templates": rows[: arguments.get("limit", ROWS)],
        "total": len(rows),
        "problems": problems[:ROWS],
        "note": "" if rows else "no template in that state" if wanted else "no templates are in force",
    }


def briefing(store: Store, _arguments: Arguments) -> dict[str, Any]:
    """Return the state of affairs, composed of the others."""
    curve = convergence(store, {"limit": 1})
    found = review(store, keeps=False)
    ready = [one for one in found if one.status is Status.READY]
    projects = trust(store, {"limit": 1})["subjects"]
    advice = f"{projects[0]['advice']}: {projects[0]['reason']}" if projects else ""
    stopped = templates(store, {"state": "quarantined"})
    gaps = plain_rows(model(store, "gaps"))
    share = curve["steady_share"]
    recent = "none yet" if share is None else f"{share:.0%} over the last ten days"
    lines = [f"{curve['calls']} calls; templates served {recent}"]
    if curve["crossover_day"]:
        lines.append(f"crossover on {curve['crossover_day']} (day {curve['crossover_number']})")
    if advice:
        lines.append(f"trust: {advice}")
    lines.append(f"{len(ready)} of {len(found)} candidates are ready to promote")
    lines += [
        f"  {r.id} {r.candidate.pattern.pattern} ({r.candidate.evidence.successes} ok)" for r in ready[:5]
    ]
    lines += [f"quarantined: {row['name']}" for row in stopped["templates"][:5]]
    lines += [f"nobody served ({gap['calls']}x): {gap['request']}" for gap in gaps[:5]]
    return {
        "text": "\n".join(lines),
        "calls": curve["calls"],
        "steady_share": share,
        "ready": len(ready),
        "advice": advice,
        "note": curve["note"],
    }


ANSWERS = {
    "briefing": briefing,
    "candidates": candidates,
    "trust": trust,
    "convergence": convergence,
    "templates": templates,
}


def _or_empty(store: Store, otherwise: str) -> str:
    """Tell a workspace without traces from one whose traces don't show what was asked for."""
    return otherwise if store.rows("select 1 as one from traces limit 1") else EMPTY
