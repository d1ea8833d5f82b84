"""`riggs convergence` and `riggs savings`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lackpy.cli.options import find_workspace, workspace_option
from lackpy.cli.show import print_json
from riggs.cli.tables import format_options, print_bars, print_formatted


def _synced(workspace: Path | None) -> Any:
    from riggs.store import Store  # noqa: PLC0415  # loads DuckDB
    from riggs.upkeep import upkeep  # noqa: PLC0415

    store = Store(find_workspace(workspace))
    upkeep(store)
    return store


@click.command()
@click.option("--sessions", is_flag=True, help="By session instead of by day.")
@format_options
@workspace_option()
def convergence(sessions: bool, workspace: Path | None, as_json: bool, as_csv: bool) -> None:
    """Show the template-served share by day, the crossover day and the steady state."""
    from riggs.analytics import model, plain_rows  # noqa: PLC0415

    store = _synced(workspace)
    rows = model(store, "tier_share_session" if sessions else "template_share_daily")
    summary = plain_rows(model(store, "crossover"))[0]
    if as_json:
        print_json({**summary, "rows": plain_rows(rows)})
        return
    if as_csv or sessions or not rows:
        print_formatted(rows, as_json=False, as_csv=as_csv)
        return
    marks = [f"{r['wrong']} wrong" if r["wrong"] else "" for r in rows]
    print_bars([f"{r['day']} {r['calls']:5d} calls" for r in rows], [r["share"] for r in rows], marks)
    day = summary["crossover_number"]
    when = f"day {day} ({summary['crossover_day']})" if day else "not yet"
    click.echo(f"crossover: {when}")
    click.echo(
        f"share of the last ten days: {summary['steady_share'] or 0:.0%} of {summary['calls']} calls in all"
    )


@click.command()
@format_options
@workspace_option()
def savings(workspace: Path | None, as_json: bool, as_csv: bool) -> None:
    """Show model time and money that template-served calls did not spend, by day."""
    from riggs.analytics import model  # noqa: PLC0415

    rows = model(_synced(workspace), "savings_daily")
    print_formatted(rows, as_json=as_json, as_csv=as_csv)
    if not (as_json or as_csv):
        click.echo(
            f"saved {sum(r['saved_seconds'] for r in rows):.0f} s and ${sum(r['saved_usd'] for r in rows):.3f}; "
            f"spent {sum(r['spent_seconds'] for r in rows):.0f} s and ${sum(r['spent_usd'] for r in rows):.3f}"
        )
