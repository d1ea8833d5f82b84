"""A delegate call whose model is asked again: the better of two results is returned and traced."""

from __future__ import annotations

import json
from collections import deque

import pytest

from lackpy import Lackpy
from lackpy.infer.protocol import Proposal, Tier


class Says:
    name = "double"
    tier = Tier.LOCAL

    def __init__(self, *programs):
        self.programs = deque(programs)
        self.asked = 0

    def propose(self, request):
        self.asked += 1
        return Proposal(self.programs.popleft(), raw="")

    def status(self):
        return "ready: double"


@pytest.fixture
def ask(workspace):
    (workspace / "notes.txt").write_text("kumquat\n", encoding="utf-8")

    def run(*programs, intent="tell me about the zorble"):
        model = Says(*programs)
        with Lackpy(workspace, providers=[model]) as lackpy:
            return lackpy.delegate(intent), model

    return run


def _traced(workspace):
    lines = [
        json.loads(line)
        for path in sorted((workspace / ".lackpy").rglob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [line for line in lines if "intent" in line][-1]


def test_a_program_that_finds_something_replaces_one_that_found_nothing(ask, workspace):
    result, model = ask('grep("quince")', 'grep("kumquat")')
    assert model.asked == 2
    assert result.ok
    assert result.output[0]["file"] == "notes.txt"
    assert [p.reason for p in result.passed if p.provider == "double"] == ["its program found nothing"]
    assert "kumquat" in _traced(workspace)["program"]


@pytest.mark.parametrize("second", ['grep("banana")', 'read("gone.txt")', "for for"])
def test_nothing_stands_when_a_second_look_is_no_better(ask, workspace, second):
    result, model = ask('grep("quince")', second)
    assert model.asked == 2
    assert (result.ok, result.output) == (True, [])
    trace = _traced(workspace)
    assert "quince" in trace["program"]
    assert trace["success"] is True


def test_a_failed_run_is_answered_by_the_retry(ask, workspace):
    result, model = ask('grep("quince")[0]["file"]', 'grep("kumquat")[0]["file"]')
    assert model.asked == 2
    assert (result.ok, result.output) == (True, "notes.txt")
    assert _traced(workspace)["success"] is True


def test_two_failed_runs_are_a_failure(ask, workspace):
    result, model = ask('grep("quince")[0]', 'grep("banana")[0]')
    assert model.asked == 2
    assert not result.ok
    assert "index out of range" in result.error.message
    assert _traced(workspace)["success"] is False
