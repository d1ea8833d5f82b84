"""The hostile and the honest programs of the corpora, as far as the language decides them."""

from __future__ import annotations

import ast

import pytest
from lang_kit import SIGNATURES, Tools, as_json, evaluate, rows

from lackpy.lang import check

HOSTILE = rows("adversarial_dev.jsonl")
HONEST = [r for r in rows("benign_dev.jsonl") if not r.get("repairable")]
OUTSIDE = {"ok-bytes-none"}  # bytes are no plain data: refused with a hint
# A loop runs over a snapshot, so what its body appends to the list it walks isn't walked.
SNAPSHOT = {"ok-worklist": ["a.py"], "ok-loop-guarded": 2}


@pytest.mark.parametrize("row", [r for r in HOSTILE if r["expect"] == "reject"], ids=lambda r: r["id"])
def test_rejects_what_must_not_run(row):
    """A program that must not run is refused, each violation with a place and a hint."""
    verdict = check(row["program"], SIGNATURES)
    assert not verdict.ok
    assert all(v.rule and v.line >= 1 and v.column >= 1 and v.message and v.hint for v in verdict.violations)


@pytest.mark.parametrize("row", HOSTILE, ids=lambda r: r["id"])
def test_accepted_trees_compile_and_are_their_text(row):
    """What is accepted compiles, and its text parses to the same tree."""
    verdict = check(row["program"], SIGNATURES)
    if verdict.ok:
        compile(verdict.tree, "<program>", "exec")
        assert ast.dump(ast.parse(verdict.program)) == ast.dump(verdict.tree)


@pytest.mark.parametrize("row", [r for r in HONEST if r["id"] not in OUTSIDE], ids=lambda r: r["id"])
def test_honest_program_has_its_value(row):
    """An honest program is accepted and, lowered, has the value and the text it is meant to have."""
    verdict = check(row["program"], SIGNATURES)
    assert verdict.ok, [str(v) for v in verdict.violations]
    value, printed = evaluate(ast.parse(verdict.program), Tools().namespace())
    if "expected_stdout" in row:
        assert printed == row["expected_stdout"]
    else:
        assert as_json(value) == SNAPSHOT.get(row["id"], row["expected_json"])


def test_bytes_get_a_hint():
    """Bytes are refused with what to write instead."""
    verdict = check('"abc".encode() == b"abc"', SIGNATURES)
    assert [str(v) for v in verdict.violations] == [
        (
            "L1:1 unknown-method: method '.encode()' is not in the language; "
            "compare and search text as text; there are no bytes"
        ),
        "L1:19 literal: a bytes literal is not in the language; write text without the b",
    ]
