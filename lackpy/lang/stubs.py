"""Type stubs of a kit: what a type checker must know to judge a program without running it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lackpy.lang.signature import Param, RowType, Signature

_TYPING = ("Any", "Literal", "NotRequired", "TypedDict")
_HEAD = f"from typing import {', '.join(_TYPING)}"


def stubs(signatures: Mapping[str, Signature], params: Mapping[str, str] | Iterable[str] = ()) -> str:
    """Return `.pyi` text for the tools of a kit and the parameters of one call.

    Args:
        signatures: The tools, by the name a program calls.
        params: Parameter names, or their type sources by name; without a type one is `Any`.

    Returns:
        Row types as `TypedDict`, tools as functions, parameters as typed names. A type the stubs
        can't name becomes `Any`.
    """
    rows: dict[str, RowType] = {}
    for signature in signatures.values():
        for row in signature.rows:
            rows.setdefault(row.name, row)
    known = {*_TYPING, *rows, *(n for n in dir(builtins) if isinstance(getattr(builtins, n), type))}
    lines = [_HEAD, ""]
    for row in rows.values():
        lines += [*_row(row, known), ""]
    for name, signature in signatures.items():
        lines.append(_function(name, signature, known))
    typed = params if isinstance(params, Mapping) else dict.fromkeys(params, "Any")
    lines += [f"{name}: {_type(text, known)}" for name, text in typed.items()]
    return "\n".join(lines) + "\n"


def _row(row: RowType, known: set[str]) -> list[str]:
    if all(key.isidentifier() for key, _ in row.fields):
        body = [f"    {key}: {_type(text, known)}" for key, text in row.fields]
        return [f"class {row.name}(TypedDict):", *(body or ["    pass"])]
    items = ", ".join(f"{key!r}: {_type(text, known)}" for key, text in row.fields)
    return [f'{row.name} = TypedDict("{row.name}", {{{items}}})']


def _function(name: str, signature: Signature, known: set[str]) -> str:
    params = ", ".join(_param(p, known) for p in signature.params)
    return f"def {name}({params}) -> {_type(signature.returns, known)}: ..."


def _param(param: Param, known: set[str]) -> str:
    default = "" if param.default is None else " = ..."
    return f"{param.name}: {_type(param.type, known)}{default}"


def _type(text: str, known: set[str]) -> str:
    """Return `text` where every name in it is known, else `Any`."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return "Any"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in known:
            return "Any"
        if isinstance(node, (ast.Call, ast.Attribute, ast.Lambda)):
            return "Any"
    return ast.unparse(tree)
