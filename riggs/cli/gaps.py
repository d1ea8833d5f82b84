"""`riggs gaps`: what nobody could serve."""

from __future__ import annotations

from pathlib import Path

import click

from lackpy.cli.options import find_workspace, workspace_option
from riggs.cli.tables import format_options, print_formatted


@click.command()
@format_options
@workspace_option()
def gaps(workspace: Path | None, as_json: bool, as_csv: bool) -> None:
    """List requests that no tier served, most frequent first."""
    from riggs.analytics import model  # noqa: PLC0415  # loads DuckDB
    from riggs.store import Store  # noqa: PLC0415

    store = Store(find_workspace(workspace))
    store.sync()
    print_formatted(model(store, "gaps"), as_json=as_json, as_csv=as_csv)
