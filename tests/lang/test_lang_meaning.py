"""Lowering and canonical form keep the meaning of programs, whatever the program."""

from __future__ import annotations

import ast
import re

from hypothesis import example, given, settings
from hypothesis import strategies as st
from lang_kit import evaluate
from lang_programs import NAMES, programs

from lackpy.lang import Param, Signature, canonical, check, skeleton

KIT = {"f": Signature("f", (Param("x", "int"),), "int"), "g": Signature("g", (Param("x", "int"),), "int")}


def _sort_by(items, key, reverse=False):
    return sorted(items, key=key if callable(key) else lambda r: r[key], reverse=reverse)


def _outcome(tree: ast.Module) -> tuple[object, str, list]:
    log: list[tuple[str, int]] = []

    def f(x):
        log.append(("f", x))
        return x % 5

    def g(x):
        log.append(("g", x))
        return -x

    try:
        value, printed = evaluate(tree, {"f": f, "g": g, "sort_by": _sort_by})
    except Exception as exc:  # noqa: BLE001  # a failing program must fail alike
        return type(exc).__name__, "", log
    return value, printed, log


@settings(max_examples=300, deadline=None)
@given(programs())
@example(
    "for a in range(3):\n    for b in range(3):\n        if b:\n            break\n    else:\n        continue\n[a, b]"
)
def test_lowered_program_does_what_the_program_does(source):
    """Value, printed text and tool calls are those of Python running the surface program."""
    verdict = check(source, KIT)
    assert verdict.ok, [str(v) for v in verdict.violations]
    assert _outcome(ast.parse(verdict.program)) == _outcome(ast.parse(source))
    assert ast.dump(ast.parse(verdict.program)) == ast.dump(verdict.tree)


@settings(max_examples=200, deadline=None)
@given(programs())
def test_canonical_program_does_what_the_program_does(source):
    """Inlining and renumbering keep value, printed text and tool calls."""
    text = canonical(source)
    assert check(text, KIT).ok
    assert _outcome(ast.parse(text)) == _outcome(ast.parse(source))


@settings(max_examples=200, deadline=None)
@given(programs())
def test_canonical_is_idempotent(source):
    """The canonical text of a canonical text is itself, and so for skeletons."""
    text = canonical(source)
    assert canonical(text) == text
    assert canonical(ast.parse(source)) == text
    assert skeleton(text) == skeleton(source)


@settings(max_examples=200, deadline=None)
@given(programs(), st.permutations(["zeta", "v1", "v2", "q", "_item"]))
def test_canonical_is_equal_for_renamed_programs(source, new):
    """Bound names don't matter."""
    table = dict(zip(NAMES, new, strict=True))
    renamed = re.sub(r"\b(a|b|c|items|row)\b", lambda m: table[m.group(1)], source)
    assert canonical(renamed) == canonical(source)


@settings(max_examples=200, deadline=None)
@given(programs())
def test_canonical_is_equal_before_and_after_lowering(source):
    """A trace may hold the surface program or the lowered one; both have one canonical text."""
    assert canonical(check(source, KIT).program) == canonical(source)


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_canonical_never_raises(text):
    """Text that is no program comes back, trimmed."""
    assert isinstance(canonical(text), str)
    assert isinstance(skeleton(text), str)
