"""`riggs simulate`: the prediction, measured on the real parts."""

from __future__ import annotations

import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lackpy.cli.options import json_option
from lackpy.cli.show import print_json, print_table, remark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riggs.simulate import Outcome


@click.command()
@click.option(
    "--families", type=click.Path(path_type=Path, exists=True), help="Family file (default: the shipped one)."
)
@click.option(
    "--stream", type=click.Path(path_type=Path, exists=True), help="Recorded stream instead, JSON lines."
)
@click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True)
@click.option("--seeds", type=click.IntRange(1, 1000), default=5, show_default=True, help="Streams to draw.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Processes.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Keep the last seed's workspace and curve.json here."
)
@json_option()
def simulate(
    families: Path | None,
    stream: Path | None,
    days: int,
    seeds: int,
    jobs: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run a workload through dispatcher, sandbox, journal and ratchet, promoting each evening."""
    from riggs.simulate import curve, summary  # noqa: PLC0415  # loads the runtime

    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    work = partial(_one, str(families or ""), str(stream or ""), days, str(out or ""), seeds - 1)
    count = 1 if stream else seeds
    outcomes = list(_progress(work, count, min(jobs, count)))
    report = {**summary(outcomes), "curve": list(curve(outcomes))}
    if out is not None:
        (out / "curve.json").write_text(json.dumps(report, indent=2))
    if as_json:
        print_json(report)
        return
    print_table(
        ["day", "median share", "lowest", "highest", ""],
        [
            [
                f"{r['day']:.0f}",
                f"{r['median']:.0%}",
                f"{r['low']:.0%}",
                f"{r['high']:.0%}",
                _bar(r["median"]),
            ]
            for r in report["curve"]
        ],
    )
    for key in ("crossover_day", "steady_share", "wrong_serves", "templates", "saved_minutes", "saved_usd"):
        spread = report[key]
        click.echo(
            f"{key:16} median {_number(spread['median'])}  range {_number(spread['min'])} to {_number(spread['max'])}"
        )
    click.echo(
        f"{report['served']} of {report['calls']} calls template-served, {report['wrong_serves_total']} wrong serves"
    )
    for one in outcomes:
        for day, intent, served, right in one.wrong:
            remark(f"wrong serve: seed {one.seed} day {day}: {intent!r} ran {served!r}, right is {right!r}")


def _progress(work: Any, count: int, jobs: int) -> Iterator[Outcome]:
    """Run the seeds in processes of their own, with a progress bar on a terminal."""
    with (
        ProcessPoolExecutor(jobs) as pool,
        click.progressbar(length=count, label="simulating", file=sys.stderr) as bar,
    ):
        for outcome in pool.map(work, range(count)):
            bar.update(1)
            yield outcome


def _one(families: str, stream: str, days: int, out: str, keep: int, seed: int) -> Outcome:
    from lackpy import resources  # noqa: PLC0415  # in the worker process
    from riggs.simulate import simulate as drive  # noqa: PLC0415
    from riggs.workload import build_tree, generate, load_families, recorded  # noqa: PLC0415

    known = load_families(
        Path(families) if families else resources.folder("data") / "simulate" / "families.json"
    )
    if stream:
        calls = recorded(Path(stream).read_text(encoding="utf-8").split("\n"))
    else:
        calls = generate(known, seed=seed, days=days)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(out) / "workspace" if out and seed == keep else Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        build_tree(folder, known)
        return drive(calls, folder, seed=seed)


def _bar(share: float) -> str:
    return "█" * round(share * 30)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
