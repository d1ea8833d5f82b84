"""The intents no prompt, example or template was tuned on: their format, their programs and their checks.

The programs run when `LACKPY_EVAL_WORKSPACES` names the folder that holds the three source trees.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from pathlib import Path

import pytest

import lackpy
from lackpy.evals import load_cases
from lackpy.evals.cases import load_scorer
from lackpy.kits import load_kit

HERE = Path(__file__).resolve().parent
FILE = HERE / "intents_unseen.jsonl"
SCORER = HERE.parent / "corpora" / "score_outputs.py"
TREES = ("click", "itsdangerous", "pluggy")
NOT_AN_ANSWER = (None, [], {}, "", 0, "nothing found", [{"file": "x.py", "line": 1, "text": "x"}])


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return the rows as the evaluation reads them, over empty trees."""
    root = tmp_path_factory.mktemp("trees")
    for tree in TREES:
        (root / tree).mkdir()
    return [case.row for case in load_cases(FILE, root)]


def test_the_rows_have_the_keys_of_the_tuned_set(rows):
    keys = ["id", "workspace", "intent", "reference_program", "check", "expected", "difficulty"]
    assert all(list(row) == keys for row in rows)
    assert [row["id"] for row in rows] == [f"held-{number:03d}" for number in range(1, 61)]
    assert len({row["intent"] for row in rows}) == 60


def test_each_tree_has_its_share_of_each_difficulty(rows):
    share = {"core": 8, "compose": 7, "hard": 5}
    assert Counter((row["workspace"], row["difficulty"]) for row in rows) == {
        (tree, difficulty): count for tree in TREES for difficulty, count in share.items()
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
    """Each reference output is right for its own intent, and wrong for the other 59."""
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
