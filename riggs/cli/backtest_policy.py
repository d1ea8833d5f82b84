"""`riggs backtest-policy`: the stored past under other thresholds."""

from __future__ import annotations

from pathlib import Path

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table, remark


@click.command("backtest-policy")
@click.option("--frequency", type=click.IntRange(min=1), help="Successes needed.")
@click.option("--sessions", type=click.IntRange(min=1), help="Distinct sessions needed.")
@click.option("--success-rate", type=click.FloatRange(0, 1), help="Share of successes needed.")
@workspace_option()
@json_option()
def backtest_policy(
    *,
    frequency: int | None,
    sessions: int | None,
    success_rate: float | None,
    workspace: Path | None,
    as_json: bool,
) -> None:
    """Compare the thresholds in force with those given, over the stored traces; a threshold not given stays."""
    from dataclasses import replace  # noqa: PLC0415

    from lackpy.config import load  # noqa: PLC0415
    from riggs.candidates import thresholds_of  # noqa: PLC0415  # loads the lexicon
    from riggs.policy import compare  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415
    from riggs.upkeep import upkeep  # noqa: PLC0415

    store = Store(find_workspace(workspace))
    upkeep(store)
    current = thresholds_of(load(store.workspace))
    given = replace(
        current,
        frequency=current.frequency if frequency is None else frequency,
        sessions=current.sessions if sessions is None else sessions,
        success_rate=current.success_rate if success_rate is None else success_rate,
    )
    outcomes = compare(store.observations(), [("current", current), ("given", given)])
    if as_json:
        print_json([one.to_json() for one in outcomes])
        return
    columns = [
        "policy",
        "frequency",
        "sessions",
        "rate",
        "templates",
        "held",
        "covered",
        "of calls",
        "wrong serves",
    ]
    print_table(
        columns,
        [
            [
                one.name,
                str(one.thresholds.frequency),
                str(one.thresholds.sessions),
                f"{one.thresholds.success_rate:.2f}",
                str(one.templates),
                str(one.held),
                f"{one.covered} ({one.coverage:.0%})",
                str(one.calls),
                str(one.wrong),
            ]
            for one in outcomes
        ],
    )
    if not outcomes[0].calls:
        remark("no successful traces yet that a model or a caller wrote a program for")
