"""A callable's signature, types and docstring are its specification."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest

from lackpy.kits import Kit, KitError, ToolSpec, spec_of, tool
from lackpy.lang.signature import Grade, Param, RowType


class Commit(TypedDict):
    sha: str
    files: list[str]
    note: NotRequired[str]


class Tree(TypedDict):
    name: str
    children: list[Tree]


@tool(grade=1, timeout_s=5)
def log(path: str, limit: int = 10, since: str | None = None, *, merges: bool = False) -> list[Commit]:
    """List commits, e.g. of one file. Newest first.

    More text.
    """
    return []


def test_signature_of_a_decorated_function():
    spec = spec_of(log)
    assert spec.signature.text() == (
        "log(path: str, limit: int = 10, since: str | None = None, merges: bool = False) -> list[Commit]"
    )
    assert spec.signature.rows == (
        RowType("Commit", (("sha", "str"), ("files", "list[str]"), ("note", "NotRequired[str]"))),
    )
    assert spec.signature.grade == Grade(1, 1)
    assert spec.signature.doc == "List commits, e.g. of one file."
    assert spec.timeout_s == 5
    assert spec.provider == "caller"
    assert spec.fn is log


def test_decorated_function_is_still_itself():
    assert log("x") == []
    assert log.__name__ == "log"


def test_plain_function_counts_as_grade_three():
    def plain(x):
        return x

    spec = spec_of(plain)
    assert spec.signature.grade == Grade(3, 3)
    assert spec.signature.params == (Param("x", "Any", None),)
    assert spec.signature.returns == "Any"
    assert spec.signature.doc == ""


def test_name_given_by_the_caller_wins():
    assert spec_of(log, name="history").name == "history"
    assert spec_of(spec_of(log), name="history").signature.grade == Grade(1, 1)

    @tool(name="named")
    def other(): ...

    assert spec_of(other).name == "named"


def hints(
    a: Annotated[int, "positive"],
    b: Optional[dict[str, Any]],  # noqa: UP045  # the older spelling must be read too
    c: Literal["x", "y"],
    d: tuple[int, ...],
    e: list,
    f: object,
    g: set[str] | None,
) -> Tree: ...


def test_types_as_source():
    signature = spec_of(hints).signature
    assert [p.type for p in signature.params] == [
        "int",
        "dict[str, Any] | None",
        "Literal['x', 'y']",
        "tuple[int, ...]",
        "list[Any]",
        "Any",
        "set[str] | None",
    ]
    assert signature.returns == "Tree"
    assert signature.rows == (RowType("Tree", (("name", "str"), ("children", "list[Tree]"))),)


def test_methods_partials_lambdas_and_callable_objects():
    class Holder:
        def method(self, x: int) -> str:
            """Do it."""
            return str(x)

        def __call__(self, y: float = 0.5) -> int:
            return int(y)

    assert spec_of(Holder().method).signature.text() == "method(x: int) -> str"
    assert spec_of(Holder(), name="held").signature.text() == "held(y: float = 0.5) -> int"
    assert spec_of(functools.partial(log, "x"), name="here").signature.params[0].name == "limit"
    assert spec_of(lambda x, y=2: x, name="pick").signature.text() == "pick(x: Any, y: Any = 2) -> Any"


def test_variadic_parameters_keep_their_stars():
    def many(*parts: str, **options: int) -> str: ...

    assert [p.name for p in spec_of(many).signature.params] == ["*parts", "**options"]


def test_annotations_that_cannot_be_resolved_are_any():
    def odd(x: Nowhere, y: int) -> Missing: ...  # noqa: F821  # on purpose

    signature = spec_of(odd).signature
    assert [p.type for p in signature.params] == ["Any", "int"]
    assert signature.returns == "Any"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tool(grade=4), "'grade' must be 0, 1, 2 or 3, or a Grade of these (got 4)"),
        (lambda: tool(grade=True), "'grade' must be 0, 1, 2 or 3, or a Grade of these (got True)"),
        (lambda: tool(timeout_s=0), "'timeout_s' must be > 0 seconds (got 0)"),
        (
            lambda: tool(name="not a name"),
            "tool name 'not a name' must be an identifier without a leading underscore; pass name='…'",
        ),
        (lambda: spec_of(5, name="five"), "tool 'five' must be a function or a ToolSpec (got int)"),
        (
            lambda: spec_of(lambda: 0),
            "tool name '<lambda>' must be an identifier without a leading underscore; pass name='…'",
        ),
    ],
)
def test_bad_definitions(make, sentence):
    with pytest.raises(KitError) as caught:
        make()
    assert str(caught.value) == sentence


def test_kit_signatures_are_one_object():
    kit = Kit("k", "", {"log": spec_of(log)})
    assert kit.signatures is kit.signatures
    assert kit.signatures["log"].grade == Grade(1, 1)
    assert isinstance(kit.tools["log"], ToolSpec)
