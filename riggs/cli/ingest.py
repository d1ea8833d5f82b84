"""`riggs ingest`."""

from __future__ import annotations

from pathlib import Path

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, remark


@click.command()
@workspace_option()
@json_option()
def ingest(workspace: Path | None, as_json: bool) -> int:
    """Bring journals into the store, normalise and count what is new."""
    from riggs.store import Store  # noqa: PLC0415  # loads DuckDB
    from riggs.upkeep import upkeep  # noqa: PLC0415

    done = upkeep(Store(find_workspace(workspace)))
    report = done.sync
    if as_json:
        print_json(
            {
                "drained": report.drained,
                "normalised": report.normalised,
                "counted": report.counted,
                "problems": list(report.problems),
                "templates": [{"template": c.template, "to": str(c.transition.state)} for c in done.changes],
            }
        )
    else:
        click.echo(
            f"{report.drained} records read, {report.normalised} requests normalised, {report.counted} traces counted"
        )
        for change in done.changes:
            click.echo(f"template {change.template}: {change.transition.state} ({change.transition.reason})")
        for problem in report.problems:
            remark(f"problem: {problem}")
    return 0
