"""`riggs report` and `riggs notebook`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click

from lackpy.cli.options import find_workspace, workspace_option
from lackpy.errors import LackpyError


@click.command()
@click.option("--html", type=click.Path(path_type=Path), default=Path("riggs-report.html"), show_default=True)
@click.option(
    "--charts", type=click.Path(path_type=Path), help="Also write each chart as SVG and PNG into this folder."
)
@workspace_option()
def report(html: Path, charts: Path | None, workspace: Path | None) -> None:
    """Write one self-contained page with figures, charts and tables."""
    from riggs.store import Store  # noqa: PLC0415  # loads DuckDB

    store = Store(find_workspace(workspace))
    store.sync()
    try:
        from riggs.report import html as page  # noqa: PLC0415  # optional extra
        from riggs.report import save_charts  # noqa: PLC0415

        html.write_text(page(store), encoding="utf-8")
        click.echo(str(html))
        for path in save_charts(store, charts) if charts else ():
            click.echo(str(path))
    except ImportError as exc:
        raise LackpyError(f"{exc.name} is not installed", "pip install 'lackpy-riggs[notebooks]'") from exc


@click.command()
@click.argument("name", required=False)
@click.option("--edit", is_flag=True, help="Open for editing instead of as an app.")
@click.option("--port", type=int, default=None, help="Port on loopback.")
@click.option("--headless", is_flag=True, help="Don't open a browser.")
@workspace_option()
def notebook(name: str | None, edit: bool, port: int | None, headless: bool, workspace: Path | None) -> int:
    """Open notebook NAME on this workspace; without NAME list them."""
    from lackpy import resources  # noqa: PLC0415

    folder = resources.folder("notebooks")
    known = sorted(p.stem for p in folder.glob("*.py"))
    if name is None:
        click.echo("\n".join(known))
        return 0
    if name not in known:
        raise click.BadParameter(f"no notebook '{name}'; there are {', '.join(known)}", param_hint="NAME")
    command = [sys.executable, "-m", "marimo", "edit" if edit else "run", str(folder / f"{name}.py")]
    command += ["--port", str(port)] if port else []
    command += ["--headless"] if headless else []
    env = {**os.environ, "LACKPY_WORKSPACE": str(find_workspace(workspace))}
    return subprocess.run(command, env=env, check=False).returncode  # noqa: S603  # our own notebook
