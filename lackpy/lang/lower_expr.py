"""Meaning-preserving rewrites of one expression: surface Python in, the language out.

Each function takes a node it may rewrite and returns the new expression, or `None` where meaning
can't be kept (the validator then refuses the node). Nothing here walks a tree or reports.
"""

from __future__ import annotations

import ast
import string
from typing import TYPE_CHECKING

from lackpy.lang import grammar
from lackpy.lang.write import write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lackpy.lang.fresh import Fresh

_LOAD = ast.Load()
_STORE = ast.Store()


def name(identifier: str) -> ast.Name:
    """Return a reference to `identifier`."""
    return ast.Name(identifier, _LOAD)


def store(identifier: str) -> ast.Name:
    """Return a target `identifier`."""
    return ast.Name(identifier, _STORE)


def call(function: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """Return a call of a builtin."""
    return ast.Call(name(function), list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def item(value: ast.expr, index: ast.expr | int) -> ast.Subscript:
    """Return `value[index]`."""
    return ast.Subscript(value, ast.Constant(index) if isinstance(index, int) else index, _LOAD)


def key_lambda(parameter: str, body: ast.expr) -> ast.Lambda:
    """Return `lambda parameter: body`."""
    return ast.Lambda(
        ast.arguments(
            posonlyargs=[],
            args=[ast.arg(parameter)],
            vararg=None,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=None,
            defaults=[],
        ),
        body,
    )


def comprehension(target: ast.expr, items: ast.expr) -> ast.comprehension:
    """Return `for target in items`."""
    return ast.comprehension(target, items, [], 0)


def list_of(generator: ast.GeneratorExp) -> ast.ListComp:
    """Return the list comprehension with the items of `generator`."""
    return ast.copy_location(ast.ListComp(generator.elt, generator.generators), generator)


def is_simple(node: ast.expr) -> bool:
    """Tell whether evaluating `node` twice, or not at all, changes nothing: names, constants, items of these."""
    while isinstance(node, ast.Subscript):
        if not is_simple(node.slice):
            return False
        node = node.value
    if isinstance(node, ast.UnaryOp):
        return is_simple(node.operand)
    if isinstance(node, ast.BinOp):
        return is_simple(node.left) and is_simple(node.right)
    return isinstance(node, (ast.Name, ast.Constant))


# -- operators ---------------------------------------------------------------------------------------------


def power(node: ast.BinOp) -> ast.expr | None:
    """Return the product that `x ** n` stands for, n a whole number from 1 to 8, x simple."""
    exponent = node.right
    if not (isinstance(exponent, ast.Constant) and type(exponent.value) is int and is_simple(node.left)):
        return None
    times = exponent.value
    base = node.left
    if isinstance(base, ast.Constant) and type(base.value) is int and 0 <= times <= 64:
        if abs(base.value) <= 1 << 16:
            return ast.Constant(base.value**times)
        return None
    if not 1 <= times <= 8 or (isinstance(base, ast.Constant) and not isinstance(base.value, (int, float))):
        return None
    product = base
    for _ in range(times - 1):
        product = ast.BinOp(product, ast.Mult(), base)
    return product


_SET_METHODS = frozenset({"union", "difference", "intersection", "symmetric_difference"})


def is_set(node: ast.expr, sets: Iterable[str]) -> bool:
    """Tell whether `node` is certainly a set: a display, a comprehension, `set(...)`, or a name in `sets`."""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.Name):
        return node.id in sets
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name):
            return function.id == "set"
        return isinstance(function, ast.Attribute) and function.attr in _SET_METHODS
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)):
        return is_set(node.left, sets) and is_set(node.right, sets)
    return False


def set_operator(node: ast.BinOp, sets: Iterable[str]) -> ast.expr | None:
    """Return the method call that `|`, `&` or `^` on two sets stands for; `{**a, **b}` for two dict displays."""
    if (
        isinstance(node.op, ast.BitOr)
        and isinstance(node.left, ast.Dict)
        and isinstance(node.right, ast.Dict)
    ):
        return ast.Dict([None, None], [node.left, node.right])
    if not (is_set(node.left, sets) and is_set(node.right, sets)):
        return None
    method = {ast.BitOr: "union", ast.BitAnd: "intersection", ast.BitXor: "symmetric_difference"}[
        type(node.op)
    ]
    return ast.Call(ast.Attribute(node.left, method, _LOAD), [node.right], [])


# -- calls -------------------------------------------------------------------------------------------------


def fromkeys(node: ast.Call, names: Fresh) -> ast.expr | None:
    """Return the comprehension that `dict.fromkeys(xs, value)` stands for."""
    if node.keywords or not 1 <= len(node.args) <= 2 or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    value: ast.expr = node.args[1] if len(node.args) == 2 else ast.Constant(None)
    if not is_simple(value):
        return None
    key = names.name("_k")
    return ast.DictComp(name(key), value, [comprehension(store(key), node.args[0])])


def method_key(node: ast.expr, names: Fresh) -> ast.Lambda | None:
    """Return `lambda v: v.lower()` for `str.lower` where it stands as a key."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return None
    if node.attr not in grammar.SAFE_METHODS.get(node.value.id, ()) or node.attr in grammar.MUTATORS:
        return None
    value = names.name("_v")
    return key_lambda(value, ast.Call(ast.Attribute(name(value), node.attr, _LOAD), [], []))


def sort_by(node: ast.Call, names: Fresh) -> ast.expr | None:
    """Return the `sorted` call that `sort_by(items, key, reverse)` stands for."""
    given: dict[str | None, ast.expr] = {k.arg: k.value for k in node.keywords}
    if None in given or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    given.update(zip(("items", "key", "reverse"), node.args, strict=False))
    items, key = given.get("items"), given.get("key")
    if items is None or key is None:
        return None
    if not isinstance(key, ast.Lambda) and not (isinstance(key, ast.Name) and key.id in grammar.BUILTINS):
        if not is_simple(key):
            return None
        row = names.name("_r")
        key = key_lambda(row, item(name(row), key))
    keywords: dict[str, ast.expr] = {"key": key}
    if "reverse" in given:
        keywords["reverse"] = given["reverse"]
    return call("sorted", items, **keywords)


def keyed_first(node: ast.Call, names: Fresh) -> ast.expr | None:
    """Return `node` with the key of each item computed before the sort, in item order.

    A `key=` lambda that calls a tool can't be suspended inside the sort; a list of (key, item) pairs
    sorted on their first part gives the same order, as sorting is stable either way round.
    """
    function = node.func
    which = (
        function.attr
        if isinstance(function, ast.Attribute)
        else function.id
        if isinstance(function, ast.Name)
        else ""
    )
    given = {k.arg: k.value for k in node.keywords}
    key = given.pop("key", None)
    if None in given or not isinstance(key, ast.Lambda) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    parameter = key.args.args[0].arg
    if isinstance(function, ast.Attribute):
        items: ast.expr = function.value
    elif len(node.args) == 1:
        items = node.args[0]
    else:
        items = ast.List(list(node.args), _LOAD)
    pair = names.name("_v")
    pairs = ast.ListComp(
        ast.Tuple([key.body, name(parameter)], _LOAD), [comprehension(store(parameter), items)]
    )
    by_key = key_lambda(pair, item(name(pair), 0))
    if which in {"min", "max"}:
        rest = {
            k: ast.Tuple([ast.Constant(None), v], _LOAD) if k == "default" else v
            for k, v in given.items()
            if k
        }
        return item(call(which, pairs, key=by_key, **rest), 1)
    rest = {k: v for k, v in given.items() if k}
    ordered = call("sorted", pairs, key=by_key, **rest)
    return ast.ListComp(item(name(pair), 1), [comprehension(store(pair), ordered)])


# -- text --------------------------------------------------------------------------------------------------


def format_call(node: ast.Call, names: Fresh) -> ast.expr | str:
    """Return the f-string that `"…{}…".format(a)` stands for, or why there is none.

    Values are bound once, in the order they were written, by a one-item comprehension where the text
    uses one twice, out of order or not at all.
    """
    function = node.func
    if not (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Constant)
        and isinstance(function.value.value, str)
    ):
        return "works on a literal text only"
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return "takes no starred values"
    values: dict[str, ast.expr] = {str(i): a for i, a in enumerate(node.args)}
    values.update({k.arg: k.value for k in node.keywords if k.arg is not None})
    fields = _fields(function.value.value)
    if isinstance(fields, str):
        return fields
    for _, used, _, _ in fields:
        if used is not None and used not in values:
            return f"has no value for the field '{{{used}}}'"
    order = [used for _, used, _, _ in fields if used is not None]
    if order == list(values):
        direct = _joined(fields, values)
        if _can_be_written(direct):
            return direct
    if not values:
        return _joined(fields, values)
    bound = {key: names.name("_f") for key in values}
    text = _joined(fields, {key: name(new) for key, new in bound.items()})
    target = ast.Tuple([store(new) for new in bound.values()], _STORE)
    source = ast.List([ast.Tuple(list(values.values()), _LOAD)], _LOAD)
    return item(ast.ListComp(text, [comprehension(target, source)]), 0)


_Field = tuple[str, str | None, str, str]


def _fields(text: str) -> list[_Field] | str:
    """Return (literal, field, conversion, spec) of each piece of a format text, or what is wrong with it."""
    pieces: list[_Field] = []
    automatic = 0
    try:
        for literal, used, spec, conversion in string.Formatter().parse(text):
            if used is None:
                pieces.append((literal, None, "", ""))
                continue
            if "{" in (spec or ""):
                return "takes no field inside a field"
            key = used or str(automatic)
            automatic += not used
            if not (key.isdecimal() or key.isidentifier()):
                return f"takes plain fields only, not '{{{key}}}'"
            if conversion not in {None, "s", "r", "a"}:
                return f"has no conversion '!{conversion}'"
            pieces.append((literal, key, conversion or "", spec or ""))
    except ValueError as exc:
        return f"cannot read its text: {exc}"
    return pieces


def _joined(fields: list[_Field], values: dict[str, ast.expr]) -> ast.JoinedStr:
    parts: list[ast.expr] = []
    for literal, used, conversion, spec in fields:
        if literal:
            parts.append(ast.Constant(literal))
        if used is not None:
            written = ast.JoinedStr([ast.Constant(spec)]) if spec else None
            parts.append(ast.FormattedValue(values[used], ord(conversion) if conversion else -1, written))
    return ast.JoinedStr(parts)


def _can_be_written(text: ast.JoinedStr) -> bool:
    """Tell whether this Python can write `text` as source: older ones refuse some quotes and backslashes."""
    try:
        ast.parse(write(text))
    except (ValueError, SyntaxError):
        return False
    return True
