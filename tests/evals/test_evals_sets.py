"""Two more sets of intents: `second`, looked at while the model tier was made, and `blind`, which was not.

No intent of either stands in a prompt, example, rule or template. Checked: format, programs and scoring.

The programs run when `LACKPY_EVAL_WORKSPACES` names the folder that holds the three source trees.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lackpy
from lackpy.evals import load_cases
from lackpy.evals.cases import load_scorer
from lackpy.infer.retrieve import bank
from lackpy.kits import load_kit

HERE = Path(__file__).resolve().parent
SCORER = HERE.parent / "corpora" / "score_outputs.py"
TREES = ("click", "itsdangerous", "pluggy")
NOT_AN_ANSWER = (None, [], {}, "", 0, "nothing found", [{"file": "x.py", "line": 1, "text": "x"}])


@dataclass(frozen=True, slots=True)
class Set:
    """One file of intents.

    Attributes:
        name: File name without `intents_` and suffix.
        prefix: What its ids begin with.
        share: Difficulty → rows over each of `TREES`, in their order.
    """

    name: str
    prefix: str
    share: dict[str, tuple[int, int, int]]

    @property
    def size(self) -> int:
        """How many rows the file has."""
        return sum(sum(counts) for counts in self.share.values())


SETS = (
    Set("second", "held", {"core": (8, 8, 8), "compose": (7, 7, 7), "hard": (5, 5, 5)}),
    Set("blind", "blind", {"core": (7, 7, 6), "compose": (6, 6, 6), "hard": (4, 4, 4)}),
)


@pytest.fixture(scope="module", params=SETS, ids=lambda intents: intents.name)
def intents(request) -> Set:
    """Return one of the files' descriptions."""
    return request.param


@pytest.fixture(scope="module")
def rows(intents, tmp_path_factory) -> list[dict[str, Any]]:
    """Return the rows as the evaluation reads them, over empty trees."""
    root = tmp_path_factory.mktemp("trees")
    for tree in TREES:
        (root / tree).mkdir()
    return [case.row for case in load_cases(HERE / f"intents_{intents.name}.jsonl", root)]


def test_the_rows_have_the_keys_of_the_tuned_set(intents, rows):
    keys = ["id", "workspace", "intent", "reference_program", "check", "expected", "difficulty"]
    assert all(list(row) == keys for row in rows)
    assert [row["id"] for row in rows] == [f"{intents.prefix}-{n:03d}" for n in range(1, intents.size + 1)]
    assert len({row["intent"] for row in rows}) == intents.size


def test_each_tree_has_its_share_of_each_difficulty(intents, rows):
    assert Counter((row["workspace"], row["difficulty"]) for row in rows) == {
        (tree, difficulty): count
        for difficulty, counts in intents.share.items()
        for tree, count in zip(TREES, counts, strict=True)
    }


def test_every_reference_program_validates_and_the_core_ones_call_one_tool(rows, tmp_path):
    tools = load_kit("debug", tmp_path).tools
    for row in rows:
        verdict = lackpy.validate(row["reference_program"], tools)
        assert verdict.ok, (row["id"], verdict.violations)
        if row["difficulty"] == "core":
            calls = [n for n in ast.walk(ast.parse(row["reference_program"])) if isinstance(n, ast.Call)]
            assert len(calls) == 1, row["id"]


def test_every_check_takes_the_reference_output_and_no_neighbours(rows):
    """Each reference output is right for its own intent, and wrong for the others of its file."""
    folder = os.environ.get("LACKPY_EVAL_WORKSPACES")
    if not folder or not all((Path(folder) / tree).is_dir() for tree in TREES):
        pytest.skip("LACKPY_EVAL_WORKSPACES names no folder with the three trees")
    check = load_scorer(SCORER)
    tools = {tree: load_kit("debug", Path(folder) / tree).tools for tree in TREES}
    outputs = {}
    for row in rows:
        result = lackpy.run(row["reference_program"], tools[row["workspace"]])
        assert result.ok, (row["id"], result.error)
        outputs[row["id"]] = result.output
    for row in rows:
        assert [name for name, output in outputs.items() if check(row, output)] == [row["id"]]
        assert not any(check(row, wrong) for wrong in NOT_AN_ANSWER), row["id"]


def test_no_intent_stands_in_the_shipped_examples():
    files = [HERE / f"intents_{s.name}.jsonl" for s in SETS] + [HERE.parent / "corpora" / "intents_dev.jsonl"]
    intents = {
        json.loads(line)["intent"]
        for f in files
        for line in f.read_text(encoding="utf-8").split("\n")
        if line
    }
    plain = {" ".join(re.findall(r"\w+", text.lower())) for text in intents}
    assert len(plain) == len(intents)
    said = {" ".join(re.findall(r"\w+", p.lower())) for e in bank() for p in e.phrasings}
    assert not plain & said
