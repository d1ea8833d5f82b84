"""Everyday intents on this repository's own tree, served by the shipped library alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from lackpy import Lackpy

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Return a runtime on a copy of the package, the SQL and the licence."""
    root = tmp_path_factory.mktemp("own") / "tree"
    for folder in ("lackpy", "sql"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "LICENSE", root)
    with Lackpy(root) as runtime:
        yield runtime


def lines_with(pattern, suffix=".py"):
    """Return file and line of each match in the copied tree, found without any tool of the library."""
    return {
        (path.relative_to(ROOT).as_posix(), number)
        for path in (ROOT / "lackpy").rglob(f"*{suffix}")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(pattern, line)
    }


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def places(output):
    return {(row["file"], row["line"]) for row in output}


CASES = [
    (
        "where is `canonical` defined?",
        lambda out: (
            places(out) == lines_with(r"^def canonical\(") and out[0]["file"] == "lackpy/lang/canonical.py"
        ),
    ),
    (
        "who calls `iso_utc`?",
        lambda out: {"lackpy/recorder.py", "lackpy/traces/drain.py"} <= {r["file"] for r in out},
    ),
    (
        "which classes inherit from LackpyError",
        lambda out: places(out) == lines_with(r"^class \w+\(.*\bLackpyError\b"),
    ),
    ("how many sql files are there", lambda out: out == len(list((ROOT / "sql").rglob("*.sql")))),
    (
        "please show the signature of drain_due",
        lambda out: out == ["def drain_due(state_dir: str | Path) -> bool:"],
    ),
    ("list the classes in lackpy/service.py", lambda out: [row["name"] for row in out] == ["Lackpy"]),
    ("read lackpy/version.py", lambda out: out == text_of("lackpy/version.py")),
    ("show me the first 3 lines of LICENSE", lambda out: out == text_of("LICENSE").splitlines()[:3]),
    (
        "how many lines does lackpy/call.py have",
        lambda out: out == len(text_of("lackpy/call.py").splitlines()),
    ),
    ("where is StoreLocked raised", lambda out: places(out) == lines_with(r"raise StoreLocked\b")),
    ("is there a file named LICENSE", lambda out: out is True),
]


@pytest.mark.parametrize(("intent", "right"), CASES, ids=[intent for intent, _ in CASES])
def test_an_everyday_intent_is_answered_right(here, intent, right):
    """The library serves the intent without a model, and its answer is what the files say."""
    result = here.delegate(intent)
    assert result.ok, result.error
    assert result.tier in ("0", "1")
    assert right(result.output), result.output


def test_an_intent_that_needs_thought_is_passed_on(here):
    """What no template accounts for whole is refused, not guessed."""
    result = here.delegate("list the classes in lackpy/service.py and delete the longest")
    assert not result.ok
    assert str(result.error.kind) == "no_program"
