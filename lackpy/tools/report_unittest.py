"""Runs unittest discovery and writes one JSON line per outcome, where pytest isn't installed.

Copied beside the run and started in the tested project's own interpreter; imports only the standard library and keeps
to Python 3.7. Arguments: start folder, file pattern.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import unittest
from pathlib import Path
from typing import Any


def _line(kind: str, test: str, message: str = "") -> None:
    with Path(os.environ["LACKPY_TEST_REPORT"]).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"kind": kind, "test": test, "message": message[-4000:]}) + "\n")


def _why(err: Any) -> str:
    return "".join(traceback.format_exception(*err))


class _Result(unittest.TextTestResult):
    def addSuccess(self, test: Any) -> None:  # noqa: N802  # unittest's name
        super().addSuccess(test)
        _line("passed", test.id())

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802  # unittest's name
        super().addFailure(test, err)
        _line("failed", test.id(), _why(err))

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802  # unittest's name
        super().addError(test, err)
        _line("error", test.id(), _why(err))

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802  # unittest's name
        super().addSubTest(test, subtest, err)
        if err is not None:
            _line("failed", subtest.id(), _why(err))

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802  # unittest's name
        super().addUnexpectedSuccess(test)
        _line("failed", test.id(), "unexpected success")


def main() -> None:
    """Discover, run, and write the final status: 0 passed, 1 failed, 5 nothing found."""
    sys.path[0] = str(Path.cwd())
    suite = unittest.defaultTestLoader.discover(sys.argv[1], sys.argv[2])
    runner: Any = unittest.TextTestRunner
    result = runner(resultclass=_Result).run(suite)
    failed = 0 if result.wasSuccessful() else 1
    _line("end", "", str(failed or (0 if result.testsRun else 5)))


if __name__ == "__main__":
    main()
