"""Filling: values are data, the tree keeps its shape, and what can't be served is named up front."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lackpy.kits import spec_of
from lackpy.lang import Grade, Param, Signature
from lackpy.run.inline import InlineExecutor
from lackpy.run.record import Limits
from lackpy.templates.fill import compile_template, instantiate, quote_regex
from lackpy.templates.format import Template, TemplateError

CORPUS = Path(__file__).parents[1] / "corpora" / "adversarial_dev.jsonl"


def signature(name: str, *params: str, w: int = 1) -> Signature:
    return Signature(name, tuple(Param(p, "str") for p in params), "Any", (), Grade(w, w))


TOOLS = {
    "read": signature("read", "path"),
    "grep": signature("grep", "pattern", "glob"),
    "find_callers": signature("find_callers", "name", w=0),
    "find_definitions": signature("find_definitions", "name", w=0),
    "write": signature("write", "path", "text", w=3),
}


def shape(program: str) -> str:
    """Return the tree with every text blanked."""
    tree = ast.parse(program)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = "?"
    return ast.dump(tree)


HARD = [
    'a"b',
    "a'b",
    "a\\\\b",
    "a\nb",
    '"""',
    "{0}",
    "{{",
    "$&",
    "\\1",
    '") or write("x","y") #',
    "x" * 10_000,
    "",
    "ends in \\",
    "{path}",
    "{name}",
    "\u2028",
    "hole0x0x",
]


def calls(program: str, slots: dict[str, str], values: dict[str, object]) -> list[tuple[str, ...]]:
    """Fill and run; return what reached the tools."""
    seen: list[tuple[str, ...]] = []

    def read(path: str) -> str:
        seen.append(("read", path))
        return path

    def grep(pattern: str, glob: str) -> list[str]:
        seen.append(("grep", pattern, glob))
        return [pattern, glob]

    pattern = "do " + " ".join(f"{{{name}}}" for name in slots)
    verdict = instantiate(Template("t", pattern, program, slots), values, TOOLS)
    tools = {"read": spec_of(read, name="read"), "grep": spec_of(grep, name="grep")}
    result = InlineExecutor().run(verdict, tools, {}, Limits())
    assert result.ok, result.error
    return seen


@pytest.mark.parametrize("value", HARD)
def test_values_reach_the_tool_byte_for_byte(value: str) -> None:
    both = calls(
        'read("{name}")\nread("{path}")', {"name": "text", "path": "text"}, {"name": value, "path": "{name}"}
    )
    assert both == [("read", value), ("read", "{name}")]


@pytest.mark.parametrize("value", HARD)
def test_values_inside_longer_literals_and_fstrings_stay_text(value: str) -> None:
    slots = {"name": "text"}
    assert calls('read("<{name}>" + "{name}")', slots, {"name": value}) == [("read", f"<{value}>{value}")]
    assert calls('x = 1\nread(f"{{name}}={x}")', slots, {"name": value}) == [("read", f"{value}=1")]


def test_values_are_not_scanned_again() -> None:
    seen = calls(
        'read("{name}/{path}")', {"name": "text", "path": "text"}, {"name": "{path}", "path": "{name}"}
    )
    assert seen == [("read", "{path}/{name}")]


def test_a_number_stands_bare_and_in_text() -> None:
    seen = calls('read("{n}" + str([1, 2, 3][:{n}]))', {"n": "number"}, {"n": 2})
    assert seen == [("read", "2[1, 2]")]


def test_a_regex_takes_its_value_literally() -> None:
    program = 'grep("^{text}$", "{text}")'
    assert calls(program, {"text": "text"}, {"text": "a.b(c)"}) == [("grep", "^a\\.b\\(c\\)$", "a.b(c)")]
    assert calls(program, {"text": "text"}, {"text": "type: ignore"})[0][1] == "^type: ignore$"
    assert calls(program, {"text": "dotted"}, {"text": "os.path"})[0][1] == "^os.path$"


@settings(deadline=None)
@given(st.text())
def test_a_quoted_regex_matches_its_text_only(text: str) -> None:
    assert re.fullmatch(quote_regex(text), text)


@settings(max_examples=300, deadline=None)
@given(
    value=st.text(st.characters(exclude_categories=["Cs"])),
    program=st.sampled_from(
        [
            'find_callers("{name}")',
            'xs = [read("{name}") for x in ["{name}", "b"]]\nxs',
            '{"{name}": f"{{name}} {len(read(chr_))}" for chr_ in ["{name}"]}',
            'grep("{name}.*", "src/{name}/**")',
            '"{name}"',
            'sorted(find_callers("q"), key=lambda r: r["{name}"])',
        ]
    ),
)
def test_no_value_changes_the_tree(value: str, program: str) -> None:
    """Shape, calls and grade are those of the template; the text parses back to the filled tree."""
    filler = compile_template(Template("t", "do {name}", program, {"name": "text"}), TOOLS)
    plain, hard = filler({"name": "x"}), filler({"name": value})
    assert (hard.grade, hard.calls) == (plain.grade, plain.calls)
    assert shape(hard.program) == shape(plain.program)
    assert hard.tree is not None
    assert ast.dump(ast.parse(hard.program)) == ast.dump(ast.parse(ast.unparse(hard.tree)))


def test_filling_leaves_the_template_as_it_was() -> None:
    filler = compile_template(
        Template("t", "do {name}", 'find_callers("{name}")', {"name": "identifier"}), TOOLS
    )
    first = filler({"name": "one"})
    filler({"name": "two"})
    assert first.program == "find_callers('one')"
    assert ast.unparse(first.tree) == "find_callers('one')"


REFUSED = [
    ('read("{name}")', {"name": "text"}, {}, "slot 'name' takes text"),
    ('read("{name}")', {"name": "text"}, {"name": 3}, "slot 'name' takes text"),
    ('read("{name}")', {"name": "text"}, {"name": "\ud800"}, "lone surrogate"),
    ("[1][:{name}]", {"name": "number"}, {"name": "3"}, "takes a whole number"),
    ("[1][:{name}]", {"name": "number"}, {"name": True}, "takes a whole number"),
    ("[1][:{name}]", {"name": "number"}, {"name": 10**10}, "takes a whole number"),
    ("read({name})", {"name": "text"}, {"name": "x"}, "slot 'name' stands in code"),
    ("{name} = 1\n2", {"name": "text"}, {"name": "len"}, "does not parse"),
    ("# {name}\nlen([1])", {"name": "text"}, {"name": "x"}, "doesn't use slot 'name'"),
    ('reed("{name}")', {"name": "text"}, {"name": "x"}, "unknown-name"),
    ('read("{name}").x', {"name": "text"}, {"name": "x"}, "L1:"),
    ('read("{name}")', {"name": "text", "other": "text"}, {"name": "x"}, "slot 'other' isn't in the pattern"),
]


@pytest.mark.parametrize(("program", "slots", "values", "says"), REFUSED)
def test_what_cannot_be_filled_is_refused(program, slots, values, says) -> None:
    with pytest.raises(TemplateError) as caught:
        instantiate(Template("t", "do {name}", program, slots), values, TOOLS)
    assert says in str(caught.value)


def test_a_pattern_slot_needs_a_type() -> None:
    with pytest.raises(TemplateError, match=r"pattern slot '\{name\}' has no type"):
        compile_template(Template("t", "do {name}", "1", {}), TOOLS)


def slot_cases() -> list[dict[str, object]]:
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["kind"] == "slot_injection"]


def test_the_corpus_has_slot_cases() -> None:
    assert len(slot_cases()) >= 30


@pytest.mark.parametrize("case", slot_cases(), ids=lambda case: case["id"])
def test_slot_attacks_become_one_literal_or_nothing(case) -> None:
    """A hostile value is refused, or it is text: same skeleton as with a harmless value, same grade."""
    slots = dict.fromkeys(case["slots"], "text")
    template = Template("t", case["template_pattern"], case["template_program"], slots)
    try:
        filler = compile_template(template, TOOLS)
        hostile = filler(case["slots"])
    except TemplateError:
        return
    harmless = filler(dict.fromkeys(slots, "x"))
    assert shape(hostile.program) == shape(harmless.program)
    assert hostile.grade == harmless.grade
