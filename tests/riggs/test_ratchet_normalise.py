"""Values that intent and program share become typed slots on both sides; nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lackpy.lang import canonical, fill
from riggs import normalise

CASES = [
    (
        "who calls Foo?",
        "find_callers('Foo')",
        "callers of {name}",
        'find_callers("{name}")',
        {"name": ("identifier", "Foo")},
    ),
    (
        "please list Python files in src/",
        'files = glob("src/**/*.py")\nfiles',
        "{language} files in {dir}",
        'glob("{dir}/**/*.{language}")',
        {"dir": ("dir", "src"), "language": ("language", "py")},
    ),
    (
        "which files import os.path",
        'sorted({r["file"] for r in grep("^\\\\s*(import|from) os.path\\\\b", "**/*.py")})',
        "files import {module}",
        'sorted({v1["file"] for v1 in grep("^\\\\s*(import|from) {module}\\\\b", "**/*.py")})',
        {"module": ("dotted", "os.path")},
    ),
    (
        "grep 'not in use' in docs/a.rst",
        'grep("not in use", "docs/a.rst")',
        "lines mention {text} in {path}",
        'grep("{text}", "{path}")',
        {"text": ("text", "not in use"), "path": ("path", "docs/a.rst")},
    ),
    (
        "first 5 lines of setup.py",
        'read("setup.py").splitlines()[:5]',
        "first {n} lines in {path}",
        'read("{path}").splitlines()[:{n}]',
        {"path": ("path", "setup.py"), "n": ("number", 5)},
    ),
    (
        "definitions starting with get_",
        'find_definitions("get_*")',
        "definitions starting-with {name}",
        'find_definitions("{name}*")',
        {"name": ("identifier", "get_")},
    ),
    (
        "search for 'src' in src",
        'grep("src", "src/**/*")',
        "lines mention {text} in {dir}",
        'grep("{text}", "{dir}/**/*")',
        {"text": ("text", "src"), "dir": ("dir", "src")},
    ),
]


@pytest.mark.parametrize(
    ("intent", "program", "concept", "template", "slots"), CASES, ids=[c[0] for c in CASES]
)
def test_both_sides(intent, program, concept, template, slots) -> None:
    found = normalise(intent, program)
    assert found.intent_normalized == concept
    assert found.program_template == template
    assert {s.name: (s.type, s.value) for s in found.slots} == slots
    assert found.usable
    assert found.program_canonical == canonical(program)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("find callers of X", "Please find the callers of `X`."),
        ("find callers of X", 'FIND callers of "X"?'),
        ("find callers of X", "  find   callers of X, thanks "),
    ],
)
def test_dress_does_not_split_a_group(a: str, b: str) -> None:
    left, right = normalise(a, 'find_callers("X")'), normalise(b, "rows = find_callers('X')\nrows")
    assert (left.intent_normalized, left.program_template) == (
        right.intent_normalized,
        right.program_template,
    )


def test_a_different_program_splits_a_group() -> None:
    one = normalise("callers of X", 'find_callers("X")')
    other = normalise("callers of X", 'find_callers("X")[:5]')
    assert one.program_template != other.program_template


@pytest.mark.parametrize("name", ["sha256sum", "utf8_decode", "face", "deadbeef", "x86", "test_9", "cafe"])
def test_an_identifier_with_digits_stays_one_slot(name: str) -> None:
    found = normalise(f"find callers of {name}", f'find_callers("{name}")')
    assert [(s.type, s.value) for s in found.slots] == [("identifier", name)]


@pytest.mark.parametrize(
    "path", ["v2/api.py", "a-b-c-1234/x.py", "src/550e8400-e29b-41d4-a716-446655440000/a.py"]
)
def test_a_path_with_numbers_stays_one_slot(path: str) -> None:
    found = normalise(f"imports in {path}", f'outline("{path}")')
    assert [(s.type, s.value) for s in found.slots] == [("path", path)]


def test_a_number_inside_a_word_is_no_slot() -> None:
    found = normalise("callers of foo2 since 2026-01-31", 'find_callers("foo2")[:2]')
    assert [s.value for s in found.slots] == ["foo2"]


def test_row_keys_are_never_slots() -> None:
    found = normalise("show the file of line", '[r["file"] for r in find_callers("line")]')
    assert found.program_template == '[v1["file"] for v1 in find_callers("line")]'


def test_a_value_the_program_ignores_makes_it_unusable() -> None:
    found = normalise("callers of foo, only the first 3", 'find_callers("foo")')
    assert not found.usable
    assert found.reason == "the program doesn't use '3' of the intent"


def test_words_inside_longer_words_are_not_parts() -> None:
    found = normalise("callers of arc", 'find_callers("search_arc")')
    assert found.slots == ()


def test_program_text_that_reads_like_a_slot_is_unusable() -> None:
    found = normalise('find "x y" in src', 'grep("x y|{dir}", "src/**/*")')
    assert not found.usable


@given(st.text(max_size=80), st.text(max_size=80))
@settings(max_examples=150)
def test_any_text_normalises(intent: str, program: str) -> None:
    found = normalise(intent, program)
    assert normalise(intent, program) == found


NAME = st.from_regex(r"[a-z]{2,6}_[a-z0-9]{1,6}", fullmatch=True)
FOLDER = st.from_regex(r"[a-z]{3,6}/[a-z]{3,6}", fullmatch=True)
TEXT = st.text(alphabet="abcXYZ019 :;-+=_", min_size=1, max_size=12).filter(lambda t: t.strip() == t)
PROGRAMS = [
    ("callers of {name} in {dir}", '[c for c in find_callers("{name}") if c["file"].startswith("{dir}/")]'),
    ('search {dir} for "{text}"', 'grep("{text}", "{dir}/**/*")'),
    (
        'files in {dir} with "{text}" in them',
        'rows = grep("{text}", "{dir}/**/*")\nsorted({r["file"] for r in rows})',
    ),
    ("is {name} used anywhere?", 'hits = find_callers("{name}")\nlen(hits) > 0'),
]


@given(st.sampled_from(PROGRAMS), NAME, FOLDER, TEXT)
@settings(max_examples=150)
def test_template_and_slots_give_the_program_back(pair, name: str, folder: str, text: str) -> None:
    """Filling the template with the slots' values is the canonical program again."""
    intent, program = (
        p.replace("{name}", name).replace("{dir}", folder).replace("{text}", text) for p in pair
    )
    found = normalise(intent, program)
    filled = fill(
        found.program_template, {s.name: s.type for s in found.slots}, {s.name: s.value for s in found.slots}
    )
    assert canonical(filled) == found.program_canonical == canonical(program)


@given(st.sampled_from(PROGRAMS), NAME, NAME, FOLDER, FOLDER)
@settings(max_examples=100)
def test_other_values_give_the_same_template(pair, name: str, name2: str, folder: str, folder2: str) -> None:
    sides = []
    for n, d in ((name, folder), (name2, folder2)):
        intent, program = (p.replace("{name}", n).replace("{dir}", d).replace("{text}", "a b") for p in pair)
        found = normalise(intent, program)
        sides.append((found.intent_normalized, found.program_template))
    assert sides[0] == sides[1]
