"""`riggs candidates`: a table a maintainer can decide from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table, remark

if TYPE_CHECKING:
    from riggs.candidates import Review
    from riggs.store import Store


def find_reviews(store: Store, *, rejected: bool = False) -> list[Review]:
    """Sync the store and return its candidates."""
    from riggs.candidates import review  # noqa: PLC0415  # loads the lexicon
    from riggs.upkeep import upkeep  # noqa: PLC0415

    upkeep(store)
    return review(store, rejected=rejected)


@click.command()
@click.option("--why", default=None, metavar="ID", help="Everything behind one candidate.")
@click.option("--rejected", is_flag=True, help="Also those put away.")
@workspace_option()
@json_option()
def candidates(why: str | None, rejected: bool, workspace: Path | None, as_json: bool) -> None:
    """List what recurs and could become a template, most used first."""
    from riggs.store import Store  # noqa: PLC0415  # loads DuckDB

    store = Store(find_workspace(workspace))
    reviews = find_reviews(store, rejected=rejected or why is not None)
    if why is not None:
        _explain(pick(reviews, why), as_json)
        return
    if as_json:
        print_json([r.to_json() for r in reviews])
        return
    rows = [_row(r) for r in reviews]
    columns = [
        "id",
        "pattern",
        "program",
        "ok",
        "failed",
        "sessions",
        "rate",
        "wilson",
        "covers",
        "wrong",
        "status",
    ]
    print_table(columns, rows)
    if not reviews:
        remark("nothing recurs enough yet; thresholds: [candidates] in .lackpy/config.toml")


def pick(reviews: list[Review], wanted: str) -> Review:
    """Return the candidate whose id is or starts with `wanted`.

    Raises:
        RiggsError: None or several do.
    """
    from riggs.errors import RiggsError  # noqa: PLC0415

    found = [r for r in reviews if r.id.startswith(wanted)] if wanted else []
    if len(found) != 1:
        problem = "several candidates start with" if found else "no candidate"
        raise RiggsError(f"{problem} '{wanted}'; see `riggs candidates`")
    return found[0]


def _row(review: Review) -> list[str]:
    evidence = review.candidate.evidence
    return [
        review.id,
        review.candidate.pattern.pattern,
        review.candidate.pattern.program,
        str(evidence.successes),
        str(evidence.failures),
        str(evidence.sessions),
        f"{evidence.success_rate:.2f}",
        f"{evidence.wilson_low:.2f}",
        f"{evidence.coverage:.0%}",
        str(evidence.wrong_serves),
        f"{review.status.value}{f': {review.reason}' if review.reason else ''}",
    ]


def _explain(review: Review, as_json: bool) -> None:
    one = review.candidate
    details = {
        **review.to_json(),
        "phrasings": list(one.evidence.phrasings),
        "intents": [
            {
                "intent": m.seen.intent,
                "program": m.seen.program,
                "successes": m.seen.successes,
                "failures": m.seen.failures,
                "sessions": len(m.seen.sessions),
            }
            for m in one.group.members
        ],
        "refused": dict(one.group.refused),
        "wrong_examples": [
            {"intent": intent, "succeeded": program, "would_run": would}
            for intent, program, would in one.tested.wrong_examples
        ],
        "conflicts": dict(one.evidence.conflicts),
    }
    if as_json:
        print_json(details)
        return
    click.echo(f"{review.id}  {review.status.value} {review.reason}".rstrip())
    click.echo(f"pattern   {one.pattern.pattern}")
    click.echo("program   " + one.pattern.program.replace("\n", "\n          "))
    slots = ", ".join(f"{name}: {kind}" for name, kind in one.pattern.slots.items())
    click.echo(f"slots     {slots or 'none'}   kit {one.group.kit}   grade w={review.grade_w}")
    e = one.evidence
    click.echo(
        f"evidence  {e.successes} ok, {e.failures} failed, {e.sessions} sessions, rate {e.success_rate:.2f} "
        f"(at least {e.wilson_low:.2f}), covers {e.coverage:.0%} of past calls, {e.wrong_serves} wrong"
    )
    click.echo(f"saves     {e.saved_seconds:.1f} s of model time and ${e.saved_usd:.4f} over the past")
    _section("phrasings", [f"  {p}" for p in e.phrasings])
    _section("intents", [f"  {i['successes']}+ {i['failures']}-  {i['intent']}" for i in details["intents"]])
    _section("not admitted", [f"  {intent}: {why}" for intent, why in one.group.refused.items()])
    _section("wrong serves", [f"  {i} ran {p!r}, would run {w!r}" for i, p, w in one.tested.wrong_examples])
    _section("conflicts", [f"  {name}: {count} past intents" for name, count in e.conflicts.items()])


def _section(title: str, lines: list[str]) -> None:
    if lines:
        click.echo(f"{title}:")
        for line in lines[:40]:
            click.echo(line)
        if len(lines) > 40:
            click.echo(f"  … and {len(lines) - 40} more")
