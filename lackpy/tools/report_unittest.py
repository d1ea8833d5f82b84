"""Runs unittest discovery and writes one JSON line per outcome, where pytest isn't installed.

Copied beside the run and started in the tested project's own interpreter; imports only the standard library.
Arguments: start folder, file pattern.
"""

import json
import os
import sys
import unittest


class _Result(unittest.TextTestResult):
    def line(self, kind, test, message=""):
        with open(os.environ["LACKPY_TEST_REPORT"], "a", encoding="utf-8") as stream:
            stream.write(json.dumps({"kind": kind, "test": test.id(), "message": message[-4000:]}) + "\n")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.line("passed", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.line("failed", test, self._exc_info_to_string(err, test))

    def addError(self, test, err):
        super().addError(test, err)
        self.line("error", test, self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.line("failed", subtest, self._exc_info_to_string(err, test))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.line("failed", test, "unexpected success")


def main():
    sys.path[0] = os.getcwd()
    suite = unittest.defaultTestLoader.discover(sys.argv[1], sys.argv[2])
    result = unittest.TextTestRunner(resultclass=_Result).run(suite)
    with open(os.environ["LACKPY_TEST_REPORT"], "a", encoding="utf-8") as stream:
        status = 5 if not result.testsRun and result.wasSuccessful() else 0 if result.wasSuccessful() else 1
        stream.write(json.dumps({"kind": "end", "test": "", "message": str(status)}) + "\n")


if __name__ == "__main__":
    main()
