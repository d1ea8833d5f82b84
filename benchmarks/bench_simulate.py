"""Thirty days of the workload corpus through the real parts, over many seeds.

    python benchmarks/bench_simulate.py [--days 30] [--seeds 20] [--jobs 2] [--out docs]

The shipped library is off, so that only what riggs learns is served. Prints the curve, crossover day, steady-state share
and wrong serves; with --out the curve is kept as JSON and drawn as SVG.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from riggs.simulate import Outcome, curve, simulate, summary
from riggs.workload import build_tree, recorded

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "corpora"))
FAMILIES = ROOT / "tests" / "corpora" / "families_dev.json"


def one(days: int, seed: int) -> Outcome:
    """Simulate one seed in a tree of its own."""
    from workload import generate, load_families

    families = load_families(str(FAMILIES))
    with tempfile.TemporaryDirectory() as folder:
        build_tree(Path(folder), families)
        calls = recorded(json.dumps(call) for call in generate(families, seed=seed, days=days))
        return simulate(calls, Path(folder), seed=seed)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    outcomes = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for done in pool.map(partial(one, options.days), range(options.seeds)):
            outcomes.append(done)
            print(
                f"seed {done.seed:2}: crossover day {done.crossover}, steady {done.steady:.1%}, "
                f"{done.templates} templates, {len(done.wrong)} wrong",
                flush=True,
            )
            for wrong in done.wrong:
                print("  wrong:", wrong)
    rows = list(curve(outcomes))
    for row in rows:
        print(
            f"day {row['day']:3.0f}  {row['median']:4.0%}  ({row['low']:4.0%} to {row['high']:4.0%})  {'#' * round(row['median'] * 40)}"
        )
    report = {**summary(outcomes), "curve": rows}
    print(json.dumps({k: v for k, v in report.items() if k != "curve"}, indent=1))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "convergence.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
