"""`riggs promote`, `reject`, `demote` and `history`: a person decides."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table, remark
from riggs.cli.candidates import find_reviews, pick

if TYPE_CHECKING:
    from riggs.candidates import Review


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every candidate that is ready.")
@click.option("--yes", "-y", is_flag=True, help="Don't ask.")
@click.option("--allow-writes", is_flag=True, help="Accept programs that write.")
@click.option("--force", is_flag=True, help="Accept wrong serves and conflicts.")
@click.option("--reason", default="", help="Kept with the decision.")
@workspace_option()
@json_option()
def promote(
    ids: tuple[str, ...],
    everything: bool,
    yes: bool,
    allow_writes: bool,
    force: bool,
    reason: str,
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Turn candidates IDS into templates on probation; the running dispatcher serves them on its next call."""
    from lackpy.errors import LackpyError  # noqa: PLC0415
    from riggs.candidates import Status  # noqa: PLC0415
    from riggs.promote import promote as write  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415

    if bool(ids) == everything:
        raise click.UsageError("name candidate IDs, or use --all")
    store = Store(find_workspace(workspace))
    reviews = find_reviews(store, rejected=bool(ids))
    chosen = (
        [pick(reviews, wanted) for wanted in ids] if ids else [r for r in reviews if r.status is Status.READY]
    )
    done: list[dict[str, str]] = []
    failed = 0
    for review in chosen:
        if not yes and not _agreed(review):
            continue
        try:
            path = write(store, review, allow_writes=allow_writes, force=force, reason=reason)
        except LackpyError as exc:
            remark(f"riggs: {exc}")
            failed += 1
            continue
        done.append({"id": review.id, "path": str(path)})
        if not as_json:
            click.echo(f"{review.id} → {path}")
    if as_json:
        print_json(done)
    return 1 if failed else 0


def _agreed(review: Review) -> bool:
    if not sys.stdin.isatty():
        raise click.UsageError("promotion is a person's decision: answer at a terminal, or pass --yes")
    click.echo(
        f"{review.id}  {review.candidate.pattern.pattern}\n  {review.candidate.pattern.program}", err=True
    )
    return click.confirm("promote?", err=True)


@click.command()
@click.argument("candidate_id")
@click.option("--reason", required=True, help="Why; kept with the decision.")
@workspace_option()
def reject(candidate_id: str, reason: str, workspace: Path | None) -> None:
    """Put a candidate away until its evidence has doubled."""
    from riggs.promote import reject as put_away  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415

    store = Store(find_workspace(workspace))
    put_away(store, pick(find_reviews(store), candidate_id), reason)
    remark(f"rejected {candidate_id}")


@click.command()
@click.argument("name")
@click.option("--reason", default="", help="Why; kept with the decision.")
@workspace_option()
def demote(name: str, reason: str, workspace: Path | None) -> None:
    """Retire template NAME; the running dispatcher stops serving it on its next call."""
    from riggs.promote import demote as retire  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415

    click.echo(f"retired {retire(Store(find_workspace(workspace)), name, reason)}")


@click.command()
@click.option("--limit", "-n", type=click.IntRange(min=1), default=50, show_default=True, help="Newest N.")
@workspace_option()
@json_option()
def history(limit: int, workspace: Path | None, as_json: bool) -> None:
    """Show decisions with their evidence, newest first."""
    from riggs.promote import history as decisions  # noqa: PLC0415
    from riggs.store import Store  # noqa: PLC0415

    found = decisions(Store(find_workspace(workspace)), limit=limit)
    if as_json:
        print_json(
            [
                {
                    "ts": f"{d.ts.isoformat()}Z",
                    "action": d.action,
                    "id": d.candidate_id,
                    "template": d.template,
                    "reason": d.reason,
                    "by": d.decided_by,
                    "evidence": d.evidence,
                }
                for d in found
            ]
        )
        return
    print_table(
        ["ts (UTC)", "action", "id", "template", "ok", "failed", "by", "reason"],
        [
            [
                d.ts.strftime("%Y-%m-%d %H:%M"),
                d.action,
                d.candidate_id or "",
                d.template or "",
                str(d.evidence.get("successes", "")),
                str(d.evidence.get("failures", "")),
                d.decided_by or "",
                d.reason or "",
            ]
            for d in found
        ],
    )
