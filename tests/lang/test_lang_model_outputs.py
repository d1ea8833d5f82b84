"""Every failure kind, with a real answer of a small model: what repair makes of it and what stays refused.

The rows were taken from 455 answers of Qwen2.5-Coder 1.5B and 129 of 0.5B, raw text untouched. Most answer the intents
of the evaluation; for kinds which these lacked, the 0.5B model was asked in words that suggest the form.
"""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path

import pytest

from lackpy.kits import load_kit
from lackpy.lang import check, coerce, violations
from lackpy.lang import repair as steps
from lackpy.lang.repair import repair
from lackpy.run import typecheck

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "model_outputs.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
_NEITHER = "not produced by either model in 584 answers; "
_FIELD = _NEITHER + "covered by field reports in test_lang_repair.py"
_REFUSED = _NEITHER + "covered by cases/refused.txt"
_SIZE = _NEITHER + "an answer has at most 320 tokens; covered by test_lang_validate.py"
STEPS_NOT_SEEN = {
    "thinking": _NEITHER + "they don't reason aloud; covered by field reports in test_lang_repair.py",
    "end-mark": _NEITHER + "the engine stops at these; covered by field reports in test_lang_repair.py",
    "prompt": _FIELD,
    "dedent": _NEITHER + "changes only blanks, which isn't recorded",
    "characters": _NEITHER + "asked in curly quotes they wrote straight ones; covered by test_lang_repair.py",
    "keyword-name": _FIELD,
    "indentation": _NEITHER + "covered by a written case in test_lang_repair.py",
    "return": _NEITHER + "`guard` once more, for a body that `function` moved to the top",
    "first-item": _NEITHER + "covered by a written case in test_lang_repair.py",
    "near-key": _FIELD,
    "number-of-text": _FIELD,
    "text-of-number": _FIELD,
}
"""Repair steps and coercions that no row needs, each with the reason."""
RULES_NOT_SEEN = {
    "assignment-target": _REFUSED,
    "format": _REFUSED,
    "grade-cap": "the models were asked with a kit that only reads; covered by test_lang_validate.py",
    "key-argument": _REFUSED,
    "literal": _REFUSED,
    "number-too-large": _NEITHER + "covered by test_lang_validate.py",
    "reserved-name": _REFUSED,
    "star": _REFUSED,
    "statement": _REFUSED,
    "static-size": _REFUSED,
    "too-deep": _SIZE,
    "too-long": _SIZE,
    "too-many-nodes": _SIZE,
    "unknown-rule": "about a caller's rules, not about a program; covered by test_lang_validate.py",
    "used-before-assignment": _REFUSED,
}
"""Validation rules that no row breaks, each with the reason."""


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    return load_kit("debug", tmp_path_factory.mktemp("ws")).signatures


def _rules(program, tools):
    verdict = check(program, tools)
    wrong = typecheck(verdict.program, tools, {}) if verdict.ok else verdict.violations
    return sorted({v.rule for v in wrong})


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['kind']}-{r['model'][-4:]}")
def test_a_models_answer_becomes_the_program_it_meant(row, tools):
    """Repair gives exactly the row's program by the row's steps; what is left to refuse is exactly the row's."""
    made = repair(row["raw"], tools)
    assert (made.program, list(made.repairs)) == (row["program"], row["repairs"])
    assert (_rules(made.program, tools) if made.program is not None else []) == row["rules"]


@pytest.mark.parametrize("row", ROWS, ids=lambda r: f"{r['kind']}-{r['model'][-4:]}")
def test_a_row_shows_its_kind(row, tools):
    """The kind is a step, a rule of the repaired program, or a rule of the answer as it came."""
    assert row["kind"] in {*row["repairs"], *row["rules"], *_rules(row["raw"], tools)}


def _texts(module, names):
    """Return the first argument of every call in a module whose function or method is one of `names`."""
    calls = [n for n in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(n, ast.Call)]
    return {
        c.args[0].value
        for c in calls
        if isinstance(c.func, ast.Attribute)
        and c.func.attr in names
        and c.args
        and isinstance(c.args[0], ast.Constant)
    }


def test_every_step_has_a_real_answer_or_a_reason():
    """A new repair step or coercion needs a row, or a line in STEPS_NOT_SEEN that says why there is none."""
    tables = (steps.TEXT_REPAIRS, steps.LAST_TEXT_REPAIRS, steps.TREE_REPAIRS, steps.MEANING_REPAIRS)
    every = {"prose", *(name for table in tables for name, _ in table), *_texts(coerce, ("_did", "append"))}
    seen = {step for row in ROWS for step in row["repairs"]}
    assert seen <= {row["kind"] for row in ROWS}
    assert every - seen == set(STEPS_NOT_SEEN)


def test_every_rule_has_a_real_answer_or_a_reason():
    """A new validation rule needs a row, or a line in RULES_NOT_SEEN that says why there is none."""
    every = {"type", *_texts(violations, ("violation",))}
    seen = {row["kind"] for row in ROWS if row["kind"] in every} - {"literal"}  # that row is the repair's
    assert every - seen == set(RULES_NOT_SEEN)
