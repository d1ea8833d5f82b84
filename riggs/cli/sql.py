"""`riggs sql`: an analyst's own query, or a shipped model, on a connection that can't write."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from lackpy.cli.options import find_workspace, workspace_option
from riggs.cli.tables import format_options, print_formatted


@click.command()
@click.argument("source", default="-")
@click.option("--sync/--no-sync", default=True, help="Read the journal first.")
@format_options
@workspace_option()
def sql(source: str, sync: bool, workspace: Path | None, as_json: bool, as_csv: bool) -> None:
    """Run SOURCE: a .sql file, - for stdin, a shipped model's name, or SQL text."""
    from riggs.analytics import model, models, query  # noqa: PLC0415  # loads DuckDB
    from riggs.store import Store  # noqa: PLC0415

    store = Store(find_workspace(workspace))
    if sync:
        store.sync()
    rows = model(store, source) if source in models() else query(store, _text(source))
    print_formatted(rows, as_json=as_json, as_csv=as_csv)


def _text(source: str) -> str:
    if source == "-":
        return sys.stdin.read()
    if source.endswith(".sql"):
        try:
            return Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise click.BadParameter(f"'{source}' can't be read ({exc})", param_hint="SOURCE") from exc
    return source
