"""Renumber bound names by first appearance, each comprehension and lambda with names of its own."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lackpy.lang.nodes import CHILDREN, children

if TYPE_CHECKING:
    from collections.abc import Callable

_STEM = "v"


@dataclass(slots=True)
class Uses:
    """How often each name of a program is read and bound after renaming.

    Attributes:
        read: Reads by name.
        bound: Bindings by name; an augmented assignment counts twice.
    """

    read: Counter[str] = field(default_factory=Counter)
    bound: Counter[str] = field(default_factory=Counter)


def rename(tree: ast.Module) -> Uses:
    """Rename in place every name that the program binds; free names keep their spelling."""
    names = _Names(program_names(tree))
    for statement in tree.body:
        names.visit(statement)
    final: list[str] = []
    number = 0
    for _ in range(names.count):
        number += 1
        while f"{_STEM}{number}" in names.free:
            number += 1
        final.append(f"{_STEM}{number}")
    uses = Uses()
    for node, index in names.found:
        new = final[index]
        if isinstance(node, ast.arg):
            node.arg = new
            uses.bound[new] += 2
        else:
            node.id = new
            if isinstance(node.ctx, ast.Load):
                uses.read[new] += 1
            else:
                uses.bound[new] += 1
    for index in names.augmented:
        uses.bound[final[index]] += 1
    return uses


def program_names(tree: ast.Module) -> set[str]:
    """Return the names that statements bind; those of comprehensions and lambdas are their own."""
    names: set[str] = set()
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind is ast.Assign:
            todo += node.targets  # type: ignore[attr-defined]  # the test above
        elif kind is ast.Name:
            if not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]  # the test above
                names.add(node.id)  # type: ignore[attr-defined]  # the test above
        elif isinstance(node, (ast.For, ast.If)):
            todo += [*node.body, *node.orelse]
            if isinstance(node, ast.For):
                todo.append(node.target)
        elif isinstance(node, ast.AugAssign):
            todo.append(node.target)
        elif isinstance(node, (ast.Tuple, ast.List, ast.Starred)):
            todo += ast.iter_child_nodes(node)
        elif isinstance(node, ast.stmt) and not isinstance(node, ast.Expr):
            todo += ast.iter_child_nodes(node)  # no statement of the language: all it holds may bind
        elif isinstance(node, (ast.withitem, ast.ExceptHandler, ast.match_case)):
            todo += ast.iter_child_nodes(node)
    return names


class _Names:
    """Finds the binding of every name, in the order of first appearance."""

    def __init__(self, program: set[str]) -> None:
        self.program = program
        self.count = 0
        self.scopes: list[dict[str, int]] = [{}]
        self.found: list[tuple[ast.Name | ast.arg, int]] = []
        self.augmented: list[int] = []
        self.free: set[str] = set()

    def visit(self, node: ast.AST) -> None:
        """Visit a node and all below it."""
        kind = type(node)
        if kind is ast.Name:
            self._name(node)  # type: ignore[arg-type]  # the test above
            return
        special = _SPECIAL.get(kind)
        if special is not None:
            special(self, node)
            return
        for name in CHILDREN.get(kind) or children(kind):
            value = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:
                    if isinstance(item, ast.AST):
                        self.visit(item)
            elif isinstance(value, ast.AST):
                self.visit(value)

    def _new(self) -> int:
        self.count += 1
        return self.count - 1

    def _name(self, node: ast.Name) -> None:
        identifier = node.id
        for scope in reversed(self.scopes):
            index = scope.get(identifier)
            if index is not None:
                self.found.append((node, index))
                return
        if identifier in self.program:
            index = self.scopes[0][identifier] = self._new()
            self.found.append((node, index))
        else:
            self.free.add(identifier)

    def visit_for(self, node: ast.For) -> None:
        """Visit the iterable before the target."""
        self.visit(node.iter)
        self.visit(node.target)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def visit_assign(self, node: ast.Assign) -> None:
        """Visit the value before the targets."""
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_aug_assign(self, node: ast.AugAssign) -> None:
        """Visit the target, which is read and bound."""
        self.visit(node.target)
        if isinstance(node.target, ast.Name) and self.found:
            self.augmented.append(self.found[-1][1])
        self.visit(node.value)

    def visit_lambda(self, node: ast.Lambda) -> None:
        """Visit the body in a scope of its own."""
        scope: dict[str, int] = {}
        for parameter in node.args.args:
            scope[parameter.arg] = self._new()
            self.found.append((parameter, scope[parameter.arg]))
        self.scopes.append(scope)
        self.visit(node.body)
        self.scopes.pop()

    def visit_comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> None:
        """Visit the loops in order, then what they give, in a scope of its own."""
        scope: dict[str, int] = {}
        depth = len(self.scopes)
        for generator in node.generators:
            self.visit(generator.iter)
            if len(self.scopes) == depth:
                self.scopes.append(scope)
            for part in ast.walk(generator.target):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    if part.id not in scope:
                        scope[part.id] = self._new()
                    self.found.append((part, scope[part.id]))
            for test in generator.ifs:
                self.visit(test)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self.scopes.pop()


_SPECIAL: dict[type, Callable[[_Names, Any], None]] = {
    ast.Constant: lambda _names, _node: None,
    ast.For: _Names.visit_for,
    ast.Assign: _Names.visit_assign,
    ast.AugAssign: _Names.visit_aug_assign,
    ast.Lambda: _Names.visit_lambda,
    ast.ListComp: _Names.visit_comprehension,
    ast.SetComp: _Names.visit_comprehension,
    ast.DictComp: _Names.visit_comprehension,
}
