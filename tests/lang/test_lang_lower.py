"""What surface Python is lowered to, and that it means the same."""

from __future__ import annotations

import ast

import pytest
from lang_kit import SIGNATURES, cases, run

from lackpy.lang import check, grammar


@pytest.mark.parametrize("case", cases("lowered.txt"))
def test_lowered_text(case):
    """Each surface construct becomes the documented program, which is in the whitelist and lowers to itself."""
    before, after = (part.strip("\n") for part in case.split("\n==>\n"))
    verdict = check(before, SIGNATURES)
    assert [str(v) for v in verdict.violations] == []
    assert verdict.program == after
    assert {type(node).__name__ for node in ast.walk(verdict.tree)} <= grammar.ALLOWED_NODES
    assert all(
        hasattr(node, "lineno") for node in ast.walk(verdict.tree) if isinstance(node, (ast.stmt, ast.expr))
    )
    compile(verdict.tree, "<program>", "exec")


VALUES = [
    ("sorted(glob('*.py'), key=lambda p: len(read(p)))", ["b.py", "a.py"]),
    ("sorted(glob('*.py'), key=lambda p: len(read(p)), reverse=True)", ["a.py", "b.py"]),
    ("sorted(['x', 'y', 'z'], key=lambda p: len(glob('none')), reverse=True)", ["x", "y", "z"]),
    ("max(glob('*.py'), key=lambda p: len(read(p)))", "a.py"),
    ("min([], key=lambda p: read(p), default='none')", "none"),
    ("x = glob('*.py')\nx.sort(key=lambda p: len(read(p)))\nx", ["b.py", "a.py"]),
    ("sort_by(find_definitions(''), 'line', True)[0]['name']", "Thing"),
    ("sort_by(find_definitions(''), key='line')[0]['name']", "helper"),
    ("sort_by(glob('*.py'), lambda p: len(read(p)))", ["b.py", "a.py"]),
    ("sort_by(glob('*.py'), len)", ["a.py", "b.py"]),
    ("'{0}{1}{0}'.format('a', 'b')", "aba"),
    ("'{:>4}|{x!r:.3}'.format(1, x='abcd')", "   1|'ab"),
    ("'{} {}'.format('a\\n'.split('\\n'), \"it's\")", "['a', ''] it's"),
    ("'{a}'.format(b=len('x'), a=2)", "2"),
    ("3 ** 2 + 2 ** 0 + 2 ** 3", 18),
    ("x = 1.5\nx ** 2", 2.25),
    ("-2 ** 2", -4),
    ("{1, 2} & {2} ^ {3}", {2, 3}),
    ("s = {1}\ns |= {2}\ns", {1, 2}),
    ("list(dict.fromkeys(['b', 'a', 'b']))", ["b", "a"]),
    ("dict.fromkeys((x for x in 'ab'), 0)", {"a": 0, "b": 0}),
    ("x = [3, 1]\nfor i in x:\n    x.append(i)\nx", [3, 1, 3, 1]),
    ("x = [1]\ny = x\nfor i in x:\n    y.append(i)\nlen(x)", 2),
    ("d = {0: 0}\nfor k in d:\n    d.pop(k)\n    d[k + 1] = 0\nd", {1: 0}),
    ("x = [1]\nfor a, b in zip(x, x):\n    x.append(a)\nlen(x)", 2),
    ("d = {'a': [1]}\nfor x in d['a']:\n    d['a'].append(x)\nd", {"a": [1, 1]}),
    ("x = [1]\nx.extend(i for i in x)\nx", [1, 1]),
    ("for i in range(5):\n    if i == 2:\n        break\ni", 2),
    ("n = 0\nfor i in range(5):\n    if i == 2:\n        break\n    n += i\nn", 1),
    ("n = 0\nfor i in range(5):\n    if i % 2:\n        continue\n    n += i\nn", 6),
    (
        (
            "out = []\nfor i in range(4):\n    for j in range(4):\n        if j > i:\n            break\n"
            "        if j == 1:\n            continue\n        out.append((i, j))\n    else:\n        continue\n"
            "    if i == 2:\n        break\nout"
        ),
        [(0, 0), (1, 0), (2, 0), (2, 2)],
    ),
    (
        (
            "out = []\nfor i in range(6):\n    if i > 1:\n        if i == 4:\n            break\n"
            "        out.append(i)\n"
            "    out.append(-i)\nout"
        ),
        [0, -1, 2, -2, 3, -3],
    ),
    ("for k, v in {'a': 1, 'b': 2}.items():\n    if v == 1:\n        break\n[k, v]", ["a", 1]),
    ("x = 0\nif x:\n    y = 1\nelse:\n    z = 2", 2),
    ("x = 0\nif x:\n    y = 1", None),
    ("x = 1\nif x:\n    print('a')\nelse:\n    print('b')", "a"),
    ("for p in []:\n    last = p", None),
    ("n = 0\nfor p in 'abc':\n    n += 1", 3),
    ("out = []\nfor p in 'ab':\n    if p == 'a':\n        out.append(p)\n    else:\n        pass", ["a"]),
    ("a = b = [1]", [1]),
    ("(a, *b) = [1, 2, 3]", (1, [2, 3])),
    ("print(x for x in 'ab')", ["a", "b"]),
    ("with read('notes.txt') as t, len(t) as n:\n    n + 1", 27),
    ("for x in (y for y in 'ab'):\n    z = x\nz", "b"),
    ("'b' in (y for y in 'ab')", True),
    ("[*(y for y in 'ab')]", ["a", "b"]),
    ("def_ = 1\npass", None),
    ("", None),
    ("# nothing", None),
    ("x = 1\r\nx + 1\r\n", 2),
    ("\ufeffx = 1\nx", 1),
    ("x = 1 # note\x0cread('no')\nx", 1),
]


@pytest.mark.parametrize(("program", "value"), VALUES)
def test_lowered_value(program, value):
    """The lowered program has the value the surface program means."""
    assert run(program) == value


def test_made_up_names_avoid_look_alikes():
    """A name made up by lowering differs from every identifier, folded as Python folds them."""
    program = "_\uff53top = 7\nfor i in [1, 2]:\n    if i == 1:\n        break\n[_stop, i]"
    assert run(program) == [7, 1]


def test_sort_with_a_tool_in_its_key_has_no_value():
    """Where `.sort` can't be lowered the refusal says so."""
    verdict = check("x = ['a.py']\ny = x.sort(key=lambda p: read(p))", SIGNATURES)
    assert [v.rule for v in verdict.violations] == ["statement"]
