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
        rows = self._rows(node)
        if rows is not None:
            return node if rows is node else self.put(rows, node)
        joined = _CONDITIONS.get(type(node.op))
        if joined is not None and _is_condition(node.left) and _is_condition(node.right):
            return self.put(ast.BoolOp(joined(), [node.left, node.right]), node)
        if not (isinstance(node.left, _LISTS) and isinstance(node.right, _LISTS)):
            return node
        head = "a" if is_set(node.left, ()) else "set(a)"
        return self.put(expression(f"{head}.{method}(b)", a=node.left, b=node.right), node)

    def _rows(self, node: ast.BinOp) -> ast.expr | None:
        """Rows are in no set: `|` of two tools' rows is both lists, `&` the names that are in both."""
        left, right = self._keys(node.left), self._keys(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.BitOr):
            return ast.BinOp(node.left, ast.Add(), node.right)
        if isinstance(node.op, ast.BitAnd) and "name" in left & right:
            source = '{row["name"] for row in a}.intersection({row["name"] for row in b})'
            return expression(source, a=node.left, b=node.right)
        return node

    def _keys(self, node: ast.expr) -> frozenset[str] | None:
        """Return the keys of the rows that an expression gives, `None` when it isn't a list of a tool's rows."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self._keys(node.left), self._keys(node.right)
            return None if left is None or right is None else left & right
        signature = (
            self.tools.get(node.func.id)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            else None
        )
        if signature is None:
            return None
        row = next((r for r in signature.rows if signature.returns == f"list[{r.name}]"), None)
        return None if row is None else frozenset(key for key, _ in row.fields)


def _is_condition(node: ast.expr) -> bool:
    return isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )
