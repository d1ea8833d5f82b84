"""Thirty days of the synthetic workload through learning and matching alone (no program is run).

    python benchmarks/bench_workload.py [FAMILIES.json …] [--days 30] [--seed 0] [--p 0.85] [--drift-day D --drift K]

Each evening riggs learns from every call a model answered and promotes what it may; the next day's calls meet those
templates first. Prints tier-0 share by day, the crossover day, the steady-state share and every wrong serve. A wrong
serve is a call whose served program isn't the oracle's.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests/corpora"))

from workload import generate, load_families  # noqa: E402  run from a checkout

from lackpy.intent import Entry, PatternSet  # noqa: E402
from lackpy.lang import canonical, fill  # noqa: E402
from riggs.learn import Learned, learn  # noqa: E402


def run(families: list[dict[str, Any]], args: argparse.Namespace, *, quiet: bool = False) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    served: list[Learned] = []
    patterns = PatternSet([])
    live: dict[str, Learned] = {}
    shares: list[float] = []
    wrong: list[tuple[int, str, str, str]] = []
    day, hits, calls = 1, 0, 0

    def night() -> None:
        nonlocal served, patterns
        for t in learn(rows, support=args.support):
            live[t.id] = t
        served = list(live.values())
        patterns = PatternSet([Entry(t.id, t.pattern, t.slots) for t in served])

    missed: Counter[str] = Counter()
    for call in generate(
        families, args.seed, args.days, p=args.p, novel=args.novel, drift_day=args.drift_day, drift=args.drift
    ):
        if call["day"] != day:
            shares.append(hits / calls)
            if not quiet:
                print(f"day {day:2}: {hits:3}/{calls:3} served {hits / calls:5.0%}, {len(served)} templates")
            day, hits, calls = call["day"], 0, 0
            night()
        calls += 1
        hit = patterns.match(call["intent"]).hit
        if hit is not None:
            hits += 1
            t = live[str(hit.key)]
            if canonical(fill(t.program, t.slots, hit.slots)) != canonical(call["program"]):
                wrong.append((day, call["intent"], t.name, call["outcome"]))
            continue
        if call["family"] and day > args.days - 10:
            missed[call["family"]] += 1
        if call["fail_kind"] in ("invalid", "syntax"):
            continue
        rows.append(
            {
                "intent": call["intent"],
                "program": call["model_program"],
                "success": call["success"],
                "session": call["session_id"],
                "feedback": call["feedback"],
            }
        )
    shares.append(hits / calls)
    crossover = next((d for d, s in enumerate(shares, 1) if s > 0.5), None)
    steady = sum(shares[-7:]) / len(shares[-7:])
    return {"crossover": crossover, "steady": steady, "wrong": wrong, "missed": missed, "templates": served}


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("families", nargs="*", default=[str(ROOT / "tests/corpora/families_dev.json")])
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--seeds", type=int, default=1)
    ap.add_argument("--days", type=int, default=30)
    ap.add_argument("--p", type=float, default=0.85)
    ap.add_argument("--novel", type=float, default=0.12)
    ap.add_argument("--drift-day", type=int)
    ap.add_argument("--drift", type=int, default=0)
    ap.add_argument(
        "--support", type=int, help="successes each phrasing needs, instead of the measured number"
    )
    args = ap.parse_args()
    total = 0
    first = args.seed
    for seed in range(first, first + args.seeds):
        args.seed = seed
        out = run(load_families(*args.families), args, quiet=args.seeds > 1)
        for row in out["wrong"]:
            print("WRONG", *row, sep="  ")
        total += len(out["wrong"])
        print(
            f"seed {seed}: crossover day {out['crossover']}, steady state (last 7 days) {out['steady']:.1%}, "
            f"{len(out['templates'])} templates, wrong serves {len(out['wrong'])}"
        )
        if args.seeds == 1:
            print("missed in the last 10 days:", dict(out["missed"].most_common(12)))
    return 1 if total else 0


if __name__ == "__main__":
    raise SystemExit(main())
