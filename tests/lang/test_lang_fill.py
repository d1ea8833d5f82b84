"""Slot values enter programs as data and as nothing else."""

from __future__ import annotations

import ast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lang_kit import SIGNATURES, rows

from lackpy.lang import SlotError, check, fill, form

NASTY = [
    'a"b',
    "a'b",
    "a\\b",
    "a\nb",
    '"""',
    "'''",
    "{0}",
    "{{",
    "$&",
    "\\1",
    '") or write("x","y") #',
    "x" * 10_000,
    "",
    "trailing\\",
    "{path}",
    "{name}",
    "\x00",
    "\u202e",
    "\ud800",
    "\r\n",
    "\u2028",
]


def _shape(tree: ast.AST) -> list[str]:
    return [type(node).__name__ for node in ast.walk(tree)]


@pytest.mark.parametrize("value", NASTY)
def test_value_arrives_identical_as_one_constant(value):
    """Any value is one string constant, byte for byte, and nothing else changes."""
    slots = {"name": "text", "path": "text"}
    text = fill('f("{name}", "{path}")', slots, {"name": value, "path": "{name}"})
    call = ast.parse(text).body[0].value
    assert [a.value for a in call.args] == [value, "{name}"]


def test_values_are_never_scanned_again():
    """Values that hold the other's placeholder stay as they are."""
    text = fill('f("{name}{path}")', {"name": "text", "path": "text"}, {"name": "{path}", "path": "{name}"})
    assert ast.literal_eval(text[2:-1]) == "{path}{name}"


@settings(max_examples=300, deadline=None)
@given(st.text(), st.integers(0, 10**17))
@example("'\"\\\n", 0)
def test_any_value_keeps_the_tree(value, number):
    """Whatever is captured, the tree keeps its shape, its text parses to it, and its grade stays."""
    program = "rows = find_callers(\"{name}\")\nread(path='{dir}/{name}.py')[:{n}] + 'n={n}'"
    shape = form(program, {"name": "identifier", "dir": "dir", "n": "number"})
    values = {"name": value, "dir": value + "{n}", "n": number}
    tree = shape.tree(values)
    assert ast.dump(ast.parse(shape.text(values))) == ast.dump(tree)
    assert _shape(tree) == _shape(shape.tree({"name": "a", "dir": "b", "n": 1}))
    verdict = check(shape.text(values), SIGNATURES)
    assert (verdict.ok, verdict.calls) == (True, ("find_callers", "read"))


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_value_inside_an_f_string_is_text(value):
    """In an f-string a value becomes literal text; one that can't be written is refused, never changed."""
    shape = form("x = 1\nf\"{name} {{name}}: {x} {'a'}\"", {"name": "text"})
    try:
        text = shape.text({"name": value})
    except SlotError:
        return
    assert eval(text.split("\n", 1)[1], {"x": 1}) == f"{value} {value}: 1 a"
    assert ast.dump(ast.parse(text)) == ast.dump(shape.tree({"name": value}))


@pytest.mark.parametrize(
    ("program", "slots", "values", "filled"),
    [
        (
            'glob("{dir}/**/*.{ext}")',
            {"dir": "dir", "ext": "word"},
            {"dir": "src", "ext": "py"},
            "glob('src/**/*.py')",
        ),
        ("xs[:{n}]", {"n": "number"}, {"n": "20"}, "xs[:20]"),
        ("xs[:{n}]", {"n": "number"}, {"n": 20}, "xs[:20]"),
        ('f("{n}")', {"n": "number"}, {"n": "20"}, "f('20')"),
        ('f("{other}")', {"n": "number"}, {}, "f('{other}')"),
        ("f\"{r['file']} {name}\"", {"name": "word"}, {"name": "x"}, "f\"{r['file']} x\""),
        ("name = 1\nf'{name}'", {"name": "word"}, {}, "name = 1\nf'{name}'"),
        ("{n for n in [1]}", {"n": "number"}, {}, "{n for n in [1]}"),
        ("# {text}\nlen([1])", {"text": "text"}, {"text": 'x\nread("y")'}, "len([1])"),
        ('x = """{text}"""', {"text": "text"}, {"text": 'say "hi"'}, "x = 'say \"hi\"'"),
        ('"{text}"\nx = 1', {"text": "text"}, {"text": 'a"""b'}, '\'a"""b\'\nx = 1'),
    ],
)
def test_filled_text(program, slots, values, filled):
    """Holes are the declared slots inside text, and bare numbers."""
    text = fill(program, slots, values)
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(filled))


@pytest.mark.parametrize(
    ("program", "slots", "values", "words"),
    [
        ("find_callers({name})", {"name": "identifier"}, {"name": "x"}, "slot 'name' stands in code"),
        ("{var} = 1", {"var": "word"}, {"var": "len"}, "does not parse"),
        ('f"{1:{w}}"', {"w": "number"}, {"w": "9"}, "format specification"),
        ('f"{w!r}"', {"w": "word"}, {"w": "9"}, "no conversion"),
        ('f"{w + 1}"', {"w": "word"}, {"w": "9"}, "stands in code"),
        ("xs[:{n}]", {"n": "number"}, {"n": "5] + read('x')[:9"}, "takes a whole number"),
        ("xs[:{n}]", {"n": "number"}, {"n": "-1"}, "takes a whole number"),
        ("xs[:{n}]", {"n": "number"}, {"n": "٣"}, "takes a whole number"),
        ("xs[:{n}]", {"n": "number"}, {"n": True}, "takes a whole number"),
        ("f('{a}')", {"a": "word"}, {}, "slot 'a' has no value"),
        ("f('{a}'", {"a": "word"}, {"a": "x"}, "does not parse"),
    ],
)
def test_refused_filling(program, slots, values, words):
    """A slot in code and a value that doesn't fit are refused."""
    with pytest.raises(SlotError, match=words.replace("(", r"\(")):
        fill(program, slots, values)


INJECTIONS = [r for r in rows("adversarial_dev.jsonl") if r["kind"] == "slot_injection"]


@pytest.mark.parametrize("row", INJECTIONS, ids=lambda r: r["id"])
def test_injection_changes_no_tree(row):
    """Each injection of the corpus leaves the template's shape, or is refused."""
    kinds = {name: "number" if name in {"n", "w"} else "text" for name in row["slots"]}
    plain = {name: "1" if kind == "number" else "x" for name, kind in kinds.items()}
    try:
        shape = form(row["template_program"], kinds)
        filled = shape.tree(row["slots"])
        text = shape.text(row["slots"])
    except SlotError:
        return
    assert _shape(filled) == _shape(shape.tree(plain))
    assert ast.dump(ast.parse(text)) == ast.dump(filled)
    assert set(check(text, SIGNATURES).calls) <= set(check(shape.text(plain), SIGNATURES).calls)


def test_filled_parts_are_shared_but_not_the_holes():
    """Two fillings of one form don't touch each other."""
    shape = form("x = f('{a}')\ny = 2", {"a": "word"})
    one, two = shape.tree({"a": "1"}), shape.tree({"a": "2"})
    assert ast.unparse(one) != ast.unparse(two)
    assert one.body[1] is two.body[1]
    assert shape.used == {"a"}
