"""The in-process executor: guards refuse before they allocate, and the program can't see them."""

from __future__ import annotations

import ast
import warnings

import pytest
from run_support import TOOLS, run

from lackpy.lang import grammar
from lackpy.run import ErrorKind, InlineExecutor, Limits
from lackpy.run.finish import Printed
from lackpy.run.guarded_calls import COUNTED_BUILTINS, OPERATIONS, PLAIN_BUILTINS, Calls
from lackpy.run.inline import _namespace
from lackpy.run.ordered import OrderedSet
from lackpy.run.tracer import Tracer
from lackpy.run.weave import weave

INLINE = InlineExecutor()


def test_no_name_of_the_namespace_but_tools_and_types_can_be_spelled() -> None:
    """Interpreter state is out of a program's reach: its names are no identifiers, and there are no builtins."""
    limits = Limits()
    names = _namespace(Calls(limits, 0.0, Printed(0)), Tracer(TOOLS, limits, 0.0), TOOLS)
    spelled = {name for name in names if name.isidentifier()}
    assert spelled == set(TOOLS) | {
        "__builtins__",
        "str",
        "int",
        "float",
        "bool",
        "list",
        "dict",
        "set",
        "tuple",
    }
    assert names["__builtins__"] == {}


def test_every_builtin_of_the_language_has_a_guard_or_needs_none() -> None:
    """`sort_by` is lowered before it gets here."""
    assert COUNTED_BUILTINS | set(PLAIN_BUILTINS) == set(grammar.BUILTINS) - {"sort_by"}


def test_every_guard_that_weaving_names_exists() -> None:
    """Each name in angle brackets is an operation, a builtin, a temporary or the output."""
    source = (
        "x = {1: [2], **d}\nx[a] += -b\ny, *z = x[1:2]\nx[0:1] = [*y]\n"
        "for i, *j in {1, 2}:\n    print(f'{i!r:>{j}}', sep='')\n"
        "[v * 2 / 3 // 4 % 5 - 6 + 7 for v in {w for w in q if w < 1 is None}]\n"
        "{k: v for k, v in x.items()}\n(1, 2, 3, 4, 5, 6, 7, 8, 9)[0]\nx += 1\nx -= 1\nx *= 2\nx\n"
    )
    woven = weave(ast.parse(source), frozenset(grammar.BUILTINS))
    used = {node.id for node in ast.walk(woven) if isinstance(node, ast.Name) and node.id.startswith("<")}
    known = {*OPERATIONS, "<slice>", "<out>", *(f"<call {name}>" for name in grammar.BUILTINS)}
    assert {name for name in used - known if not name.startswith("<t")} == set()
    assert set(OPERATIONS) - used <= {"<same>", "<each starred>", "<made>", "<neg>", "<iadd>"} | set(
        OPERATIONS
    )
    compile(woven, "<test>", "exec")


@pytest.mark.parametrize(
    "program",
    [
        "n = 10000000000\nx = 'x' * n\nlen(x)",
        "n = 999999999\nx = [0] * n\nlen(x)",
        "x = 9\nfor i in range(60):\n    x = x * x\nlen(str(x))",
        "x = ','.join(['a' * 100000] * 100000)\nlen(x)",
        "n = 10000000000\nsorted(range(n))[0]",
        "n = 10000000000\nlist(range(n))[0]",
        "n = 1000000000000\nsum(range(n))",
        "n = 1000000000000\nmax(range(n))",
        "n = 1000000000000\n0.5 in range(n)",
        "n = 800000000\nf'{1:{n}}'",
        "n = 2000000000\n'%*d' % (n, 1)",
        "n = 2000000000\nlen('a'.ljust(n))",
        "x = 'a' * 40000\nlen(x.replace('a', x))",
        "x = '\\t' * 40000\nlen(x.expandtabs(100000))",
        "x = [1]\nfor i in range(60):\n    x = [*x, *x]\nlen(x)",
        "x = [1]\nfor i in range(60):\n    x += x\nlen(x)",
        "x = [1]\nfor i in range(60):\n    x[0:0] = x\nlen(x)",
        "x = [1]\nfor i in range(60):\n    x.extend(x)\nlen(x)",
        "x = [1]\nfor i in range(60):\n    x = [x, x]\nx == [x, x]",
        "x = (1,)\nfor i in range(60):\n    x = (x, x)\n{x: 1}",
        "x = (1,)\nfor i in range(60):\n    x = (x, x)\nd = {}\nd[x] = 1\nlen(d)",
        "x = [1]\nfor i in range(60):\n    x = [x, x]\nlen(str(x))",
        "x = [1]\nfor i in range(60):\n    x = [x, x]\nsorted([x, x])",
        "d = {i * 2305843009213693951: 0 for i in range(1000000)}\nlen(d)",
        "d = {(i * 2305843009213693951,): 0 for i in range(1000000)}\nlen(d)",
        "d = dict([(i * 2305843009213693951, 0) for i in range(1000000)])\nlen(d)",
        "s = 'a' * 2000000\ns.rfind('ab' + s[2:])",
        "s = 'a' * 2000000\nlen(s.strip('b' * 2000000 + 'a'))",
        "n = 10000000000\na, *b = range(n)\nlen(b)",
        "n = 10000000000\nlist(enumerate(range(n)))[0]",
        "n = 10000000000\nlist(zip(range(n), range(n)))[0]",
        "x = [[0] * 100000 for i in range(100000)]\nlen(x)",
        "s = 'a' * 1000000\nx = [s[i:] for i in range(100000)]\nlen(x)",
        "for i in range(1000000000):\n    for j in range(1000000000):\n        x = 1\nx",
        "[1 for i in range(100000) for j in range(100000)][0]",
    ],
)
def test_a_bomb_is_refused_before_it_goes_off(program: str) -> None:
    """Every one ends in a limit error, none by the machine's memory."""
    result = run(INLINE, program, limits=Limits(time_s=1.5))
    assert result.error is not None
    assert result.error.kind is ErrorKind.LIMIT, result.error


def test_steps_are_bounded() -> None:
    """A loop of more steps than the budget ends with it."""
    result = run(INLINE, "for i in range(100000):\n    x = i\nx", limits=Limits(steps=20_000))
    assert result.error is not None
    assert result.error.message == "the program took more than 20,000 steps"
    assert run(INLINE, "for i in range(10000):\n    x = i\nx", limits=Limits(steps=20_000)).output == 9999


def test_honest_work_on_large_text_is_not_refused() -> None:
    """A 5 MB file split, searched, joined and sorted stays inside the default budgets."""
    text = ("x" * 99 + "\n") * 50_000
    program = (
        "lines = text.splitlines()\n"
        "hits = [l.strip() for l in lines if l.endswith('x')]\n"
        "words = sorted(set([l[:9] for l in lines]))\n"
        "joined = '\\n'.join(lines)\n"
        "[len(hits), words, len(joined), text.count('x'), len(text.replace('x', 'yy')), len(text.split('\\n'))]"
    )
    result = run(INLINE, program, params={"text": text})
    assert result.output == [50_000, ["xxxxxxxxx"], 4_999_999, 4_950_000, 9_950_000, 50_001]


def test_compiling_warns_nobody() -> None:
    """What Python's compiler thinks of `None['a']` or `x is 1` doesn't reach the host's stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for program in ("None['a']", "x = 1\nx is 1", "[1]['a']", "(1, 2)['a']", "'abc'['a']"):
            result = run(INLINE, program)
            assert result.error is None or result.error.message.startswith("TypeError")


def test_ordered_sets_are_sets() -> None:
    """They equal sets, keep insertion order and change in place."""
    items = OrderedSet([3, 1, 2, 1])
    assert items == {1, 2, 3}
    assert list(items) == [3, 1, 2]
    assert repr(items) == "{3, 1, 2}"
    assert repr(OrderedSet()) == "set()"
    items.discard(1)
    items.update([1], [5])
    assert list(items) == [3, 2, 1, 5]
    assert items.pop() == 5
    assert list(items.intersection([1, 3])) == [1, 3]
    assert list(items.symmetric_difference([3, 9])) == [2, 1, 9]
    assert list(items.difference([3], [2])) == [1]
    items.remove(2)
    assert list(items.copy().union([7, 3])) == [3, 1, 7]
    items.clear()
    assert not items
    assert type(items).__name__ == "set"
    with pytest.raises(KeyError):
        items.remove(1)
    with pytest.raises(KeyError):
        items.pop()
