"""One self-contained page: figures, charts as inline SVG, tables. Nothing is fetched when it is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import jinja2

from lackpy import resources
from riggs import charts
from riggs.analytics import model

if TYPE_CHECKING:
    from pathlib import Path

    from riggs.store import Store

TAIL_ROWS = 15
CHARTS = (
    (
        "Convergence",
        "template_share_daily",
        charts.convergence,
        "Share of each day's calls that a template served.",
    ),
    ("Who served", "tier_share_daily", charts.tier_shares, "Every call, by who wrote its program."),
    ("Long tail", "long_tail", charts.long_tail, "A few requests come often; the model is for the rest."),
    ("Latency", "latency_by_tier", charts.latency, "A template answers in milliseconds, a model in seconds."),
    (
        "Savings",
        "savings_daily",
        charts.savings,
        "Each template-served call is taken to cost a median model call.",
    ),
)


def gather(store: Store) -> dict[str, Any]:
    """Return what the page shows, read in one go."""
    rows = {name: model(store, name) for _, name, _, _ in CHARTS}
    return {
        "project": store.workspace.name,
        "crossover": model(store, "crossover")[0],
        "rows": rows,
        "templates": model(store, "template_serves"),
        "wrong": model(store, "wrong_serves"),
        "gaps": model(store, "gaps"),
    }


def html(store: Store, *, now: datetime | None = None) -> str:
    """Return the page.

    Args:
        store: A synced store.
        now: Written on the page.
    """
    found = gather(store)
    calls = int(found["crossover"]["calls"] or 0)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(resources.text("data/report/report.html.j2")).render(
        project=found["project"],
        made_at=(now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M"),
        calls=calls,
        figures=_figures(found) if calls else [],
        charts=_charts(found["rows"]) if calls else [],
        tables=_tables(found),
    )


def _charts(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[tuple[str, str, str]]:
    return [(title, text, charts.svg(draw(rows[name]))) for title, name, draw, text in CHARTS if rows[name]]


def _figures(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    crossover = found["crossover"]
    savings = found["rows"]["savings_daily"]
    number = crossover["crossover_number"]
    return [
        ("calls", f"{int(crossover['calls']):,}"),
        ("template-served, last ten days", f"{crossover['steady_share'] or 0:.0%}"),
        ("crossover", f"day {number}" if number else "not yet"),
        ("wrong serves", str(len(found["wrong"]))),
        ("model time saved", f"{sum(r['saved_seconds'] for r in savings) / 60:.1f} min"),
        ("money saved", f"${sum(r['saved_usd'] for r in savings):.2f}"),
    ]


def _tables(found: Mapping[str, Any]) -> list[tuple[str, tuple[str, ...], list[list[Any]]]]:
    return [
        (
            "Templates",
            ("template", "served", "failed or bad", "median ms"),
            [
                [r["template"], r["served"], r["failures"], round(r["median_ms"], 1)]
                for r in found["templates"]
            ],
        ),
        (
            "Most frequent requests",
            ("request", "calls", "template-served"),
            [[r["request"], r["calls"], r["served"]] for r in found["rows"]["long_tail"][:TAIL_ROWS]],
        ),
        (
            "Gaps: requests that no tier served",
            ("request", "calls", "sessions"),
            [[r["request"], r["calls"], r["sessions"]] for r in found["gaps"][:TAIL_ROWS]],
        ),
        (
            "Wrong serves",
            ("intent", "template", "reason"),
            [[r["intent"], r["template"], r["reason"] or ""] for r in found["wrong"][:TAIL_ROWS]],
        ),
    ]


def save_charts(store: Store, folder: Path, endings: Sequence[str] = (".svg", ".png")) -> list[Path]:
    """Write each chart as files; return them."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for title, name, draw, _ in CHARTS:
        rows = model(store, name)
        for ending in endings if rows else ():
            path = folder / f"{title.lower().replace(' ', '-')}{ending}"
            charts.save(draw(rows), path)
            written.append(path)
    return written
