"""The evaluation: cases, scorers, steps, the table and what the store keeps."""

from __future__ import annotations

import json

import pytest

from lackpy.evals import STEPS, EvalError, load_cases, markdown, run_eval
from lackpy.evals.cases import builtin_scorer, load_scorer
from lackpy.evals.keep import keep
from lackpy.infer.model import Asker, Completion
from lackpy.traces.store import Store


class Answers:
    """A model double: each intent's next answer."""

    model = "double"

    def __init__(self, **answers):
        self.answers = {intent: list(texts) for intent, texts in answers.items()}
        self.asked = 0

    def room(self):
        return None

    def complete(self, messages, request, settings):
        del messages, settings
        self.asked += 1
        texts = self.answers[request.intent]
        return Completion(texts.pop(0) if len(texts) > 1 else texts[0], tokens_in=100, tokens_out=5)


@pytest.fixture
def cases(workspace, tmp_path):
    lines = [
        {"id": "a", "intent": "good", "expected": 1, "difficulty": "core"},
        {"id": "b", "intent": "fenced", "expected": 1, "difficulty": "core"},
        {"id": "c", "intent": "second", "expected": 1, "difficulty": "hard"},
        {"id": "d", "intent": "wrong", "expected": 99, "difficulty": "hard"},
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return load_cases(path, workspace)


def _client():
    ok = 'len(glob("*.md"))'
    return Answers(good=[ok], fenced=[f"```python\n{ok}\n```"], second=["nope(1)", ok], wrong=[ok])


def test_each_stage_is_counted_on_its_own(cases):
    (full, bare) = run_eval(cases, Asker(_client()), builtin_scorer, [STEPS["full"], STEPS["plain"]])
    assert [full.count(f) for f in ("valid_raw", "valid_repaired", "valid", "right")] == [2, 3, 4, 3]
    assert full.mean_tokens("tokens_in") == 125  # one of the four was asked twice
    assert [bare.count(f) for f in ("valid_raw", "valid_repaired", "valid", "right")] == [3, 3, 3, 2]


def test_kept_answers_are_not_asked_for_again(cases, tmp_path):
    client = _client()
    first = run_eval(cases, Asker(client), builtin_scorer, [STEPS["full"]], cache=tmp_path / "kept")
    asked = client.asked
    second = run_eval(cases, Asker(client), builtin_scorer, [STEPS["full"]], cache=tmp_path / "kept")
    assert client.asked == asked
    assert second == first


def test_the_table_has_a_row_a_step_and_names_what_is_wrong(cases):
    text = markdown("t", run_eval(cases, Asker(_client()), builtin_scorer, [STEPS["full"]]))
    assert "| full | 50.0 % | 75.0 % | 100.0 % | 3/4 | core 2/2, hard 1/2 |" in text
    assert "- d: 1" in text


def test_results_are_kept_in_the_store(cases, workspace):
    (workspace / ".lackpy").mkdir()
    measured = run_eval(cases, Asker(_client()), builtin_scorer, [STEPS["full"], STEPS["no-retry"]])
    run_id = keep(workspace, "double", "m", "cases.jsonl", measured)
    with Store(workspace).read() as connection:
        rows = connection.execute(
            "select run_id, position, step, case_count, valid, right_count from eval_runs order by position"
        ).fetchall()
    assert rows == [(run_id, 0, "full", 4, 4, 3), (run_id, 1, "no-retry", 4, 4, 3)]


@pytest.mark.parametrize(
    ("expected", "check", "output", "right"),
    [
        ([1, 2], None, [1, 2], True),
        ([1, 2], None, [2, 1], False),
        (["a", "b"], "set", ["b", "a", "a"], True),
        (["a"], "set", ["b"], False),
        ({"a": 1}, None, {"a": 1}, True),
    ],
)
def test_the_builtin_scorer_compares_values_or_sets(expected, check, output, right):
    assert builtin_scorer({"expected": expected, "check": check}, output) is right


def test_a_scorer_file_decides(tmp_path):
    file = tmp_path / "score.py"
    file.write_text("def check(case, output):\n    return output == case['want']\n")
    assert load_scorer(file)({"want": 3}, 3) is True


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 1}', '{"intent": "x", "workspace": "nowhere"}'])
def test_a_bad_case_file_is_one_sentence(tmp_path, text):
    path = tmp_path / "cases.jsonl"
    path.write_text(text)
    with pytest.raises(EvalError, match=r"cases\.jsonl"):
        load_cases(path, tmp_path)


@pytest.mark.parametrize("text", ["x = 1\n", "def check(:\n"])
def test_a_bad_scorer_is_one_sentence(tmp_path, text):
    path = tmp_path / "score.py"
    path.write_text(text)
    with pytest.raises(EvalError, match=r"score\.py"):
        load_scorer(path)


def test_a_line_separator_inside_a_text_does_not_end_a_case(workspace, tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text('{"intent": "a\u2028b\x85c", "expected": 1}\r\n{"intent": "d"}', encoding="utf-8")
    assert [c.intent for c in load_cases(path, workspace)] == ["a\u2028b\x85c", "d"]
