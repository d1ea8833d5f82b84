"""`riggs ingest`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table, remark

if TYPE_CHECKING:
    from riggs.ingest.sink import SourceReport
    from riggs.observe import Observed

SOURCES = ("kibitzer", "blq", "jetsam", "claude_code")


@click.command()
@click.option(
    "--source",
    "only",
    multiple=True,
    type=click.Choice(SOURCES),
    help="Read only this source beside the journals.",
)
@workspace_option()
@json_option()
def ingest(only: tuple[str, ...], workspace: Path | None, as_json: bool) -> int:
    """Bring journals and sibling tools' logs into the store; count, score and judge what is new."""
    from riggs.observe import observe  # noqa: PLC0415  # loads DuckDB
    from riggs.store import Store  # noqa: PLC0415

    done = observe(Store(find_workspace(workspace)), only=only)
    if as_json:
        print_json(_to_json(done))
    else:
        _show(done)
    return 0


def _show(done: Observed) -> None:
    sync = done.sync
    click.echo(
        f"{sync.drained} records read, {sync.normalised} requests normalised, {sync.counted} traces counted"
    )
    print_table(
        ("source", "read", "turns", "endings", "unreadable", "remark"),
        [
            (r.source, str(r.read), str(r.turns), str(r.endings), str(r.problems), _remark(r))
            for r in done.sources
        ],
    )
    for change in done.changes:
        step = change.transition
        click.echo(f"template {change.template}: {step.was} → {step.state}, {step.reason}")
        if change.problem:
            remark(f"problem: {change.problem}")
    for problem in sync.problems:
        remark(f"problem: {problem}")


def _remark(report: SourceReport) -> str:
    if report.absent:
        return f"skipped: {report.absent}"
    return "; ".join(part for part in (report.error, *report.notes) if part)


def _to_json(done: Observed) -> dict[str, object]:
    return {
        "drained": done.sync.drained,
        "normalised": done.sync.normalised,
        "counted": done.sync.counted,
        "problems": list(done.sync.problems),
        "sources": [asdict(report) for report in done.sources],
        "trust": asdict(done.trust),
        "templates": [
            {
                "template": change.template,
                "was": change.transition.was.value,
                "state": change.transition.state.value,
                "reason": change.transition.reason,
                "problem": change.problem,
            }
            for change in done.changes
        ],
    }
