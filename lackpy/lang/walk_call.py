"""What the walk does at a call: tools, builtins, methods, and the keys of sorts."""

from __future__ import annotations

import ast
from difflib import get_close_matches
from typing import TYPE_CHECKING

from lackpy.lang import grammar, lower_expr, violations
from lackpy.lang.walk import EXPRESSIONS, walk_expression
from lackpy.lang.walk_expr import walk_comprehension, walk_lambda, walk_lambda_body, walk_starred

if TYPE_CHECKING:
    from lackpy.lang.signature import Signature
    from lackpy.lang.walk import Walk


def _call(w: Walk, n: ast.Call, d: int) -> None:
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    d += 1
    f = n.func
    kind = type(f)
    args = n.args
    keywords = n.keywords
    if kind is ast.Name:
        identifier = f.id  # type: ignore[attr-defined]  # the test above
        if identifier in w.tools:
            places = w.calls.get(identifier)
            if places is None:
                w.calls[identifier] = places = []
            places.append((f.lineno, f.col_offset))
            w.tool_calls += 1
            _tool_arguments(w, n, w.tools[identifier])
        else:
            builtin = grammar.BUILTINS.get(identifier)
            if builtin is None:
                _unknown_call(w, f)  # type: ignore[arg-type]  # the test above
            elif _builtin_call(w, n, identifier, builtin, d):
                return
    elif kind is ast.Attribute:
        if _method_call(w, n, f, d):  # type: ignore[arg-type]  # the test above
            return
    elif kind is ast.Lambda:
        walk_lambda(w, f, d)  # type: ignore[arg-type]  # the test above
    else:
        w.found.append(violations.call_target(w.place(f)))
        if kind not in {ast.Call, ast.Constant}:
            walk_expression(w, f, d)
    for i, a in enumerate(args):
        handler = EXPRESSIONS.get(type(a))
        if handler is not None:
            handler(w, a, d)
        elif type(a) is ast.GeneratorExp:
            args[i] = new = lower_expr.list_of(a)
            walk_comprehension(w, new, d)
        elif type(a) is ast.Starred:
            walk_starred(w, a, d)
        else:
            w.refuse(a)
    if keywords:
        _keywords(w, keywords, d)


def _keywords(w: Walk, keywords: list[ast.keyword], d: int) -> None:
    seen: set[str | None] = set()
    for k in keywords:
        if k.arg is not None and k.arg in seen:
            w.found.append(
                violations.arguments(w.place(k), f"argument '{k.arg}' is given twice", f"one {k.arg}=...")
            )
        seen.add(k.arg)
        if type(k.value) is ast.GeneratorExp:
            k.value = lower_expr.list_of(k.value)
        walk_expression(w, k.value, d)


def _unknown_call(w: Walk, f: ast.Name) -> None:
    if f.id in w.bound or f.id in w.local:
        w.found.append(violations.call_of_value(w.place(f), f.id))
    else:
        w.no_such_name(f)


def _tool_arguments(w: Walk, n: ast.Call, signature: Signature) -> None:
    """Check a tool call's arguments against its signature, as far as they can be counted."""
    params = signature.params
    args, keywords = n.args, n.keywords
    if len(args) == len(params) and not keywords:
        for a in args:
            if type(a) is ast.Starred:
                return
        return
    message = _misfit(args, keywords, signature)
    if message:
        w.found.append(violations.arguments(w.place(n), message, signature.text()))


def _misfit(args: list[ast.expr], keywords: list[ast.keyword], signature: Signature) -> str:
    params = signature.params
    names = [p.name for p in params]
    variable = any(p.name.startswith("*") for p in params)
    starred = any(type(a) is ast.Starred for a in args)
    doubled = any(k.arg is None for k in keywords)
    if variable:
        return ""
    if len(args) > len(names) and not starred:
        return f"'{signature.name}' takes {_count(len(names))}, {len(args)} given"
    given = set() if starred else set(names[: len(args)])
    for k in keywords:
        if k.arg is None:
            continue
        if k.arg not in names:
            return f"'{signature.name}' has no argument '{k.arg}'"
        if k.arg in given:
            return f"'{signature.name}' gets argument '{k.arg}' twice"
        given.add(k.arg)
    if starred or doubled:
        return ""
    missing = [p.name for p in params if p.required and p.name not in given]
    return f"'{signature.name}' misses argument '{missing[0]}'" if missing else ""


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments" if number else "no arguments"


_TYPE_NAMES = frozenset(name for name, builtin in grammar.BUILTINS.items() if builtin.is_type)


def _builtin_call(w: Walk, n: ast.Call, identifier: str, builtin: grammar.Builtin, d: int) -> bool:
    """Check one builtin call; return whether its arguments were walked here."""
    args, keywords = n.args, n.keywords
    count = len(args)
    if (
        (count < builtin.least or (builtin.most is not None and count > builtin.most))
        and not any(type(a) is ast.Starred for a in args)
        and not (identifier == "sort_by" and count + len(keywords) >= 2 and count <= 3)
    ):
        message = f"'{identifier}' does not take {_count(count)}"
        w.found.append(violations.arguments(w.place(n), message, builtin.text))
    if keywords:
        allowed = builtin.keywords
        for k in keywords:
            if k.arg is not None and allowed is not None and k.arg not in allowed:
                message = f"'{identifier}' has no argument '{k.arg}'"
                w.found.append(violations.arguments(w.place(k), message, builtin.text))
        if identifier in grammar.LAMBDA_HOSTS:
            _keyed_call(w, n, d)
            return True
    if identifier == "isinstance":
        if args:
            walk_expression(w, args[0], d)
        for a in args[1:]:
            _type_argument(w, a, d)
        if keywords:
            _keywords(w, keywords, d)
        return True
    if identifier == "sort_by":
        _keyed_call(w, n, d)
        return True
    if identifier == "print":
        w.prints.append((n.lineno, n.col_offset))
    return False


def _type_argument(w: Walk, n: ast.expr, d: int) -> None:
    if type(n) is ast.Name and n.id in _TYPE_NAMES:
        return
    if type(n) is ast.Tuple and d <= grammar.MAX_DEPTH:
        for e in n.elts:
            _type_argument(w, e, d + 1)
        return
    walk_expression(w, n, d)


def _keyed_call(w: Walk, n: ast.Call, d: int) -> None:
    """Walk a call that may carry a key: `sorted`, `min`, `max`, `sort_by`, `.sort`."""
    before = w.tool_calls
    which = n.func.id if isinstance(n.func, ast.Name) else ".sort"
    args = n.args
    for i, a in enumerate(args):
        if type(a) is ast.GeneratorExp:
            args[i] = lower_expr.list_of(a)
            walk_expression(w, args[i], d)
        elif type(a) is ast.Starred:
            walk_starred(w, a, d)
        elif which == "sort_by" and i == 1:
            before = w.tool_calls
            n.args[1] = _key(w, a, d, allow_text=True)
        else:
            walk_expression(w, a, d)
    others = [k for k in n.keywords if k.arg != "key"]
    keys = [k for k in n.keywords if k.arg == "key"]
    if others:
        _keywords(w, others, d)
    if len(keys) > 1 or (keys and which == "sort_by" and len(args) > 1):
        w.found.append(
            violations.arguments(w.place(keys[-1]), "argument 'key' is given twice", "one key=...")
        )
    if keys:
        before = w.tool_calls
        keys[0].value = _key(w, keys[0].value, d, allow_text=which == "sort_by")
    has_key = bool(keys) or (which == "sort_by" and len(args) > 1)
    calls_tool = has_key and w.tool_calls > before
    if w.strict:
        return
    if which == "sort_by":
        new = lower_expr.sort_by(n, w.names)
        if isinstance(new, ast.Call) and calls_tool:
            new = lower_expr.keyed_first(new, w.names)
        if new is None:
            w.found.append(violations.key_value(w.place(n)))
        else:
            w.replaced[id(n)] = new
    elif calls_tool and which != ".sort":
        new = lower_expr.keyed_first(n, w.names)
        if new is None:
            w.found.append(violations.key_value(w.place(n)))
        else:
            w.replaced[id(n)] = new
    elif calls_tool:
        w.found.append(violations.statement_value(w.place(n), ".sort() with a tool call in its key"))


def _key(w: Walk, n: ast.expr, d: int, *, allow_text: bool) -> ast.expr:
    """Walk the value of a `key=`; return what stands there after lowering."""
    if type(n) is ast.Lambda:
        mark = len(w.mutated)
        walk_lambda_body(w, n, d)
        del w.mutated[mark:]
        return n
    if type(n) is ast.Name:
        if n.id in w.tools:
            w.found.append(violations.tool_as_key(w.place(n), n.id))
            return n
        builtin = grammar.BUILTINS.get(n.id)
        if builtin is not None:
            if not builtin.keyable:
                w.found.append(violations.key_value(w.place(n)))
            return n
    if type(n) is ast.Attribute:
        new = lower_expr.method_key(n, w.names)
        if new is not None:
            return ast.fix_missing_locations(ast.copy_location(new, n))
    if type(n) is ast.Constant and n.value is None:
        return n
    walk_expression(w, n, d)
    if not allow_text:
        w.found.append(violations.key_value(w.place(n)))
    return n


def _method_call(w: Walk, n: ast.Call, f: ast.Attribute, d: int) -> bool:
    """Check one method call; return whether its arguments were walked here."""
    method = f.attr
    receiver = f.value
    if method not in grammar.ALL_METHODS:
        return _other_method(w, n, f, d)
    if type(receiver) is ast.Name and (receiver.id in w.bound or receiver.id in w.local):
        if method in grammar.MUTATORS:
            w.mutated.append(receiver.id)
    elif type(receiver) is not ast.Constant or type(receiver.value) is not str:
        walk_expression(w, receiver, d)
        if method in grammar.MUTATORS:
            w.mutated.append(None)
    if method == "sort" and n.keywords:
        _keyed_call(w, n, d)
        return True
    return False


def _other_method(w: Walk, n: ast.Call, f: ast.Attribute, d: int) -> bool:
    method = f.attr
    if method == "format" and not w.strict:
        new = lower_expr.format_call(n, w.names)
        if isinstance(new, str):
            w.found.append(violations.format_text(w.place(n), new))
            if type(f.value) is not ast.Constant:
                walk_expression(w, f.value, d)
        else:
            w.replaced[id(n)] = new
        return False
    if method == "fromkeys" and type(f.value) is ast.Name and f.value.id == "dict" and not w.strict:
        comprehension = lower_expr.fromkeys(n, w.names)
        if comprehension is not None:
            if type(n.args[0]) is ast.GeneratorExp:
                n.args[0] = lower_expr.list_of(n.args[0])
                comprehension = lower_expr.fromkeys(n, w.names)
            w.replaced[id(n)] = comprehension  # type: ignore[assignment]  # the test above
            return False
    hint = grammar.REFUSED_METHODS.get(method)
    if hint is None:
        close = get_close_matches(method, sorted(grammar.ALL_METHODS), n=1, cutoff=0.75)
        hint = f"did you mean '.{close[0]}()'?" if close else "use a method of str, list, dict, set or tuple"
    w.found.append(violations.unknown_method(w.place(n), method, hint))
    if type(f.value) is not ast.Name or f.value.id in w.bound:
        walk_expression(w, f.value, d)
    return False


EXPRESSIONS[ast.Call] = _call
