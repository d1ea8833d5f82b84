"""The whole ratchet through the public commands, with a dispatcher that was running all along."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

UNTAUGHT = "[templates]\nstarter = false\n[rules]\nenabled = false\n"
SERVER = """
import json, sys
from lackpy import Lackpy
with Lackpy(".", session="server") as runtime:
    for line in sys.stdin:
        print(json.dumps(runtime.delegate(json.loads(line)).to_json()), flush=True)
"""
ASKED = [
    ("find callers of validate_token", "validate_token", "mon"),
    ("who calls validate_token?", "validate_token", "mon"),
    ("please show me the callers of `login`", "login", "tue"),
    ("where is refresh called", "refresh", "tue"),
    ("list call sites of render", "render", "wed"),
]


@pytest.fixture
def untaught(workspace):
    """Return the workspace with the shipped library switched off."""
    (workspace / ".lackpy").mkdir()
    (workspace / ".lackpy/config.toml").write_text(UNTAUGHT)
    return workspace


@pytest.fixture
def running(untaught):
    """Return a function that asks one long-running dispatcher of its own process."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER], cwd=untaught, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def ask(intent):
        process.stdin.write(json.dumps(intent) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield ask
    process.stdin.close()
    assert process.wait(30) == 0
    process.stdout.close()


def test_what_recurs_is_promoted_and_served(cli, running, untaught):
    """Five successes in three sessions become a template that serves a new phrasing with a new value."""
    before = running("callers of logout")
    assert not before["ok"]
    assert before["error"]["kind"] == "no_program"
    for intent, name, session in ASKED:
        done = cli(
            "lackpy", "run", f'find_callers("{name}")', "--intent", intent, "--session", session, "--json"
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["tier"] == "caller"

    rows = json.loads(cli("riggs", "candidates", "--json").stdout)
    assert [
        (r["program_template"], r["successes"], r["failures"], r["sessions"], r["wrong_serves"], r["status"])
        for r in rows
    ] == [('find_callers("{name}")', 5, 0, 3, 0, "ready")]
    refused = cli("riggs", "promote", rows[0]["id"])
    assert refused.returncode == 2
    assert "--yes" in refused.stderr
    promoted = cli("riggs", "promote", rows[0]["id"], "--yes")
    assert promoted.returncode == 0, promoted.stderr

    served = running("show usages of validate_token")
    assert (served["ok"], served["tier"], served["slots"]) == (True, "0", {"name": "validate_token"})
    assert [(r["file"], r["line"]) for r in served["output"]] == [
        ("app/api.py", 5),
        ("app/auth.py", 11),
        ("tests/test_auth.py", 5),
    ]
    for near in ("callers of login in tests", "count callers of login", "callers of login and delete them"):
        assert running(near)["tier"] != "0"

    assert json.loads(cli("riggs", "candidates", "--json").stdout) == []
    name = json.loads(cli("riggs", "history", "--json").stdout)[0]["template"]
    assert cli("riggs", "demote", name, "--reason", "test").returncode == 0
    assert running("show usages of validate_token")["tier"] is None


def test_rejected_stays_away_until_its_evidence_doubles(cli, untaught):
    for intent, name, session in ASKED:
        cli("lackpy", "run", f'find_callers("{name}")', "--intent", intent, "--session", session)
    row = json.loads(cli("riggs", "candidates", "--json").stdout)[0]
    assert cli("riggs", "reject", row["id"], "--reason", "too vague").returncode == 0
    assert json.loads(cli("riggs", "candidates", "--json").stdout) == []
    for intent, name, session in ASKED:
        cli("lackpy", "run", f'find_callers("{name}")', "--intent", intent, "--session", f"{session}2")
    assert [r["id"] for r in json.loads(cli("riggs", "candidates", "--json").stdout)] == [row["id"]]
