"""The names others build on (README, reference) exist, in any order of import, and have the promised fields."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import lackpy
import riggs

RESULT_KEYS = {
    "ok", "output", "printed", "trace_id", "tier", "provider", "template", "slots", "program", "grade", "calls", "ms",
    "error", "truncated", "passed",
}  # fmt: skip
CANDIDATE_KEYS = {
    "id", "pattern", "program_template", "successes", "failures", "sessions", "success_rate", "wilson_low", "coverage",
    "wrong_serves", "conflicts", "status",
}  # fmt: skip


def double(x: int) -> int:
    """Return twice `x`."""
    return 2 * x


def test_every_public_name_imports():
    for module in (lackpy, riggs):
        for name in module.__all__:
            assert getattr(module, name) is not None


@pytest.mark.parametrize(
    "first",
    ["lackpy.run.monty", "lackpy.run", "lackpy.service", "riggs.normalise", "riggs.learn", "riggs.store"],
)
def test_functions_win_over_modules_of_their_name(first):
    """`lackpy.run` and `riggs.learn` are the functions, whichever module was imported before."""
    code = (
        f"import {first}, lackpy, riggs\n"
        "from lackpy import run\nfrom riggs import learn, normalise, induce, backtest\n"
        "found = (run, lackpy.run, learn, normalise, induce, backtest, riggs.learn)\n"
        "assert all(type(f).__name__ == 'function' for f in found)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_validate_returns_a_verdict():
    verdict = lackpy.validate("double(1)\nboo()", {"double": double}, params=["p"], max_grade=3)
    assert not verdict.ok
    assert all(hasattr(verdict, name) for name in ("ok", "violations", "grade", "calls", "program"))
    assert [(v.rule, v.line, v.column) for v in verdict.violations] == [("unknown-name", 2, 1)]
    assert verdict.violations[0].message
    assert verdict.violations[0].hint


@pytest.mark.parametrize("executor", ["monty", "inline"])
def test_run_validates_then_runs(executor):
    ran = lackpy.run("double(p) + 1", {"double": double}, params={"p": 20}, executor=executor)
    assert (ran.ok, ran.output, ran.printed, ran.error) == (True, 41, "", None)
    assert [(c.tool, dict(c.args), c.ok) for c in ran.calls] == [("double", {"x": 20}, True)]
    refused = lackpy.run("import os", {"double": double}, executor=executor)
    assert (refused.ok, refused.error.kind) == (False, lackpy.ErrorKind.VALIDATION)
    assert refused.error.hint


def test_unknown_executor_is_refused():
    with pytest.raises(ValueError, match="nope"):
        lackpy.run("1", {}, executor="nope")


def test_results_have_the_promised_keys(cli):
    for argv in (
        ("delegate", "count callers of login"),
        ("generate", "count callers of login"),
        ("run", "1"),
        ("delegate", "frob"),
    ):
        body = json.loads(cli("lackpy", *argv, "--json").stdout)
        assert set(body) >= RESULT_KEYS, argv
        assert set(body["ms"]) == {"generate", "validate", "run", "total"}


def test_learn_gives_templates_with_candidate_evidence(workspace):
    rows = [(f"callers of name_{n}", f'find_callers("name_{n}")', True, f"s{n}") for n in range(6)]
    (template,) = riggs.learn(rows)
    assert (template.program, template.slots) == ('find_callers("{name}")', {"name": "identifier"})
    assert template.pattern in template.text
    assert template.evidence.successes == 6
    assert riggs.learn(rows[:4]) == []
    assert riggs.Store(workspace).rows("select count(*) as n from lackpy_traces") == [{"n": 0}]


def test_candidates_have_the_promised_keys(cli, workspace):
    (workspace / ".lackpy").mkdir()
    (workspace / ".lackpy/config.toml").write_text("[templates]\nstarter = false\n")
    with lackpy.Lackpy(workspace) as runtime:
        for n in range(6):
            runtime.run_program(f'find_callers("name_{n}")', intent=f"callers of name_{n}", session=f"s{n}")
    (row,) = json.loads(cli("riggs", "candidates", "--json").stdout)
    assert set(row) >= CANDIDATE_KEYS
