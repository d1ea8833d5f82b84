"""Charts of the analytics models, colour-blind safe, as Altair specifications and as PNG or SVG.

Colours: Okabe and Ito's palette. Every chart says what its axes are and in which unit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riggs.analytics import plain_rows

if TYPE_CHECKING:
    from pathlib import Path

Rows = Sequence[Mapping[str, Any]]
TIERS = {
    "0": "templates",
    "1": "rules",
    "2": "local model",
    "3": "API model",
    "caller": "caller's program",
    "none": "nobody",
}
_LEGEND = {"orient": "bottom"}
PALETTE = {
    "templates": "#0072B2",
    "rules": "#56B4E9",
    "local model": "#E69F00",
    "API model": "#D55E00",
    "caller's program": "#009E73",
    "nobody": "#999999",
}


def _data(rows: Rows) -> Any:
    import altair as alt  # noqa: PLC0415  # optional extra

    data: Any = alt.Data  # untyped in the library
    return data(values=plain_rows([dict(row) for row in rows]))


def convergence(rows: Rows, *, width: int = 640, height: int = 260) -> Any:
    """Template-served share by day with the one-half line; `rows` of `analytics/template_share_daily`."""
    import altair as alt  # noqa: PLC0415

    base = alt.Chart(_data(rows), width=width, height=height, title="Calls that needed no model")
    x = alt.X("day:T", title="day (UTC)")
    line = base.mark_line(color=PALETTE["templates"], strokeWidth=2.5, point=True).encode(
        x=x,
        y=alt.Y(
            "share:Q",
            title="template-served share of calls",
            scale=alt.Scale(domain=[0, 1]),
            axis=alt.Axis(format="%"),
        ),
        tooltip=["day:T", "calls:Q", "served:Q", alt.Tooltip("share:Q", format=".0%"), "wrong:Q"],
    )
    half = alt.Chart(_data([{"share": 0.5}])).mark_rule(strokeDash=[4, 4], color="#666").encode(y="share:Q")
    return alt.layer(line, half)


def simulated(rows: Rows, *, width: int = 640, height: int = 260) -> Any:
    """Median share by simulated day with its range over seeds; `rows` of `riggs.simulate.curve`."""
    import altair as alt  # noqa: PLC0415

    base = alt.Chart(
        _data(rows),
        width=width,
        height=height,
        title="Calls that needed no model: median and range over seeds",
    )
    scale, axis = alt.Scale(domain=[0, 1]), alt.Axis(format="%")
    band = base.mark_area(opacity=0.25, color=PALETTE["templates"]).encode(
        x=alt.X("day:Q", title="day"),
        y=alt.Y("low:Q", scale=scale, axis=axis, title="template-served share of calls"),
        y2="high:Q",
    )
    line = base.mark_line(color=PALETTE["templates"], strokeWidth=2.5).encode(
        x="day:Q", y=alt.Y("median:Q", scale=scale)
    )
    half = alt.Chart(_data([{"share": 0.5}])).mark_rule(strokeDash=[4, 4], color="#666").encode(y="share:Q")
    return alt.layer(band, line, half)


def tier_shares(rows: Rows, *, width: int = 640, height: int = 260) -> Any:
    """Who served, by day; `rows` of `analytics/tier_share_daily`."""
    import altair as alt  # noqa: PLC0415

    named = [{**row, "by": TIERS.get(str(row["tier"]), str(row["tier"]))} for row in rows]
    return (
        alt.Chart(_data(named), width=width, height=height, title="Who wrote the program")
        .mark_bar()
        .encode(
            x=alt.X("day:T", title="day (UTC)"),
            y=alt.Y("calls:Q", stack="normalize", title="share of calls", axis=alt.Axis(format="%")),
            color=alt.Color(
                "by:N",
                title="served by",
                legend=_LEGEND,
                scale=alt.Scale(domain=list(PALETTE), range=list(PALETTE.values())),
            ),
            tooltip=["day:T", "by:N", "calls:Q", alt.Tooltip("share:Q", format=".0%")],
        )
    )


def long_tail(rows: Rows, *, width: int = 640, height: int = 260) -> Any:
    """Calls by request rank, both axes logarithmic; `rows` of `analytics/long_tail`."""
    import altair as alt  # noqa: PLC0415

    return (
        alt.Chart(_data(rows), width=width, height=height, title="Requests by how often they come")
        .mark_circle(size=45)
        .encode(
            x=alt.X("rank:Q", scale=alt.Scale(type="log"), title="rank of the request (1 = most frequent)"),
            y=alt.Y("calls:Q", scale=alt.Scale(type="log"), title="calls"),
            color=alt.Color(
                "is_top_fifth:N",
                legend=_LEGEND,
                title="first 20 % of requests",
                scale=alt.Scale(domain=[True, False], range=["#0072B2", "#E69F00"]),
            ),
            tooltip=[
                "rank:Q",
                "request:N",
                "calls:Q",
                "served:Q",
                alt.Tooltip("cumulative_share:Q", format=".0%"),
            ],
        )
    )


def latency(rows: Rows, *, width: int = 640, height: int = 180) -> Any:
    """Median and 95th percentile of a call by tier; `rows` of `analytics/latency_by_tier`."""
    import altair as alt  # noqa: PLC0415

    named = [{**row, "by": TIERS.get(str(row["tier"]), str(row["tier"]))} for row in rows if row["median_ms"]]
    base = alt.Chart(_data(named), width=width, height=height, title="How long a call takes").encode(
        y=alt.Y("by:N", title=None, sort=list(PALETTE))
    )
    scale = alt.Scale(type="log")
    span = base.mark_rule(strokeWidth=2, color="#999").encode(
        x=alt.X(
            "median_ms:Q", scale=scale, title="milliseconds (point: median, line to the 95th percentile)"
        ),
        x2="p95_ms:Q",
    )
    point = base.mark_circle(size=90, color=PALETTE["templates"]).encode(
        x=alt.X("median_ms:Q", scale=scale), tooltip=["by:N", "calls:Q", "median_ms:Q", "p95_ms:Q"]
    )
    return alt.layer(span, point)


def savings(rows: Rows, *, width: int = 640, height: int = 220) -> Any:
    """Model seconds saved and spent by day; `rows` of `analytics/savings_daily`."""
    import altair as alt  # noqa: PLC0415

    long = [
        {"day": row["day"], "seconds": row[key], "what": what}
        for row in rows
        for key, what in (("saved_seconds", "saved"), ("spent_seconds", "spent"))
    ]
    return (
        alt.Chart(_data(long), width=width, height=height, title="Model time")
        .mark_line(point=True)
        .encode(
            x=alt.X("day:T", title="day (UTC)"),
            y=alt.Y("seconds:Q", title="seconds a day"),
            color=alt.Color(
                "what:N",
                title=None,
                legend=_LEGEND,
                scale=alt.Scale(domain=["saved", "spent"], range=["#009E73", "#D55E00"]),
            ),
            strokeDash=alt.StrokeDash("what:N", legend=None),
        )
    )


def svg(chart: Any) -> str:
    """Return a chart as SVG text.

    Raises:
        ImportError: The `notebooks` extra isn't installed.
    """
    import vl_convert  # noqa: PLC0415

    return str(vl_convert.vegalite_to_svg(json.dumps(chart.to_dict())))


def save(chart: Any, path: Path) -> None:
    """Write a chart as .svg or .png (twice the size).

    Raises:
        ValueError: Another ending.
    """
    import vl_convert  # noqa: PLC0415

    if path.suffix == ".svg":
        path.write_text(svg(chart), encoding="utf-8")
    elif path.suffix == ".png":
        path.write_bytes(vl_convert.vegalite_to_png(json.dumps(chart.to_dict()), scale=2))
    else:
        raise ValueError(f"'{path}' must end in .svg or .png")
