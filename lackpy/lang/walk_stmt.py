"""What the walk does at a statement, and at what it binds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lackpy.lang import grammar, lower, lower_expr, violations
from lackpy.lang.walk import EXPRESSIONS, STATEMENTS, walk_block, walk_expression
from lackpy.lang.walk_expr import OPERATORS, is_fresh, walk_attribute, walk_subscript

if TYPE_CHECKING:
    from lackpy.lang.walk import Walk


def _expression(w: Walk, n: ast.Expr, d: int) -> None:
    value = n.value
    kind = type(value)
    if kind is ast.Name and (value.id in w.bound or value.id in w.local):  # type: ignore[attr-defined]  # as tested
        return
    if kind is ast.Call and not w.strict and _is_keyed_sort(value):  # type: ignore[arg-type]  # as tested
        _sort_statement(w, n, value, d)  # type: ignore[arg-type]  # as tested
        return
    walk_expression(w, value, d)


def _is_keyed_sort(n: ast.Call) -> bool:
    return bool(n.keywords) and type(n.func) is ast.Attribute and n.func.attr == "sort"


def _sort_statement(w: Walk, n: ast.Expr, value: ast.Call, d: int) -> None:
    mark, before = len(w.found), w.tool_calls
    walk_expression(w, value, d)
    if w.tool_calls == before:
        return
    refusals = [v for v in w.found[mark:] if v.rule == "statement"]
    if not refusals:
        return
    new = lower.in_place_sort(value, w.names)
    if new is not None:
        w.found[mark:] = [v for v in w.found[mark:] if v.rule != "statement"]
        w.replaced[id(n)] = new


def _assign(w: Walk, n: ast.Assign, d: int) -> None:
    value = n.value
    handler = EXPRESSIONS.get(type(value))
    if handler is None:
        w.refuse(value)
    else:
        handler(w, value, d)
    for target in n.targets:
        if type(target) is ast.Name:
            w.bind(target)
            identifier = target.id
            if type(value) not in _NEW_OBJECTS:
                w.shared.add(identifier)
                w.not_sets.add(identifier)
            elif type(value) is ast.Call:
                if not _makes_new(w, value):
                    w.shared.add(identifier)
                (w.sets if lower_expr.is_set(value, ()) else w.not_sets).add(identifier)
            elif type(value) is ast.Set or type(value) is ast.SetComp:
                w.sets.add(identifier)
            else:
                w.not_sets.add(identifier)
        else:
            _target(w, target, d)
    if len(n.targets) > 1:
        w.shared.update(t.id for t in n.targets if type(t) is ast.Name)


_NEW_OBJECTS = frozenset(
    {
        ast.List,
        ast.Dict,
        ast.Set,
        ast.Tuple,
        ast.ListComp,
        ast.DictComp,
        ast.SetComp,
        ast.Constant,
        ast.JoinedStr,
        ast.BinOp,
        ast.UnaryOp,
        ast.Compare,
        ast.Call,
    }
)


def _makes_new(w: Walk, n: ast.Call) -> bool:
    """Tell whether a call's result is an object no other name can reach."""
    f = n.func
    if type(f) is ast.Name:
        return f.id in w.tools or f.id not in {"min", "max", "sum", "enumerate", "zip", "reversed"}
    return type(f) is ast.Attribute and f.attr not in grammar.ALIASING_METHODS


def _target(w: Walk, n: ast.expr, d: int) -> None:
    """Walk a target that is no plain name of a plain assignment."""
    kind = type(n)
    if kind is ast.Name:
        w.bind(n)  # type: ignore[arg-type]  # the test above
        w.shared.add(n.id)  # type: ignore[attr-defined]  # the test above
        w.not_sets.add(n.id)  # type: ignore[attr-defined]  # the test above
    elif kind is ast.Subscript:
        base = n.value  # type: ignore[attr-defined]  # the test above
        w.mutated.append(base.id if type(base) is ast.Name else None)
        walk_subscript(w, n, d)  # type: ignore[arg-type]  # the test above
    elif kind is ast.Tuple or kind is ast.List:
        stars = 0
        for e in n.elts:  # type: ignore[attr-defined]  # the test above
            if type(e) is ast.Starred:
                stars += 1
                _target(w, e.value, d)
            else:
                _target(w, e, d)
        if stars > 1:
            w.found.append(violations.two_stars(w.place(n)))
    elif kind is ast.Attribute:
        walk_attribute(w, n, d)  # type: ignore[arg-type]  # the test above
    elif kind is ast.Starred:
        w.found.append(violations.star(w.place(n)))
        _target(w, n.value, d)  # type: ignore[attr-defined]  # the test above
    else:
        w.found.append(violations.target(w.place(n)))


def _aug_assign(w: Walk, n: ast.AugAssign, d: int) -> None:
    op = type(n.op)
    value, target = n.value, n.target
    if op not in OPERATORS:
        _other_aug(w, n)
    handler = EXPRESSIONS.get(type(value))
    if handler is None:
        w.refuse(value)
    else:
        handler(w, value, d)
    if type(target) is ast.Name:
        if target.id not in w.bound:
            if target.id in w.tools or target.id in grammar.BUILTINS:
                w.bind(target)
            else:
                w.no_such_name(target)
            return
        if type(value) is not ast.Constant and type(value) is not ast.JoinedStr:
            w.mutated.append(target.id)
    elif type(target) is ast.Subscript:
        _target(w, target, d)
    else:
        _target(w, target, d)


def _other_aug(w: Walk, n: ast.AugAssign) -> None:
    if not w.strict and type(n.target) is ast.Name:
        read = ast.copy_location(ast.Name(n.target.id, ast.Load()), n.target)
        operation = ast.copy_location(ast.BinOp(read, n.op, n.value), n)
        new = (
            lower_expr.power(operation)
            if isinstance(n.op, ast.Pow)
            else lower_expr.set_operator(operation, w.sets - w.not_sets)
            if isinstance(n.op, (ast.BitOr, ast.BitAnd, ast.BitXor))
            else None
        )
        if new is not None:
            w.replaced[id(n)] = ast.Assign([n.target], new)
            return
    w.refuse(n.op, at=n)


def _if(w: Walk, n: ast.If, d: int) -> None:
    walk_expression(w, n.test, d)
    walk_block(w, n.body, d)
    if n.orelse:
        walk_block(w, n.orelse, d)


def _for(w: Walk, n: ast.For, d: int) -> None:
    if type(n.iter) is ast.GeneratorExp:
        n.iter = lower_expr.list_of(n.iter)
    walk_expression(w, n.iter, d)
    _target(w, n.target, d)
    w.loops.append((n.lineno, n.col_offset))
    w.loop += 1
    if w.loop + w.scopes > grammar.MAX_LOOP_DEPTH:
        raise RecursionError
    mark = len(w.mutated)
    walk_block(w, n.body, d)
    w.loop -= 1
    if len(w.mutated) > mark and not is_fresh(w, n.iter):
        w.snapshots.append((n, w.mutated[mark:]))
    if w.pending and not w.loop:
        # What is bound further down in the loop an earlier round may have bound.
        w.missing += [node for node in w.pending if node.id not in w.bound]
        w.pending = []
    if n.orelse:
        if w.strict:
            w.refuse(n)
        w.structural = True
        walk_block(w, n.orelse, d)


def _jump(w: Walk, n: ast.stmt, _: int) -> None:
    if w.loop == 0 or w.strict:
        w.refuse(n)
    w.structural = True


def _pass(w: Walk, n: ast.Pass, _: int) -> None:
    if w.strict:
        w.refuse(n)
    w.structural = True


_ANNOTATIONS = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.BitOr,
)


def _ann_assign(w: Walk, n: ast.AnnAssign, d: int) -> None:
    if n.value is None or w.strict:
        w.refuse(n)
        return
    for part in ast.walk(n.annotation):
        if not isinstance(part, (*_ANNOTATIONS, ast.expr_context)):
            w.refuse(n)
            return
    w.structural = True
    _assign(w, ast.copy_location(ast.Assign([n.target], n.value), n), d)


def _with(w: Walk, n: ast.With, d: int) -> None:
    if w.strict:
        w.refuse(n)
    w.structural = True
    for entry in n.items:
        walk_expression(w, entry.context_expr, d)
        if entry.optional_vars is not None:
            _target(w, entry.optional_vars, d)
    walk_block(w, n.body, d)


STATEMENTS.update(
    {
        ast.Expr: _expression,
        ast.Assign: _assign,
        ast.AugAssign: _aug_assign,
        ast.For: _for,
        ast.If: _if,
        ast.With: _with,
        ast.Pass: _pass,
        ast.Break: _jump,
        ast.Continue: _jump,
        ast.AnnAssign: _ann_assign,
    }
)
