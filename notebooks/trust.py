import marimo

app = marimo.App(width="medium", app_title="Trust windows")


@app.cell
def _():
    import os
    from datetime import UTC, datetime
    from pathlib import Path

    import altair as alt
    import marimo as mo

    from lackpy import config as configuration
    from riggs.store import Store
    from riggs.trust_config import from_section
    from riggs.trust_store import compute, timeline

    return Path, Store, UTC, alt, compute, configuration, datetime, from_section, mo, os, timeline


@app.cell
def _(Path, Store, UTC, compute, configuration, datetime, from_section, os, timeline):
    # Read at once, then closed: drains and lifecycle changes go on while this is open.
    workspace = Path(os.environ.get("LACKPY_WORKSPACE", "."))
    settings = from_section(configuration.load(workspace).section("trust"))
    now = datetime.now(UTC)
    with Store(workspace).read() as con:
        subjects = [s for s in compute(con, settings, now) if s.scope in ("project", "template", "tool")]
        lines = {
            f"{s.scope}: {s.key}": timeline(con, settings, now, s.scope, s.key, 400) for s in subjects[:60]
        }
    return lines, subjects


@app.cell
def _(lines, mo, subjects):
    chosen = mo.ui.dropdown(options=list(lines), value=next(iter(lines), None), label="whose trust")
    mo.vstack(
        [
            mo.md(
                "# Trust windows\n\nImmediate, session and baseline: exponentially weighted means of outcomes, 0 to 1."
            ),
            mo.ui.table(
                [
                    {
                        "scope": s.scope,
                        "subject": s.key,
                        "events": s.windows.events,
                        "immediate": round(s.windows.immediate, 3),
                        "session": round(s.windows.session, 3),
                        "baseline": round(s.windows.baseline, 3),
                    }
                    for s in subjects
                ],
                selection=None,
            ),
            chosen,
        ]
    ) if lines else mo.md("# Trust windows\n\nNo outcomes are recorded in this workspace yet.")
    return (chosen,)


@app.cell
def _(alt, chosen, lines, mo):
    rows = [
        {"event": n, "value": getattr(w, name), "window": name}
        for n, (_, w) in enumerate(lines.get(chosen.value, []), 1)
        for name in ("immediate", "session", "baseline")
    ]
    chart = (
        alt.Chart(alt.Data(values=rows), width=640, height=280, title=chosen.value or "")
        .mark_line()
        .encode(
            x=alt.X("event:Q", title="event, oldest first"),
            y=alt.Y("value:Q", title="trust, 0 to 1", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "window:N",
                scale=alt.Scale(
                    domain=["immediate", "session", "baseline"], range=["#E69F00", "#56B4E9", "#0072B2"]
                ),
            ),
            strokeDash=alt.StrokeDash("window:N", legend=None),
        )
    )
    mo.vstack([chart]) if rows else None
    return


if __name__ == "__main__":
    app.run()
