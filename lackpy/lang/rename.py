"""Renumber bound names by first appearance, each comprehension and lambda with names of its own."""

from __future__ import annotations

import ast

_STEM = "v"
_MARK = "\x00"


def rename(tree: ast.Module) -> None:
    """Rename in place every name that the program binds; free names keep their spelling."""
    renamer = _Renamer(program_names(tree))
    renamer.visit(tree)
    free = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not n.id.startswith(_MARK)}
    final: dict[str, str] = {}
    number = 0
    for mark in renamer.marks:
        number += 1
        while f"{_STEM}{number}" in free:
            number += 1
        final[mark] = f"{_STEM}{number}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = final.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = final.get(node.arg, node.arg)


def program_names(tree: ast.Module) -> set[str]:
    """Return the names that statements bind; those of comprehensions and lambdas are their own."""
    names: set[str] = set()
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.comprehension):
            todo += [node.iter, *node.ifs]
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        todo += ast.iter_child_nodes(node)
    return names


class _Renamer(ast.NodeTransformer):
    """Gives every binding a mark of its own, which no program can spell."""

    def __init__(self, names: set[str]) -> None:
        self.program = names
        self.marks: list[str] = []
        self.scopes: list[dict[str, str]] = [{}]

    def _new(self) -> str:
        self.marks.append(f"{_MARK}{len(self.marks)}")
        return self.marks[-1]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        for scope in reversed(self.scopes):
            if node.id in scope:
                node.id = scope[node.id]
                return node
        if node.id in self.program:
            self.scopes[0][node.id] = node.id = self._new()
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        node.iter = self.visit(node.iter)
        node.target = self.visit(node.target)
        node.body = [self.visit(s) for s in node.body]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        node.value = self.visit(node.value)
        node.targets = [self.visit(t) for t in node.targets]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        scope: dict[str, str] = {}
        for parameter in node.args.args:
            scope[parameter.arg] = parameter.arg = self._new()
        self.scopes.append(scope)
        node.body = self.visit(node.body)
        self.scopes.pop()
        return node

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> ast.AST:
        scope: dict[str, str] = {}
        depth = len(self.scopes)
        for generator in node.generators:
            generator.iter = self.visit(generator.iter)
            if len(self.scopes) == depth:
                self.scopes.append(scope)
            for part in ast.walk(generator.target):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    if part.id not in scope:
                        scope[part.id] = self._new()
                    part.id = scope[part.id]
            generator.ifs = [self.visit(test) for test in generator.ifs]
        if isinstance(node, ast.DictComp):
            node.key = self.visit(node.key)
            node.value = self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self.scopes.pop()
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node)
