"""What the walk does at an expression that is no call."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lackpy.lang import grammar, lower_expr, violations
from lackpy.lang.walk import EXPRESSIONS, walk_expression

if TYPE_CHECKING:
    from lackpy.lang.walk import Walk


def _name(w: Walk, n: ast.Name, _: int) -> None:
    identifier = n.id
    if identifier in w.bound or identifier in w.local:
        w.escaped.add(identifier)
    else:
        w.no_such_name(n)


_PLAIN_CONSTANTS = frozenset({str, int, float, bool, type(None)})


def _constant(w: Walk, n: ast.Constant, _: int) -> None:
    value = n.value
    kind = type(value)
    if kind is str:
        return
    if isinstance(value, int):
        if value.bit_length() > grammar.MAX_INT_BITS:
            w.found.append(violations.number_too_large(w.place(n), grammar.MAX_INT_BITS))
    elif kind not in _PLAIN_CONSTANTS:
        word, hint = {
            bytes: ("bytes", "write text without the b"),
            complex: ("complex number", "use whole or decimal numbers"),
        }.get(kind, ("'...'", "write the value itself"))
        w.found.append(violations.literal(w.place(n), word, hint))


def _items(w: Walk, n: ast.List | ast.Tuple | ast.Set, d: int) -> None:
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    d += 1
    for e in n.elts:
        if type(e) is ast.Starred:
            walk_starred(w, e, d)
        else:
            handler = EXPRESSIONS.get(type(e))
            if handler is None:
                w.refuse(e)
            else:
                handler(w, e, d)


def walk_starred(w: Walk, n: ast.Starred, d: int) -> None:
    """Walk the value of a star."""
    if type(n.value) is ast.GeneratorExp:
        n.value = lower_expr.list_of(n.value)
    walk_expression(w, n.value, d)


def _dict(w: Walk, n: ast.Dict, d: int) -> None:
    for key in n.keys:
        if key is not None:
            walk_expression(w, key, d)
    for value in n.values:
        walk_expression(w, value, d)


def walk_subscript(w: Walk, n: ast.Subscript, d: int) -> None:
    """Walk `x[i]`; a plain name before it gets no other name by this."""
    value = n.value
    if type(value) is ast.Name and (value.id in w.bound or value.id in w.local):
        pass  # the object itself doesn't get another name here
    else:
        walk_expression(w, value, d)
    index = n.slice
    if type(index) is ast.Slice:
        _slice(w, index, d)
    elif type(index) is not ast.Constant:
        walk_expression(w, index, d)
    elif type(index.value) is not str:
        _constant(w, index, d)


def _slice(w: Walk, n: ast.Slice, d: int) -> None:
    if n.lower is not None:
        walk_expression(w, n.lower, d)
    if n.upper is not None:
        walk_expression(w, n.upper, d)
    if n.step is not None:
        walk_expression(w, n.step, d)


def walk_attribute(w: Walk, n: ast.Attribute, d: int) -> None:
    """Refuse an attribute that isn't the target of a call."""
    w.found.append(violations.attribute(w.place(n), n.attr))
    if type(n.value) is not ast.Name:
        walk_expression(w, n.value, d)


OPERATORS = frozenset({ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.FloorDiv})


def _binop(w: Walk, n: ast.BinOp, d: int) -> None:
    op = type(n.op)
    left, right = n.left, n.right
    if op not in OPERATORS:
        _other_operator(w, n)
    elif op is ast.Mult and (type(left) is ast.Constant or type(right) is ast.Constant):
        _static_size(w, n)
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    handler = EXPRESSIONS.get(type(left))
    if handler is None:
        w.refuse(left)
    else:
        handler(w, left, d + 1)
    handler = EXPRESSIONS.get(type(right))
    if handler is None:
        w.refuse(right)
    else:
        handler(w, right, d + 1)


def _other_operator(w: Walk, n: ast.BinOp) -> None:
    new: ast.expr | None = None
    if not w.strict:
        if isinstance(n.op, ast.Pow):
            new = lower_expr.power(n)
        elif isinstance(n.op, (ast.BitOr, ast.BitAnd, ast.BitXor)):
            new = lower_expr.set_operator(n, w.sets - w.not_sets)
    if new is None:
        w.refuse(n.op, at=n)
    else:
        w.replaced[id(n)] = new


def _static_size(w: Walk, n: ast.BinOp) -> None:
    for sequence, times in ((n.left, n.right), (n.right, n.left)):
        if type(times) is not ast.Constant or type(times.value) is not int or times.value <= 0:
            continue
        if type(sequence) is ast.Constant and type(sequence.value) is str:
            size = len(sequence.value) * times.value
        elif type(sequence) in {ast.List, ast.Tuple}:
            size = len(sequence.elts) * times.value  # type: ignore[attr-defined]  # the test above
        else:
            continue
        if size > grammar.MAX_STATIC_SIZE:
            w.found.append(violations.static_size(w.place(n), size, grammar.MAX_STATIC_SIZE))


def _unary(w: Walk, n: ast.UnaryOp, d: int) -> None:
    if type(n.op) is ast.Invert:
        w.refuse(n.op, at=n)
    walk_expression(w, n.operand, d)


def _boolop(w: Walk, n: ast.BoolOp, d: int) -> None:
    for value in n.values:
        walk_expression(w, value, d)


def _compare(w: Walk, n: ast.Compare, d: int) -> None:
    walk_expression(w, n.left, d)
    comparators = n.comparators
    for i, value in enumerate(comparators):
        if type(value) is ast.GeneratorExp:
            comparators[i] = lower_expr.list_of(value)
        walk_expression(w, comparators[i], d)


def _ifexp(w: Walk, n: ast.IfExp, d: int) -> None:
    walk_expression(w, n.test, d)
    walk_expression(w, n.body, d)
    walk_expression(w, n.orelse, d)


def _joined(w: Walk, n: ast.JoinedStr, d: int) -> None:
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    for part in n.values:
        if type(part) is ast.FormattedValue:
            value = part.value
            handler = EXPRESSIONS.get(type(value))
            if handler is None:
                w.refuse(value)
            else:
                handler(w, value, d + 1)
            spec = part.format_spec
            if spec is not None:
                _spec(w, spec, d)
        elif type(part) is not ast.Constant:
            walk_expression(w, part, d)


def _spec(w: Walk, n: ast.expr, d: int) -> None:
    walk_expression(w, n, d)
    for part in n.values if isinstance(n, ast.JoinedStr) else ():
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            size = _width(part.value)
            if size > grammar.MAX_FORMAT_WIDTH:
                w.found.append(violations.static_size(w.place(n), size, grammar.MAX_FORMAT_WIDTH))


def _width(spec: str) -> int:
    """Return the largest whole number in a format specification."""
    if len(spec) < 6:
        return 0
    digits = "".join(c if c.isdecimal() else " " for c in spec).split()
    return max((int(run[:20]) for run in digits), default=0)


def _formatted(w: Walk, n: ast.FormattedValue, d: int) -> None:
    walk_expression(w, n.value, d)
    if n.format_spec is not None:
        _spec(w, n.format_spec, d)


def walk_lambda(w: Walk, n: ast.Lambda, d: int) -> None:
    """Refuse a lambda that is no key, and walk its body."""
    w.found.append(violations.lambda_place(w.place(n)))
    walk_lambda_body(w, n, d)


def walk_lambda_body(w: Walk, n: ast.Lambda, d: int) -> None:
    """Walk a lambda's body with its parameter bound."""
    a = n.args
    names = [p.arg for p in a.args]
    if len(names) != 1 or a.posonlyargs or a.vararg or a.kwonlyargs or a.kwarg or a.defaults:
        w.found.append(violations.lambda_shape(w.place(n)))
        parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(p for p in (a.vararg, a.kwarg) if p)]
        names = [p.arg for p in parameters]
        for default in (*a.defaults, *(v for v in a.kw_defaults if v)):
            walk_expression(w, default, d)
    for identifier in names:
        w.local_name(identifier, n)
    before = w.local
    w.local = before.union(names)
    w.shared.update(names)
    w.scopes += 1
    if w.scopes + w.loop > grammar.MAX_LOOP_DEPTH:
        raise RecursionError
    walk_expression(w, n.body, d)
    w.scopes -= 1
    w.local = before


def walk_comprehension(w: Walk, n: ast.ListComp | ast.SetComp, d: int) -> None:
    """Walk a list or set comprehension in a scope of its own."""
    before = _generators(w, n.generators, d)
    mark = len(w.mutated)
    walk_expression(w, n.elt, d)
    w.local = before
    w.scopes -= len(n.generators)
    if len(w.mutated) > mark:
        _note_comprehension(w, n.generators, mark)


def _dict_comprehension(w: Walk, n: ast.DictComp, d: int) -> None:
    before = _generators(w, n.generators, d)
    mark = len(w.mutated)
    walk_expression(w, n.key, d)
    walk_expression(w, n.value, d)
    w.local = before
    w.scopes -= len(n.generators)
    if len(w.mutated) > mark:
        _note_comprehension(w, n.generators, mark)


def _generators(w: Walk, generators: list[ast.comprehension], d: int) -> frozenset[str]:
    """Walk the loops of a comprehension; return the names that were local outside it."""
    before = w.local
    w.scopes += len(generators)
    if w.scopes + w.loop > grammar.MAX_LOOP_DEPTH:
        raise RecursionError
    for g in generators:
        if g.is_async:
            w.refuse(g, "AsyncFor", at=g.iter)
        if type(g.iter) is ast.GeneratorExp:
            g.iter = lower_expr.list_of(g.iter)
        walk_expression(w, g.iter, d)
        target = g.target
        if type(target) is ast.Name:
            identifier = target.id
            w.local_name(identifier, target)
            w.local |= {identifier}
            w.shared.add(identifier)
        else:
            _local_target(w, target)
        if g.ifs:
            mark = len(w.mutated)
            for test in g.ifs:
                walk_expression(w, test, d)
            if len(w.mutated) > mark:
                _note_comprehension(w, generators, mark)
    return before


def _local_target(w: Walk, target: ast.expr) -> None:
    if isinstance(target, ast.Name):
        w.local_name(target.id, target)
        w.local |= {target.id}
        w.shared.add(target.id)
    elif isinstance(target, (ast.Tuple, ast.List)):
        if sum(isinstance(e, ast.Starred) for e in target.elts) > 1:
            w.found.append(violations.two_stars(w.place(target)))
        for e in target.elts:
            _local_target(w, e.value if isinstance(e, ast.Starred) else e)
    else:
        w.found.append(violations.target(w.place(target)))


def _note_comprehension(w: Walk, generators: list[ast.comprehension], mark: int) -> None:
    for g in generators:
        if not is_fresh(w, g.iter):
            w.snapshots.append((g, w.mutated[mark:]))


_NEW_LISTS = frozenset({"sorted", "list", "set", "tuple", "dict", "range", "str", "sort_by"})
_LAZY = frozenset({"enumerate", "zip", "reversed"})
_FRESH_KINDS = frozenset(
    {
        ast.List,
        ast.Tuple,
        ast.Set,
        ast.Dict,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.Constant,
        ast.JoinedStr,
        ast.BinOp,
    }
)


def is_fresh(w: Walk, n: ast.expr) -> bool:
    """Tell whether nothing but the loop can reach the iterable; note the receiver of a live view."""
    kind = type(n)
    if kind in _FRESH_KINDS:
        return True
    if kind is not ast.Call:
        return False
    f = n.func  # type: ignore[attr-defined]  # the test above
    if type(f) is ast.Name:
        if f.id in _LAZY:
            return all(is_fresh(w, a) for a in n.args)  # type: ignore[attr-defined]  # the test above
        return f.id in w.tools or f.id in _NEW_LISTS
    if type(f) is ast.Attribute and f.attr in grammar.LIVE_VIEWS and type(f.value) is ast.Name:
        w.escaped.add(f.value.id)
    return type(f) is ast.Attribute and f.attr not in grammar.ALIASING_METHODS


EXPRESSIONS.update(
    {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.Attribute: walk_attribute,
        ast.Subscript: walk_subscript,
        ast.List: _items,
        ast.Tuple: _items,
        ast.Set: _items,
        ast.Dict: _dict,
        ast.ListComp: walk_comprehension,
        ast.SetComp: walk_comprehension,
        ast.DictComp: _dict_comprehension,
        ast.Compare: _compare,
        ast.BoolOp: _boolop,
        ast.UnaryOp: _unary,
        ast.BinOp: _binop,
        ast.JoinedStr: _joined,
        ast.FormattedValue: _formatted,
        ast.Lambda: walk_lambda,
        ast.IfExp: _ifexp,
    }
)
