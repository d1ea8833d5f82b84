"""Calls that can only fail as a small model wrote them: several patterns for one, a condition for a list.

Same contract as `repair_tree`: takes a tree and signatures, changes the tree in place, tells whether it did.
"""

from __future__ import annotations

import ast
import re

from lackpy.lang.repair_tree import Rewriter, Tools, bound_names, expression

_PATTERN = re.compile(r"[^\s]*[/*.][^\s]*")
_PATTERN_PARAMS = ("pattern", "path", "glob")


def pattern_lists(tree: ast.Module, tools: Tools) -> bool:
    """Rewrite `glob("a/*.py", "b/*.py")` to a sum of calls where the tool takes one pattern."""
    fix = _Patterns(tools, bound_names(tree))
    fix.visit(tree)
    return fix.changed


def call_forms(tree: ast.Module, tools: Tools) -> bool:
    """Rewrite `x.count()` to `len(x)`, `any(a in b)` to `a in b` and a new list's `.sort()` to `sorted`."""
    fix = _Forms(tools, bound_names(tree))
    fix.visit(tree)
    return fix.changed


class _Patterns(Rewriter):
    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        signature = self.tools.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if signature is None or len(signature.params) != 1 or node.keywords or len(node.args) < 2:
            return node
        if signature.params[0].name not in _PATTERN_PARAMS or not signature.returns.startswith("list["):
            return node
        if not all(_is_pattern(a) for a in node.args):
            return node
        whole = expression("f(a)", f=node.func, a=node.args[0])
        for argument in node.args[1:]:
            whole = expression("whole + f(a)", whole=whole, f=node.func, a=argument)
        return self.put(whole, node)


def _is_pattern(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _PATTERN.fullmatch(node.value) is not None
    )


class _Forms(Rewriter):
    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        called = node.func
        if isinstance(called, ast.Name) and called.id in ("any", "all") and called.id not in self.bound:
            one = len(node.args) == 1 and not node.keywords
            return self.put(node.args[0], node) if one and _is_truth(node.args[0]) else node
        if not isinstance(called, ast.Attribute) or node.args:
            return node
        if called.attr == "count" and not node.keywords:
            return self.put(expression("len(a)", a=called.value), node)
        if called.attr == "sort" and _is_new(called.value):
            new = ast.Call(ast.Name("sorted", ast.Load()), [called.value], node.keywords)
            return self.put(new, node)
        return node


def _is_new(node: ast.expr) -> bool:
    """Tell whether nothing else holds a list, so that sorting it in place is lost; `d.get(k)` gives a held one."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Name) or isinstance(node, (ast.List, ast.ListComp, ast.BinOp))


def _is_truth(node: ast.expr) -> bool:
    """Tell whether a value can only be true or false, so that no list is in it."""
    if isinstance(node, ast.BoolOp):
        return all(_is_truth(v) for v in node.values)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
