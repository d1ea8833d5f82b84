"""The tables are whole: every node of the running Python is in one, and every reader uses them."""

from __future__ import annotations

import ast
import json

import pytest

from lackpy.lang import grammar, spec_json, spec_text


def _node_classes() -> set[str]:
    found: set[str] = set()
    todo = [ast.AST]
    while todo:
        cls = todo.pop()
        if cls.__module__ in {"ast", "_ast"}:
            found.add(cls.__name__)
        todo += cls.__subclasses__()
    return found


def test_every_ast_class_is_in_exactly_one_table():
    """A node type that a new Python brings has to be put into a table, allowed or refused."""
    tables = (
        grammar.ALLOWED_NODES,
        set(grammar.REFUSED_NODES),
        grammar.ABSTRACT_NODES,
        grammar.NEVER_PARSED_NODES,
    )
    found = {name: sum(name in table for table in tables) for name in _node_classes()}
    assert {name: n for name, n in found.items() if n != 1 and not name.startswith("_")} == {}


def test_allowed_nodes_are_the_documented_ones():
    """The whitelist is exactly the documented one, with `arguments`, which holds a lambda's `arg`."""
    documented = """Module Expr Assign AugAssign For If With withitem Call Name Attribute Subscript List Dict Tuple
        Set ListComp DictComp SetComp Compare BoolOp UnaryOp BinOp JoinedStr FormattedValue Constant Starred Slice
        Lambda comprehension IfExp keyword arguments arg Load Store Del Add Sub Mult Div Mod FloorDiv Eq NotEq Lt LtE
        Gt GtE Is IsNot In NotIn And Or Not USub UAdd"""
    assert set(documented.split()) == grammar.ALLOWED_NODES


def test_every_refusal_has_words_and_a_hint():
    """Each refused node says what it is and what to write instead."""
    assert all(r.what and r.hint for r in grammar.REFUSED_NODES.values())


@pytest.mark.parametrize("method", ["format", "format_map", "mro", "__class__", "_asdict"])
def test_unsafe_methods_are_in_no_table(method):
    """Methods that reach outside plain data are not callable."""
    assert method not in grammar.ALL_METHODS


def test_safe_methods_exist_on_their_type():
    """Every method of the table is one of its type, and no name starts with an underscore."""
    types = {"str": str, "list": list, "dict": dict, "set": set, "tuple": tuple}
    for kind, methods in grammar.SAFE_METHODS.items():
        assert all(hasattr(types[kind], m) and not m.startswith("_") for m in methods)


def test_spec_comes_from_the_tables():
    """The printed language names every node, builtin, method and rule, and its JSON form is plain data."""
    text, data = spec_text(), json.loads(json.dumps(spec_json()))
    for name in (
        *grammar.ALLOWED_STATEMENTS,
        *grammar.ALLOWED_OPERATORS,
        *grammar.REFUSED_NODES,
        *grammar.ALL_METHODS,
    ):
        assert f"`{name}`" in text
    assert all(f"`{builtin.text}`" in text for builtin in grammar.BUILTINS.values())
    assert set(data["allowed_nodes"]) == grammar.ALLOWED_NODES
    assert set(data["refused_nodes"]) == set(grammar.REFUSED_NODES)
    assert set(data["builtins"]) == set(grammar.BUILTINS)
