"""Normalise distinct synthetic traces and rank their groups, in memory, on one core.

    python benchmarks/bench_normalise.py [--traces 20000]

Prints distinct traces a second of CPU time (budget: 4,000) and the seconds to group and rank them.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests/corpora"))

from workload import fill_program, fill_text, load_families  # noqa: E402  run from a checkout

from riggs.normalise import normalise  # noqa: E402


def traces(count: int) -> list[tuple[str, str]]:
    """Return distinct (intent, program) pairs: real phrasings, made-up values."""
    rng = random.Random(1)
    families = load_families(str(ROOT / "tests/corpora/families_dev.json"))
    weights = [f["weight"] for f in families]
    out: dict[tuple[str, str], None] = {}
    while len(out) < count:
        family = rng.choices(families, weights)[0]
        values = {}
        for slot, spec in family["slots"].items():
            value = rng.choice(spec["values"])
            if spec["type"] in ("identifier", "module"):
                value = f"{value}_{rng.randrange(count)}"
            values[slot] = value
        pair = fill_text(rng.choice(family["paraphrases"]), values), fill_program(family["program"], values)
        out[pair] = None
    return list(out)


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--traces", type=int, default=20_000)
    args = ap.parse_args()
    pairs = traces(args.traces)
    for intent, program in pairs[:200]:
        normalise(intent, program)
    start = time.process_time()
    found = [normalise(intent, program) for intent, program in pairs[200:]]
    took = time.process_time() - start
    groups: dict[str, int] = {}
    start = time.process_time()
    for one in found:
        groups[one.program_template] = groups.get(one.program_template, 0) + 1
    ranked = sorted(groups.items(), key=lambda g: -g[1])
    print(f"{len(found)} distinct traces normalised at {len(found) / took:,.0f} a second of CPU time")
    print(
        f"{len(ranked)} groups ranked in {time.process_time() - start:.3f} s; the largest: {ranked[0][0]} {ranked[0][1]}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
