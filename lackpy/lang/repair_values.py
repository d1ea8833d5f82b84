"""Values that can't mean what they say: a path where a tool wants a name, a bare folder where it wants a pattern.

Same contract as `repair_tree`: takes a tree and signatures, changes the tree in place, tells whether it did. Such a
call always gives nothing, so a program is never made worse.
"""

from __future__ import annotations

import ast
import re

from lackpy.lang.repair_tree import Rewriter, Tools, bound_names, expression
from lackpy.lang.signature import Signature

_FOLDER = re.compile(r"(?:[\w-]+/)*[\w-]+/?")
_FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,4}")
_BELOW = re.compile(r"((?:[\w.-]+/)+)(?:\*\*/)?\*(?:\.\w+)?")


def path_values(tree: ast.Module, tools: Tools) -> bool:
    """Turn `find(name="lib/*")` into a filter on the rows' file, and `glob("lib")` into `glob("lib/**/*")`."""
    fix = _Paths(tools, bound_names(tree))
    fix.visit(tree)
    return fix.changed


class _Paths(Rewriter):
    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  # the base class's name
        self.generic_visit(node)
        signature = self.tools.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if signature is None or not signature.params or len(node.args) != 1 or node.keywords:
            return node
        value = node.args[0]
        if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
            return node
        name = signature.params[0].name
        if name == "name" and _rows_with_file(signature):
            return self._filtered(node, value.value)
        if name == "pattern" and signature.returns == "list[str]" and _FOLDER.fullmatch(value.value):
            below = value.value.rstrip("/") + "/**/*"
            if "/" in value.value:
                return self.put(expression("f(p)", f=node.func, p=ast.Constant(below)), node)
        return node

    def _filtered(self, call: ast.Call, value: str) -> ast.AST:
        below = _BELOW.fullmatch(value)
        condition = None
        if "/" in value and _FILE.fullmatch(value):
            condition, text = 'd["file"] == p', value
        elif below is not None:
            condition, text = 'd["file"].startswith(p)', below.group(1)
        elif value.endswith("/") and _FOLDER.fullmatch(value):
            condition, text = 'd["file"].startswith(p)', value
        if condition is None:
            return call
        new = expression(f'[d for d in f("*") if {condition}]', f=call.func, p=ast.Constant(text))
        return self.put(new, call)


def _rows_with_file(signature: Signature) -> bool:
    return signature.returns.startswith("list[") and any(
        key == "file" for row in signature.rows for key, _ in row.fields
    )
