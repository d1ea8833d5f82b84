"""`run_tests` reports what happened, whatever the tests do, and leaves no process behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lackpy.tools.errors import ToolError
from lackpy.tools.testing import TestTools
from lackpy.tools.workspace import Workspace

pytestmark = pytest.mark.slow

MIXED = """
import pytest

def test_good(): pass
def test_bad(): assert 1 == 2, "one is not two"
@pytest.fixture
def broken(): raise RuntimeError("fixture fell over")
def test_error(broken): pass
@pytest.mark.skip
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
class TestGroup:
    @pytest.mark.parametrize("n", [1, 2])
    def test_many(self, n): pass
"""


def counts(report):
    return report["passed"], report["failed"], report["errors"]


def reasons(report):
    return " | ".join(f"{f['test']}: {f['message']}" for f in report["failures"])


def limited(tools, seconds):
    return TestTools(Workspace(tools.root), timeout_s=seconds).run_tests


def running(marker):
    """Return the ids of processes that carry `marker` in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_counts_and_reasons(tools):
    tools.put({"test_m.py": MIXED})
    report = tools.run_tests()
    assert list(report) == ["passed", "failed", "errors", "duration_s", "failures"]
    assert counts(report) == (3, 1, 1)
    assert [f["test"] for f in report["failures"]] == ["test_m.py::test_bad", "test_m.py::test_error"]
    assert "one is not two" in report["failures"][0]["message"]
    assert "fixture fell over" in report["failures"][1]["message"]
    assert report["duration_s"] > 0
    assert sorted(os.listdir(tools.root)) == ["test_m.py"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("test_m.py", (3, 1, 1)),
        ("test_m.py::test_good", (1, 0, 0)),
        ("test_m.py::TestGroup", (2, 0, 0)),
        ("sub", (1, 0, 0)),
    ],
)
def test_path_narrows(path, expected, tools):
    tools.put({"test_m.py": MIXED, "sub/test_s.py": "def test_s(): pass\n"})
    assert counts(tools.run_tests(path)) == expected


BROKEN = {
    "empty": ({}, "", (0, 0, 0), "no tests were collected"),
    "missing path": ({}, "nope.py", (0, 0, 1), "nope.py: no such file or folder: 'nope.py'"),
    "missing node": ({"test_a.py": "def test_a(): pass\n"}, "test_a.py::test_b", (0, 0, 1), "not found"),
    "import error in one of three": (
        {
            "test_a.py": "def test_a(): pass\n",
            "test_b.py": "import nowhere_to_be_found\n",
            "test_c.py": "def test_c(): pass\n",
        },
        "",
        (2, 0, 1),
        "nowhere_to_be_found",
    ),
    "conftest syntax error": ({"conftest.py": "def (\n", "test_a.py": ""}, "", (0, 0, 1), "SyntaxError"),
    "unknown addopts": (
        {"pytest.ini": "[pytest]\naddopts = --no-such-flag\n", "test_a.py": ""},
        "",
        (0, 0, 1),
        "--no-such-flag",
    ),
    "keyboard interrupt": (
        {"test_a.py": "def test_a(): pass\ndef test_b(): raise KeyboardInterrupt\n"},
        "",
        (1, 0, 1),
        "interrupted: KeyboardInterrupt",
    ),
    "vanished": (
        {"test_a.py": "import os\ndef test_a(): pass\ndef test_b(): os._exit(0)\n"},
        "",
        (1, 0, 1),
        "crashed: the test process ended with exit status 0 before it could report",
    ),
    "killed": (
        {"test_a.py": "import os, signal\ndef test_a(): os.kill(os.getpid(), signal.SIGKILL)\n"},
        "",
        (0, 0, 1),
        "crashed: the test process ended with signal 9",
    ),
    "stdin": ({"test_a.py": "def test_a(): input()\n"}, "", (0, 1, 0), "reading from stdin"),
    "stdin in conftest": (
        {
            "pytest.ini": "[pytest]\naddopts = -s\n",
            "conftest.py": "import sys\nassert sys.stdin.read() == ''\n",
            "test_a.py": "def test_a(): pass\n",
        },
        "",
        (1, 0, 0),
        "",
    ),
    "coverage gate": (
        {
            "conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 1\n",
            "test_a.py": "def test_a(): pass\n",
        },
        "",
        (1, 0, 0),
        "",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_went_wrong_is_said(case, tools):
    files, path, expected, reason = BROKEN[case]
    tools.put(files)
    report = tools.run_tests(path)
    assert counts(report) == expected, report
    assert reason in reasons(report)


def test_timeout_kills_the_whole_group_and_keeps_partial_results(tools):
    """A child that ignores SIGTERM and one in its own session die with the run."""
    marker = f"sleeper-{os.getpid()}-{tools.root.parent.name}"
    tools.put(
        {
            "test_a.py": (
                "import signal, subprocess, sys, time\n"
                "def test_first(): pass\n"
                "def test_stuck():\n"
                "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                f"    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {marker!r}])\n"
                f"    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {marker!r}], start_new_session=True)\n"  # noqa: E501  # sample source
                "    time.sleep(600)\n"
            )
        }
    )
    report = limited(tools, 4.0)()
    assert counts(report) == (1, 0, 1)
    assert report["failures"][0]["message"] == "timed out after 4 s; the run and its children were killed"
    assert running(marker) == []


def test_a_child_left_in_the_background_is_gone_when_the_run_returns(tools):
    marker = f"leftover-{os.getpid()}-{tools.root.parent.name}"
    tools.put(
        {
            "test_a.py": (
                "import subprocess, sys\n"
                "def test_a():\n"
                f"    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {marker!r}])\n"
            )
        }
    )
    assert counts(tools.run_tests()) == (1, 0, 0)
    assert running(marker) == []


def _interpreter_without_pytest(root):
    """Give the workspace an interpreter of its own that sees only the standard library."""
    python = root / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    python.chmod(0o755)


def test_without_pytest_unittest_runs(tools):
    _interpreter_without_pytest(tools.root)
    tools.put(
        {
            "test_u.py": (
                "import unittest\n"
                "class T(unittest.TestCase):\n"
                "    def test_good(self): pass\n"
                "    def test_bad(self): self.assertEqual(1, 2)\n"
                "    def test_error(self): raise KeyError('gone')\n"
            )
        }
    )
    report = tools.run_tests()
    assert counts(report) == (1, 1, 1)
    assert "1 != 2" in reasons(report)
    assert counts(tools.run_tests("test_u.py")) == (1, 1, 1)


def test_without_pytest_and_without_unittest_cases_the_reason_is_said(tools):
    _interpreter_without_pytest(tools.root)
    tools.put({"test_p.py": "def test_p(): pass\n"})
    report = tools.run_tests()
    assert counts(report) == (0, 0, 1)
    assert reasons(report) == (
        "run_tests: no tests were collected (pytest is not installed for the workspace's interpreter, so unittest "
        "looked for test*.py)"
    )


def test_path_outside_is_refused(tools):
    with pytest.raises(ToolError, match="path outside the workspace"):
        tools.run_tests("../other")
