"""When are two programs the same? When their canonical texts are equal.

Canonical form is the lowered program with formatting gone, temporaries that are used once put where
they are used, and bound names renumbered by first appearance. Tools are told by how a program uses
a name, so no kit is needed; free names (tools, builtins, parameters) keep their spelling.
"""

from __future__ import annotations

import ast
import copy
from functools import lru_cache

from lackpy.lang import grammar
from lackpy.lang.inline import inline_temporaries
from lackpy.lang.nodes import flat
from lackpy.lang.parse import parse
from lackpy.lang.rename import rename
from lackpy.lang.signature import Param, Signature
from lackpy.lang.validate import lower_tree
from lackpy.lang.verdict import Violation
from lackpy.lang.write import write

_ROUNDS = 8
"""Most rounds of lowering and inlining; two are enough for every program seen."""
_CACHED = 4096
"""Programs whose canonical text is remembered."""


def canonical(program: str | ast.Module) -> str:
    r"""Return the canonical text of a program.

    >>> canonical("rows = find_callers('x')\nout = [r['file'] for r in rows]\nout")
    "[v1['file'] for v1 in find_callers('x')]"

    Args:
        program: Source or tree; the tree is left as it is. Text that is no program comes back with
            its outer blank space gone.
    """
    return _cached(program) if isinstance(program, str) else _canonical(program)


@lru_cache(maxsize=_CACHED)
def _cached(program: str) -> str:
    return _canonical(program)


def skeleton(program: str | ast.Module) -> str:
    """Return the canonical text with its literals blanked: text is `''`, numbers are `0`.

    The keys of `row["file"]` and `{"file": …}` stay: they are the shape of the data, not a value.
    """
    try:
        tree = ast.parse(canonical(program))
        return write(_Blank().visit(tree))
    except (RecursionError, MemoryError, ValueError, SyntaxError):
        return canonical(program)


def _canonical(program: str | ast.Module) -> str:
    tree = parse(program) if isinstance(program, str) else copy.deepcopy(program)
    if isinstance(tree, Violation):
        return program.strip() if isinstance(program, str) else ""
    try:
        for _ in range(_ROUNDS):
            if not _one_round(tree):
                break
        return write(tree)
    except (RecursionError, MemoryError, ValueError, SyntaxError):
        return program.strip() if isinstance(program, str) else ""


def _one_round(tree: ast.Module) -> bool:
    """Bring `tree` nearer to its canonical form, in place; tell whether another round may find more."""
    nodes = flat(tree)
    changed = lower_tree(tree, _tools(nodes))
    _plain(flat(tree) if changed else nodes)
    if inline_temporaries(tree, rename(tree)):
        rename(tree)
        return True
    return changed


def _tools(nodes: list[ast.AST]) -> dict[str, Signature]:
    """Return a signature for every free name that is called, fitting any arguments."""
    called = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    free = called.difference(grammar.BUILTINS)
    if free:
        free -= {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return {name: Signature(name, (Param("*args"),)) for name in free}


def _plain(nodes: list[ast.AST]) -> None:
    """Take off what says nothing: copies of a loop's iterable, the `u` of a text."""
    for node in nodes:
        if isinstance(node, (ast.For, ast.comprehension)):
            node.iter = _uncopied(node.iter)
        elif isinstance(node, ast.Constant):
            node.kind = None


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
