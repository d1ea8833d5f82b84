"""Operators a small model carries over from sets and data frames: `&`, `|` and `^` where the language has methods.

Same contract as `repair_tree`: takes a tree and signatures, changes the tree in place, tells whether it did.
"""

from __future__ import annotations

import ast

from lackpy.lang.lower_expr import is_set
from lackpy.lang.repair_tree import Rewriter, Tools, bound_names, expression

_METHODS = {ast.BitAnd: "intersection", ast.BitOr: "union", ast.BitXor: "symmetric_difference"}
_CONDITIONS: dict[type[ast.operator], type[ast.boolop]] = {ast.BitAnd: ast.And, ast.BitOr: ast.Or}
_LISTS = (ast.List, ast.ListComp, ast.Call, ast.Name, ast.Subscript, ast.BinOp, ast.Set, ast.SetComp)


def set_operators(tree: ast.Module, tools: Tools) -> bool:
    """Rewrite `a & b`: between comparisons as `a and b`, between collections as `set(a).intersection(b)`."""
    fix = _Operators(tools, bound_names(tree))
    fix.visit(tree)
    return fix.changed


class _Operators(Rewriter):
    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        method = _METHODS.get(type(node.op))
        if method is None or (is_set(node.left, ()) and is_set(node.right, ())):
            return node
        joined = _CONDITIONS.get(type(node.op))
        if joined is not None and _is_condition(node.left) and _is_condition(node.right):
            return self.put(ast.BoolOp(joined(), [node.left, node.right]), node)
        if not (isinstance(node.left, _LISTS) and isinstance(node.right, _LISTS)):
            return node
        head = "a" if is_set(node.left, ()) else "set(a)"
        return self.put(expression(f"{head}.{method}(b)", a=node.left, b=node.right), node)


def _is_condition(node: ast.expr) -> bool:
    return isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
