"""Put temporaries that are used once where they are used, as far as the order of effects allows.

Works on a lowered module in place. An assignment moves forward over statements and into the place
that reads it only where nothing evaluated in between could tell: a value that calls a tool crosses
no other call of a tool and no print; a value that only computes crosses nothing that changes data.
Text and numbers given a name once are put wherever the name stands.
"""

from __future__ import annotations

import ast
from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING

from lackpy.lang import grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    for part in ast.walk(node):
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
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


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
        reads = [p for p in ast.walk(node) if isinstance(p, ast.Name) and p.id == name]
        outside = (
            [p for p in ast.walk(but) if isinstance(p, ast.Name) and p.id == name] if but is not None else []
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


def inline_temporaries(tree: ast.Module) -> None:
    """Inline in place until nothing moves."""
    _drop_idle(tree)
    while _one_round(tree):
        pass


def _drop_idle(tree: ast.Module) -> None:
    """Drop constants that stand as statements, except the program's output."""
    tree.body = [
        s for s in tree.body[:-1] if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ] + tree.body[-1:]


def _one_round(tree: ast.Module) -> bool:
    stored: Counter[str] = Counter()
    loaded: Counter[str] = Counter()
    local: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (loaded if isinstance(node.ctx, ast.Load) else stored)[node.id] += 1
        elif isinstance(node, ast.arg):
            local.add(node.arg)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            stored[node.target.id] += 1
    once = {name for name, count in stored.items() if count == 1 and name not in local and loaded[name]}
    return bool(once) and _in_block(tree, tree.body, once, loaded)


def _in_block(tree: ast.Module, block: list[ast.stmt], once: set[str], loaded: Counter[str]) -> bool:
    for i in range(len(block) - 1, -1, -1):
        node = block[i]
        for inner in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(inner, list) and inner and _in_block(tree, inner, once, loaded):
                return True
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
            continue
        target = node.targets[0]
        if not (isinstance(target, ast.Name) and target.id in once):
            continue
        if block is tree.body and _is_plain(node.value):
            del block[i]
            _substitute(tree, target.id, node.value)
            return True
        if loaded[target.id] == 1 and _reaches(block, i, target.id, node.value):
            del block[i]
            for later in block[i:]:
                _substitute(later, target.id, node.value)
            return True
    return False


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
    return {
        part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


class _Substitute(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name = name
        self.value = value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.value if node.id == self.name and isinstance(node.ctx, ast.Load) else node


def _substitute(tree: ast.AST, name: str, value: ast.expr) -> None:
    _Substitute(name, value).visit(tree)
