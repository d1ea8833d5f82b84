"""Stubs tell a type checker what a kit's tools take and give."""

from __future__ import annotations

import ast

from lang_kit import WITH_WRITE

from lackpy.lang import Param, RowType, Signature, stubs


def test_stubs_of_a_kit():
    """Rows, tools and parameters, each once."""
    assert stubs(WITH_WRITE, ("name",)) == (
        "from typing import Any, Literal, NotRequired, TypedDict\n"
        "\n"
        "class DefinitionRow(TypedDict):\n"
        "    name: str\n"
        "    type: str\n"
        "    file: str\n"
        "    line: int\n"
        "\n"
        "class CallerRow(TypedDict):\n"
        "    name: str\n"
        "    file: str\n"
        "    line: int\n"
        "    caller: str\n"
        "\n"
        "def read(path: str) -> str: ...\n"
        "def glob(pattern: str) -> list[str]: ...\n"
        "def find_definitions(name: str) -> list[DefinitionRow]: ...\n"
        "def find_callers(name: str) -> list[CallerRow]: ...\n"
        "def write(path: str, text: str, mode: str = ...) -> dict: ...\n"
        "def nothing() -> Any: ...\n"
        "name: Any\n"
    )


def test_types_of_parameters():
    """A parameter's type may be given."""
    assert stubs({}, {"n": "int", "x": "os.PathLike", "y": "Unknown"}).endswith("n: int\nx: Any\ny: Any\n")


def test_unknown_types_become_any():
    """A type that the stubs can't name, or that isn't one, becomes Any."""
    kit = {
        "f": Signature("f", (Param("a", "Path"), Param("b", "evil()"), Param("c", "list[")), "dict[str, Row]")
    }
    assert "def f(a: Any, b: Any, c: Any) -> Any: ..." in stubs(kit)


def test_row_with_keys_that_are_no_names():
    """Keys that are no identifiers use the functional form."""
    row = RowType("Odd", (("a-b", "str"), ("class", "int")))
    text = stubs({"f": Signature("f", (), "Odd", (row,))})
    ast.parse(text)
    assert "Odd = TypedDict(\"Odd\", {'a-b': str, 'class': int})" in text
