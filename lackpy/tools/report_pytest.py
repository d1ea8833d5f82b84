"""A pytest plugin that writes one JSON line per outcome, so that a run that dies half-way still tells what it saw.

Copied beside the run and loaded with `-p` in the tested project's own interpreter; imports only the standard library
and keeps to Python 3.7.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_PATH = os.environ.get("LACKPY_TEST_REPORT", "")


class _Reporter:
    def line(self, kind: str, test: str, message: str = "") -> None:
        with Path(_PATH).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"kind": kind, "test": test, "message": message}) + "\n")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome == "passed":
            if report.when == "call":
                self.line("passed", report.nodeid)
        elif report.outcome == "failed":
            self.line("failed" if report.when == "call" else "error", report.nodeid, _why(report))

    def pytest_collectreport(self, report: Any) -> None:
        if report.outcome == "failed":
            self.line("error", report.nodeid, _why(report))

    def pytest_internalerror(self, excrepr: Any) -> None:
        self.line("error", "pytest", str(excrepr)[-4000:])

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        if type(excinfo.value).__name__ != "Interrupted":  # pytest's own, after errors already written
            self.line("error", "pytest", f"interrupted: {type(excinfo.value).__name__}")

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        self.line("end", "", str(int(exitstatus)))


def _why(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return f"{crash.message} ({crash.path}:{crash.lineno})"
    return str(report.longrepr)[-4000:]


def pytest_configure(config: Any) -> None:
    """Register the reporter, in the controlling process only when tests are spread over workers."""
    if _PATH and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(), "lackpy-report-lines")
