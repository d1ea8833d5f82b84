"""`riggs macros`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table

if TYPE_CHECKING:
    from riggs.macros import Macro


@click.command()
@click.option(
    "--sessions", type=click.IntRange(min=1), default=3, help="Sessions it must be seen in (default 3)."
)
@click.option("--why", "macro_id", metavar="ID", help="Show one with its program and an example.")
@click.option("--limit", type=click.IntRange(min=1), default=20, help="Rows to show (default 20).")
@workspace_option()
@json_option()
def macros(sessions: int, macro_id: str | None, limit: int, workspace: Path | None, as_json: bool) -> int:
    """Show sequences of the outer agent's own calls that one delegate could have served."""
    from riggs.errors import RiggsError  # noqa: PLC0415  # this and below load DuckDB
    from riggs.macro_store import recurring  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415

    found = recurring(Store(find_workspace(workspace)), sessions)
    if macro_id is not None:
        found = [pair for pair in found if pair[0].macro_id.startswith(macro_id)]
        if not found:
            raise RiggsError(f"no sequence '{macro_id}'; 'riggs macros' lists them")
    rows = [_row(macro, problem) for macro, problem in found[:limit]]
    if as_json:
        print_json(rows)
    elif macro_id is not None:
        _explain(found[0][0], found[0][1])
    elif not rows:
        click.echo(
            f"no sequence of calls in {sessions} sessions yet; 'riggs ingest' reads the outer agent's logs"
        )
    else:
        print_table(
            ("id", "steps", "sessions", "times", "calls", "saved", "program"),
            [
                (
                    row["id"],
                    " → ".join(row["steps"]),
                    str(row["sessions"]),
                    str(row["occurrences"]),
                    str(row["calls"]),
                    str(row["round_trips_saved"]),
                    row["program"],
                )
                for row in rows
            ],
        )
    return 0


def _row(macro: Macro, problem: str) -> dict[str, Any]:
    row = asdict(macro)
    return {"id": row.pop("macro_id"), **row, "problem": problem}


def _explain(macro: Macro, problem: str) -> None:
    click.echo(f"{macro.macro_id}: {' → '.join(macro.steps)}")
    click.echo(
        f"{macro.occurrences} times in {macro.sessions} sessions, {macro.calls} calls; "
        f"one delegate each would have saved {macro.round_trips_saved} round trips\n"
    )
    click.echo(macro.program)
    for name, value in macro.params.items():
        click.echo(f"  {name} = {value!r}")
    if problem:
        click.echo(f"the program can't be used as it is: {problem}")
    click.echo("\nexample: " + " ".join(macro.example))
