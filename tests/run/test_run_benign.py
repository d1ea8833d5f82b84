"""Honest programs run to their value on both executors, and the type check lets them pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import corpus_rows
import pytest
from run_support import EXECUTORS

from lackpy.lang import check
from lackpy.run import Limits, typecheck

TEXT = (corpus_rows.CORPORA / "benign_dev.jsonl").read_text(encoding="utf-8")
CORE = [
    row
    for row in map(json.loads, filter(None, TEXT.split("\n")))
    if not {"optional", "repairable"} & set(row)
]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("benign")
    return corpus_rows.host_tools(folder)[0]


@pytest.mark.parametrize("name", sorted(EXECUTORS))
@pytest.mark.parametrize("row", CORE, ids=lambda row: row["id"])
def test_a_core_program_gives_its_value(row: dict[str, Any], name: str, tools: dict[str, Any]) -> None:
    """The value is the expected one; a program that ends in `print(x)` gives x."""
    verdict = check(row["program"], {n: s.signature for n, s in tools.items()})
    assert verdict.ok, verdict.violations
    result = EXECUTORS[name].run(verdict, tools, {}, Limits())
    assert result.ok, result.error
    printed = row.get("expected_stdout")
    if printed is not None:
        assert result.printed == printed
    ends_in_print = row["program"].rstrip().split("\n")[-1].startswith("print(")
    assert result.output == row["expected_json"] or (ends_in_print and f"{result.output}\n" == printed)


@pytest.mark.parametrize("row", CORE, ids=lambda row: row["id"])
def test_a_core_program_passes_the_type_check(row: dict[str, Any], tools: dict[str, Any]) -> None:
    """No honest program is refused for its types."""
    signatures = {n: s.signature for n, s in tools.items()}
    verdict = check(row["program"], signatures)
    assert typecheck(verdict.program, signatures) == ()
