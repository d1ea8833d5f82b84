import marimo

app = marimo.App(width="medium", app_title="Long tail")


@app.cell
def _():
    import os

    import marimo as mo

    from riggs import charts
    from riggs.analytics import model
    from riggs.store import Store

    return Store, charts, mo, model, os


@app.cell
def _(Store, model, os):
    # Read at once, then closed.
    store = Store(os.environ.get("LACKPY_WORKSPACE", "."))
    tail = model(store, "long_tail")
    gaps = model(store, "gaps")
    return gaps, tail


@app.cell
def _(mo, tail):
    top = [row for row in tail if row["is_top_fifth"]]
    mo.md(
        f"# Long tail\n\n{len(tail):,} distinct requests. The most frequent 20 % hold "
        f"**{sum(r['share'] for r in top):.0%}** of the calls; "
        f"**{sum(1 for r in tail if r['calls'] == 1):,}** came once: these are what a model is for."
        if tail
        else "# Long tail\n\nNo calls are recorded in this workspace yet."
    )
    return


@app.cell
def _(charts, mo, tail):
    mo.vstack(
        [charts.long_tail(tail), mo.ui.table([dict(r) for r in tail[:200]], selection=None)]
    ) if tail else None
    return


@app.cell
def _(gaps, mo):
    mo.vstack(
        [
            mo.md("## Gaps: what no tier served"),
            mo.ui.table([{k: str(v) for k, v in r.items()} for r in gaps[:100]], selection=None)
            if gaps
            else mo.md("None."),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
