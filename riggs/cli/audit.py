"""`riggs audit`: ask a model about calls that templates served."""

from __future__ import annotations

from pathlib import Path

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table, remark


@click.command()
@click.option("--dry-run", is_flag=True, help="Ask and report, but stop no template.")
@click.option(
    "--budget", type=click.IntRange(min=0), help="Calls to ask about (default: [audit] budget_per_run)."
)
@workspace_option()
@json_option()
def audit(*, dry_run: bool, budget: int | None, workspace: Path | None, as_json: bool) -> None:
    """Ask a model for programs that templates served, and stop templates it disagrees with too often."""
    from dataclasses import replace  # noqa: PLC0415

    from lackpy.config import load  # noqa: PLC0415
    from riggs.audit import NO_MODEL, model_tiers, policy_from  # noqa: PLC0415  # loads DuckDB and model clients
    from riggs.audit import audit as run  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415
    from riggs.upkeep import upkeep  # noqa: PLC0415

    store = Store(find_workspace(workspace))
    config = load(store.workspace)
    policy = policy_from(config.section("audit"), f"{config.path}: [audit]")
    if budget is not None:
        policy = replace(policy, budget_per_run=budget)
    providers = model_tiers(store, config)
    if not providers:
        remark(f"riggs: {NO_MODEL}")
        if as_json:
            print_json({"asked": 0, "problem": NO_MODEL})
        return
    upkeep(store)
    report = run(store, providers, policy=policy, dry_run=dry_run, progress=None if as_json else remark)
    if as_json:
        print_json(
            {
                "asked": report.asked,
                "skipped": report.skipped,
                "templates": [one.to_json() for one in report.agreements],
                "over_budget": list(report.over_budget),
                "quarantined": [c.template for c in report.changes if not c.problem],
                "problem": report.problem,
            }
        )
        return
    columns = ["template", "agrees", "disagrees", "silent", "wrong at least", "at most", "example"]
    rows = [
        [
            one.template,
            one.agrees,
            one.disagrees,
            one.silent,
            f"{one.low:.0%}",
            f"{one.high:.0%}",
            one.example or "",
        ]
        for one in report.agreements
    ]
    print_table(columns, [[str(cell) for cell in row] for row in rows])
    click.echo(f"{report.asked} calls asked about, {report.skipped} skipped for want of their kit")
    for change in report.changes:
        click.echo(f"{change.template}: {change.problem or f'quarantined; {change.transition.reason}'}")
    if dry_run and report.over_budget:
        click.echo(f"past the budget of {policy.error_budget:.0%}: {', '.join(report.over_budget)}")
    if report.problem:
        remark(f"riggs: ended early: {report.problem}")
