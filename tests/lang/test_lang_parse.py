"""Text that is no Python gets a violation that names what is wrong, where."""

from __future__ import annotations

import warnings

import pytest
from lang_kit import SIGNATURES

from lackpy.lang import check

CHARACTERS = [
    ("read(“a.py”)", 1, 6, 'character U+201C (left double quotation mark) cannot stand here; write "'),
    (
        "x\u00a0=\u00a0read('a.py')",
        1,
        2,
        "character U+00A0 (no-break space) cannot stand here; write a plain space",
    ),
    ("y = 1\n\u200bx = 1", 2, 1, "character U+200B (zero width space) cannot stand here; remove it"),
    (
        "read\uff08'a.py'\uff09",
        1,
        5,
        "character U+FF08 (fullwidth left parenthesis) cannot stand here; write (",
    ),
    ("x = 1 \u2013 2", 1, 7, "character U+2013 (en dash) cannot stand here; write -"),
    ("x = 1\x00", 1, 6, "character U+0000 (null) cannot stand here; remove it"),
    ("x = 1\ny = '\ud800'", 2, 6, "character U+D800 (half of a surrogate pair) cannot stand here; remove it"),
]


@pytest.mark.parametrize(("program", "line", "column", "words"), CHARACTERS)
def test_odd_character_is_named_with_its_column(program, line, column, words):
    """The refusal names the code point and what to write instead."""
    (violation,) = check(program, SIGNATURES).violations
    assert (violation.rule, violation.line, violation.column) == ("syntax", line, column)
    assert f"{violation.message}; {violation.hint}" == words


def test_joiner_inside_a_name_is_refused():
    """Some Pythons read a joiner as part of a name; it is no tool's name then."""
    assert not check("re\u200dad('a')", SIGNATURES).ok


@pytest.mark.parametrize(
    "program",
    [
        "find_callers(“x”.strip())",
        "find_callers('“quoted”')",
        "\ufefffind_callers('x')",
        "find_callers('a\u00a0b')",
    ],
)
def test_odd_characters_inside_text_are_data(program):
    """Only what stands in code is refused; a byte order mark at the start is skipped."""
    assert check(program, SIGNATURES).ok == ("“x”" not in program)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("if 1:\n\tx = 1\n        y = 2", "L3:9 syntax: "),
        ("  x = 1", "L1:3 syntax: not valid Python: unexpected indent; indent every block with four spaces"),
        ("x = 'a", "L1:5 syntax: not valid Python: unterminated string literal (detected at line 1)"),
        (
            'print "x"',
            "L1:1 syntax: not valid Python: Missing parentheses in call to 'print'. Did you mean print(...)?",
        ),
    ],
)
def test_syntax_errors_have_a_place(program, words):
    """Python's own words, with line and column."""
    (violation,) = check(program, SIGNATURES).violations
    assert str(violation).startswith(words)


def test_parsing_warns_no_one():
    """Unknown escapes and glued numbers don't warn: a server's output stays clean."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check("x = '\\d'\n1if x else 2", SIGNATURES).ok


@pytest.mark.parametrize(
    "program",
    [
        "t'{x}'",
        "try:\n    x = 1\nexcept* ValueError:\n    x = 2",
        "match 1:\n    case [*_]:\n        x = 1",
        "def f[T = int](): x = 1",
        "(x := 1)",
        "type X = int",
        "b'x'",
        "...",
        "1j",
        "async def f(): x = 1",
    ],
)
def test_new_and_rare_syntax_is_refused_on_every_version(program):
    """A construct is refused whether this Python parses it or not."""
    assert not check(program, SIGNATURES).ok


@pytest.mark.parametrize(
    "program", ["x = 1\nf'{x=}'", "x = 'a'\nf'{x!r:>{4}}'", "x = [[1]]\nx[0][0]", "f\"{f'{1}'}\""]
)
def test_rare_syntax_of_the_language_is_accepted(program):
    """Debug f-strings, nested specifications and nested f-strings are ordinary."""
    assert check(program, SIGNATURES).ok


def test_position_survives_every_line_end():
    """CR, LF and CRLF end lines, form feed and U+2028 don't."""
    (violation,) = check("x = 1\r\ny = 2\rz = '\u2028\x0c' + zzz", SIGNATURES).violations
    assert (violation.line, violation.column) == (3, 12)
