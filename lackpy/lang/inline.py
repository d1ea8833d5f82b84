"""Put temporaries that are used once where they are used, as far as the order of effects allows.

Works on a lowered module in place. An assignment moves forward over statements and into the place
that reads it only where nothing evaluated in between could tell: a value that calls a tool crosses
no other call of a tool and no print; a value that only computes crosses nothing that changes data.
Text and numbers given a name once are put wherever the name stands.
"""

from __future__ import annotations

import ast
from enum import IntEnum
from typing import TYPE_CHECKING

from lackpy.lang import grammar
from lackpy.lang.nodes import children, flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lackpy.lang.rename import Uses

_PURE_METHODS = grammar.ALL_METHODS - grammar.MUTATORS
_PURE_BUILTINS = frozenset(grammar.BUILTINS) - {"print"}


class Effect(IntEnum):
    """What evaluating something may do, by what it must not be swapped with."""

    NONE = 0
    OUTSIDE = 1
    CHANGE = 2


class _FoundError(Exception):  # control flow of one search, not an error
    """The name was reached; everything evaluated before it is in `before`."""

    def __init__(self, before: Effect) -> None:
        self.before = before


class _BlockedError(Exception):  # control flow of one search, not an error
    """The name stands where it may be evaluated never, later or many times."""


def effect(node: ast.AST) -> Effect:
    """Return the strongest effect of evaluating `node`."""
    strongest = Effect.NONE
    for part in flat(node):
        if isinstance(part, ast.Call):
            strongest = max(strongest, _call_effect(part))
        elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            strongest = Effect.CHANGE
    return strongest


def _call_effect(node: ast.Call) -> Effect:
    function = node.func
    if isinstance(function, ast.Name):
        return Effect.NONE if function.id in _PURE_BUILTINS else Effect.OUTSIDE
    if isinstance(function, ast.Attribute):
        return Effect.NONE if function.attr in _PURE_METHODS else Effect.CHANGE
    return Effect.OUTSIDE


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in flat(node) if isinstance(part, ast.Name)}


def _seek(node: ast.AST | None, name: str, before: Effect) -> Effect:
    """Walk `node` in evaluation order; return what was evaluated, or raise where the name is met."""
    if node is None or isinstance(node, ast.Constant):
        return before
    if isinstance(node, ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Load):
            raise _FoundError(before)
        return before
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp)):
        before = _seek(node.generators[0].iter, name, before)
        return _closed([node], name, before, but=node.generators[0].iter)
    if isinstance(node, ast.IfExp):
        before = _seek(node.test, name, before)
        return _closed([node.body, node.orelse], name, before)
    if isinstance(node, ast.BoolOp):
        before = _seek(node.values[0], name, before)
        return _closed(node.values[1:], name, before)
    if isinstance(node, ast.Compare):
        before = _seek(node.comparators[0], name, _seek(node.left, name, before))
        return _closed(node.comparators[1:], name, before)
    if isinstance(node, ast.Lambda):
        return _closed([node.body], name, before)
    if isinstance(node, ast.Call):
        for argument in (node.func, *node.args, *(k.value for k in node.keywords)):
            before = _seek(argument, name, before)
        return max(before, _call_effect(node))
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            before = _seek(value, name, _seek(key, name, before))
        return before
    for part in ast.iter_child_nodes(node):
        before = _seek(part, name, before)
    return before


def _closed(nodes: Sequence[ast.expr], name: str, before: Effect, but: ast.expr | None = None) -> Effect:
    for node in nodes:  # `but` is the part that was walked already
        reads = [p for p in flat(node) if isinstance(p, ast.Name) and p.id == name]
        outside = (
            [p for p in flat(but) if isinstance(p, ast.Name) and p.id == name] if but is not None else []
        )
        if len(reads) > len(outside):
            raise _BlockedError
        before = max(before, effect(node))
    return before


def _seek_statement(node: ast.stmt, name: str) -> Effect:
    """Walk what a statement evaluates first and exactly once; refuse a use further inside."""
    before = Effect.NONE
    if isinstance(node, ast.Expr):
        return _seek(node.value, name, before)
    if isinstance(node, ast.Assign):
        before = _seek(node.value, name, before)
        for target in node.targets:
            before = _seek(target, name, before)
        return max(before, effect(node))
    if isinstance(node, ast.AugAssign):
        if name in _names(node.target):
            raise _BlockedError
        before = max(before, effect(node.target)) if isinstance(node.target, ast.Subscript) else before
        return max(_seek(node.value, name, before), Effect.CHANGE)
    if isinstance(node, ast.If):
        before = _seek(node.test, name, before)
    elif isinstance(node, ast.For):
        before = _seek(node.iter, name, before)
    if name in _names(node):
        raise _BlockedError
    return max(before, effect(node))


def inline_temporaries(tree: ast.Module, uses: Uses) -> bool:
    """Inline in place until nothing moves; tell whether anything did.

    Args:
        tree: A lowered module in which every binding has a name of its own.
        uses: How often its names are read and bound.
    """
    body = tree.body
    if len(body) < 2:
        return False
    body[:-1] = [s for s in body[:-1] if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    once = {name for name, count in uses.bound.items() if count == 1 and uses.read[name]}
    moved = False
    while once and _in_block(tree, body, once, uses):
        moved = True
    return moved


def _in_block(tree: ast.Module, block: list[ast.stmt], once: set[str], uses: Uses) -> bool:
    moved = False
    for i in range(len(block) - 1, -1, -1):
        node = block[i]
        if isinstance(node, (ast.For, ast.If)):
            moved |= _in_block(tree, node.body, once, uses)
            moved |= _in_block(tree, node.orelse, once, uses)
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
            continue
        target = node.targets[0]
        if not (isinstance(target, ast.Name) and target.id in once):
            continue
        anywhere = block is tree.body and _is_plain(node.value)
        if not anywhere and not (uses.read[target.id] == 1 and _reaches(block, i, target.id, node.value)):
            continue
        if len(block) == 1:
            continue
        del block[i]
        _substitute(block[i:], target.id, node.value)
        once.discard(target.id)
        moved = True
    return moved


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and len(str(node.value)) <= 200


def _reaches(block: list[ast.stmt], index: int, name: str, value: ast.expr) -> bool:
    """Tell whether the value at `index` may be evaluated where its one use stands."""
    own = effect(value)
    reads = _names(value)
    crossed = Effect.NONE
    for node in block[index + 1 :]:
        try:
            before = _seek_statement(node, name)
        except _FoundError as found:
            return _may_swap(own, max(crossed, found.before))
        except _BlockedError:
            return False
        if _stored(node) & reads:
            return False
        crossed = max(crossed, before)
    return False


def _may_swap(own: Effect, crossed: Effect) -> bool:
    """Tell whether two evaluations may change places: no change of data, and at most one reaches outside."""
    return max(own, crossed) < Effect.CHANGE and min(own, crossed) == Effect.NONE


def _stored(node: ast.stmt) -> set[str]:
    return {part.id for part in flat(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _substitute(statements: list[ast.stmt], name: str, value: ast.expr) -> None:
    """Put `value` wherever `name` is read."""
    todo: list[ast.AST] = list(statements)
    while todo:
        node = todo.pop()
        for field in children(type(node)):
            old = getattr(node, field, None)
            if isinstance(old, list):
                for i, item in enumerate(old):
                    if isinstance(item, ast.Name) and item.id == name:
                        old[i] = value
                    elif isinstance(item, ast.AST):
                        todo.append(item)
            elif isinstance(old, ast.Name):
                if old.id == name:
                    setattr(node, field, value)
            elif isinstance(old, ast.AST):
                todo.append(old)
