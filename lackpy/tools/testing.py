"""`run_tests`: the workspace's own tests in its own interpreter, as counts and reasons.

pytest where it is installed, else unittest. Whatever goes wrong is in the report: a run that collected nothing, was
refused, timed out or vanished never looks like success.
"""

# ruff: noqa: PTH110, PTH113, PTH118, PTH119, PTH120  # strings and os.path: a scan makes no Path object a file

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from lackpy import deadline
from lackpy.tools import process, report_pytest, report_unittest
from lackpy.tools.limits import PATH_CHARS, TESTS_S, text_argument
from lackpy.tools.process import Ended
from lackpy.tools.rows import TestFailure, TestReport
from lackpy.tools.workspace import Workspace

_SHOWN = 50  # failures listed; the counts are of all
_MESSAGE_CHARS = 2_000
_PROBE_S = 20.0
_MARGIN_S = 2.0  # to kill, sweep and read the report
_LEAST_S = 0.5
_PLUGIN = "lackpy_report_lines"
_INTERPRETERS = (".venv/bin/python", "venv/bin/python", ".venv/Scripts/python.exe", "venv/Scripts/python.exe")
_STATUS = {
    1: "tests failed, but none was reported",
    2: "the run was interrupted",
    3: "pytest had an internal error",
    4: "pytest was started with wrong arguments or configuration",
}
_DROPPED = (
    "PYTEST_CURRENT_TEST",
    "PYTEST_XDIST_WORKER",
    "PYTEST_XDIST_WORKER_COUNT",
    "PYTEST_XDIST_TESTRUNUID",
)


class TestTools:
    """Runs the tests of one workspace."""

    __test__ = False  # not itself a test, whatever its name

    def __init__(self, workspace: Workspace, timeout_s: float = TESTS_S) -> None:
        """Give every run `timeout_s` seconds."""
        self._workspace = workspace
        self._timeout_s = timeout_s

    def run_tests(self, path: str = "") -> TestReport:
        """Run the tests of the workspace, a folder, a file or a pytest node id, and count the outcomes.

        Raises:
            ToolError: `path` is no text or outside the workspace.
        """
        target, _, node = self._target(path)
        if target is None:
            return _report([], [_reason(path, f"no such file or folder: {path!r}")], 0.0)
        with tempfile.TemporaryDirectory(prefix="lackpy-tests-") as folder:
            return self._run(Path(folder), target, node, path)

    def _target(self, path: object) -> tuple[str | None, str, str]:
        """Split a node id and resolve its file; `None` when there is none."""
        if path in ("", "."):
            return "", "", ""
        given = text_argument(path, "'path'", PATH_CHARS)
        file, separator, node = given.partition("::")
        real = self._workspace.resolve(file)
        return (self._workspace.relative(real) if os.path.exists(real) else None), separator, node

    def _run(self, folder: Path, target: str, node: str, given: str) -> TestReport:
        python = self._interpreter()
        report, output = folder / "report.jsonl", folder / "output.txt"
        environment = {key: value for key, value in os.environ.items() if key not in _DROPPED}
        environment |= {
            "LACKPY_TEST_REPORT": str(report),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, (str(folder), environment.get("PYTHONPATH", "")))),
        }
        try:
            has_pytest = self._has_pytest(python, folder, environment)
            if has_pytest:
                command = self._pytest(python, folder, target, node)
            else:
                command = self._unittest(python, folder, target)
            seconds = self._seconds()
            ended = process.run(command, self._workspace.root, environment, output, seconds)
        except OSError as exc:
            return _report([], [_reason(given, f"can't start {_shown(python)}: {exc.strerror or exc}")], 0.0)
        lines = _lines(report)
        return _report(lines, self._reasons(lines, ended, has_pytest, python, seconds), ended.seconds)

    def _seconds(self) -> float:
        """Return how long the tests may run, so that the report is there before the executor gives the call up."""
        call = deadline.current()
        return (
            self._timeout_s
            if call is None
            else min(self._timeout_s, max(_LEAST_S, call.left_s() - _MARGIN_S))
        )

    def _interpreter(self) -> str:
        for relative in _INTERPRETERS:
            path = os.path.join(self._workspace.root, relative)
            if os.access(path, os.X_OK):
                return path
        return sys.executable

    def _has_pytest(self, python: str, folder: Path, environment: Mapping[str, str]) -> bool:
        code = "import importlib.util as u, sys; sys.exit(0 if u.find_spec('pytest') else 3)"
        ended = process.run(
            [python, "-c", code], self._workspace.root, environment, folder / "probe.txt", _PROBE_S
        )
        return ended.status == 0

    def _pytest(self, python: str, folder: Path, target: str, node: str) -> list[str]:
        _copy(report_pytest.__file__, folder / f"{_PLUGIN}.py")
        where = [f"{target}::{node}" if node else target] if target else []
        cache = f"cache_dir={folder / 'cache'}"
        return [
            python,
            "-m",
            "pytest",
            "-q",
            "--color=no",
            "--continue-on-collection-errors",
            "-p",
            _PLUGIN,
            "-o",
            cache,
            *where,
        ]

    def _unittest(self, python: str, folder: Path, target: str) -> list[str]:
        script = folder / "lackpy_run_unittest.py"
        _copy(report_unittest.__file__, script)
        place = os.path.join(self._workspace.root, target)
        if os.path.isfile(place):
            return [python, str(script), os.path.dirname(target) or ".", os.path.basename(target)]
        return [python, str(script), target or ".", "test*.py"]

    def _reasons(
        self, lines: list[dict[str, str]], ended: Ended, has_pytest: bool, python: str, seconds: float
    ) -> list[tuple[str, TestFailure]]:
        """Say what the outcomes alone don't: why the run as a whole went wrong."""
        finished = next((line["message"] for line in lines if line["kind"] == "end"), None)
        if ended.status is None:
            return [
                _reason(
                    "run_tests",
                    f"timed out after {seconds:.3g} s; the run and its children were killed",
                )
            ]
        counted = any(line["kind"] in ("failed", "error") for line in lines)
        status = int(finished) if finished is not None else ended.status
        if (finished is None and status in (0, 1, 2)) or status < 0:
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            return [
                _reason(
                    "run_tests",
                    f"crashed: the test process ended with {how} before it could report{_end(ended)}",
                )
            ]
        if status == 5:
            note = "no tests were collected"
            if not has_pytest:
                note += f" (pytest is not installed for {_shown(python)}, so unittest looked for test*.py)"
                return [_reason("run_tests", note)]
            return [("note", {"test": "run_tests", "message": note})]
        if status != 0 and not counted:
            return [
                _reason("run_tests", _STATUS.get(status, f"ended with exit status {status}") + _end(ended))
            ]
        return []


def _shown(python: str) -> str:
    return "this interpreter" if python == sys.executable else "the workspace's interpreter"


def _copy(source: str, to: Path) -> None:
    to.write_bytes(Path(source).read_bytes())


def _lines(report: Path) -> list[dict[str, str]]:
    """Return the outcomes written so far; a torn last line is left out."""
    found = []
    try:
        text = report.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    for line in text.split("\n"):
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        found.append(entry)
    return found


def _reason(test: str, message: str) -> tuple[str, TestFailure]:
    return "error", {"test": test, "message": message}


def _end(ended: Ended) -> str:
    tail = ended.tail.strip()
    return f": {tail[-_MESSAGE_CHARS:]}" if tail else ""


def _report(
    lines: list[dict[str, str]], reasons: list[tuple[str, TestFailure]], seconds: float
) -> TestReport:
    kinds = [line["kind"] for line in lines]
    failures: list[TestFailure] = [reason for _, reason in reasons]
    failures += [
        {"test": line["test"], "message": line["message"][:_MESSAGE_CHARS]}
        for line in lines
        if line["kind"] in ("failed", "error")
    ]
    return {
        "passed": kinds.count("passed"),
        "failed": kinds.count("failed"),
        "errors": kinds.count("error") + sum(kind == "error" for kind, _ in reasons),
        "duration_s": round(seconds, 3),
        "failures": failures[:_SHOWN],
    }
