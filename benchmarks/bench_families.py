"""Learn from half of each family's phrasings, test on the other half and on every other family's phrasings.

    python benchmarks/bench_families.py [FAMILIES.json] [--seed 0] [--splits 1] [--show] [--examples 6]

Prints recall per family for unseen phrasings, for seen phrasings with unseen slot values, and every wrong serve.
Served means: exactly one pattern covers the intent. Right means: the filled program is the oracle's canonical program.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from lackpy.intent import Entry, PatternSet  # noqa: E402  run from a checkout
from lackpy.lang import canonical, fill  # noqa: E402
from riggs.learn import Learned, learn  # noqa: E402

SLOT = re.compile(r"\{([a-z_][a-z_0-9]*)\}")


def say(value: Any) -> str:
    return str(value["say"] if isinstance(value, dict) else value)


def held(value: Any) -> Any:
    return value["program"] if isinstance(value, dict) else value


def put(text: str, values: dict[str, Any]) -> str:
    return SLOT.sub(lambda m: say(values[m[1]]) if m[1] in values else m[0], text)


def program(text: str, values: dict[str, Any]) -> str:
    def one(m: re.Match[str]) -> str:
        if m[1] not in values:
            return m[0]
        v = held(values[m[1]])
        return str(v) if isinstance(v, int) else json.dumps(v)[1:-1]

    return SLOT.sub(one, text)


def split(
    families: list[dict[str, Any]], seed: int, examples: int
) -> tuple[list[tuple], list[tuple], list[tuple]]:
    """(rows to learn from, unseen phrasings, seen phrasings with unseen values); each (family, intent, program, …)."""
    rng = random.Random(f"families-{seed}")
    train, unseen, seen = [], [], []
    for fam in families:
        phrasings = list(fam["paraphrases"])
        rng.shuffle(phrasings)
        half = len(phrasings) // 2
        values = {s: list(spec["values"]) for s, spec in fam["slots"].items()}
        for options in values.values():
            rng.shuffle(options)
        old = {s: v[: max(2, len(v) // 2)] for s, v in values.items()}
        new = {s: v[max(2, len(v) // 2) :] or v for s, v in values.items()}
        for n, phrasing in enumerate(phrasings[:half]):
            for k in range(examples):
                v = {s: rng.choice(options) for s, options in old.items()}
                train.append((fam["family"], put(phrasing, v), program(fam["program"], v), f"s{(n + k) % 5}"))
            for _ in range(3):
                v = {s: rng.choice(options) for s, options in new.items()}
                seen.append((fam["family"], put(phrasing, v), program(fam["program"], v), phrasing))
        for phrasing in phrasings[half:]:
            for _ in range(3):
                v = {s: rng.choice(options) for s, options in new.items()}
                unseen.append((fam["family"], put(phrasing, v), program(fam["program"], v), phrasing))
    return train, unseen, seen


class Served:
    """The learned templates as a dispatcher would match them."""

    def __init__(self, found: list[Learned]) -> None:
        self.by_name = {t.name: t for t in found}
        self.set = PatternSet([Entry(t.name, t.pattern, t.slots) for t in found])

    def __call__(self, intent: str) -> tuple[str | None, str]:
        hit = self.set.match(intent).hit
        if hit is None:
            return None, ""
        t = self.by_name[str(hit.key)]
        return canonical(fill(t.program, t.slots, hit.slots)), t.name


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("families", nargs="*", default=[str(ROOT / "tests/corpora/families_dev.json")])
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--splits", type=int, default=1)
    ap.add_argument("--examples", type=int, default=3, help="traces a phrasing, for learning")
    ap.add_argument("--show", action="store_true", help="print patterns and misses")
    args = ap.parse_args()
    families = [f for path in args.families for f in json.loads(Path(path).read_text(encoding="utf-8"))]
    wrong_total = 0
    recalls, seens = [], []
    for seed in range(args.seed, args.seed + args.splits):
        train, unseen, seen = split(families, seed, args.examples)
        start = time.perf_counter()
        found = learn([(i, p, True, s) for _, i, p, s in train])
        took = time.perf_counter() - start
        served = Served(found)
        stats: dict[str, list[int]] = {f["family"]: [0, 0, 0, 0] for f in families}
        wrong, misses = [], []
        for kind, rows in ((0, unseen), (2, seen)):
            for fam, intent, prog, phrasing in rows:
                stats[fam][kind + 1] += 1
                got, name = served(intent)
                if got is None:
                    misses.append(("unseen" if kind == 0 else "SEEN", fam, phrasing, intent))
                elif got == canonical(prog):
                    stats[fam][kind] += 1
                else:
                    wrong.append((fam, intent, name, got))
        hit, all_, seen_hit, seen_all = (sum(s[k] for s in stats.values()) for k in range(4))
        wrong_total += len(wrong)
        recalls.append(hit / all_)
        seens.append(seen_hit / seen_all)
        if args.splits == 1 or args.show:
            print(f"{'family':28} unseen phrasings   seen phrasings, unseen values")
            for fam, (a, b, c, d) in stats.items():
                print(f"{fam:28} {a:3}/{b:3} {a / b:5.0%}      {c:3}/{d:3} {c / d:5.0%}")
        if args.show:
            for t in found:
                print(f"\n{t.name}  {t.slots}\n  {t.pattern}\n  {t.program}".replace("\n\n", "\n"))
            for miss in dict.fromkeys((m[0], m[1], m[2], m[3] if m[0] == "SEEN" else "") for m in misses):
                print("miss", *miss, sep="  ")
        for row in wrong:
            print("WRONG", *row, sep="  ")
        print(
            f"seed {seed}: {len(train)} traces, {len(found)} templates in {took:.1f} s; unseen phrasings {hit / all_:.1%}, "
            f"seen phrasings with unseen values {seen_hit / seen_all:.1%}, wrong serves {len(wrong)}"
        )
    if args.splits > 1:
        print(
            f"mean unseen {sum(recalls) / len(recalls):.1%} (min {min(recalls):.1%}), seen min {min(seens):.1%}, wrong {wrong_total}"
        )
    return 1 if wrong_total else 0


if __name__ == "__main__":
    raise SystemExit(main())
