"""A Python callable → its `ToolSpec`: signature, types and docstring are the specification.

Reads only what `inspect` and the annotations tell; never calls the function.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, overload

from lackpy.kits.errors import KitError
from lackpy.kits.spec import ToolSpec
from lackpy.lang.signature import Grade, Param, RowType, Signature

UNDECLARED = Grade(3, 3)
"""What a tool without a declared grade counts as."""

_MARK = "__lackpy_tool__"
_F = TypeVar("_F", bound=Callable[..., Any])
_PLAIN: dict[Any, str] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
    bytes: "bytes",
    type(None): "None",
    None: "None",
    list: "list[Any]",
    dict: "dict[str, Any]",
    tuple: "tuple[Any, ...]",
    set: "set[Any]",
}
_STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
_CONTAINERS: dict[Any, str] = {list: "list", dict: "dict", tuple: "tuple", set: "set", frozenset: "set"}


@dataclass(frozen=True, slots=True)
class _Declared:
    grade: Grade | None
    timeout_s: float | None
    name: str | None


@overload
def tool(fn: _F, /) -> _F: ...
@overload
def tool(
    *, grade: Grade | int | None = None, timeout_s: float | None = None, name: str | None = None
) -> Callable[[_F], _F]: ...
def tool(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    grade: Grade | int | None = None,
    timeout_s: float | None = None,
    name: str | None = None,
) -> Any:
    """Declare a function as a tool; it stays the function it was.

    Args:
        fn: The function, when used without parentheses.
        grade: How much of the world it touches; an int sets both `w` and `d`. Without one it counts as 3.
        timeout_s: Deadline of one call in seconds.
        name: Name that programs call; the function's own when absent.

    Raises:
        KitError: `grade` or `timeout_s` is out of range, or `name` is no identifier.

    >>> @tool(grade=0)
    ... def double(x: int) -> int:
    ...     "Return twice x."
    ...     return 2 * x
    >>> spec_of(double).signature.text()
    'double(x: int) -> int'
    """
    declared = _Declared(
        None if grade is None else as_grade(grade), _timeout(timeout_s), name and _identifier(name)
    )

    def mark(function: _F) -> _F:
        setattr(function, _MARK, declared)
        return function

    return mark if fn is None else mark(fn)


def as_grade(value: Grade | int | object) -> Grade:
    """Read a grade: a `Grade`, or an int from 0 to 3 for both components.

    Raises:
        KitError: It is neither.
    """
    made = Grade(value, value) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(made, Grade) and made.w in range(4) and made.d in range(4):
        return made
    raise KitError(f"'grade' must be 0, 1, 2 or 3, or a Grade of these (got {value!r})")


def spec_of(
    fn: Callable[..., Any] | ToolSpec,
    *,
    name: str | None = None,
    grade: Grade | None = None,
    provider: str | None = None,
) -> ToolSpec:
    """Return the `ToolSpec` of a callable; a `ToolSpec` comes back as it is, under `name` when one is given.

    Args:
        fn: A function, method, partial or other callable object.
        name: Name that programs call.
        grade: Overrides what `@tool` declared.
        provider: Where it came from; `caller` when absent.

    Raises:
        KitError: It isn't callable, has no readable signature, or no usable name.
    """
    if isinstance(fn, ToolSpec):
        if name in (None, fn.name) and grade is None:
            return fn
        renamed = replace(fn.signature, name=_identifier(name or fn.name), grade=grade or fn.signature.grade)
        return replace(fn, signature=renamed)
    if not callable(fn):
        raise KitError(f"tool {name or fn!r} must be a function or a ToolSpec (got {type(fn).__name__})")
    declared = getattr(fn, _MARK, None) or _Declared(None, None, None)
    inner = getattr(fn, "func", None)  # of a partial
    called = name or declared.name or getattr(fn, "__name__", None) or getattr(inner, "__name__", "")
    base = _signature(getattr(fn, "__func__", fn), isinstance(fn, types.MethodType))
    signature = replace(base, name=_identifier(str(called)), grade=grade or declared.grade or UNDECLARED)
    return ToolSpec(signature, fn, declared.timeout_s, provider or "caller")


def _identifier(name: str) -> str:
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise KitError(
            f"tool name {name!r} must be an identifier without a leading underscore; pass name='…'"
        )
    return name


def _timeout(value: float | None) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not value > 0):
        raise KitError(f"'timeout_s' must be > 0 seconds (got {value!r})")
    return value


def _signature(fn: Callable[..., Any], bound: bool) -> Signature:
    try:
        return _cached_signature(fn, bound)
    except TypeError:  # unhashable callable
        return _read_signature(fn, bound)


@functools.lru_cache(maxsize=1024)
def _cached_signature(fn: Callable[..., Any], bound: bool) -> Signature:
    return _read_signature(fn, bound)


def _read_signature(fn: Callable[..., Any], bound: bool) -> Signature:
    try:
        described = inspect.signature(fn)
    except (TypeError, ValueError) as exc:
        raise KitError(
            f"tool {fn!r} has no readable signature; wrap it in a function with named parameters"
        ) from exc
    hints = _hints(fn)
    rows: dict[str, RowType] = {}
    params = []
    for index, parameter in enumerate(described.parameters.values()):
        if bound and index == 0:
            continue
        stars = _STARS.get(parameter.kind, "")
        default = None if parameter.default is parameter.empty else _default(parameter.default)
        params.append(Param(stars + parameter.name, _type(hints.get(parameter.name, Any), rows), default))
    returns = _type(hints.get("return", Any), rows)
    return Signature("", tuple(params), returns, tuple(rows.values()), UNDECLARED, _sentence(fn))


def _hints(fn: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations; one that can't be resolved (a name only for type checkers) is left out."""
    target = fn if hasattr(fn, "__annotations__") else getattr(fn, "func", None) or type(fn).__call__
    target = inspect.unwrap(target)
    try:
        return get_type_hints(target)
    except (NameError, TypeError, AttributeError, SyntaxError):  # names that exist only for type checkers
        raw = getattr(target, "__annotations__", {})
        return {key: value for key, value in raw.items() if not isinstance(value, str)} | {
            key: _NAMED[value] for key, value in raw.items() if isinstance(value, str) and value in _NAMED
        }


_NAMED = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
    "None": type(None),
}


def _default(value: Any) -> str:
    if value is None or isinstance(value, str | int | float | bool) or value in ([], {}, ()):
        return repr(value)
    return "..."


def _type(hint: Any, rows: dict[str, RowType]) -> str:
    """Return a hint as Python source that the type check's stubs can hold, `Any` where it can't."""
    if get_origin(hint) in (typing.Annotated, typing.NotRequired, typing.Required):
        return _type(get_args(hint)[0], rows)
    try:
        if hint in _PLAIN:
            return _PLAIN[hint]
    except TypeError:
        return "Any"
    if typing.is_typeddict(hint):
        return _row(hint, rows)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        parts = list(dict.fromkeys(_type(a, rows) for a in arguments))
        return "Any" if "Any" in parts else " | ".join(parts)
    if origin is Literal:
        plain = all(isinstance(a, str | int | bool) for a in arguments)
        return f"Literal[{', '.join(repr(a) for a in arguments)}]" if plain else "Any"
    if origin in _CONTAINERS and arguments:
        inner = ", ".join("..." if a is Ellipsis else _type(a, rows) for a in arguments)
        return f"{_CONTAINERS[origin]}[{inner}]"
    if isinstance(origin, type) and issubclass(origin, typing.Iterable) and len(arguments) == 1:
        return f"list[{_type(arguments[0], rows)}]"
    return "Any"


def _row(hint: Any, rows: dict[str, RowType]) -> str:
    name: str = hint.__name__
    if name not in rows:
        rows[name] = RowType(name, ())  # holds the place, so that a recursive type ends
        fields = get_type_hints(hint, include_extras=True)
        made = RowType(name, tuple((key, _field(hint, key, value, rows)) for key, value in fields.items()))
        del rows[name]  # after the rows it holds
        rows[name] = made
    return name


def _field(hint: Any, key: str, value: Any, rows: dict[str, RowType]) -> str:
    text = _type(value, rows)
    marked = get_origin(value)
    optional = key in hint.__optional_keys__ and marked is not typing.Required
    return f"NotRequired[{text}]" if optional or marked is typing.NotRequired else text


def _sentence(fn: Callable[..., Any]) -> str:
    """Return the docstring's first sentence on one line."""
    doc = inspect.getdoc(fn) if not isinstance(fn, functools.partial) else inspect.getdoc(fn.func)
    if not doc:
        return ""
    paragraph = " ".join(doc.split("\n\n")[0].split())
    for index, char in enumerate(paragraph):
        if (
            char in ".!?"
            and paragraph[index + 1 : index + 2] in ("", " ")
            and not paragraph[: index + 1].endswith(("e.g.", "i.e."))
        ):
            return paragraph[: index + 1]
    return paragraph
