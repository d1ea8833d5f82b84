"""A tool ends with the call it serves: in time to report, and at once when nobody waits any more."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from lackpy import deadline
from lackpy.deadline import Deadline
from lackpy.tools.errors import ToolError
from lackpy.tools.limits import Clock

SLOW = "import time\ndef test_first(): pass\ndef test_slow(): time.sleep(600)\n"


def test_callbacks_run_once_and_late_ones_at_once():
    end = Deadline(time.monotonic() + 60)
    seen = []
    end.on_stop(lambda: seen.append("before"))
    assert end.left_s() > 0
    end.stop()
    end.stop()
    end.on_stop(lambda: seen.append("after"))
    assert seen == ["before", "after"]
    assert end.left_s() == 0


def test_scan_ends_when_its_call_was_given_up():
    end = Deadline(time.monotonic() + 60)
    with deadline.during(end):
        clock = Clock()
    clock.check()
    end.stop()
    with pytest.raises(ToolError, match=r"^the call was given up$"):
        clock.check()
    assert deadline.current() is None


@pytest.mark.slow
def test_tests_stop_in_time_to_report(tools):
    """The outcomes seen so far arrive before the executor would give the call up."""
    tools.put({"test_a.py": SLOW})
    end = Deadline(time.monotonic() + 8)
    with deadline.during(end):
        report = tools.run_tests()
    assert end.left_s() > 0
    assert (report["passed"], report["errors"]) == (1, 1)
    assert report["failures"][0]["message"].startswith("timed out after ")


@pytest.mark.slow
def test_tests_are_killed_when_the_call_is_given_up(tools):
    tools.put({"test_a.py": SLOW})
    end = Deadline(time.monotonic() + 600)
    reports = []

    def call():
        with deadline.during(end):
            reports.append(tools.run_tests())

    thread = threading.Thread(target=call)
    thread.start()
    while not [p for p in Path("/proc").glob("[0-9]*") if _runs_in(p, tools.root)]:
        threading.Event().wait(0.05)
    end.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert reports[0]["errors"] == 1


def _runs_in(process, root):
    try:
        command = (process / "cmdline").read_bytes()
        return os.path.realpath(process / "cwd") == str(root) and b"-m\0pytest" in command
    except OSError:
        return False
