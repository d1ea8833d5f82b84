"""Both executors give the same answers on the same program: generated programs, and cases that once differed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_support import EXECUTORS, TOOLS, essence, run

from lackpy.lang import check

# One strategy a type; each gives source text. Names are bound by the head of every program.
HEAD = (
    "n = {n}\nm = {m}\nh = {h}\ns = {s}\nt = {t}\nxs = {xs}\nws = {ws}\nd = {d}\nu = {{3, 1, n}}\n"
    "rows = find({s})\nout = []\n"
)
TEXTS = [
    "''",
    "'a'",
    "'Ab c'",
    "'x,y,,z'",
    "'ß ñ'",
    "'line\\nline2\\n'",
    "' pad '",
    "'12'",
    "'-7'",
    "'é\\u4e2d'",
]
small = st.integers(-12, 40).map(lambda n: f"({n})")
number = st.deferred(
    lambda: st.one_of(
        small,
        st.sampled_from(["n", "m", "len(s)", "len(xs)", "len(rows)", "sum(xs)", "len(set(xs))", "size(t)"]),
        st.tuples(number, st.sampled_from(["+", "-", "*", "//", "%"]), number).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        ),
        st.tuples(number, number).map(lambda p: f"max({p[0]}, {p[1]})"),
        numbers.map(lambda x: f"len({x})"),
        numbers.map(lambda x: f"min({x}, default=-1)"),
        st.tuples(numbers, number).map(lambda p: f"{p[0]}[{p[1]}]"),
        st.tuples(text, text).map(lambda p: f"{p[0]}.count({p[1]})"),
        st.tuples(text, text).map(lambda p: f"{p[0]}.find({p[1]})"),
        st.tuples(truth, number, number).map(lambda p: f"({p[1]} if {p[0]} else {p[2]})"),
        text.map(lambda x: f"int({x})"),
        st.tuples(text).map(lambda p: f"d.get({p[0]}, 0)"),
        text.map(lambda x: f"d[{x}]"),
        number.map(lambda x: f"abs(-{x})"),
    )
)
decimal = st.one_of(
    st.sampled_from(["h", "1.5", "2.675", "-0.0", "1e16", "0.1"]),
    st.tuples(number, number).map(lambda p: f"({p[0]} / {p[1]})"),
    st.tuples(st.sampled_from(["h", "2.675", "1.005", "0.5", "-1.25"]), st.integers(0, 4)).map(
        lambda p: f"round({p[0]} * 3, {p[1]})"
    ),
    st.sampled_from(
        ["float(s)", "sum([0.1] * 7)", "float(n)", "float('inf')", "round(h)", "h // 2", "h % 3"]
    ),
)
text = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            [
                *TEXTS,
                "s",
                "t",
                "read(t)",
                "str(n)",
                "str(h)",
                "str(xs)",
                "str(d)",
                "str(ws)",
                "str(u)",
                "str(rows)",
            ]
        ),
        st.tuples(text, text).map(lambda p: f"({p[0]} + {p[1]})"),
        st.tuples(
            text, st.sampled_from(["upper", "lower", "title", "strip", "swapcase", "capitalize", "casefold"])
        ).map(lambda p: f"{p[0]}.{p[1]}()"),
        st.tuples(text, text, text).map(lambda p: f"{p[0]}.replace({p[1]}, {p[2]})"),
        st.tuples(text, texts).map(lambda p: f"{p[0]}.join({p[1]})"),
        st.tuples(text, number).map(lambda p: f"{p[0]}[{p[1]}]"),
        st.tuples(text, number, number).map(lambda p: f"{p[0]}[{p[1]}:{p[2]}]"),
        st.tuples(text, st.integers(0, 12), st.sampled_from(["ljust", "rjust", "center", "zfill"])).map(
            lambda p: f"{p[0]}.{p[2]}({p[1]})"
        ),
        number.map(lambda x: "f'{" + x + "}'"),
        st.tuples(number, st.sampled_from(["5", ">8", "<6", "03d", ",", "x", "+d", "^7", ".2f", "e"])).map(
            lambda p: "f'{" + p[0] + ":" + p[1] + "}'"
        ),
        st.tuples(decimal, st.sampled_from([".2f", ".3g", "8.1f", "%", "g", "e", ",.2f"])).map(
            lambda p: "f'{" + p[0] + ":" + p[1] + "}'"
        ),
        st.tuples(
            st.sampled_from(["s", "t", "xs", "ws", "d", "rows", "u"]), st.sampled_from(["", "!r", "!s"])
        ).map(lambda p: "f'<{" + p[0] + p[1] + "}>'"),
        st.tuples(number).map(lambda p: f"('%d-%s' % ({p[0]}, s))"),
        st.tuples(text, st.integers(-1, 4)).map(lambda p: f"({p[0]} * {p[1]})"),
    )
)
texts = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            [
                "ws",
                "s.split()",
                "s.splitlines()",
                "t.split(',')",
                "list(d)",
                "sorted(d)",
                "[r['file'] for r in rows]",
                "list(s)",
            ]
        ),
        st.lists(text, max_size=3).map(lambda p: f"[{', '.join(p)}]"),
        texts.map(lambda x: f"sorted({x})"),
        texts.map(lambda x: f"sorted({x}, key=len, reverse=True)"),
        texts.map(lambda x: f"sorted({x}, key=lambda w: (w.lower(), len(w)))"),
        texts.map(lambda x: f"list(set({x}))"),
        texts.map(lambda x: f"[w.upper() for w in {x} if w]"),
        texts.map(lambda x: f"list(reversed({x}))"),
        st.tuples(text, text).map(lambda p: f"{p[0]}.split({p[1]})"),
        st.tuples(text, text).map(lambda p: f"list({p[0]}.partition({p[1]}))"),
        st.tuples(texts, number, number).map(lambda p: f"{p[0]}[{p[1]}:{p[2]}]"),
    )
)
numbers = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            [
                "xs",
                "list(range(n % 7))",
                "[len(w) for w in ws]",
                "list(d.values())",
                "[r['line'] for r in rows]",
                "list(u)",
            ]
        ),
        st.lists(number, max_size=4).map(lambda p: f"[{', '.join(p)}]"),
        numbers.map(lambda x: f"sorted({x})"),
        numbers.map(lambda x: f"sorted({x}, key=lambda v: -v)"),
        numbers.map(lambda x: f"[v * v for v in {x} if v % 2]"),
        st.tuples(numbers, numbers).map(lambda p: f"({p[0]} + {p[1]})"),
        st.tuples(numbers, numbers).map(lambda p: f"[a - b for a, b in zip({p[0]}, {p[1]})]"),
        numbers.map(lambda x: f"[i for i, v in enumerate({x}, 1) if v]"),
        st.tuples(
            numbers, st.sampled_from(["union", "intersection", "difference", "symmetric_difference"]), numbers
        ).map(lambda p: f"list(set({p[0]}).{p[1]}({p[2]}))"),
        numbers.map(lambda x: f"{x}[::-1]"),
        numbers.map(lambda x: f"({x} * 2)"),
    )
)
truth = st.deferred(
    lambda: st.one_of(
        st.tuples(number, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), number).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        ),
        st.tuples(text, st.sampled_from(["in", "not in", "<", "=="]), text).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        ),
        st.tuples(truth, st.sampled_from(["and", "or"]), truth).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        truth.map(lambda x: f"(not {x})"),
        numbers.map(lambda x: f"any({x})"),
        texts.map(lambda x: f"all({x})"),
        st.tuples(text, text).map(lambda p: f"{p[0]}.startswith({p[1]})"),
        st.sampled_from(
            [
                "isinstance(n, int)",
                "isinstance(s, (int, str))",
                "n < m < 20",
                "'a' in d",
                "3 in u",
                "bool(rows)",
            ]
        ),
    )
)
table = st.one_of(
    st.sampled_from(
        ["d", "{w: len(w) for w in ws}", "{r['name']: r['line'] for r in rows}", "dict(zip(ws, xs))"]
    ),
    st.lists(st.tuples(text, number), max_size=3).map(
        lambda p: "{" + ", ".join(f"{k}: {v}" for k, v in p) + "}"
    ),
    st.tuples(text, number).map(lambda p: "{**d, " + p[0] + ": " + p[1] + "}"),
)
value = st.one_of(
    number,
    text,
    texts,
    numbers,
    truth,
    decimal,
    table,
    st.sampled_from(["rows", "u", "(n, s)", "d.items()", "d.keys()", "range(3)", "[u, d.values()]"]),
)
simple = st.one_of(
    number.map(lambda x: f"n = {x}"),
    number.map(lambda x: f"m += {x}"),
    text.map(lambda x: f"s = {x}[:50]"),
    text.map(lambda x: f"t += {x}[:9]"),
    numbers.map(lambda x: f"xs = {x}[:9]"),
    numbers.map(lambda x: f"xs += {x}[:5]"),
    value.map(lambda x: f"out.append({x})"),
    st.tuples(text, number).map(lambda p: f"d[{p[0]}[:9]] = {p[1]}"),
    text.map(lambda x: f"d[{x}[:9]] = d.get({x}[:9], 0) + 1"),
    st.tuples(text, number).map(lambda p: f"d.setdefault({p[0]}[:9], {p[1]})"),
    value.map(lambda x: f"print({x})"),
    st.tuples(value, value).map(lambda p: f"print({p[0]}, {p[1]}, sep='|')"),
    number.map(lambda x: f"u.add({x})"),
    numbers.map(lambda x: f"u.update({x})"),
    st.sampled_from(
        [
            "u.discard(1)",
            "xs.sort()",
            "xs.reverse()",
            "ws.sort(key=len)",
            "xs.pop()",
            "u.difference_update([1, 2])",
            "a, *b = xs",
            "n, m = m, n",
        ]
    ),
    numbers.map(lambda x: f"xs[0:1] = {x}[:3]"),
    numbers.map(lambda x: f"u.intersection_update({x})"),
    number.map(lambda x: f"xs[0] += {x}"),
)


def indented(lines: list[str]) -> str:
    return "\n".join("    " + line for text in lines for line in text.split("\n"))


def block(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    body = st.lists(inner, min_size=1, max_size=3).map(indented)
    return st.one_of(
        inner,
        st.tuples(numbers, body).map(lambda p: f"for v in {p[0]}[:4]:\n{p[1]}"),
        st.tuples(texts, body).map(lambda p: f"for w in {p[0]}[:4]:\n{p[1]}"),
        body.map(lambda b: f"for r in find(s):\n    n += r['line']\n{b}"),
        st.tuples(truth, body, body).map(lambda p: f"if {p[0]}:\n{p[1]}\nelse:\n{p[2]}"),
        st.tuples(numbers, truth, body).map(
            lambda p: f"for v in {p[0]}[:5]:\n    if {p[1]}:\n        break\n{p[2]}"
        ),
    )


programs = st.tuples(
    st.builds(
        HEAD.format,
        n=small,
        m=small,
        h=st.sampled_from(["0.5", "2.0", "1.1", "-3.25"]),
        s=st.sampled_from(TEXTS),
        t=st.sampled_from(TEXTS),
        xs=st.lists(st.integers(-5, 9), max_size=5).map(str),
        ws=st.lists(st.sampled_from(["a", "bb", "Ccc", "", "a b", "é"]), max_size=4).map(str),
        d=st.dictionaries(st.sampled_from(["a", "b", "key"]), st.integers(0, 9), max_size=3).map(str),
    ),
    st.lists(block(block(simple)), max_size=4).map("\n".join),
    value,
).map(lambda p: f"{p[0]}{p[1]}\n[{p[2]}, out, n, s]")


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(programs)
def test_generated_programs_give_the_same_result_on_both_executors(program: str) -> None:
    """Output, printed text, calls, and kind, type and line of an error are equal."""
    verdict = check(program, {n: s.signature for n, s in TOOLS.items()})
    if not verdict.ok:
        return
    monty, inline = (essence(run(executor, program)) for executor in EXECUTORS.values())
    assert monty == inline, verdict.program


CASES = [
    "list({'b', 'a', 'c'})",
    "s = {5, 4, 3}\n[s.pop(), s.pop(), list(s)]",
    "a = {1, 2, 3}\na.intersection_update([3, 2, 9])\na.symmetric_difference_update({2, 8})\nlist(a)",
    "[list({3, 1}.union([7], {9, 1})), list({3, 1}.difference()), {1}.intersection({1}, [1])]",
    "[round(2.675, 2), round(1.005, 2), round(-0.5), round(1234, -2), round(2.5), round(1e300, 2)]",
    "x = [round(r['line'] / 3, 2) for r in find('abcd')]\nx",
    "str(enumerate(['a']))",
    "[zip([1], [2]), reversed([1, 2]), enumerate('ab', 1)]",
    "d = {'a': 1}\n[d.keys(), d.values(), d.items(), range(3)]",
    "{1: 'a', None: 'b', False: 'c', 2.5: 'd', (1, 2): 'e'}",
    "[float('nan'), -float('inf'), -0.0, 2 ** 8, 12345678901234567890]",
    "{'a': 1}['b']",
    "[][3]",
    "1 / 0",
    "'a' + 1",
    "int('x')",
    "x, y = [1, 2, 3]",
    "sorted([1, 'a'])",
    "{[1]: 2}",
    "None['a']",
    "for i in 5:\n    print(i)",
    "print({'b', 'a'}, [1.0, 'x'], None, sep=' ~ ', end='!')",
    'f\'{3.14159:.2f}|{"a":>5}|{[1, "b"]}|{ {"k": (1,)} }|{1000000:,}|{True!r}\'',
    "'%5d|%s|%.2f|%%' % (3, [1], 2.5)",
    "x = [1, 2]\nx *= 2\ny = x\ny += [3]\nx[0:2] = [9]\nx",
    "d = {'n': [1]}\nd['n'] += [2]\nd['m'] = 1\nd['m'] -= 3\nd",
    "max(find('abcd'), key=lambda r: r['line'])['name']",
    "sorted(find('abcd'), key=lambda r: size(r['file'] * r['line']))",
    "read(path='a' if find('') else 'b')",
    "find({'a': 1}.keys())",
    "'\\ud800x'",
    "s = 'ab'\nx = [1]\nx += (2, 3)\nx += {4: 5}.values()\nx += range(2)\nx += s\ny = x\ny += {7}\nx",
    "d = {'a': [1]}\nfor k in d:\n    d[k] += (2,)\nd",
    "n = 1\ns = 'a'\nn += len(s)\ns += str(n)\n[n, s]",
    "x = [1]\nx += 5",
    "x = None\nf'{x:>6}|{[1]:<8}|'",
    "d = {'a': 1}\nd[:1]",
    "round(2.5, True)",
    "x = 9\nfor i in range(15):\n    x = x * x\nstr(x)",
]


@pytest.mark.parametrize("program", CASES)
def test_cases_that_could_differ(program: str) -> None:
    """Set order, rounding, lazy views, odd keys, numbers, error types: one answer."""
    monty, inline = (essence(run(executor, program)) for executor in EXECUTORS.values())
    assert monty == inline
