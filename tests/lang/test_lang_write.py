"""Trees are written alike on every Python, and parse to what they were."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lang_programs import programs

from lackpy.lang.write import write

TEXTS = [
    ("f'{x}'", "f'{x}'"),
    ('f\'{r["file"]}: {r["line"]}\'', "f\"{r['file']}: {r['line']}\""),
    ('f"it\'s {x}"', "f'it\\'s {x}'"),
    ("f\"it's {r['a']}\"", "f\"it's {r['a']}\""),
    ("f'{x!r:>{n}} {y:.2f}'", "f'{x!r:>{n}} {y:.2f}'"),
    ("f'{{x}} {x}'", "f'{{x}} {x}'"),
    ("f'{ {1: 2}[x] }'", "f'{ {1: 2}[x]}'"),
    ("f'{(1 if x else 2)}'", "f'{(1 if x else 2)}'"),
    ("f'''a\n{x}\\t'''", "f'a\\n{x}\\t'"),
    ("f'{x=}'", "f'x={x!r}'"),
    ("f'''{x.replace(\"'\", 'a')}'''", "f'''{x.replace(\"'\", 'a')}'''"),
    ("f\"{f'{x}'}\"", "f\"{f'{x}'}\""),
    ("f'{x!=y}'", "f'{x != y}'"),
    ("f'é\u2028{x}'", "f'é\\u2028{x}'"),
    ("f''", "f''"),
    ("print(f'{x}', 'y' + f'{x}')", "print(f'{x}', 'y' + f'{x}')"),
    ('f"{x:\'>5}"', 'f"{x:\'>5}"'),
]


@pytest.mark.parametrize(("source", "text"), TEXTS)
def test_f_strings(source, text):
    """One form on every Python, which parses to the tree that was written."""
    tree = ast.parse(source)
    before = ast.dump(tree)
    assert write(tree) == text
    assert ast.dump(ast.parse(text)) == before == ast.dump(tree)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text()))
def test_any_text_between_fields(pieces):
    """Whatever text an f-string holds, what is written gives it back."""
    values: list[ast.expr] = []
    for piece in pieces:
        values += [ast.Constant(piece)] if piece else []
        values.append(ast.FormattedValue(ast.Subscript(ast.Name("r"), ast.Constant("k")), -1))
    text = write(ast.Expression(ast.JoinedStr(values)))
    assert eval(text, {"r": {"k": 1}}) == "".join(f"{piece}1" for piece in pieces)


@settings(max_examples=200, deadline=None)
@given(programs())
def test_programs_parse_to_themselves(source):
    """A written program is the program."""
    tree = ast.parse(source)
    assert ast.dump(ast.parse(write(tree))) == ast.dump(tree)
