"""`riggs export`."""

from __future__ import annotations

from pathlib import Path

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json
from riggs.export import FORMATS


@click.command()
@click.option("--format", "kind", type=click.Choice(FORMATS), default="chat", show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("riggs-export"), show_default=True, help="Folder."
)
@click.option(
    "--shares", default="0.8,0.1,0.1", show_default=True, help="Shares of train, validation and test."
)
@workspace_option()
@json_option()
def export(kind: str, out: Path, shares: str, workspace: Path | None, as_json: bool) -> None:
    """Write training pairs that ran, split by template, with a data card."""
    from riggs.export import export as write  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415  # loads DuckDB

    try:
        numbers = tuple(float(part) for part in shares.split(","))
    except ValueError as exc:
        raise click.BadParameter(f"'{shares}' is not three numbers", param_hint="--shares") from exc
    store = Store(find_workspace(workspace))
    store.sync()
    done = write(store, out, kind, numbers)
    if as_json:
        print_json({"rows": dict(done.rows), "paths": [str(p) for p in done.paths]})
    else:
        click.echo("\n".join(f"{name}: {count} rows" for name, count in done.rows.items()))
        click.echo(f"in {out}, with a data card")
