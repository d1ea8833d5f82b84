"""`lackpy trace`, `lackpy result` and `lackpy feedback`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table, remark
from lackpy.config import trace_store
from lackpy.errors import LackpyError

STORE_WAIT_S = 1.0  # then what the journal alone holds is shown


@click.group()
def trace() -> None:
    """The record of every call."""


@trace.command("list")
@click.option(
    "--limit", "-n", type=click.IntRange(1, 100_000), default=20, show_default=True, help="Newest N."
)
@click.option("--session", default=None, help="Only this session.")
@click.option("--tier", default=None, help="Only this tier (0, 1, 2, 3, caller).")
@click.option("--failed", is_flag=True, help="Only failures.")
@workspace_option()
@json_option()
def trace_list(
    limit: int, session: str | None, tier: str | None, failed: bool, workspace: Path | None, as_json: bool
) -> None:
    """List the newest traces."""
    from lackpy.traces.query import list_traces  # noqa: PLC0415  # loads DuckDB

    root = find_workspace(workspace)
    store = trace_store(root, wait_s=STORE_WAIT_S)
    rows = list_traces(
        root, limit=limit, session=session, tier=tier, failed=failed, store=store, on_partial=remark
    )
    if as_json:
        print_json(rows)
        return
    table = [
        [
            row["ts"][:19],
            row["trace_id"],
            row["tier"] or "-",
            "ok" if row["success"] else row["error_kind"] or "failed",
            f"{row['total_ms']:.0f}",
            row["template"] or row["provider"] or "",
            row["intent"] or (row["program"] or "").splitlines()[0:1][0] if row["program"] else row["intent"],
        ]
        for row in rows
    ]
    print_table(["ts (UTC)", "trace", "tier", "outcome", "ms", "by", "intent"], table)


@trace.command("show")
@click.argument("trace_id")
@workspace_option()
@json_option()
def trace_show(trace_id: str, workspace: Path | None, as_json: bool) -> None:
    """Show one trace whole; TRACE_ID may be a unique prefix or suffix."""
    from lackpy.traces.query import get_trace  # noqa: PLC0415

    root = find_workspace(workspace)
    found = get_trace(root, trace_id, store=trace_store(root, wait_s=STORE_WAIT_S))
    if found is None:
        raise LackpyError(f"no trace '{trace_id}' in this workspace; see `lackpy trace list`")
    if as_json:
        print_json(found)
        return
    for key, value in found.items():
        if value not in (None, "", [], {}):
            click.echo(f"{key}: {_shown(value)}")


@trace.command("tail")
@click.option("--follow/--no-follow", "-f", default=True, help="Keep waiting for new traces.")
@workspace_option()
@json_option()
def trace_tail(follow: bool, workspace: Path | None, as_json: bool) -> None:
    """Print traces as they are written, one line each."""
    from lackpy.traces.query import tail_traces  # noqa: PLC0415

    root = find_workspace(workspace)
    for row in tail_traces(root, follow=follow, store=trace_store(root, wait_s=STORE_WAIT_S)):
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=True))
        else:
            outcome = "ok" if row.get("success") else row.get("error_kind") or "failed"
            click.echo(
                f"{row['ts'][:19]} {row['trace_id']} tier={row.get('tier') or '-'} {outcome} {row.get('intent', '')}"
            )


@click.command()
@click.argument("trace_id")
@click.option("--offset", type=click.IntRange(min=0), default=0, show_default=True, help="First character.")
@click.option("--limit", type=click.IntRange(min=1), default=None, help="Characters (default: all the rest).")
@workspace_option()
def result(trace_id: str, offset: int, limit: int | None, workspace: Path | None) -> None:
    """Print a stored large output, from --offset on."""
    from lackpy.traces.results import load_result  # noqa: PLC0415

    page = load_result(find_workspace(workspace) / ".lackpy", trace_id, offset=offset, limit=limit)
    click.echo(page.text, nl=False)
    if page.next_offset is not None:
        remark(
            f"\n{page.total} characters in all; next: lackpy result {trace_id} --offset {page.next_offset}"
        )


@click.command()
@click.argument("trace_id")
@click.argument("verdict", type=click.Choice(["good", "bad"]))
@click.option("--note", default="", help="Why.")
@workspace_option()
def feedback(trace_id: str, verdict: str, note: str, workspace: Path | None) -> None:
    """Mark TRACE_ID good or bad; bad counts as a failure."""
    from lackpy.cli.calls import open_runtime  # noqa: PLC0415

    with open_runtime(workspace) as runtime:
        runtime.feedback(trace_id, verdict, note)
    remark(f"recorded {verdict} for {trace_id}")


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value if "\n" not in value else "\n  " + value.replace("\n", "\n  ")
    return json.dumps(value, ensure_ascii=False)
