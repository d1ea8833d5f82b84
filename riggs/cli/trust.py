"""`riggs trust`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lackpy.cli.options import Decorator, find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table, remark

if TYPE_CHECKING:
    import duckdb

    from riggs.trust import Recommendation, Windows
    from riggs.trust_config import TrustConfig
    from riggs.trust_store import State

ALL = "*"
NEWEST = 2000
"""Events that a chart and a recommendation look at."""


def _scope_option(name: str, what: str) -> Decorator:
    return click.option(
        f"--{name}",
        name,
        is_flag=False,
        flag_value=ALL,
        default=None,
        metavar="[NAME]",
        help=f"{what}; all, or one.",
    )


@click.command()
@_scope_option("session", "Trust by session")
@_scope_option("tool", "Trust by tool")
@_scope_option("template", "Trust by template")
@click.option("--plot", "with_plot", is_flag=True, help="Draw the windows over time.")
@click.option("--apply", "do_apply", is_flag=True, help="Change kibitzer's mode by one step as recommended.")
@click.option(
    "--kibitzer",
    "command",
    default="kibitzer",
    envvar="RIGGS_KIBITZER",
    metavar="PATH",
    help="kibitzer's command.",
)
@click.option("--limit", type=click.IntRange(min=1), default=30, help="Rows to show (default 30).")
@workspace_option()
@json_option()
def trust(
    session: str | None,
    tool: str | None,
    template: str | None,
    with_plot: bool,
    do_apply: bool,
    command: str,
    limit: int,
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Show how far the project, its sessions, tools or templates can be trusted, and where that is going."""
    chosen = [
        (name, key) for name, key in (("session", session), ("tool", tool), ("template", template)) if key
    ]
    if len(chosen) > 1:
        raise click.UsageError("--session, --tool and --template are alternatives; give one")
    if do_apply and chosen:
        raise click.UsageError("--apply is about the project; leave out --" + chosen[0][0])
    scope, key = chosen[0] if chosen else ("project", ALL)
    rows, chart, project = _gather(find_workspace(workspace), scope, key, with_plot, limit)
    applied = None
    if scope == "project" and project is not None:
        applied = _tell_kibitzer(find_workspace(workspace), project, do_apply, command)
    if as_json:
        print_json({"scope": scope, "rows": rows, "applied": applied})
        return 0
    _show(scope, rows, chart)
    if applied:
        click.echo(applied)
    return 0


def _gather(
    workspace: Path, scope: str, key: str, with_plot: bool, limit: int
) -> tuple[list[dict[str, Any]], str, tuple[State, Recommendation] | None]:
    """Bring the store up to date; return rows, the chart and the project's recommendation."""
    from lackpy import config as configuration  # noqa: PLC0415  # this and below load DuckDB
    from riggs.errors import RiggsError  # noqa: PLC0415
    from riggs.observe import trust_config_of  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415
    from riggs.trust_plot import plot  # noqa: PLC0415
    from riggs.trust_store import refresh, states, timeline  # noqa: PLC0415

    store = Store(workspace)
    settings = trust_config_of(configuration.load(store.workspace))
    store.sync()
    now = datetime.now(UTC)
    with store.write() as con:
        refresh(con, settings, now)
        found = states(con, scope)
        if key != ALL:
            found = [state for state in found if state.key == key]
            if not found:
                raise RiggsError(f"no scored event of {scope} '{key}'; 'riggs trust --{scope}' lists them")
        advised = [(state, _advice(con, settings, now, state)) for state in found[:limit]]
        chart = ""
        if with_plot and found:
            chart = plot(timeline(con, settings, now, scope, found[0].key, NEWEST))
    rows = [_row(state, advice, settings) for state, advice in advised]
    own = next((pair for pair in advised if pair[0].key == store.workspace.name), None)
    return rows, chart, own if scope == "project" else None


def _advice(
    con: duckdb.DuckDBPyConnection, settings: TrustConfig, now: datetime, state: State
) -> Recommendation:
    from riggs.trust import recommend  # noqa: PLC0415
    from riggs.trust_store import series  # noqa: PLC0415

    return recommend(series(con, settings, now, state.scope, state.key, NEWEST), settings)


def _row(state: State, advice: Recommendation, settings: TrustConfig) -> dict[str, Any]:
    from riggs.trust import direction  # noqa: PLC0415

    windows: Windows = state.windows
    return {
        "name": state.key,
        "events": windows.events,
        "immediate": windows.immediate,
        "session": windows.session,
        "baseline": windows.baseline,
        "direction": direction(windows, settings).value,
        "advice": advice.advice.value,
        "reason": advice.reason,
        "last_at": state.last_ts.isoformat() + "Z" if state.last_ts else None,
    }


def _tell_kibitzer(
    workspace: Path, project: tuple[State, Recommendation], do_apply: bool, command: str
) -> str | None:
    from riggs.trust_apply import apply, write_note  # noqa: PLC0415

    state, advice = project
    path = write_note(workspace, state.key, state.windows, advice, datetime.now(UTC))
    if path is not None:
        remark(f"recommendation written to {path.relative_to(workspace)}")
    return apply(workspace, advice, state.windows, command=command).sentence if do_apply else None


def _show(scope: str, rows: list[dict[str, Any]], chart: str) -> None:
    from riggs.trust import ARROWS, Direction  # noqa: PLC0415

    if not rows:
        click.echo(f"no scored event of any {scope} yet; 'riggs ingest' reads what the sources have")
        return
    print_table(
        (scope, "trust", "", "immediate", "session", "baseline", "events", "recommended", "why"),
        [
            (
                row["name"],
                f"{row['session']:.2f}",
                ARROWS[Direction(row["direction"])],
                f"{row['immediate']:.2f}",
                f"{row['session']:.2f}",
                f"{row['baseline']:.2f}",
                str(row["events"]),
                row["advice"],
                row["reason"],
            )
            for row in rows
        ],
    )
    if chart:
        click.echo(chart)
