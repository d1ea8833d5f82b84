import marimo

app = marimo.App(width="medium", app_title="Candidate review")


@app.cell
def _():
    import os

    import marimo as mo

    from riggs.candidates import review
    from riggs.store import Store

    return Store, mo, os, review


@app.cell
def _(Store, os, review):
    # Read at once, then closed: promotion and drains go on while this is open.
    store = Store(os.environ.get("LACKPY_WORKSPACE", "."))
    reviews = {r.id: r for r in review(store, rejected=True)}
    return (reviews,)


@app.cell
def _(mo, reviews):
    mo.md(
        f"# Candidates\n\n{len(reviews)} program groups recur enough. Promote with `riggs promote ID`."
        if reviews
        else "# Candidates\n\nNothing recurs enough yet: a group needs its successes, sessions and success rate "
        "(`[candidates]` in `.lackpy/config.toml`)."
    )
    return


@app.cell
def _(mo, reviews):
    chosen = mo.ui.dropdown(options=list(reviews), value=next(iter(reviews), None), label="candidate")
    columns = (
        "id",
        "pattern",
        "program_template",
        "successes",
        "failures",
        "sessions",
        "wilson_low",
        "wrong_serves",
        "status",
    )
    rows = [{k: r.to_json()[k] for k in columns} for r in reviews.values()]
    mo.vstack([mo.ui.table(rows, selection=None), chosen]) if reviews else None
    return (chosen,)


@app.cell
def _(chosen, mo, reviews):
    one = reviews[chosen.value].candidate if chosen.value else None
    mo.vstack(
        [
            mo.md(f"## {one.pattern.pattern}\n\n```python\n{one.pattern.program}\n```"),
            mo.md("**Phrasings:** " + " · ".join(f"`{p}`" for p in one.evidence.phrasings)),
            mo.ui.table(
                [
                    {
                        "intent": m.seen.intent,
                        "program": m.seen.program,
                        "successes": m.seen.successes,
                        "failures": m.seen.failures,
                    }
                    for m in one.group.members
                ],
                selection=None,
            ),
            mo.md(
                "**Not admitted:** "
                + " · ".join(f"{intent}: {why}" for intent, why in one.group.refused.items())
                if one.group.refused
                else ""
            ),
        ]
    ) if one else None
    return


if __name__ == "__main__":
    app.run()
