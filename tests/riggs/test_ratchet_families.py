"""Recurring request families: no wrong serve, every seen phrasing with new values, most unseen phrasings."""

from __future__ import annotations

import json
import random
import sys
from functools import cache
from pathlib import Path

import pytest

from lackpy.intent import Entry, PatternSet
from lackpy.lang import canonical, fill
from riggs import learn

TESTS = Path(__file__).resolve().parents[1]
FILES = {
    "dev": TESTS / "corpora/families_dev.json",
    "extra": TESTS / "riggs/families_extra.json",
    "more": TESTS / "riggs/families_more.json",
}
sys.path.insert(0, str(TESTS / "corpora"))

import workload  # noqa: E402  test data, not a package

AFTER = (
    "and delete them|and open the first|and retry_all|, then commit|sorted by name|as json|as a csv file|the first 3|"
    "without duplicates|that are async|written by alice|since yesterday|excluding generated code|older than 2 days|"
    "except main|instead of foo_bar|or foo_bar|and foo_bar|if it is deprecated|with line numbers only|in reverse|"
    "ordered by length|ignoring case|recursively|and fix them|but only classes|twice|, only the last one|via getattr|"
    "by regex|up to 5 levels|directly or indirectly|, not methods|in the last commit|on the main branch|per class|"
    "by author|by directory|for each function"
).split("|")
BEFORE = (
    "don't |do not |never |stop |why |how do I |explain how to |avoid |delete |remove |rename |fix |refactor |"
    "the 5 biggest |only unused |except for |no |undo |compare "
).split("|")


@cache
def families(name: str) -> tuple[dict, ...]:
    return tuple(json.loads(FILES[name].read_text(encoding="utf-8")))


def said(family: dict, phrasing: str, values: dict) -> tuple[str, str]:
    return workload.fill_text(phrasing, values), workload.fill_program(family["program"], values)


def rows(chosen: list[tuple[dict, str]], rng: random.Random, half: int | None = 0) -> list[tuple]:
    out = []
    for n, (family, phrasing) in enumerate(chosen):
        for k in range(3):
            pools = {s: spec["values"] for s, spec in family["slots"].items()}
            if half is not None:
                pools = {s: v[half::2] or v for s, v in pools.items()}
            values = {s: rng.choice(v) for s, v in pools.items()}
            intent, program = said(family, phrasing, values)
            out.append((intent, program, True, f"s{(n + k) % 5}"))
    return out


class Dispatcher:
    """Learned templates, matched as the dispatcher matches them."""

    def __init__(self, found: list) -> None:
        self.found = {t.name: t for t in found}
        self.set = PatternSet([Entry(t.name, t.pattern, t.slots) for t in found])

    def serve(self, intent: str) -> str | None:
        hit = self.set.match(intent).hit
        if hit is None:
            return None
        t = self.found[hit.key]
        return canonical(fill(t.program, t.slots, hit.slots))


@cache
def learned(name: str) -> Dispatcher:
    every = [(f, p) for f in families(name) for p in f["paraphrases"]]
    return Dispatcher(learn(rows(every, random.Random(3), None)))


@pytest.mark.parametrize("name", ["dev", "extra", "more"])
def test_half_of_the_phrasings_serve_the_rest(name: str) -> None:
    rng = random.Random(11)
    old, new = [], []
    for family in families(name):
        phrasings = rng.sample(family["paraphrases"], len(family["paraphrases"]))
        old += [(family, p) for p in phrasings[: len(phrasings) // 2]]
        new += [(family, p) for p in phrasings[len(phrasings) // 2 :]]
    served = Dispatcher(learn(rows(old, rng, 0)))
    for chosen, least in ((old, 1.0), (new, 0.6)):
        answers = [(i, p, served.serve(i)) for i, p, _, _ in rows(chosen, rng, 1)]
        assert [a for a in answers if a[2] not in (None, canonical(a[1]))] == []
        assert sum(a[2] is not None for a in answers) >= least * len(answers), [
            a for a in answers if a[2] is None
        ]


@pytest.mark.parametrize("name", ["dev", "extra", "more"])
def test_a_family_alone_never_serves_another(name: str) -> None:
    """What one family's phrasings teach covers no phrasing of any other family, near miss or one-off wrongly."""
    rng = random.Random(5)
    everything = [f for n in FILES for f in families(n)]
    others = rows([(f, rng.choice(f["paraphrases"])) for f in everything for _ in range(4)], rng, None)
    by_id = {f["family"]: f for f in everything}

    def draw(family: dict) -> dict:
        return {s: rng.choice(spec["values"]) for s, spec in family["slots"].items()}

    near = [f for f in everything if f["family"] != "replace_in"]
    others += [(*workload.near_miss(k, by_id, rng, draw)[:2], True, "s") for k in workload.near_keys(near)]
    others += [
        (*workload.composition(k, rng)[:2], True, "s") for k in rng.sample(workload.composition_keys(), 400)
    ]
    assert len(others) >= 700
    for family in families(name):
        alone = Dispatcher(learn(rows([(family, p) for p in family["paraphrases"]], rng, None)))
        wrong = [(i, got) for i, p, _, _ in others if (got := alone.serve(i)) not in (None, canonical(p))]
        assert wrong == [], family["family"]


def test_clauses_no_template_knows_are_misses() -> None:
    """Thousands of known phrasings with one clause more, in front or behind: none is served."""
    served, count = learned("dev"), 0
    for family in families("dev"):
        values = {
            s: spec["values"][k % len(spec["values"])] for k, (s, spec) in enumerate(family["slots"].items())
        }
        for phrasing in family["paraphrases"][::3]:
            base = (
                workload.fill_text(phrasing, values)
                .removesuffix(", please")
                .rstrip("?")
                .removeprefix("please ")
            )
            for intent in [f"{base} {a}" for a in AFTER] + [b + base for b in BEFORE]:
                count += 1
                assert served.serve(intent) is None, intent
    assert count >= 300


def test_thirty_days_of_noisy_calls_serve_nothing_wrong() -> None:
    """With 15 % of the model's programs wrong or failing, learning every fifth day, no served program is wrong."""
    history: list[dict] = []
    served, wrong, hits, calls = Dispatcher([]), [], 0, 0
    last = 0
    for call in workload.generate(list(families("dev")), seed=4, days=30):
        if call["day"] >= last + 5:
            served, last = Dispatcher(learn(history)), call["day"]
        answer = served.serve(call["intent"])
        calls, hits = calls + (call["day"] > 20), hits + (call["day"] > 20 and answer is not None)
        if answer is None:
            if call["fail_kind"] not in ("invalid", "syntax"):
                history.append(
                    {
                        "intent": call["intent"],
                        "program": call["model_program"],
                        "success": call["success"],
                        "session": call["session_id"],
                        "feedback": call["feedback"],
                    }
                )
        elif answer != canonical(call["program"]):
            wrong.append((call["intent"], answer))
    assert wrong == []
    assert hits / calls > 0.6
