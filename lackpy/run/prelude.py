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
