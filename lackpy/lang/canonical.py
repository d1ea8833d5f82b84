"""When are two programs the same? When their canonical texts are equal.

Canonical form is the lowered program with formatting gone, temporaries that are used once put where
they are used, and bound names renumbered by first appearance. Tools are told by how a program uses
a name, so no kit is needed; free names (tools, builtins, parameters) keep their spelling.
"""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

from lackpy.lang import grammar
from lackpy.lang.inline import inline_temporaries
from lackpy.lang.parse import parse
from lackpy.lang.rename import rename
from lackpy.lang.signature import Param, Signature
from lackpy.lang.validate import lowered
from lackpy.lang.verdict import Violation
from lackpy.lang.write import write

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 8


def canonical(program: str | ast.Module) -> str:
    r"""Return the canonical text of a program.

    >>> canonical("rows = find_callers('x')\nout = [r['file'] for r in rows]\nout")
    "[v1['file'] for v1 in find_callers('x')]"

    Args:
        program: Source or tree; the tree is left as it is. Text that is no program comes back with
            its outer blank space gone.
    """
    return _written(program, lambda _: None)


def skeleton(program: str | ast.Module) -> str:
    """Return the canonical text with its literals blanked: text is `''`, numbers are `0`.

    The keys of `row["file"]` and `{"file": …}` stay: they are the shape of the data, not a value.
    """
    return _written(program, lambda tree: _Blank().visit(tree))


def _written(program: str | ast.Module, last_step: Callable[[ast.Module], object]) -> str:
    tree = parse(program) if isinstance(program, str) else copy.deepcopy(program)
    if isinstance(tree, Violation):
        return program.strip() if isinstance(program, str) else ""
    text = ""
    try:
        for _ in range(_ROUNDS):
            tree = _canonical_tree(tree)
            before, text = text, write(tree)
            if text == before:
                break
            tree = ast.parse(text)
        last_step(tree)
        return write(tree)
    except (RecursionError, MemoryError, ValueError, SyntaxError):
        return program.strip() if isinstance(program, str) else text


def _canonical_tree(tree: ast.Module) -> ast.Module:
    tree = lowered(tree, _tools(tree))
    _Plain().visit(tree)
    rename(tree)
    inline_temporaries(tree)
    rename(tree)
    return tree


def _tools(tree: ast.Module) -> dict[str, Signature]:
    """Return a signature for every free name that is called, fitting any arguments."""
    bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    free = called - bound - set(grammar.BUILTINS)
    return {name: Signature(name, (Param("*args"),)) for name in free}


class _Plain(ast.NodeTransformer):
    """Takes off what says nothing: copies of a loop's iterable, annotations of kind."""

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = _uncopied(node.iter)
        return self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        node.iter = _uncopied(node.iter)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        node.kind = None
        return node


def _uncopied(node: ast.expr) -> ast.expr:
    """Return x for `list(x)`: a loop runs over a snapshot anyway."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "list"
        and len(node.args) == 1
        and not node.keywords
        and not isinstance(node.args[0], ast.Starred)
    ):
        node = node.args[0]
    return node


class _Blank(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            return ast.Constant("")
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return ast.Constant(0)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node.value = self.visit(node.value)
        if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)):
            node.slice = self.visit(node.slice)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        node.values = [self.visit(v) for v in node.values]
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        node.values = [self.visit(v) for v in node.values if not isinstance(v, ast.Constant)]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        node.value = self.visit(node.value)
        return node
