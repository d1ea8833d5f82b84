"""A pytest plugin that writes one JSON line per outcome, so that a run that dies half-way still tells what it saw.

Copied beside the run and loaded with `-p` in the tested project's own interpreter; imports only the standard library.
"""

import json
import os

_PATH = os.environ.get("LACKPY_TEST_REPORT", "")


class _Reporter:
    def __init__(self, stream):
        self.stream = stream

    def line(self, kind, test, message=""):
        self.stream.write(json.dumps({"kind": kind, "test": test, "message": message}) + "\n")
        self.stream.flush()

    def pytest_runtest_logreport(self, report):
        if report.outcome == "passed":
            if report.when == "call":
                self.line("passed", report.nodeid)
        elif report.outcome == "failed":
            self.line("failed" if report.when == "call" else "error", report.nodeid, _why(report))

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.line("error", report.nodeid, _why(report))

    def pytest_internalerror(self, excrepr):
        self.line("error", "pytest", str(excrepr)[-4000:])

    def pytest_keyboard_interrupt(self, excinfo):
        self.line("error", "pytest", "interrupted: %s" % type(excinfo.value).__name__)

    def pytest_sessionfinish(self, exitstatus):
        self.line("end", "", str(int(exitstatus)))


def _why(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return "%s (%s:%s)" % (crash.message, crash.path, crash.lineno)
    return str(report.longrepr)[-4000:]


def pytest_configure(config):
    if _PATH and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(open(_PATH, "a", encoding="utf-8")), "lackpy-report-lines")
