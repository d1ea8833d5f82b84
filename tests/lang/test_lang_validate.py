"""What is refused, where, and in which words; what is accepted."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lang_kit import SIGNATURES, WITH_WRITE, cases

from lackpy.lang import Grade, Signature, check, grammar

_MARK = re.compile(r"\s*### ([a-z -]+)$")


@pytest.mark.parametrize("chunk", cases("refused.txt"))
def test_reports_each_violation_on_the_line_that_causes_it(chunk):
    """Missing, extra and moved violations all fail."""
    expected, lines = [], []
    for number, line in enumerate(chunk.split("\n"), 1):
        found = _MARK.search(line)
        expected += [(number, rule) for rule in (found.group(1).split() if found else ())]
        lines.append(_MARK.sub("", line))
    verdict = check("\n".join(lines), WITH_WRITE)
    assert sorted((v.line, v.rule) for v in verdict.violations) == sorted(expected)
    assert verdict.ok == (not expected)


@pytest.mark.parametrize("program", cases("accepted.txt"))
def test_accepts_ordinary_programs(program):
    """Ordinary programs pass, and every node of the lowered tree is in the whitelist."""
    verdict = check(program, WITH_WRITE)
    assert [str(v) for v in verdict.violations] == []
    assert {type(node).__name__ for node in ast.walk(verdict.tree)} <= grammar.ALLOWED_NODES


WORDS = {
    'find_defs("x")': "L1:1 unknown-name: 'find_defs' is not defined; did you mean 'find_definitions'?",
    'x = open("f")': "L1:5 unknown-name: 'open' is not defined; use a tool of the kit that reads files",
    "zzz": "L1:1 unknown-name: 'zzz' is not defined; "
    "assign it first, or use a tool: find_callers, find_definitions, glob, read",
    "x = y\ny = 1": "L1:5 used-before-assignment: 'y' is used before it gets a value; assign 'y' above this line",
    "read = 1": "L1:1 rebound-name: 'read' is a tool and keeps its meaning; use another name: 'read_'",
    "len = 1": "L1:1 rebound-name: 'len' is a builtin and keeps its meaning; use another name: 'len_'",
    "__a = 1": "L1:1 reserved-name: '__a' is reserved; use a name that starts with a letter or one underscore",
    "x = [read]": "L1:6 tool-as-value: tool 'read' can only be called; call it: read(...)",
    "sorted(['a'], key=read)": "L1:19 tool-as-value: tool 'read' can only be called; "
    "call it in a lambda: key=lambda x: read(x)",
    "[len]": "L1:2 builtin-as-value: 'len' can only be called; call it: len(...)",
    "'é'.x": "L1:1 attribute: attribute '.x' cannot be read; values are plain data: use x['x'], or call a method",
    "'a'.splitline()": "L1:1 unknown-method: method '.splitline()' is not in the language; "
    "did you mean '.splitlines()'?",
    "'a'.mro()": "L1:1 unknown-method: method '.mro()' is not in the language; "
    "use a method of str, list, dict, set or tuple",
    "read('a')('b')": "L1:1 call-target: only tools, builtins and methods can be called; "
    "call a tool or builtin by its own name",
    "x = 1\nx()": "L2:1 call-target: 'x' holds a value and cannot be called; call a tool or builtin by its own name",
    "read()": "L1:1 arguments: 'read' misses argument 'path'; write read(path: str) -> str",
    "read('a', 'b')": "L1:1 arguments: 'read' takes 1 argument, 2 given; write read(path: str) -> str",
    "read(file='a')": "L1:1 arguments: 'read' has no argument 'file'; write read(path: str) -> str",
    "len()": "L1:1 arguments: 'len' does not take no arguments; write len(items) -> int",
    "print(1, file=2)": "L1:10 arguments: 'print' has no argument 'file'; "
    'write print(x, ..., sep=" ", end="\\n")',
    "f = lambda x: x": "L1:5 lambda: a lambda can only be a key; "
    "use it as key= of sorted, min, max or .sort, or write the expression",
    "sorted([1], key=lambda: 1)": "L1:17 lambda: a key lambda takes one plain argument; write key=lambda x: ...",
    "sorted([1], key=print)": "L1:17 key-argument: key= takes a lambda here; "
    'write key=lambda x: ..., or sort_by(items, "field")',
    "import os": "L1:1 forbidden-syntax: import is not in the language; "
    "remove the import; everything a program may use is already there",
    "x = 2 ** 0.5": "L1:5 forbidden-syntax: power operator (**) is not in the language; write the product: `x * x`",
    "*a = [1]": "L1:1 star: a starred value cannot stand here; write it inside a list: [*a, *b]",
    "a, *b, *c = [1]": "L1:1 star: an assignment takes one starred target; slice the list: x[0], x[1:]",
    "b'a'": "L1:1 literal: a bytes literal is not in the language; write text without the b",
    "1j": "L1:1 literal: a complex number literal is not in the language; use whole or decimal numbers",
    "x = 'a' * 100000000": "L1:5 static-size: this would make 100000000 items, 10000000 are allowed; "
    "use a smaller number",
    "'{0.x}'.format(1)": "L1:1 format: .format() takes plain fields only, not '{0.x}'; write an f-string: f\"{x}\"",
    "x = (": "L1:5 syntax: not valid Python: '(' was never closed; write one complete Python program",
}


@pytest.mark.parametrize(("program", "words"), WORDS.items())
def test_words_of_each_refusal(program, words):
    """The wording is part of the product: it is stored and fed back to models."""
    assert [str(v) for v in check(program, SIGNATURES).violations] == [words]


def test_reports_everything_at_once_in_source_order():
    """All violations come in one verdict, sorted by position."""
    verdict = check("import os\nx = open('a')\ny = x.name\nread = 1", SIGNATURES)
    assert [(v.line, v.rule) for v in verdict.violations] == [
        (1, "forbidden-syntax"),
        (2, "unknown-name"),
        (3, "attribute"),
        (4, "rebound-name"),
    ]


def test_column_counts_characters_not_bytes():
    """The column of a violation is in characters, whatever the line holds before it."""
    violation = check("x = 'ééé' + zzz", SIGNATURES).violations[0]
    assert (violation.line, violation.column, violation.text) == (1, 13, "zzz")


def test_refused_program_has_no_tree_and_keeps_its_text():
    """A refused program is never handed to an executor."""
    verdict = check("import os", SIGNATURES)
    assert (verdict.ok, verdict.tree, verdict.program) == (False, None, "import os")


# -- grade -------------------------------------------------------------------------------------------------


def test_grade_is_the_join_over_called_tools():
    """A program's grade covers the tools it calls and no others."""
    assert check("find_callers('x')", WITH_WRITE).grade == Grade(0, 0)
    assert check("read('x')", WITH_WRITE).grade == Grade(1, 1)
    assert check("if 0:\n    write('x', read('y'))\n1", WITH_WRITE).grade == Grade(3, 3)
    assert check("1 + 1", WITH_WRITE).grade == Grade(0, 0)


def test_grade_join_is_component_wise():
    """World coupling and effects ceiling are joined apart."""
    kit = {"a": Signature("a", grade=Grade(2, 0)), "b": Signature("b", grade=Grade(1, 3))}
    assert check("a()\nb()", kit).grade == Grade(2, 3)


def test_tool_without_a_declared_grade_counts_as_three():
    """An undeclared grade is the worst one."""
    assert check("nothing()", {"nothing": Signature("nothing")}).grade == Grade(3, 3)


def test_calls_are_listed_once_in_source_order():
    """The tools a program calls come in the order its text names them."""
    verdict = check("[read(p) for p in glob('*')] + [read('x'), find_callers('y')]", WITH_WRITE)
    assert verdict.calls == ("read", "glob", "find_callers")


def test_grade_cap_names_the_tool():
    """A tool above the cap is one violation at its first call."""
    verdict = check("x = 1\nwrite('a', 'b')\nwrite('a', 'b')", WITH_WRITE, max_grade=Grade(1, 1))
    assert [str(v) for v in verdict.violations] == [
        (
            "L2:1 grade-cap: tool 'write' has grade (3, 3), the cap is (1, 1); "
            "use a tool of a lower grade, or raise the cap"
        )
    ]
    assert check("read('a')", WITH_WRITE, max_grade=Grade(1, 1)).ok


# -- rules -------------------------------------------------------------------------------------------------

RULES = [
    ("read-only", "write('a', 'b')", "read('a')"),
    ("no-loops", "for p in glob('*'):\n    x = p", "[p for p in glob('*')]"),
    ("no-print", "print(1)", "1"),
    ("max-calls=1", "read('a')\nread('b')", "read('a')"),
    ("no-tool=read", "read('a')", "glob('*')"),
    ("only-tool=read,glob", "find_callers('a')", "[read(p) for p in glob('*')]"),
]


@pytest.mark.parametrize(("rule", "broken", "kept"), RULES)
def test_extra_rules(rule, broken, kept):
    """Each extra rule refuses what breaks it, under its own id, and nothing else."""
    verdict = check(broken, WITH_WRITE, rules=[rule])
    assert [v.rule for v in verdict.violations] == [rule.partition("=")[0]]
    assert check(kept, WITH_WRITE, rules=[rule]).ok


@pytest.mark.parametrize("rule", ["", "nope", "max-calls", "max-calls=x", "no-loops=1", "no-tool="])
def test_unknown_rule_is_one_clear_violation(rule):
    """A rule that doesn't exist never passes in silence."""
    verdict = check("1", WITH_WRITE, rules=[rule])
    assert [v.rule for v in verdict.violations] == ["unknown-rule"]
    assert "read-only, no-loops, no-print, max-calls=N" in verdict.violations[0].hint


# -- names -------------------------------------------------------------------------------------------------


def test_parameters_are_bound():
    """A parameter holds a value from the start; without it the name is unknown."""
    assert check("name + 'x'", SIGNATURES, params=["name"]).ok
    assert not check("name + 'x'", SIGNATURES).ok


def test_look_alike_letters_are_folded_as_python_folds_them():
    """Identifiers are compared after NFKC: a full-width tool name is the tool."""
    assert check("\uff52\uff45\uff41\uff44('a')", SIGNATURES).calls == ("read",)
    assert not check("\U0001d40done = 1", SIGNATURES).ok


# -- bounds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "rule"),
    [
        ("x = 1\n" * 20_000, "too-long"),
        ("x=[" + "1," * 30_000 + "]", "too-many-nodes"),
        ("x = " + "1+" * 150 + "1", "too-deep"),
        ("x = " + "(" * 500 + "1" + ")" * 500, "too-deep"),
        ("x = " + "-" * 5_000 + "1", "too-deep"),
        ("".join(" " * i + "for x in [1]:\n" for i in range(16)) + " " * 16 + "y = 1", "too-deep"),
        ("[" * 16 + "1" + " for x in [1]]" * 16, "too-deep"),
        ("[1" + " for x in [1]" * 16 + "]", "too-deep"),
        ("sorted([1], key=lambda x: " * 16 + "x" + ")" * 16, "too-deep"),
        ("x = 0x" + "f" * 1_000, "number-too-large"),
    ],
)
def test_bounds(program, rule):
    """Source, node count, nesting and numbers are bounded."""
    assert [v.rule for v in check(program, SIGNATURES).violations] == [rule]


def test_bounds_admit_ordinary_size():
    """Programs well inside the bounds pass."""
    assert check("x = " + "1+" * 80 + "1", SIGNATURES).ok
    assert check("sum([" + "1," * 5_000 + "])", SIGNATURES).ok


@pytest.mark.parametrize("loops", [0, 7, 15])
def test_deepest_nesting_compiles(loops):
    """The deepest loops and comprehensions that are accepted are compiled by every Python."""
    inner = 15 - loops
    lines = [" " * i + "for x in [1]:" for i in range(loops)]
    program = "\n".join([*lines, " " * loops + "y = " + "[" * inner + "1" + " for x in [1]]" * inner, "1"])
    verdict = check(program, SIGNATURES)
    assert verdict.ok
    compile(verdict.tree, "<program>", "exec")


# -- anything at all ---------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    [
        "x",
        "y",
        "read",
        "glob",
        "len",
        "sorted",
        "print",
        "lambda",
        "for",
        "in",
        "if",
        "else",
        ":",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        "=",
        "==",
        "+=",
        "**",
        "|",
        ".",
        "\n",
        "\t",
        "'",
        '"',
        "f'",
        "{x}",
        "1",
        "1.5",
        "\\",
        "#",
        "import",
        "while",
        "def",
        "None",
        "__class__",
        "format",
        "append",
        "key=",
        "*",
        "**",
        "@",
        ":=",
        ";",
        "...",
        "async",
        "await",
        "yield",
        "\x00",
        "\xa0",
        "“",
        "é",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(_PIECES, max_size=25).map(" ".join))
def test_tokens_in_any_order_never_raise(text):
    """Whatever Python tokens are thrown together, a verdict comes back and what it accepts compiles."""
    verdict = check(text, SIGNATURES)
    if verdict.ok:
        compile(verdict.tree, "<program>", "exec")


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_text_never_raises(text):
    """Any text at all gets a verdict whose violations have a place and a hint."""
    verdict = check(text, SIGNATURES)
    assert all(v.line >= 1 and v.column >= 1 and v.hint for v in verdict.violations)
