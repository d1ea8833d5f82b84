"""`riggs brief`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json

NEWEST = "*"


@click.command()
@click.option(
    "--session",
    is_flag=False,
    flag_value=NEWEST,
    default=None,
    metavar="[NAME]",
    help="One session, by default the newest.",
)
@click.option("--project", is_flag=True, help="The whole project (default).")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    default=None,
    help="Start there (UTC) instead of at the last brief.",
)
@click.option("--peek", is_flag=True, help="Leave the mark of the last brief where it is.")
@click.option("--md", "markdown", is_flag=True, help="Print Markdown.")
@workspace_option()
@json_option()
def brief(
    session: str | None,
    project: bool,
    since: datetime | None,
    peek: bool,
    markdown: bool,
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Show on one screen what changed since last time, what to trust, what waits and what is in trouble."""
    if session and (project or since):
        raise click.UsageError("--session stands alone: a session's brief begins at its start")
    from riggs.brief import project_brief, render, session_brief  # noqa: PLC0415  # loads DuckDB
    from riggs.store import Store  # noqa: PLC0415
    from riggs.upkeep import upkeep  # noqa: PLC0415

    store = Store(find_workspace(workspace))
    upkeep(store)
    now = datetime.now(UTC)
    if session:
        found = session_brief(store, now, None if session == NEWEST else session)
        if found is None:
            click.echo("no session yet; 'riggs ingest' reads what the sources have")
            return 0
    else:
        start = since.replace(tzinfo=UTC) if since else None
        found = project_brief(store, now, since=start, keep_mark=peek)
    if as_json:
        print_json(found.data)
    else:
        click.echo(render(found, markdown=markdown).rstrip("\n"))
    return 0
