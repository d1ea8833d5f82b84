"""How well example retrieval works on wording it hasn't seen: similarity of the programs it finds to the one meant.

For a sample of the bank's phrasings, the phrasing is taken out (`phrasing`) or its whole example is (`example`), the
rest is ranked for it, and the programs of the first and of the best of three are compared with the one meant, values and
variable names aside (ratio of equal tokens, 1 = the same form).

    python benchmarks/bench_retrieval.py [--sample 100] [--seed 1]
"""

from __future__ import annotations

import argparse
import random
from difflib import SequenceMatcher
from statistics import mean

from lackpy.infer.rank import Index, form_words
from lackpy.infer.retrieve import bank


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    examples = bank()
    said = [(i, p) for i, e in enumerate(examples) for p in e.phrasings if len(e.phrasings) > 1]
    forms = [form_words(e.program) for e in examples]
    sample = random.Random(options.seed).sample(said, options.sample)
    print(
        f"{len(examples)} examples, {sum(len(e.phrasings) for e in examples)} phrasings, sample of {len(sample)}"
    )
    print("| held out | same form first | first | best of 3 |\n|---|---|---|---|")
    for what in ("phrasing", "example"):
        first, best, same = [], [], 0
        for owner, phrasing in sample:
            kept = [i for i in range(len(examples)) if what == "phrasing" or i != owner]
            groups = [[p for p in examples[i].phrasings if p != phrasing] for i in kept]
            index = Index(groups, [examples[i].program for i in kept])
            found = [kept[e] for e, _, _ in index.rank(phrasing, 3)]
            alike = [
                SequenceMatcher(None, forms[owner], forms[f], autojunk=False).ratio() for f in found
            ] or [0.0]
            first.append(alike[0])
            best.append(max(alike))
            same += alike[0] == 1
        print(f"| {what} | {same / len(sample):.3f} | {mean(first):.3f} | {mean(best):.3f} |", flush=True)


if __name__ == "__main__":
    main()
