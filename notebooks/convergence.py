import marimo

app = marimo.App(width="medium", app_title="Convergence")


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
    # Everything is read at once and the store is closed again: a drain never waits for this notebook.
    store = Store(os.environ.get("LACKPY_WORKSPACE", "."))
    daily = model(store, "template_share_daily")
    by_tier = model(store, "tier_share_daily")
    crossover = model(store, "crossover")[0]
    observed = store.observations()
    return by_tier, crossover, daily, observed


@app.cell
def _(crossover, daily, mo):
    day = crossover["crossover_number"]
    mo.md(
        f"""
        # Convergence

        {int(crossover["calls"]):,} calls over {len(daily)} days. Crossover (first day above one half):
        **{f"day {day}" if day else "not yet"}**. Template-served share of the last ten days:
        **{crossover["steady_share"] or 0:.0%}**.
        """
        if daily
        else "# Convergence\n\nNo calls are recorded in this workspace yet. Delegate something and run this again."
    )
    return


@app.cell
def _(by_tier, charts, daily, mo):
    mo.vstack([charts.convergence(daily), charts.tier_shares(by_tier)]) if daily else None
    return


@app.cell
def _(mo):
    frequency = mo.ui.slider(1, 20, value=5, label="successes needed")
    sessions = mo.ui.slider(1, 10, value=3, label="sessions needed")
    rate = mo.ui.slider(0.5, 1.0, step=0.05, value=0.8, label="success rate needed")
    mo.vstack([mo.md("## What if the thresholds were others?"), frequency, sessions, rate])
    return frequency, rate, sessions


@app.cell
def _(frequency, mo, observed, rate, sessions):
    from riggs.learn import candidates, group
    from riggs.thresholds import Thresholds

    limits = Thresholds(frequency.value, sessions.value, rate.value)
    found = candidates(group(observed, limits), limits, observed)
    covered = sum(c.evidence.successes for c in found)
    total = sum(o.successes for o in observed) or 1
    mo.vstack(
        [
            mo.md(
                f"**{len(found)}** templates would be ready; they stand for **{covered / total:.0%}** of the "
                f"{total if observed else 0:,} successful calls that no template served, with "
                f"**{sum(c.evidence.wrong_serves for c in found)}** wrong serves in the back-test."
            ),
            mo.ui.table(
                [
                    {
                        "pattern": c.pattern.pattern,
                        "program": c.pattern.program,
                        "successes": c.evidence.successes,
                        "failures": c.evidence.failures,
                        "sessions": c.evidence.sessions,
                        "wrong serves": c.evidence.wrong_serves,
                    }
                    for c in found
                ],
                selection=None,
            )
            if found
            else mo.md("Nothing passes these thresholds."),
        ]
    )
    return


if __name__ == "__main__":
    app.run()
