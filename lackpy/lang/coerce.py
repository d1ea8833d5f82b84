"""Type-directed coercions: a value of the wrong shape becomes the part of it that fits.

A row where a path is wanted → its `file`; a list of rows indexed by a key → the first row or a comprehension; a wrong
key → the one it can only mean; a number joined to text → text. Acts only where `shapes` is sure that the program
would fail, and only on the failing expression. Same contract as `repair_tree`.
"""

from __future__ import annotations

import ast
import re
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

from lackpy.lang.repair_tree import Rewriter, Tools, bound_names, expression
from lackpy.lang.shapes import Shape, Shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lackpy.lang.signature import Param, RowType

_KEY_ALIASES: Mapping[str, tuple[str, ...]] = {
    "file": ("path", "filename", "file_path", "filepath", "file_name", "source", "module", "location"),
    "line": ("lineno", "line_number", "row", "number", "line_no", "start_line", "start"),
    "text": ("content", "code", "line_text", "match", "source_line", "body", "snippet", "value"),
    "name": ("function", "caller", "symbol", "id", "identifier", "func", "function_name", "class", "method"),
    "type": ("kind", "category", "symbol_type"),
}
_PATH_PARAMS = ("path", "glob", "pattern", "file", "filename")
_FILE_END = re.compile(r"\.[A-Za-z]\w{0,4}$")
_TEXT_METHODS = frozenset(
    (
        *("split", "rsplit", "splitlines", "strip", "lstrip", "rstrip", "startswith", "endswith"),
        *("lower", "upper", "replace", "removeprefix", "removesuffix"),
    )
)


def coerce(tree: ast.Module, tools: Tools, params: Mapping[str, str]) -> tuple[str, ...]:
    """Coerce until nothing changes; return the names of the coercions made."""
    made: list[str] = []
    for _ in range(6):
        fix = _Coerce(tree, tools, params)
        fix.visit(tree)
        if not fix.made:
            break
        made.extend(fix.made)
    return tuple(dict.fromkeys(made))


def near_key(key: str, row: RowType) -> str | None:
    """Return the row's key that `key` can only mean."""
    keys = [k for k, _ in row.fields]
    for known, aliases in _KEY_ALIASES.items():
        if known in keys and key.lower() in aliases:
            return known
    close = get_close_matches(key, keys, n=1, cutoff=0.75)
    return close[0] if close else None


class _Coerce(Rewriter):
    def __init__(self, tree: ast.Module, tools: Tools, params: Mapping[str, str]) -> None:
        super().__init__(tools, bound_names(tree))
        self.shapes = Shapes(tree, tools, params)
        self.made: list[str] = []
        self._scalar: set[int] = set()
        for node in ast.walk(tree):
            self._mark(node)

    def _mark(self, node: ast.AST) -> None:
        """Remember expressions that stand where one value is wanted, not a list of them."""
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                self._scalar.add(id(node.func.value))
            elif isinstance(node.func, ast.Name) and node.func.id in self.tools:
                self._scalar.update(id(a) for a in node.args)
                self._scalar.update(id(k.value) for k in node.keywords)
        elif isinstance(node, (ast.BinOp, ast.Slice)):
            self._scalar.update(id(c) for c in ast.iter_child_nodes(node))
        elif isinstance(node, ast.Subscript) and not isinstance(node.value, ast.Subscript):
            self._scalar.add(id(node.slice))
        elif isinstance(node, ast.Compare):
            self._scalar.update(
                id(c) for c in (node.left, *node.comparators) if not isinstance(node.ops[0], ast.In)
            )

    def _did(self, what: str, new: ast.expr, old: ast.AST) -> ast.expr:
        self.made.append(what)
        return self.put(new, old)

    # -- keys --

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        value = self.shapes.of(node.value)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if value is None or not isinstance(key, str) or not isinstance(node.ctx, ast.Load):
            return node
        if value.kind == "row" and value.row is not None:
            return self._key(node, key, value.row)
        if (
            value.kind == "list"
            and value.of is not None
            and value.of.kind == "row"
            and value.of.row is not None
        ):
            keys = [k for k, _ in value.of.row.fields]
            fitting = key if key in keys else near_key(key, value.of.row)
            if fitting is None:
                return node
            if id(node) in self._scalar:
                return self._did(
                    "first-row", expression("a[0][k]", a=node.value, k=ast.Constant(fitting)), node
                )
            each = expression("[row[k] for row in a]", a=node.value, k=ast.Constant(fitting))
            return self._did("key-of-each-row", each, node)
        if value.kind == "str" and key:
            return self._did("key-of-text", node.value, node)
        return node

    def _key(self, node: ast.Subscript, key: str, row: RowType) -> ast.AST:
        if key in [k for k, _ in row.fields]:
            return node
        near = near_key(key, row)
        if near is None:
            return node
        return self._did("near-key", ast.Subscript(node.value, ast.Constant(near), ast.Load()), node)

    # -- arguments and receivers --

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute):
            return self._receiver(node, function)
        if not isinstance(function, ast.Name):
            return node
        signature = self.tools.get(function.id)
        if signature is None:
            return self._sorted_rows(node) if function.id in ("sorted", "set") else node
        by_name = {p.name: p for p in signature.params}
        for i, argument in enumerate(node.args[: len(signature.params)]):
            whole = self._argument(node, argument, signature.params[i], partial(node.args.__setitem__, i))
            if whole is not None:
                return whole
        for keyword in node.keywords:
            if keyword.arg in by_name:
                whole = self._argument(
                    node, keyword.value, by_name[keyword.arg], partial(setattr, keyword, "value")
                )
                if whole is not None:
                    return whole
        return node

    def _argument(
        self, call: ast.Call, argument: ast.expr, param: Param, put: Callable[[ast.expr], None]
    ) -> ast.expr | None:
        """Make one argument text where text is wanted; return a new whole when the call must be repeated."""
        if param.type != "str":
            return None
        shape = self.shapes.of(argument)
        if shape is None:
            return None
        if shape.kind == "row" and shape.row is not None:
            part = self._text_of_row(argument, shape.row, param)
            if part is not None:
                put(self._did("row-as-text", part, argument))
        elif shape.kind in ("list", "set") and shape.of is not None and shape.of.kind in ("row", "str"):
            return self._repeated(call, argument, shape, param, put)
        return None

    def _text_of_row(self, node: ast.expr, row: RowType, param: Param) -> ast.expr | None:
        keys = [k for k, _ in row.fields]
        order = ("file", "path", "name") if param.name in _PATH_PARAMS else ("name", "text", "file")
        key = next((k for k in order if k in keys), None)
        return None if key is None else expression("a[k]", a=node, k=ast.Constant(key))

    def _repeated(
        self, call: ast.Call, argument: ast.expr, shape: Shape, param: Param, put: Callable[[ast.expr], None]
    ) -> ast.expr | None:
        """`grep("x", glob("*.py"))` → the call for each item, joined when each gives a list."""
        name = "each"
        while name in self.bound:
            name += "_"
        item: ast.expr = ast.Name(name, ast.Load())
        if shape.of is not None and shape.of.kind == "row" and shape.of.row is not None:
            part = self._text_of_row(item, shape.of.row, param)
            if part is None:
                return None
            item = part
        result = self.shapes.of(call)
        if result is None or id(call) in self._scalar:
            first = (
                expression("a[0]", a=argument)
                if shape.kind == "list"
                else expression("list(a)[0]", a=argument)
            )
            if isinstance(item, ast.Subscript):
                first = expression("a[k]", a=first, k=item.slice)
            put(self._did("first-item", first, argument))
            return None
        put(item)
        if result.kind == "list":
            whole = expression("[row for each in many for row in call]", many=argument, call=call)
        else:
            whole = expression("[call for each in many]", many=argument, call=call)
        for n in ast.walk(whole):
            if isinstance(n, ast.Name) and n.id == "each":
                n.id = name
        return self._did("call-for-each", whole, call)

    def _receiver(self, node: ast.Call, function: ast.Attribute) -> ast.AST:
        shape = self.shapes.of(function.value)
        if function.attr == "join" and shape is not None and shape.kind == "str" and len(node.args) == 1:
            return self._join(node)
        if shape is None or function.attr not in _TEXT_METHODS:
            return node
        if shape.kind == "row" and shape.row is not None:
            keys = [k for k, _ in shape.row.fields]
            wants_path = function.attr in ("endswith", "startswith") and _path_like(node.args)
            key = next(
                (k for k in (("file", "text") if wants_path else ("text", "file", "name")) if k in keys), None
            )
            if key is not None:
                function.value = self._did(
                    "row-as-text", expression("a[k]", a=function.value, k=ast.Constant(key)), node
                )
        elif shape.kind == "list" and function.attr == "splitlines" and shape.of is not None:
            return self._did("already-lines", function.value, node)
        return node

    def _join(self, node: ast.Call) -> ast.AST:
        items = self.shapes.of(node.args[0])
        if items is None or items.of is None or items.kind not in ("list", "set"):
            return node
        if items.of.kind == "row" and items.of.row is not None:
            keys = [k for k, _ in items.of.row.fields]
            key = next((k for k in ("text", "file", "name") if k in keys), None)
            if key is not None:
                each = expression("[row[k] for row in a]", a=node.args[0], k=ast.Constant(key))
                node.args[0] = self._did("key-of-each-row", each, node.args[0])
        elif items.of.kind in ("int", "bool"):
            node.args[0] = self._did(
                "text-of-number", expression("[str(n) for n in a]", a=node.args[0]), node.args[0]
            )
        return node

    def _sorted_rows(self, node: ast.Call) -> ast.AST:
        """`sorted(rows)` has no order for rows: by file and line. `set(rows)` can't hold rows: stays a list."""
        shape = self.shapes.of(node.args[0]) if node.args else None
        if shape is None or shape.of is None or shape.of.kind != "row" or shape.of.row is None:
            return node
        if isinstance(node.func, ast.Name) and node.func.id == "set":
            return self._did("rows-stay-a-list", node.args[0], node)
        if any(k.arg == "key" for k in node.keywords):
            return node
        keys = [k for k in ("file", "line", "name") if k in [f for f, _ in shape.of.row.fields]]
        if not keys:
            return node
        row = ", ".join(f'row["{k}"]' for k in keys)
        node.keywords.append(ast.keyword("key", expression(f"lambda row: ({row},)")))
        self.made.append("order-of-rows")
        self.changed = True
        return node

    # -- text and numbers --

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        shape = self.shapes.of(node.elt)
        if shape is not None and shape.kind == "row":
            return self._did("rows-stay-a-list", ast.ListComp(node.elt, node.generators), node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        left, right = self.shapes.of(node.left), self.shapes.of(node.right)
        if not isinstance(node.op, ast.Add) or left is None or right is None:
            return node
        if left.kind == "str" and right.kind == "int":
            node.right = self._did("text-of-number", expression("str(a)", a=node.right), node.right)
        elif left.kind == "int" and right.kind == "str":
            node.left = self._did("text-of-number", expression("str(a)", a=node.left), node.left)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        if len(node.ops) != 1:
            return node
        left, right = self.shapes.of(node.left), node.comparators[0]
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            rows = self.shapes.of(right)
            if (
                rows is not None
                and rows.kind == "row"
                and left is not None
                and left.kind == "str"
                and (
                    rows.row is not None
                    and isinstance(node.left, ast.Constant)
                    and node.left.value not in dict(rows.row.fields)
                )
            ):
                key = next((k for k in ("text", "file", "name") if k in dict(rows.row.fields)), None)
                if key is not None:
                    part = expression("a[k]", a=right, k=ast.Constant(key))
                    node.comparators[0] = self._did("row-as-text", part, right)
            return node
        if (
            left is not None
            and left.kind == "int"
            and isinstance(right, ast.Constant)
            and isinstance(right.value, str)
        ) and right.value.lstrip("-").isdigit():
            node.comparators[0] = self._did("number-of-text", ast.Constant(int(right.value)), right)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        node.iter = self._lines(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:  # the base class's name
        self.generic_visit(node)
        node.iter = self._lines(node.iter)
        return node

    def _lines(self, iterable: ast.expr) -> ast.expr:
        """Walk a file's text by line: `for line in read(p)` would walk its characters."""
        called = iterable.func if isinstance(iterable, ast.Call) else None
        if (
            isinstance(called, ast.Name)
            and called.id in self.tools
            and self.shapes.of(iterable) == Shape("str")
        ):
            return self._did("text-by-line", expression("a.splitlines()", a=iterable), iterable)
        return iterable


def _path_like(args: list[ast.expr]) -> bool:
    value = args[0].value if args and isinstance(args[0], ast.Constant) else None
    return isinstance(value, str) and (
        "/" in value or bool(_FILE_END.search(value)) or value.startswith("test")
    )
