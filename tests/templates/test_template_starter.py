"""The shipped library: every template valid, typed and in use, and nothing close to it is served."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from lackpy.infer.rules import match, shipped_rules
from lackpy.intent.clean import clean
from lackpy.kits import load_kit
from lackpy.lang import canonical, fill
from lackpy.resources import folder
from lackpy.run import typecheck
from lackpy.templates.fill import compile_template, sample_values
from lackpy.templates.loader import CONCEPTS, Snapshot, TemplateLibrary, rank
from lackpy.templates.shipped import concept_text

HERE = Path(__file__).parent
PHRASINGS = [
    json.loads(line) for line in (HERE / "starter_phrasings.jsonl").read_text(encoding="utf-8").splitlines()
]
NEAR_MISSES = [
    line
    for line in (HERE / "near_misses.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
AFTER = [
    "and delete them", "but not in vendor", "except the first one", "written by alice", "since last week",
    "that take no arguments", "without docstrings", "longer than 20 lines", "and Config too", "in the last commit",
    "that nobody reviewed", "twice", "and rename it to foo", "in pull request 42", "if it is deprecated",
    "grouped by author", "at most 5", "in reverse order", "ignoring comments", "recursively", "only public ones",
]  # fmt: skip
BEFORE = [
    "do not",
    "never",
    "stop trying to",
    "write code to",
    "apart from foo.py,",
    "delete",
    "rename",
    "undo",
]


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return TemplateLibrary(None).current()


def test_at_least_sixty_and_none_broken(snapshot: Snapshot) -> None:
    assert len(snapshot.templates) >= 60
    assert snapshot.problems == ()


def test_each_program_validates_and_types_against_the_debug_kit(snapshot: Snapshot, tmp_path: Path) -> None:
    kit = load_kit("debug", tmp_path)
    for loaded in snapshot.templates.values():
        template = loaded.template
        ready = compile_template(template, kit.signatures)
        assert ready.grade.w <= (2 if template.name.startswith("run-tests") else 1), template.name
        assert typecheck(ready(sample_values(template)).program, kit.signatures, {}) == (), template.name


def test_each_template_has_three_phrasings(snapshot: Snapshot) -> None:
    counts = Counter(row["template"] for row in PHRASINGS)
    assert set(counts) == set(snapshot.templates)
    assert min(counts.values()) >= 3


@pytest.mark.parametrize("row", PHRASINGS, ids=lambda row: row["intent"])
def test_phrasing_is_served_with_its_values(snapshot: Snapshot, row: dict[str, object]) -> None:
    (loaded, hit), *others = snapshot.hits(clean(str(row["intent"])))
    assert (loaded.template.name, hit.slots) == (row["template"], row["slots"])
    assert all(rank(*other) < rank(loaded, hit) for other in others)


def test_near_misses_are_a_real_corpus() -> None:
    assert len(NEAR_MISSES) >= 300
    assert len(set(NEAR_MISSES)) == len(NEAR_MISSES)


@pytest.mark.parametrize("intent", NEAR_MISSES)
def test_near_miss_is_not_served(snapshot: Snapshot, intent: str) -> None:
    cleaned = clean(intent)
    assert [loaded.template.name for loaded, _ in snapshot.hits(cleaned)] == []
    assert [rule.name for rule in shipped_rules() if match(rule, cleaned.tokens) is not None] == []


def test_no_phrasing_survives_another_clause(snapshot: Snapshot) -> None:
    """A clause before or after turns every served phrasing into a miss."""
    wrong = []
    for row in PHRASINGS:
        intent = str(row["intent"]).rstrip("?")
        for other in [
            *(f"{intent} {clause}" for clause in AFTER),
            *(f"{clause} {intent}" for clause in BEFORE),
        ]:
            wrong += [(other, loaded.template.name) for loaded, _ in snapshot.hits(clean(other))]
    assert wrong == []


def test_rules_agree_with_templates(snapshot: Snapshot, tmp_path: Path) -> None:
    """Where both tiers serve an intent they run the same program."""
    signatures = load_kit("debug", tmp_path).signatures
    for row in PHRASINGS:
        cleaned = clean(str(row["intent"]))
        (loaded, hit), *_ = snapshot.hits(cleaned)
        for rule in shipped_rules():
            values = match(rule, cleaned.tokens)
            if values is not None:
                served = compile_template(loaded.template, signatures)(hit.slots).program
                assert canonical(fill(rule.program, rule.slots, values)) == canonical(served), (
                    row,
                    rule.name,
                )


def test_concept_file_is_current() -> None:
    """Run `python -m lackpy.templates.shipped` after a change to patterns, lexicon or clean-up."""
    library = folder("data") / "templates"
    assert (library / CONCEPTS).read_text(encoding="utf-8") == concept_text(library)
