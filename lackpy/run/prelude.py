"""What stands before and around a program in the sandbox: one wrapper a tool, and a size guard at the border.

A value can be small in the sandbox's memory and huge for the host that receives it. So arguments and
output are walked inside the sandbox, under its limits, before they cross; what is over budget never
does. Names here begin with two underscores, which no program may use.
"""

from __future__ import annotations

import ast
import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lackpy.run.record import Limits

HOST = "__lackpy_host_"
"""Prefix of the host functions that the wrappers call."""
OVER = "__lackpy_over_budget"
"""Text of the exception that the guard raises."""

# A text counts one item, and one more for every 32 characters: both budgets in one number. Keys that are
# tuples are walked, as the receiving side hashes them.
_GUARD = """\
def __lackpy_guard(v, len=len, isinstance=isinstance, str=str, dict=dict, tuple=tuple, list=list,
        plain=(list, dict, tuple, set, frozenset),
        views=(type({{}}.keys()), type({{}}.values()), type({{}}.items()), range)):
    todo = [[v]]
    n = 0
    odd = False
    while todo:
        x = todo.pop()
        n += len(x)
        if isinstance(x, dict):
            for y in x:
                if isinstance(y, tuple):
                    todo.append(y)
            x = x.values()
        for y in x:
            if isinstance(y, str):
                n += len(y) // 32
            elif isinstance(y, plain):
                todo.append(y)
            elif isinstance(y, views):
                odd = True
                n += len(y)
                todo.append(list(y) if n <= {nodes} else [])
        if n > {nodes}:
            raise RuntimeError('{over}')
    return __lackpy_listed(v, 0) if odd else v
def __lackpy_listed(v, deep, isinstance=isinstance, dict=dict, tuple=tuple, list=list,
        views=(type({{}}.keys()), type({{}}.values()), type({{}}.items()), range)):
    if deep > {depth}:
        raise RuntimeError('{over}')
    if isinstance(v, dict):
        return {{k: __lackpy_listed(x, deep + 1) for k, x in v.items()}}
    if isinstance(v, tuple):
        return tuple([__lackpy_listed(x, deep + 1) for x in v])
    if isinstance(v, list) or isinstance(v, views):
        return [__lackpy_listed(x, deep + 1) for x in v]
    return v
"""
_ROUND = """\
def round(number, ndigits=None, round=round, isinstance=isinstance, float=float, int=int):
    if isinstance(number, float) and isinstance(ndigits, int) and 0 <= ndigits <= 400:
        return float(f'{number:.{int(ndigits)}f}')
    return round(number, ndigits)
"""
"""The sandbox rounds what is shown, not what is stored: `round(2.675, 2)` is 2.67, as in Python."""
_SET_METHODS = """\
def __lackpy_set_method(x, name, *others, isinstance=isinstance, set=set, list=list, len=len, type=type):
    if name == 'update':
        if len(others) and not isinstance(x, set):
            raise TypeError('update expected at most 1 argument, got ' + str(len(others)))
        for y in others:
            x.update(y)
        return None
    if not isinstance(x, set):
        raise AttributeError("'" + type(x).__name__ + "' object has no attribute '" + name + "'")
    if name == 'symmetric_difference_update':
        if len(others) != 1:
            raise TypeError(name + '() takes exactly one argument (' + str(len(others)) + ' given)')
        other = set(others[0])
        both = [y for y in x if y in other]
        x.update([y for y in other if y not in x])
        for y in both:
            x.discard(y)
        return None
    made = x.copy()
    for other in others:
        if name == 'union':
            made = made.union(other)
        elif name == 'difference' or name == 'difference_update':
            made = made.difference(other)
        else:
            made = made.intersection(other)
    if name in ('union', 'difference', 'intersection'):
        return made
    for y in list(x):
        if y not in made:
            x.discard(y)
    return None
"""
"""Methods of a set that the sandbox lacks, or takes one argument for."""
_ITEMS = """\
def __lackpy_items(x, more, list=list, type=type, isinstance=isinstance,
        kinds=(str, tuple, set, frozenset, dict, range),
        views=(type({}.keys()), type({}.values()), type({}.items()))):
    return list(more) if isinstance(x, list) and (isinstance(more, kinds) or isinstance(more, views)) else more
"""
"""What a list takes in `x += more`: the sandbox takes lists only."""
_MISSING = frozenset({"difference_update", "intersection_update", "symmetric_difference_update"})
_MANY = frozenset({"union", "update", "difference", "intersection"})
_WRAPPER = """\
def {name}(*a, **k):
    a, k = __lackpy_guard((a, k))
    return {host}{name}(*a, **k)
"""


@functools.lru_cache(maxsize=64)
def prelude(tools: tuple[str, ...], nodes: int, depth: int) -> tuple[str, int]:
    """Return the text before a program that may call `tools`, and how many lines it has."""
    text = _GUARD.format(nodes=nodes, depth=depth, over=OVER)
    text += "".join(_WRAPPER.format(name=name, host=HOST) for name in tools)
    return text, text.count("\n")


def guarded(program: str, tree: ast.Module, tools: tuple[str, ...], limits: Limits) -> tuple[str, int]:
    """Return the text to run for a program, and how many lines come before its first."""
    before, lines = prelude(tools, limits.nodes + limits.chars // 32, limits.depth)
    if "round(" in program and "round" not in tools:
        before, lines = before + _ROUND, lines + _ROUND.count("\n")
    rewriter = _Rewriter()
    if any(f".{name}(" in program for name in (*_MISSING, *_MANY)) or "+=" in program:
        rewritten = rewriter.visit(ast.parse(program))
        if rewriter.used:
            tree = ast.fix_missing_locations(rewritten)
            program = ast.unparse(tree)
    for helper in sorted(rewriter.used):
        before, lines = before + helper, lines + helper.count("\n")
    return before + _with_guarded_output(program, tree), lines


def _with_guarded_output(program: str, tree: ast.Module) -> str:
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        return program
    text = ast.unparse(last)
    if program.endswith(text) and not isinstance(last.value, ast.Constant):
        return f"{program[: len(program) - len(text)]}__lackpy_guard({text})"
    wrapped = ast.Expr(ast.Call(ast.Name("__lackpy_guard", ast.Load()), [last.value], []))
    return ast.unparse(ast.Module([*tree.body[:-1], wrapped], []))


class _Rewriter(ast.NodeTransformer):
    """Replaces what the sandbox lacks by calls of helpers, and notes the helpers' texts."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or node.keywords:
            return node
        one = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred)
        if function.attr not in _MISSING and (function.attr not in _MANY or one):
            return node
        self.used.add(_SET_METHODS)
        helper = ast.Name("__lackpy_set_method", ast.Load())
        return ast.Call(helper, [function.value, ast.Constant(function.attr), *node.args], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add) and not isinstance(node.value, _NO_ITEMS) and _is_simple(node.target):
            self.used.add(_ITEMS)
            read = ast.parse(ast.unparse(node.target), mode="eval").body
            node.value = ast.Call(ast.Name("__lackpy_items", ast.Load()), [read, node.value], [])
        return node


_NO_ITEMS = (ast.Constant, ast.List, ast.ListComp, ast.JoinedStr)


def _is_simple(target: ast.expr) -> bool:
    """Tell whether reading `target` once more has no effect: names, and items of names by names and literals."""
    while isinstance(target, ast.Subscript):
        if not isinstance(target.slice, (ast.Name, ast.Constant)):
            return False
        target = target.value
    return isinstance(target, ast.Name)
