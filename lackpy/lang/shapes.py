"""What shape does an expression have? A small inference over one program: rows, lists of rows, text, numbers.

Consumes a tree and the kit's signatures, produces a shape per expression; unknown is `None`. It answers only where the
signatures decide, so that a coercion never acts on a guess about a value.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lackpy.lang.signature import RowType, Signature


@dataclass(frozen=True, slots=True)
class Shape:
    """`kind`: `str`, `int`, `bool`, `row`, `list`, `set`, `dict` or `pair`; `of`: an element's shape; `row`: keys."""

    kind: str
    of: Shape | None = None
    row: RowType | None = None


STR, INT, BOOL = Shape("str"), Shape("int"), Shape("bool")
_STR_METHODS = {
    "strip": STR, "lstrip": STR, "rstrip": STR, "lower": STR, "upper": STR, "replace": STR, "join": STR, "title": STR,
    "removeprefix": STR, "removesuffix": STR, "split": Shape("list", STR), "rsplit": Shape("list", STR),
    "splitlines": Shape("list", STR), "count": INT, "find": INT, "index": INT, "startswith": BOOL, "endswith": BOOL,
}  # fmt: skip


def from_type(source: str, rows: tuple[RowType, ...]) -> Shape | None:
    """Read a type's source, e.g. `list[CallerRow]`."""
    source = source.strip()
    if source.startswith("list[") and source.endswith("]"):
        return Shape("list", from_type(source[5:-1], rows))
    for row in rows:
        if source == row.name:
            return Shape("row", row=row)
    return Shape(source) if source in ("str", "int", "bool") else None


class Shapes:
    """Shapes of one program's expressions; statements are walked in order, a name that changes shape is unknown."""

    def __init__(
        self, tree: ast.Module, signatures: Mapping[str, Signature], params: Mapping[str, str]
    ) -> None:
        """Walk the program once."""
        self._signatures = signatures
        self._names: dict[str, Shape | None] = {n: from_type(t, ()) for n, t in params.items()}
        self._scopes: list[dict[str, Shape | None]] = []
        self._found: dict[int, Shape | None] = {}
        for statement in tree.body:
            self._statement(statement)

    def of(self, node: ast.AST) -> Shape | None:
        """Return what is known of an expression."""
        return self._found.get(id(node))

    # -- statements --

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            shape = self._expr(node.value)
            for target in node.targets:
                self._bind(target, shape)
        elif isinstance(node, ast.For):
            self._bind(node.target, _element(self._expr(node.iter)))
            self._body(node.body)
            self._body(node.orelse)
        elif isinstance(node, ast.If):
            self._expr(node.test)
            self._body(node.body)
            self._body(node.orelse)
        elif isinstance(node, ast.With):
            for item in node.items:
                shape = self._expr(item.context_expr)
                if item.optional_vars is not None:
                    self._bind(item.optional_vars, shape)
            self._body(node.body)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expr(child)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._names.setdefault(node.target.id, None)

    def _body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _bind(self, target: ast.expr, shape: Shape | None) -> None:
        if isinstance(target, ast.Name):
            scope = self._scopes[-1] if self._scopes else self._names
            if not self._scopes and target.id in scope and scope[target.id] != shape:
                shape = None
            scope[target.id] = shape
            self._found[id(target)] = shape
        elif isinstance(target, (ast.Tuple, ast.List)):
            for child in target.elts:
                self._bind(child, shape.of if shape is not None and shape.kind == "pair" else None)
        else:
            self._expr(target)

    # -- expressions --

    def _expr(self, node: ast.expr) -> Shape | None:
        shape = self._shape(node)
        self._found[id(node)] = shape
        return shape

    def _shape(self, node: ast.expr) -> Shape | None:
        if isinstance(node, ast.Constant):
            return {str: STR, int: INT, bool: BOOL}.get(type(node.value))
        if isinstance(node, ast.JoinedStr):
            self._children(node)
            return STR
        if isinstance(node, ast.Name):
            return self._lookup(node.id)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return self._comprehension(node)
        if isinstance(node, ast.List):
            kinds = [self._expr(e) for e in node.elts]
            return Shape("list", kinds[0] if kinds and all(k == kinds[0] for k in kinds) else None)
        if isinstance(node, ast.BinOp):
            left, right = self._expr(node.left), self._expr(node.right)
            return left if left == right and isinstance(node.op, ast.Add) else None
        if isinstance(node, ast.Lambda):
            self._scopes.append({a.arg: None for a in node.args.args})
            self._expr(node.body)
            self._scopes.pop()
            return None
        self._children(node)
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return BOOL if isinstance(node, ast.Compare) else None
        return Shape("dict") if isinstance(node, ast.Dict) else None

    def _children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._expr(child)
            elif isinstance(child, ast.keyword):
                self._expr(child.value)

    def _lookup(self, name: str) -> Shape | None:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return self._names.get(name)

    def _call(self, node: ast.Call) -> Shape | None:
        function = node.func
        receiver = self._expr(function.value) if isinstance(function, ast.Attribute) else None
        first = self._expr(node.args[0]) if node.args else None
        for argument in node.args[1:]:
            self._expr(argument)
        for keyword in node.keywords:
            self._keyed(keyword, first)
        if isinstance(function, ast.Attribute):
            if receiver is not None and receiver.kind == "str":
                return _STR_METHODS.get(function.attr)
            return None
        if not isinstance(function, ast.Name):
            return None
        signature = self._signatures.get(function.id)
        if signature is not None:
            return from_type(signature.returns, signature.rows)
        return _builtin(function.id, first, len(node.args))

    def _keyed(self, keyword: ast.keyword, first: Shape | None) -> None:
        value = keyword.value
        if keyword.arg == "key" and isinstance(value, ast.Lambda) and len(value.args.args) == 1:
            self._scopes.append({value.args.args[0].arg: _element(first)})
            self._expr(value.body)
            self._scopes.pop()
        else:
            self._expr(value)

    def _subscript(self, node: ast.Subscript) -> Shape | None:
        value = self._expr(node.value)
        self._expr(node.slice)
        if value is None:
            return None
        if value.kind == "row" and value.row is not None:
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return next((from_type(t, ()) for k, t in value.row.fields if k == key), None)
        if value.kind == "str":
            return STR
        if value.kind == "list":
            if isinstance(node.slice, ast.Slice):
                return value
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                return None
            return value.of
        return None

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> Shape | None:
        depth = len(self._scopes)
        for generator in node.generators:
            element = _element(self._expr(generator.iter))
            self._scopes.append({})
            self._bind(generator.target, element)
            for test in generator.ifs:
                self._expr(test)
        if isinstance(node, ast.DictComp):
            self._expr(node.key)
            self._expr(node.value)
            shape = Shape("dict")
        else:
            kind = "set" if isinstance(node, ast.SetComp) else "list"
            shape = Shape(kind, self._expr(node.elt))
        del self._scopes[depth:]
        return shape


def _element(shape: Shape | None) -> Shape | None:
    if shape is None:
        return None
    if shape.kind in ("list", "set"):
        return shape.of
    return STR if shape.kind == "str" else None


def _builtin(name: str, first: Shape | None, arguments: int) -> Shape | None:
    if name in ("len", "int"):
        return INT
    if name == "str":
        return STR
    if name in ("any", "all", "bool", "isinstance"):
        return BOOL
    if (
        name in ("sorted", "list", "reversed", "sort_by")
        and first is not None
        and first.kind in ("list", "set")
    ):
        return Shape("list", first.of)
    if name == "set" and first is not None and first.kind in ("list", "set"):
        return Shape("set", first.of)
    if name in ("min", "max") and arguments == 1:
        return _element(first)
    return None
