"""The hostile corpus, on both executors: what must be refused is, what may run is contained and leaks nothing."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import corpus_rows
import pytest

from lackpy.lang import check
from lackpy.run import MontyExecutor

ROWS = {row["id"]: row for row in corpus_rows.rows()}
ROW_S = 20.0
"""Seconds without a line after which a child counts as hung; ten times what the corpus allows, for a busy machine."""
INLINE_MISSES: dict[str, str] = {}
"""Rows that the inline executor does not contain, each with why; its module's docstring lists the same."""
SLOW_S = 2.0
"""Seconds in which a row is to end."""
EXTRA_MIB = 256
"""MiB that it may leave this process larger."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Any]:
    return corpus_rows.host_tools(tmp_path_factory.mktemp("adversarial"))


def test_every_row_that_must_be_refused_is(host: tuple[dict[str, Any], Any]) -> None:
    """`expect: reject` rows have at least one violation, each with a hint."""
    signatures = {name: spec.signature for name, spec in host[0].items()}
    refused = [row for row in ROWS.values() if row["expect"] == "reject"]
    verdicts = {row["id"]: check(row["program"], signatures) for row in refused}
    assert [name for name, verdict in verdicts.items() if verdict.ok] == []
    assert [name for name, verdict in verdicts.items() if not all(v.hint for v in verdict.violations)] == []
    assert len(refused) == 193


def faults(found: dict[str, Any], clock: str = "seconds") -> list[str]:
    """Return what is wrong with how one row went; `busy_s` is the clock of a row that runs in this process.

    A row that ends with a plain value inside both limits did no harm: loops run over a snapshot, so some
    programs that never end in Python do here.
    """
    row = ROWS[found["id"]]
    if found["outcome"] == "refused":
        return []
    wrong = []
    if found["leaked"]:
        wrong.append(f"leaked {found['leaked']}")
    if found["outcome"] in ("crash", "hung", "died"):
        wrong.append(found["outcome"])
        return wrong
    if (
        found["outcome"] == "value"
        and row["kind"] != "dos"
        and row["expect"] != "safe_value"
        and "also_ok" not in row
    ):
        wrong.append("gave a value")
    if found[clock] > SLOW_S:
        wrong.append(f"took {found[clock]:.1f} s")
    if found["mib"] > EXTRA_MIB:
        wrong.append(f"took {found['mib']:.0f} MiB")
    return wrong


@pytest.mark.slow
def test_the_sandbox_contains_every_row(host: tuple[dict[str, Any], Any]) -> None:
    """On monty nothing leaks, nothing overruns 2 s or 256 MiB here, and this process is alive at the end."""
    tools, module = host
    executor = MontyExecutor(workers=2)
    todo = [row for row in ROWS.values() if row["expect"] != "reject"]
    found = [corpus_rows.run_row(row, executor, tools) for row in todo]
    for _ in range(2):  # a busy machine may stretch a row; a row that hangs does so each time
        found = [
            corpus_rows.run_row(ROWS[one["id"]], executor, tools) if faults(one) else one for one in found
        ]
    executor.close()
    assert {one["id"]: faults(one) for one in found if faults(one)} == {}
    assert repr(module.SHARED) == module.SHARED_BEFORE


def lines_of(process: subprocess.Popen[str]) -> queue.Queue[str | None]:
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def run_child(folder: Path, first: int) -> tuple[list[dict[str, Any]], int | None]:
    """Run rows in a child until all are done or one takes it down; return findings and where to go on."""
    argv = [sys.executable, corpus_rows.__file__, str(folder), "inline", str(first)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        return watch(process)


def watch(process: subprocess.Popen[str]) -> tuple[list[dict[str, Any]], int | None]:
    lines = lines_of(process)
    found: list[dict[str, Any]] = []
    current: dict[str, Any] | None = None
    while True:
        try:
            line = lines.get(timeout=ROW_S)
        except queue.Empty:
            process.kill()
            line = None
        if line is None:
            break
        entry = json.loads(line)
        current = entry if "start" in entry else None
        if current is None:
            found.append(entry)
    killed = process.poll() is None
    process.wait(timeout=ROW_S)
    if current is None:
        return found, None
    found.append({"id": current["id"], "outcome": "hung" if killed else "died", "leaked": []})
    return found, current["start"] + 1


@pytest.mark.slow
def test_the_inline_executor_contains_all_but_the_listed_rows(tmp_path: Path) -> None:
    """Every row that is no resource bomb, and at least 90 % of those that are; the rest is named above."""
    found: list[dict[str, Any]] = []
    first: int | None = 0
    while first is not None:
        more, first = run_child(tmp_path, first)
        found += more
    missed = {one["id"]: faults(one, "busy_s") for one in found if faults(one, "busy_s")}
    assert set(missed) <= set(INLINE_MISSES), missed
    bombs = [row for row in ROWS.values() if row["kind"] == "dos"]
    assert all(ROWS[name]["kind"] == "dos" for name in INLINE_MISSES)
    assert len(INLINE_MISSES) <= len(bombs) // 10
    assert len(found) == sum(row["expect"] != "reject" for row in ROWS.values())
