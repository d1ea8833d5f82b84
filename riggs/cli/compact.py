"""`riggs compact`: give back the space that old rows left in the store."""

from __future__ import annotations

from pathlib import Path

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json


@click.command()
@workspace_option()
@json_option()
def compact(workspace: Path | None, *, as_json: bool) -> None:
    """Rewrite the store without unused space; other processes see the old file or the new one."""
    from riggs.store import Store  # noqa: PLC0415  # loads DuckDB

    traces = Store(find_workspace(workspace)).traces
    before, after = traces.compact()
    if as_json:
        print_json({"path": str(traces.path), "bytes_before": before, "bytes_after": after})
    elif before:
        click.echo(f"{traces.path}: {before} → {after} bytes")
    else:
        click.echo(f"{traces.path}: there is no store yet")
