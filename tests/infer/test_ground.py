"""Grounding: the intent's own values in place of an example's or of misspelt ones."""

from __future__ import annotations

import pytest

from lackpy.infer.ground import ground, unused_files


@pytest.mark.parametrize(
    ("program", "intent", "example", "expected", "done"),
    [
        (
            'grep("mock", "tests/**/*.py")',
            "files under spec/ that mention mock",
            'grep("x", "tests/**/*.py")',
            'grep("mock", "spec/**/*.py")',
            ("folder",),
        ),
        (
            'glob("lib/*.py")',
            "python files directly in src/core",
            'glob("lib/*.py")',
            'glob("src/core/*.py")',
            ("folder",),
        ),
        (
            'find_definitions("ParseEror")',
            "where is ParseError",
            "",
            'find_definitions("ParseError")',
            ("spelling",),
        ),
        (
            'find_callers("parse_row")',
            "who uses load_page",
            'find_callers("parse_row")',
            'find_callers("load_page")',
            ("name",),
        ),
        # nothing to go on, or the program already says it
        (
            'grep("mock", "tests/**/*.py")',
            "test files that mention mock",
            'grep("x", "tests/**/*.py")',
            None,
            (),
        ),
        ('glob("lib/*.py")', "modules that both a/b and c/d hold", 'glob("lib/*.py")', None, ()),
        ('find_callers("load_page")', "who uses load_page", 'find_callers("parse_row")', None, ()),
        ('grep("a\\\\.mark\\\\.use")', "uses of a.mark.use", "", None, ()),
        ("x = (", "who uses load_page", "", None, ()),
        ("f\"{'tests/'}\"", "files in spec/", 'glob("tests/*")', "f\"{'spec/'}\"", ("folder",)),
    ],
)
def test_a_literal_is_replaced_only_by_the_one_value_it_can_mean(program, intent, example, expected, done):
    assert ground(program, intent, [example]) == (program if expected is None else expected, done)


def test_positions_after_other_letters_stay_right():
    made = ground('["äöü", "tests/a.py", "tests/b.py"]', "files of spec/", ['read("tests/x.py")'])
    assert made == ('["äöü", "spec/a.py", "spec/b.py"]', ("folder",))


@pytest.mark.parametrize(
    ("program", "intent", "missed"),
    [
        # what a 1.5B model wrote for this intent
        (
            '[d for d in find_definitions("test_timed*") if d["type"] == "class"]',
            "structure of tests/test_pkg/test_sign.py pls",
            ["'tests/test_pkg/test_sign.py' of the request isn't used"],
        ),
        ('outline("tests/test_sign.py")', "structure of test_sign.py", []),
        ('grep("x", "**/setup*")', "x in setup.cfg", []),
        ('grep("os\\\\.environ")', "true/false: os.environ and/or warnings.warn used", []),
        ("find_callers(name)", "calls in a.py", []),
    ],
)
def test_a_file_of_the_intent_that_the_program_leaves_out(program, intent, missed):
    assert [v.message for v in unused_files(program, intent)] == missed
