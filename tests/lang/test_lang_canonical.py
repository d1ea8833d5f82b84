"""When two programs are the same, and when they aren't."""

from __future__ import annotations

import ast
import itertools

import pytest
from lang_kit import cases, rows

from lackpy.lang import canonical, skeleton


@pytest.mark.parametrize("case", cases("canonical.txt"))
def test_canonical_text(case):
    """Each program has the documented canonical text."""
    before, after = case.split("\n==>\n")
    assert canonical(before) == after
    assert canonical(after) == after


@pytest.mark.parametrize("case", cases("same.txt"))
def test_same_programs(case):
    """Programs that differ in names, formatting and temporaries only have one canonical text."""
    assert len({canonical(p) for p in case.split("\n===\n")}) == 1


DIFFERENT = [
    ["len(glob('*.py'))", "len(glob('*.js'))", "glob('*.py')", "len(read('*.py'))"],
    ["[f(x) for x in xs]", "[x for x in xs]", "{f(x) for x in xs}"],
    ["a = f()\nb = g()\n[b, a]", "a = g()\nb = f()\n[b, a]", "a = f()\nb = g()\n[a, b]"],
    ["print(1)", "1", "print(1, 1)"],
    ["x = f()\ny = x + x\ny", "y = f() + f()\ny"],
    ["x = 1\nx == 1", "x = True\nx == 1", "x = 1.0\nx == 1"],
    ["'1'", "1"],
    ["r['file']", "r['line']"],
    ["sorted(xs)", "sorted(xs, reverse=True)"],
]


@pytest.mark.parametrize("group", DIFFERENT)
def test_different_programs(group):
    """Programs that mean different things never share a canonical text."""
    for one, other in itertools.combinations(group, 2):
        assert canonical(one) != canonical(other)


def test_tree_is_left_alone():
    """A tree given is not changed."""
    tree = ast.parse("x = glob('*')\nfor p in x:\n    x.append(p)\nx")
    before = ast.dump(tree)
    canonical(tree)
    assert ast.dump(tree) == before


@pytest.mark.parametrize("row", [r for r in rows("benign_dev.jsonl") if r["parses"]], ids=lambda r: r["id"])
def test_corpus_programs_are_stable(row):
    """Canonical text of every honest program is its own canonical text."""
    text = canonical(row["program"])
    assert canonical(text) == text


def test_skeleton_blanks_literals_and_keeps_keys():
    """Values go, the shape of the data stays."""
    program = "[f\"{r['file']}: {r['line'] + 1}\" for r in grep('TODO', \"src/**\")][:20]"
    assert skeleton(program) == "[f\"{v1['file']}{v1['line'] + 0}\" for v1 in grep('', '')][:0]"
    assert skeleton("grep('a', 'b')[:1]") == skeleton("grep('x', \"y\")[:2]")
    assert skeleton("x['a']") != skeleton("x['b']")
