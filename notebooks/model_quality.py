import marimo

app = marimo.App(width="medium", app_title="Model-tier quality")


@app.cell
def _():
    import os

    import altair as alt
    import marimo as mo

    from riggs import charts
    from riggs.analytics import model, plain_rows
    from riggs.store import Store

    return Store, alt, charts, mo, model, os, plain_rows


@app.cell
def _(Store, model, os):
    # Read at once, then closed.
    store = Store(os.environ.get("LACKPY_WORKSPACE", "."))
    daily = model(store, "model_quality_daily")
    latency = model(store, "latency_by_tier")
    return daily, latency


@app.cell
def _(daily, mo):
    mo.md(
        f"# Model tiers\n\n{sum(r['calls'] for r in daily):,} calls reached a model."
        if daily
        else "# Model tiers\n\nNo call has reached a model in this workspace: either templates and callers served all of "
        "them, or no model tier is set up (`lackpy doctor`)."
    )
    return


@app.cell
def _(alt, charts, daily, latency, mo, plain_rows):
    quality = (
        alt.Chart(
            alt.Data(values=plain_rows(daily)),
            width=640,
            height=240,
            title="Programs that ran to their value",
        )
        .mark_line(point=True)
        .encode(
            x=alt.X("day:T", title="day (UTC)"),
            y=alt.Y(
                "success_rate:Q",
                title="success rate",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%"),
            ),
            color=alt.Color("model:N", scale=alt.Scale(range=["#0072B2", "#E69F00", "#009E73", "#D55E00"])),
            tooltip=["day:T", "model:N", "calls:Q", alt.Tooltip("success_rate:Q", format=".0%")],
        )
    )
    mo.vstack([quality, charts.latency(latency)]) if daily else None
    return


if __name__ == "__main__":
    app.run()
