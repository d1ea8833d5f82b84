"""Weaves guards into a program's tree for the inline executor. Pure: tree in, tree out, nothing runs.

Every operation that can grow, loop or compare without end becomes a call of a guard. Guards have names that
no program can spell, such as `<add>`: Python's compiler takes any text for a name, its parser does not.
"""

from __future__ import annotations

import ast
from typing import Any

OUT = "<out>"
"""Where the value of the last expression goes."""
FEW = 8
"""A display of no more items than this is not counted by itself."""

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "<add>",
    ast.Sub: "<sub>",
    ast.Mult: "<mul>",
    ast.Div: "<div>",
    ast.FloorDiv: "<floordiv>",
    ast.Mod: "<mod>",
}
_IN_PLACE: dict[type[ast.operator], str] = {
    **_OPERATORS,
    ast.Add: "<iadd>",
    ast.Sub: "<isub>",
    ast.Mult: "<imul>",
}


def weave(tree: ast.Module, builtins: frozenset[str]) -> ast.Module:
    """Return the guarded form of a lowered tree; `tree` itself is changed and must not be used again.

    Args:
        tree: A program of the language; its last expression is the output.
        builtins: Names that are called through a guard of their own, `<call NAME>`.
    """
    body = tree.body
    if body and isinstance(body[-1], ast.Expr):
        last = body[-1]
        body[-1] = ast.copy_location(ast.Assign([ast.Name(OUT, ast.Store())], last.value), last)
    woven: ast.Module = _Weaver(builtins).visit(tree)
    return ast.fix_missing_locations(woven)


def _guard(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


class _Weaver(ast.NodeTransformer):
    def __init__(self, builtins: frozenset[str]) -> None:
        self.builtins = builtins
        self.temporaries = 0

    def visit(self, node: ast.AST) -> Any:
        new = super().visit(node)
        if isinstance(new, ast.expr) and not hasattr(new, "lineno"):
            ast.copy_location(new, node)
        return new

    # -- statements --

    def visit_For(self, node: ast.For) -> ast.AST:
        starred = _has_star(node.target)
        self.generic_visit(node)
        node.iter = _guard("<each starred>" if starred else "<each>", node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        starred = _has_star(node.target)
        self.generic_visit(node)
        node.iter = _guard("<each starred>" if starred else "<each>", node.iter)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        spread = any(_has_star(target) or _has_slice(target) for target in node.targets)
        self.generic_visit(node)
        if spread:
            node.value = _guard("<spread>", node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        operation = _IN_PLACE[type(node.op)]
        value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            name = node.target.id
            return _at(node, ast.Assign([node.target], _guard(operation, ast.Name(name, ast.Load()), value)))
        if not isinstance(node.target, ast.Subscript):
            return node
        container, index, old = self._temporary(), self._temporary(), self._temporary()
        inside = _load(container), _load(index)
        before = [
            ast.Assign([_store(container)], self.visit(node.target.value)),
            ast.Assign([_store(index)], self._index_value(node.target.slice)),
            ast.Assign([_store(old)], ast.Subscript(*inside, ast.Load())),
        ]
        container_again = _guard("<filled>", _load(container))
        target = ast.Subscript(container_again, _load(index), ast.Store())
        last = ast.Assign([target], _guard(operation, _load(old), value))
        return [_at(node, statement) for statement in (*before, last)]

    def _temporary(self) -> str:
        self.temporaries += 1
        return f"<t{self.temporaries}>"

    def _index_value(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Slice):
            parts = (index.lower, index.upper, index.step)
            return _guard("<slice>", *(ast.Constant(None) if p is None else self.visit(p) for p in parts))
        return self._key(self.visit(index))

    # -- operators --

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        left, right = self.visit(node.left), self.visit(node.right)
        return _guard(_OPERATORS[type(node.op)], left, right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            return _guard("<neg>", node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            node.left, *node.comparators = map(_quietly, (node.left, *node.comparators))
        node.left = self._compared(node.left)
        node.comparators = [self._compared(value) for value in node.comparators]
        return node

    def _compared(self, value: ast.expr) -> ast.expr:
        return value if isinstance(value, ast.Constant) else _guard("<compared>", value)

    # -- items --

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        node.value = _quietly(node.value)
        if isinstance(node.slice, ast.Slice):
            if isinstance(node.ctx, ast.Load):
                parts = (node.slice.lower, node.slice.upper, node.slice.step)
                return _guard("<cut>", node.value, *(ast.Constant(None) if p is None else p for p in parts))
            node.value = _guard("<grown>", node.value)
            return node
        node.slice = self._key(node.slice)
        if isinstance(node.ctx, ast.Store):
            node.value = _guard("<filled>", node.value)
        return node

    def _key(self, index: ast.expr) -> ast.expr:
        return index if isinstance(index, ast.Constant) else _guard("<key>", index)

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = _guard("<spread>", node.value)
        return node

    # -- displays --

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return self._made(node, len(node.elts)) if isinstance(node.ctx, ast.Load) else node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        self.generic_visit(node)
        return self._made(node, len(node.elts)) if isinstance(node.ctx, ast.Load) else node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        node.values = [
            _guard("<spread>", value) if key is None else value
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        node.keys = [None if key is None else self._key(key) for key in node.keys]
        return self._made(node, len(node.keys))

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return _guard("<set>", ast.List(node.elts, ast.Load()))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return _guard("<set>", ast.ListComp(node.elt, node.generators))

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        self.generic_visit(node)
        node.key = self._key(node.key)
        return node

    def _made(self, node: ast.expr, items: int) -> ast.expr:
        return node if items <= FEW else _guard("<made>", node, ast.Constant(items))

    # -- text --

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        return _guard("<text>", *node.values)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        spec = ast.Constant("") if node.format_spec is None else node.format_spec
        return _guard("<format>", node.value, ast.Constant(node.conversion), spec)

    # -- calls --

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [self.visit(arg) for arg in node.args]
        node.keywords = [self._keyword(keyword) for keyword in node.keywords]
        function = node.func
        if isinstance(function, ast.Attribute):
            receiver = self.visit(function.value)
            node.args = [receiver, ast.Constant(function.attr), *node.args]
            node.func = ast.Name("<method>", ast.Load())
        elif isinstance(function, ast.Name) and function.id in self.builtins:
            node.func = ast.Name(f"<call {function.id}>", ast.Load())
        else:
            node.func = self.visit(function)
        return node

    def _keyword(self, node: ast.keyword) -> ast.keyword:
        value = node.value
        if node.arg is None:
            node.value = _guard("<spread>", self.visit(value))
        elif isinstance(value, ast.Name) and node.arg == "key" and value.id in self.builtins:
            node.value = ast.Name(f"<call {value.id}>", ast.Load())
        else:
            node.value = self.visit(value)
        return node


def _quietly(value: ast.expr) -> ast.expr:
    """Hide a display from the compiler, which warns of `None["a"]` or `x is 1` on the host's stderr."""
    return value if isinstance(value, (ast.Name, ast.Call, ast.Subscript)) else _guard("<same>", value)


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _store(name: str) -> ast.expr:
    return ast.Name(name, ast.Store())


def _at(place: ast.AST, node: ast.stmt) -> ast.stmt:
    return ast.copy_location(node, place)


def _has_star(target: ast.expr) -> bool:
    return any(isinstance(node, ast.Starred) for node in ast.walk(target))


def _has_slice(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
