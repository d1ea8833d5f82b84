"""Template files: what is read, what is refused with which words, and that writing loses nothing."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lackpy.templates.format import State, Template, TemplateError, dump, parse, with_fields

GOOD = """---
name: find-callers
pattern: 'find (all )?(callers|usages|references) of {name}'
slots: {name: identifier}
kit: debug
state: active
success_count: 12
fail_count: 1
---
results = find_callers("{name}")
[f"{r['file']}:{r['line']}" for r in results]
"""


def changed(line: str, new: str) -> str:
    assert line in GOOD
    return GOOD.replace(line, new)


def test_design_example_reads() -> None:
    template = parse(GOOD, "a.tmpl")
    assert template.name == "find-callers"
    assert template.pattern == "find (all )?(callers|usages|references) of {name}"
    assert dict(template.slots) == {"name": "identifier"}
    assert (template.state, template.success_count, template.fail_count) == (State.ACTIVE, 12, 1)
    assert template.program.splitlines()[0] == 'results = find_callers("{name}")'


@pytest.mark.parametrize(
    "word", ["no", "yes", "on", "null", "1.0", "2024-01-01", "0x1F", "1_000", "~", "true"]
)
def test_plain_values_stay_text(word: str) -> None:
    assert parse(changed("name: find-callers", f"name: {word}")).name == word


@pytest.mark.parametrize(
    "text", [GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, GOOD.replace("---\nname", "---  \nname")]
)
def test_line_ends_and_marks_do_not_matter(text: str) -> None:
    assert parse(text) == parse(GOOD)


def test_block_mapping_and_comments_are_read() -> None:
    text = changed("slots: {name: identifier}", "# what may vary\nslots:\n  name: identifier\n")
    assert dict(parse(text).slots) == {"name": "identifier"}


def test_fence_inside_the_program_belongs_to_it() -> None:
    text = GOOD + "---\n"
    assert parse(text).program.endswith("\n---")
    assert parse(dump(parse(text))).program == parse(text).program


REFUSED = [
    (
        changed("pattern: '", "pattern: find callers of {name}: show\nx: '"),
        "t:3: a value with ': ' or ' #' needs quotes; put it in '…'",
    ),
    (
        changed("pattern: '", "pattern: {name} callers\nx: '"),
        "t:3: a value that starts with '{' needs quotes; put it in '…'",
    ),
    (
        changed("pattern: '", "pattern: *x\nx: '"),
        "t:3: a value that starts with '*' needs quotes; put it in '…'",
    ),
    (
        changed("pattern: '", "pattern: #todo\nx: '"),
        "t:3: a value that starts with '#' needs quotes; put it in '…'",
    ),
    (
        changed("kit: debug", "kit: debug # mine"),
        "t:5: a value with ': ' or ' #' needs quotes; put it in '…'",
    ),
    (
        changed("kit: debug", 'description: Use for: "x"'),
        "t:5: a value with ': ' or ' #' needs quotes; put it in '…'",
    ),
    (changed("kit: debug", "kit: debug\nkit: debug"), "t:6: 'kit' stands twice (first on line 5); keep one"),
    (changed("kit: debug", "\tkit: debug"), "t:5: indented with a tab; use blanks"),
    (
        changed("kit: debug", "  kit: debug"),
        "t:5: indented, but only 'slots:' and 'tools:' hold lines below them",
    ),
    (changed("kit: debug", "kit"), "t:5: not 'key: value'; write a key, a colon, a blank and the value"),
    (
        changed("kit: debug", "kit:debug"),
        "t:5: not 'key: value'; write a key, a colon, a blank and the value",
    ),
    (
        changed("kit: debug", "kit: 'debug"),
        "t:5: the quote isn't closed, or a ' inside isn't doubled; write '' for one '",
    ),
    (
        changed("state: active", "state: live"),
        "t:6: state 'live' is unknown; use one of probation, active, quarantined, retired, disabled",
    ),
    (
        changed("success_count: 12", "success_count: many"),
        "t:7: 'success_count' must be a whole number >= 0 (got 'many')",
    ),
    (
        changed("slots: {name: identifier}", "slots: name"),
        "t:4: expected a mapping such as {name: identifier}",
    ),
    (changed("slots: {name: identifier}", "slots: {name}"), "t:4: 'name' is not 'name: value'"),
    (changed("name: find-callers\n", ""), "t:1: 'name' is missing; every template needs name and pattern"),
    (
        GOOD.partition("results")[0],
        "t:1: no program after the front matter; write it below the closing '---'",
    ),
    ("name: x\n", "t:1: the first line must be '---'; front matter stands before the program"),
    ("---\nname: x\n", "t:3: the front matter isn't closed; write '---' on a line before the program"),
    ("", "t:1: the first line must be '---'; front matter stands before the program"),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_refusals_name_the_line_and_what_to_write(text: str, sentence: str) -> None:
    with pytest.raises(TemplateError) as caught:
        parse(text, "t")
    assert str(caught.value) == sentence


lines = st.text(st.characters(codec=None, exclude_characters="\r")).filter(lambda s: s.strip() != "")
names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)


@settings(max_examples=400, deadline=None)
@given(
    name=lines,
    pattern=lines,
    program=lines,
    slots=st.dictionaries(names, st.sampled_from(["identifier", "path", "no", "1"]), max_size=3),
    description=st.text(st.characters(exclude_characters="\r")),
    extra=st.dictionaries(
        names.map("x_".__add__), st.text(st.characters(exclude_characters="\r")), max_size=3
    ),
    counts=st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)),
    state=st.sampled_from(State),
)
def test_any_template_survives_writing(
    name, pattern, program, slots, description, extra, counts, state
) -> None:
    template = Template(
        name,
        pattern,
        program,
        slots,
        "debug",
        state,
        *counts,
        {"read": "12ab"},
        description,
        path="t",
        extra=extra,
    )
    assert parse(dump(template), "t") == template


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    """Every text is a template or a refusal."""
    for candidate in (text, "---\n" + text, "---\nname: a\n" + text + "\n---\n1\n"):
        with contextlib.suppress(TemplateError):
            assert parse(candidate).name


def test_single_fields_change_and_the_rest_stays() -> None:
    text = GOOD.replace("kit: debug", "kit: debug\n# a note to keep")
    new = with_fields(text, {"state": State.QUARANTINED, "reason": "failed: twice"})
    assert new == text.replace("state: active", "state: quarantined").replace(
        "fail_count: 1\n", "fail_count: 1\nreason: 'failed: twice'\n"
    )
    assert parse(new).extra == {"reason": "failed: twice"}


def test_changing_fields_keeps_crlf() -> None:
    new = with_fields(GOOD.replace("\n", "\r\n"), {"state": State.RETIRED})
    assert new.count("\r\n") == GOOD.count("\n") == new.count("\n")
