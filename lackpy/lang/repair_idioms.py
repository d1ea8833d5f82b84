"""Library idioms a small model writes from habit (`os.path.basename`, `Counter`, `map`, `next`), as plain expressions.

Same contract as `repair_tree`: takes a tree and signatures, changes the tree in place, tells whether it did.
"""

from __future__ import annotations

import ast
import re

from lackpy.lang.repair_tree import Rewriter, Tools, _dotted, _name, bound_names, expression

_PLAIN = re.compile(r"(?:[\w @#,:;=<>\"'/-]|(?<=\w)\.(?=\w)|\\[\W])+")
"""A pattern that stands for itself; an unescaped dot between letters (`t.overload`) is meant as a dot."""
_OF_WORDS: dict[str, tuple[int, str]] = {
    "len re.findall": (2, "b.count(a)"),
    "re.findall": (2, "[a] * b.count(a)"),
    "re.search": (2, "a in b"),
    "re.match": (2, "b.startswith(a)"),
    "re.fullmatch": (2, "b == a"),
    "re.split": (2, "b.split(a)"),
    "re.sub": (3, "c.replace(a, b)"),
}
"""Call of `re` → (arguments, what it means) for a pattern that is plain words."""
_DOTTED: dict[str, tuple[int, str]] = {
    "os.path.basename": (1, 'a.split("/")[-1]'),
    "path.basename": (1, 'a.split("/")[-1]'),
    "os.path.dirname": (1, '"/".join(a.split("/")[:-1])'),
    "os.path.abspath": (1, "a"),
    "os.path.normpath": (1, "a"),
    "os.path.exists": (1, "len(glob(a)) > 0"),
    "os.path.isfile": (1, "len(glob(a)) > 0"),
    "os.listdir": (1, '[path.split("/")[-1] for path in glob(a + "/*")]'),
    "os.path.getsize": (1, "len(read(a))"),
    "glob.glob": (1, "glob(a)"),
    "json.dumps": (1, "a"),
    "json.loads": (1, "a"),
    "str.strip": (1, "a.strip()"),
    "re.escape": (1, "a"),
    "collections.Counter": (1, "Counter(a)"),
    "collections.OrderedDict": (1, "dict(a)"),
    "OrderedDict": (1, "dict(a)"),
    "itertools.chain.from_iterable": (1, "[y for x in a for y in x]"),
    "chain.from_iterable": (1, "[y for x in a for y in x]"),
    "frozenset": (1, "set(a)"),
    "pathlib.Path": (1, "a"),
    "Path": (1, "a"),
    "next": (1, "list(a)[0]"),
    "iter": (1, "a"),
    "divmod": (2, "(a // b, a % b)"),
    "repr": (1, 'f"{a!r}"'),
    "pow": (2, "a ** b"),
    "copy.copy": (1, "a.copy()"),
    "operator.itemgetter": (1, "lambda item: item[a]"),
    "itemgetter": (1, "lambda item: item[a]"),
    "display": (1, "a"),
    "pprint": (1, "a"),
    "pprint.pprint": (1, "a"),
    "set.union": (2, "a.union(b)"),
    "set.intersection": (2, "a.intersection(b)"),
}
"""Call → (positional arguments, what it means); applied where the name isn't bound, a tool or a builtin."""


def idioms(tree: ast.Module, tools: Tools) -> bool:
    """Rewrite library calls that have one plain meaning."""
    fix = _Idioms(tools, bound_names(tree))
    fix.visit(tree)
    return fix.changed


class _Idioms(Rewriter):
    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  # the base class's name
        counted = node.args[0] if _name(node.func) == "len" and len(node.args) == 1 else None
        if isinstance(counted, ast.Call) and _dotted(counted.func) == "re.findall":
            found = _plain_pattern(counted, "len re.findall")
            if found is not None:
                return self.generic_visit(self.put(found, node))
        self.generic_visit(node)
        dotted = _dotted(node.func)
        root = dotted.split(".", 1)[0]
        if root in self.bound:
            return self._method(node)
        if dotted in ("map", "filter") and len(node.args) == 2:
            return self._mapped(node, dotted, node)
        found = _plain_pattern(node, dotted)
        if found is not None:
            return self.put(found, node)
        if dotted in ("os.path.join", "path.join", "posixpath.join") and node.args:
            return self._joined(node)
        if dotted == "open" and node.args and "read" in self.tools:
            return node
        rule = _DOTTED.get(dotted)
        if rule is None or (dotted in self.tools) or len(node.args) < rule[0]:
            return self._method(node)
        if any(f"{tool}(" in rule[1] and tool not in self.tools for tool in ("glob", "read")):
            return node
        if dotted == "next" and isinstance(node.args[0], ast.GeneratorExp):
            node.args[0] = ast.copy_location(
                ast.ListComp(node.args[0].elt, node.args[0].generators), node.args[0]
            )
            if len(node.args) == 2:
                return self.put(expression("(a + [b])[0]", a=node.args[0], b=node.args[1]), node)
            return self.put(expression("a[0]", a=node.args[0]), node)
        parts = dict(zip("ab", node.args, strict=False))
        return self.put(expression(rule[1], **parts), node)

    def _method(self, node: ast.Call) -> ast.AST:
        """`open(p).read()`, `Path(p).read_text()`, `rows.most_common(3)`, `text.format` aside."""
        f = node.func
        if not isinstance(f, ast.Attribute):
            return node
        opened = f.value
        is_open = isinstance(opened, ast.Call) and _name(opened.func) == "open" and bool(opened.args)
        if is_open and "read" in self.tools and f.attr in ("read", "readlines"):
            text = expression("read(a)", a=opened.args[0])  # type: ignore[attr-defined]  # a Call, see above
            return self.put(text if f.attr == "read" else expression("a.splitlines()", a=text), node)
        if f.attr == "read_text" and "read" in self.tools:
            return self.put(expression("read(a)", a=f.value), node)
        if f.attr in ("rglob", "glob") and "glob" in self.tools and len(node.args) == 1:
            source = 'glob(a + "/**/" + b)' if f.attr == "rglob" else 'glob(a + "/" + b)'
            return self.put(expression(source, a=f.value, b=node.args[0]), node)
        if f.attr in ("map", "filter") and len(node.args) == 1 and isinstance(node.args[0], ast.Lambda):
            return self._mapped(ast.Call(f, [node.args[0], f.value], []), f.attr, node)
        if f.attr == "most_common" and len(node.args) <= 1:
            ordered = expression("sorted(a.items(), key=lambda pair: pair[1], reverse=True)", a=f.value)
            return self.put(expression("a[:b]", a=ordered, b=node.args[0]) if node.args else ordered, node)
        return node

    def _mapped(self, node: ast.Call, kind: str, old: ast.Call) -> ast.AST:
        """`map(function, items)`, `filter(function, items)` and `items.filter(function)` → a list of each."""
        function, items = node.args
        item: ast.expr = ast.Name("item", ast.Load())
        if isinstance(function, ast.Lambda) and len(function.args.args) == 1:
            item = ast.Name(function.args.args[0].arg, ast.Load())
            value: ast.expr = function.body
        elif isinstance(function, ast.Name):
            value = ast.Call(function, [item], [])
        elif isinstance(function, ast.Attribute) and _name(function.value) in ("str", "list", "dict"):
            value = ast.Call(ast.Attribute(item, function.attr, ast.Load()), [], [])
        elif isinstance(function, ast.Constant) and function.value is None:
            value = item
        else:
            return old
        target = ast.Name(item.id, ast.Store())  # type: ignore[attr-defined]  # a Name in every branch
        elt, ifs = (value, []) if kind == "map" else (item, [value])
        return self.put(ast.ListComp(elt, [ast.comprehension(target, items, ifs, 0)]), old)

    def _joined(self, node: ast.Call) -> ast.AST:
        whole = node.args[0]
        for part in node.args[1:]:
            whole = expression('a + "/" + b', a=whole, b=part)
        return self.put(whole, node)


def _plain_pattern(node: ast.Call, dotted: str) -> ast.expr | None:
    """Return what a call of `re` means where its pattern is plain words, which stand for themselves."""
    rule = _OF_WORDS.get(dotted)
    if rule is None or len(node.args) != rule[0] or node.keywords:
        return None
    pattern = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    if not isinstance(pattern, str) or not _PLAIN.fullmatch(pattern):
        return None
    words = ast.Constant(re.sub(r"\\(.)", r"\1", pattern))
    return expression(rule[1], **dict(zip("abc", [words, *node.args[1:]], strict=False)))


def counters(tree: ast.Module, tools: Tools) -> bool:
    """`Counter(items)` → the items in a name, then `{item: items.count(item) for item in set(items)}`."""
    del tools
    changed = False
    for statement in list(tree.body):
        for call in [n for n in ast.walk(statement) if isinstance(n, ast.Call)]:
            if _dotted(call.func).rsplit(".", 1)[-1] != "Counter" or len(call.args) != 1:
                continue
            if any(
                isinstance(n, (ast.For, ast.comprehension)) for n in ast.walk(statement) if _holds(n, call)
            ):
                continue
            items = call.args[0]
            if not isinstance(items, ast.Name):
                name = _free("items", tree)
                tree.body.insert(
                    tree.body.index(statement),
                    ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], _listed(items)), statement),
                )
                items = ast.Name(name, ast.Load())
            call.func = ast.Name("dict", ast.Load())
            call.args = [expression("[(item, items.count(item)) for item in set(items)]", items=items)]
            ast.fix_missing_locations(tree)
            changed = True
    return changed


def _listed(items: ast.expr) -> ast.expr:
    if isinstance(items, ast.GeneratorExp):
        return ast.copy_location(ast.ListComp(items.elt, items.generators), items)
    return items


def _holds(node: ast.AST, call: ast.Call) -> bool:
    if isinstance(node, ast.comprehension):
        return False
    return any(n is call for n in ast.walk(node))


def _free(name: str, tree: ast.AST) -> str:
    taken = bound_names(tree)
    while name in taken:
        name += "_"
    return name
