"""Tree repairs: constructs a small model reaches for, rewritten to what they mean here. Each guesses; each is recorded.

Every function takes a parsed program and the kit's signatures, changes the tree in place and tells whether it did.
Each acts only on what the language refuses, or on what can only fail while running; a valid program that can work is
left alone.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher

from lackpy.lang import grammar
from lackpy.lang.signature import Signature

Tools = Mapping[str, Signature]
_LITERALS = {"true": True, "false": False, "null": None, "none": None, "nil": None}


class Rewriter(ast.NodeTransformer):
    """A transformer that remembers whether it changed anything."""

    def __init__(self, tools: Tools, bound: frozenset[str]) -> None:
        """Keep the tools and the names that the program binds."""
        self.tools = tools
        self.bound = bound
        self.changed = False

    def put(self, new: ast.expr, old: ast.AST) -> ast.expr:
        """Return `new` at the place of `old`."""
        self.changed = True
        return ast.fix_missing_locations(ast.copy_location(new, old))


def bound_names(tree: ast.AST) -> frozenset[str]:
    """Return every name that something in `tree` binds."""
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    names |= {
        n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    return frozenset(names)


def blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    """Return every statement list of a tree."""
    found = []
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                found.append(body)
    return found


def _name(node: ast.AST | None) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "?")
    return ".".join(reversed(parts))


def expression(source: str, **parts: ast.expr) -> ast.expr:
    """Parse `source` and put `parts` in place of the names that stand for them."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return copy.deepcopy(parts[node.id]) if node.id in parts else node

    filled = Fill().visit(ast.parse(source, mode="eval").body)
    if not isinstance(filled, ast.expr):  # pragma: no cover  # the parts are expressions
        raise TypeError(source)
    return filled


# -- statements ----------------------------------------------------------------------------------------------


def imports(tree: ast.Module, tools: Tools) -> bool:
    """Drop import lines; what they named is rewritten by `idioms` or stays an error of its own."""
    del tools
    changed = False
    for body in blocks(tree):
        kept = [s for s in body if not isinstance(s, (ast.Import, ast.ImportFrom))]
        if len(kept) < len(body):
            body[:] = kept or [ast.copy_location(ast.Pass(), body[0])]
            changed = True
    return changed


def unwrap(tree: ast.Module, tools: Tools) -> bool:
    """Put the body of `def main(): …` or `if __name__ == "__main__":` in its place; inline one-expression functions."""
    changed = _main_guard(tree)
    functions = [s for s in tree.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for function in functions:
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _name(n.func) == function.name]
        outside = [s for s in tree.body if s is not function]
        if function.name in tools:
            tree.body[:] = outside
            changed = True
        elif not function.args.args and len(calls) <= 1:
            changed |= _inline_body(tree, function, calls)
        elif _inline_expression(tree, function) or (
            len(calls) == 1 and _inline_call(tree, function, calls[0], tools)
        ):
            changed = True
    return changed


def _main_guard(tree: ast.Module) -> bool:
    for i, statement in enumerate(tree.body):
        if (
            isinstance(statement, ast.If)
            and isinstance(statement.test, ast.Compare)
            and _name(statement.test.left) == "__name__"
        ):
            tree.body[i : i + 1] = statement.body
            return True
    return False


def _inline_body(
    tree: ast.Module, function: ast.FunctionDef | ast.AsyncFunctionDef, calls: list[ast.Call]
) -> bool:
    body = list(function.body)
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1:
        body.pop(0)
    returns = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Return)]
    if len(returns) > 1 or (returns and body[-1] is not returns[0]):
        return False
    value = returns[0].value if returns else None
    if returns:
        body.pop()
    index = tree.body.index(function)
    if not calls:
        tail: list[ast.stmt] = [ast.copy_location(ast.Expr(value), function)] if value is not None else []
        tree.body[index : index + 1] = [*body, *tail]
        return True
    holder = next((s for s in tree.body if any(n is calls[0] for n in ast.walk(s))), None)
    if holder is None or holder is function or isinstance(holder, (ast.For, ast.While)):
        return False
    if value is None:
        value = ast.Constant(None)
    _replace(holder, calls[0], value)
    at = tree.body.index(holder)
    keep = (
        []
        if isinstance(holder, ast.Expr)
        and isinstance(holder.value, ast.Constant)
        and holder.value.value is None
        else [holder]
    )
    tree.body[at : at + 1] = [*body, *keep]
    tree.body.remove(function)
    return True


def _inline_call(
    tree: ast.Module, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call, tools: Tools
) -> bool:
    """Put a function's steps where it is called, its parameters as variables; only for one call of a statement."""
    names = [a.arg for a in function.args.args]
    others = ast.Module([s for s in tree.body if s is not function], [])
    plain = ast.arguments([], function.args.args, None, [], [], None, [])
    if not _same(function.args, plain) or len(call.args) != len(names) or call.keywords:
        return False
    if any(isinstance(a, ast.Starred) for a in call.args) or not _is_step(others, call):
        return False
    if any(n in tools or n in grammar.BUILTINS or n in bound_names(others) for n in names):
        return False
    given = zip(names, call.args, strict=True)
    steps: list[ast.stmt] = [
        ast.copy_location(ast.Assign([ast.Name(n, ast.Store())], a), call) for n, a in given if _name(a) != n
    ]
    words = isinstance(function.body[0], ast.Expr) and isinstance(function.body[0].value, ast.Constant)
    trial = copy.copy(function)
    trial.body = [*steps, *(function.body[1:] if words else function.body)]
    at = tree.body.index(function)
    tree.body[at] = trial
    done = _inline_body(tree, trial, [call])
    if not done:
        tree.body[at] = function
    return done


def _is_step(tree: ast.Module, call: ast.Call) -> bool:
    """Tell whether a call is a statement's whole value, or is printed as such."""
    values = [s.value for s in tree.body if isinstance(s, (ast.Assign, ast.Expr))]
    printed = [a for v in values if isinstance(v, ast.Call) and _name(v.func) == "print" for a in v.args]
    return any(v is call for v in (*values, *printed))


def _replace(root: ast.AST, old: ast.AST, new: ast.expr) -> None:
    for node in ast.walk(root):
        for field, value in ast.iter_fields(node):
            if value is old:
                setattr(node, field, ast.copy_location(new, old))
            elif isinstance(value, list):
                for i, item in enumerate(value):
                    if item is old:
                        value[i] = ast.copy_location(new, old)


def _inline_expression(tree: ast.Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = [s for s in function.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    args = [a.arg for a in function.args.args]
    if (
        len(body) != 1
        or not isinstance(body[0], ast.Return)
        or body[0].value is None
        or function.args.defaults
    ):
        return False
    value = body[0].value
    if any(isinstance(n, ast.Call) and _name(n.func) == function.name for n in ast.walk(value)):
        return False

    class Inline(ast.NodeTransformer):
        done = True

        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            if _name(node.func) != function.name:
                return node
            if len(node.args) != len(args) or node.keywords:
                self.done = False
                return node
            given = dict(zip(args, node.args, strict=True))
            return ast.copy_location(_substitute(value, given), node)

    trial = copy.deepcopy(ast.Module([s for s in tree.body if s is not function], []))
    inline = Inline()
    inline.visit(trial)
    if not inline.done:
        return False
    tree.body[:] = trial.body
    return True


def _substitute(value: ast.expr, given: Mapping[str, ast.expr]) -> ast.expr:
    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return copy.deepcopy(given[node.id]) if node.id in given else node

    filled: ast.expr = Fill().visit(copy.deepcopy(value))
    return filled


def opened(tree: ast.Module, tools: Tools) -> bool:
    """`with open(p) as f:` → its body, with `f.read()`, `f.readlines()` and `for line in f` read through the tool."""
    if "read" not in tools:
        return False
    changed = False
    for body in blocks(tree):
        for i, statement in enumerate(list(body)):
            if not (isinstance(statement, ast.With) and len(statement.items) == 1):
                continue
            call, handle = statement.items[0].context_expr, _name(statement.items[0].optional_vars)
            if not (isinstance(call, ast.Call) and _name(call.func) == "open" and call.args and handle):
                continue
            text = expression("read(path)", path=call.args[0])
            inner = ast.Module(statement.body, [])
            _File(handle, text).visit(inner)
            at = body.index(statement)
            body[at : at + 1] = inner.body
            changed = True
            del i
    return changed


class _File(ast.NodeTransformer):
    """Replaces uses of an open file by the text's lines."""

    def __init__(self, handle: str, text: ast.expr) -> None:
        self.handle = handle
        self.text = text

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        f = node.func
        if isinstance(f, ast.Attribute) and f.value is not None and _same(f.value, self._lines()):
            if f.attr == "read":
                return copy.deepcopy(self.text)
            if f.attr == "readlines":
                return self._lines()
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._lines() if node.id == self.handle else node

    def _lines(self) -> ast.expr:
        return expression("text.splitlines()", text=self.text)


def _same(a: ast.AST, b: ast.AST) -> bool:
    return ast.dump(a) == ast.dump(b)


def guards(tree: ast.Module, tools: Tools) -> bool:
    """`try:` → its body; `return x` → `x`; `assert x` → `x`: the steps without what handles failure."""
    del tools
    changed = False
    for _ in range(4):
        again = False
        for body in blocks(tree):
            for statement in list(body):
                new: list[ast.stmt] | None = None
                if isinstance(statement, ast.Try):
                    new = [*statement.body, *statement.orelse, *statement.finalbody]
                elif isinstance(statement, ast.Return) and body is tree.body:
                    new = [ast.copy_location(ast.Expr(statement.value or ast.Constant(None)), statement)]
                elif isinstance(statement, ast.Assert) and body is tree.body:
                    new = [ast.copy_location(ast.Expr(statement.test), statement)]
                if new is not None:
                    at = body.index(statement)
                    body[at : at + 1] = [ast.fix_missing_locations(s) for s in new]
                    again = changed = True
        if not again:
            break
    return changed


def first_count(tree: ast.Module, tools: Tools) -> bool:
    """`counts[k] += 1` on an empty dict → `counts[k] = counts.get(k, 0) + 1`; same for `d[k].append(x)`.

    Only where the name starts as `{}`, `Counter()` or `defaultdict(…)` and nothing else puts the key there.
    """
    del tools
    empty = {
        t.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign) and _empty_dict(n.value)
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    empty.discard(_name(target.value) or "")
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("setdefault", "update")
        ):
            empty.discard(_name(node.func.value) or "")
    changed = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _empty_dict(node.value) and not isinstance(node.value, ast.Dict):
            node.value = ast.copy_location(ast.Dict([], []), node.value)
            changed = True
    for body in blocks(tree):
        for i, statement in enumerate(body):
            new = _counted(statement, empty)
            if new is not None:
                body[i] = ast.fix_missing_locations(ast.copy_location(new, statement))
                changed = True
    return changed


def _empty_dict(node: ast.expr) -> bool:
    if isinstance(node, ast.Dict):
        return not node.keys
    if not isinstance(node, ast.Call):
        return False
    called = _dotted(node.func).rsplit(".", 1)[-1]
    return (
        called in ("dict", "Counter", "OrderedDict") and not node.args and not node.keywords
    ) or called == "defaultdict"


def _counted(statement: ast.stmt, empty: set[str]) -> ast.stmt | None:
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Subscript):
        target = statement.target
        if _name(target.value) not in empty or not isinstance(statement.op, (ast.Add, ast.Sub)):
            return None
        zero: ast.expr = ast.Constant(0)
        if isinstance(statement.value, (ast.List, ast.ListComp)):
            zero = ast.List([], ast.Load())
        holder = ast.Name(_name(target.value) or "", ast.Load())
        got = expression("holder.get(key, zero)", holder=holder, key=target.slice, zero=zero)
        return ast.Assign([target], ast.BinOp(got, statement.op, statement.value))
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        f = call.func
        if (
            isinstance(f, ast.Attribute)
            and f.attr in ("append", "add", "extend")
            and isinstance(f.value, ast.Subscript)
        ):
            if _name(f.value.value) not in empty:
                return None
            fresh = ast.parse("set()" if f.attr == "add" else "[]", mode="eval").body
            f.value = expression(
                "holder.setdefault(key, fresh)", holder=f.value.value, key=f.value.slice, fresh=fresh
            )
            return statement
    return None


def last_value(tree: ast.Module, tools: Tools) -> bool:
    """End a program that stops inside a loop or an `if` with the value that it built."""
    del tools
    if not tree.body or not isinstance(tree.body[-1], (ast.For, ast.If)):
        return False
    last = tree.body[-1]
    if any(isinstance(n, ast.Call) and _name(n.func) == "print" for n in ast.walk(last)):
        return _printed_loop(tree, last)
    before = bound_names(ast.Module(tree.body[:-1], []))
    built = [name for name in _changed_in(last) if name in before] or [
        n for n in _changed_in(last) if isinstance(last, ast.If)
    ]
    if not built:
        return False
    tree.body.append(
        ast.fix_missing_locations(ast.copy_location(ast.Expr(ast.Name(built[-1], ast.Load())), last))
    )
    return True


def _changed_in(root: ast.AST) -> list[str]:
    names: list[str] = []
    for node in ast.walk(root):
        name: str | None = None
        if isinstance(node, ast.AugAssign):
            name = _name(node.target) or (
                _name(node.target.value) if isinstance(node.target, ast.Subscript) else None
            )
        elif isinstance(node, ast.Assign):
            target = node.targets[0]
            name = _name(target.value) if isinstance(target, ast.Subscript) else _name(target)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in grammar.MUTATORS
        ):
            value = node.func.value
            while isinstance(value, (ast.Subscript, ast.Call, ast.Attribute)):
                value = value.func if isinstance(value, ast.Call) else value.value
            name = _name(value)
        if name is not None:
            names.append(name)
    return names


def _printed_loop(tree: ast.Module, last: ast.stmt) -> bool:
    """`for x in xs: print(f(x))` → a list of what it would print, when printing is all it does for its value."""
    if not isinstance(last, ast.For) or any(isinstance(s, ast.For) for s in ast.walk(last) if s is not last):
        return False
    prints = [
        (body, i)
        for body in blocks(last)
        for i, s in enumerate(body)
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and _name(s.value.func) == "print"
    ]
    if len(prints) != 1:
        return False
    body, i = prints[0]
    call = body[i].value  # type: ignore[attr-defined]  # an Expr, see above
    if not call.args or call.keywords:
        return False
    free = "shown"
    while free in bound_names(tree):
        free += "_"
    value = call.args[0] if len(call.args) == 1 else ast.Tuple(list(call.args), ast.Load())
    name = ast.Name(free, ast.Load())
    body[i] = ast.copy_location(ast.Expr(expression("name.append(value)", name=name, value=value)), body[i])
    at = tree.body.index(last)
    tree.body.insert(
        at, ast.copy_location(ast.Assign([ast.Name(free, ast.Store())], ast.List([], ast.Load())), last)
    )
    tree.body.append(ast.copy_location(ast.Expr(ast.Name(free, ast.Load())), last))
    ast.fix_missing_locations(tree)
    return True


# -- names ---------------------------------------------------------------------------------------------------


def literals(tree: ast.Module, tools: Tools) -> bool:
    """`true`, `false`, `null` → Python's words."""

    class Fix(Rewriter):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            if isinstance(node.ctx, ast.Load) and node.id in _LITERALS and node.id not in self.bound:
                return self.put(ast.Constant(_LITERALS[node.id]), node)
            return node

    fix = Fix(tools, bound_names(tree))
    fix.visit(tree)
    return fix.changed


def taken_names(tree: ast.Module, tools: Tools) -> bool:
    """Give a variable that hides a tool or builtin an underscore: `list = glob(…)` → `list_ = glob(…)`."""
    bound = bound_names(tree)
    taken = {
        n
        for n in bound
        if n in tools or n in grammar.BUILTINS or n in grammar.RESERVED_NAMES or n.startswith("__")
    }
    taken = {n for n in taken if n not in grammar.RESERVED_NAMES}
    if not taken:
        return False
    names = {n: f"{n.strip('_')}_" for n in taken}
    for old, new in names.items():
        while new in bound:
            new += "_"  # noqa: PLW2901  # the loop's own value grows until it is free
        names[old] = new
    called = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names and id(node) not in called:
            node.id = names[node.id]
        elif isinstance(node, ast.arg) and node.arg in names:
            node.arg = names[node.arg]
    return True


_ALIASES: Mapping[str, tuple[str, ...]] = {
    "read": ("read_file", "readfile", "get_file", "file_read", "cat", "load", "read_text", "get_text", "open"),
    "glob": ("list_files", "find_files", "files", "ls", "listdir", "list_dir", "get_files", "search_files"),
    "grep": ("search", "find_text", "search_text", "find", "rg", "grep_files", "find_lines", "search_code", "find_all"),
    "find_callers": ("find_references", "find_usages", "callers", "usages", "references", "get_callers", "find_calls"),
    "find_definitions": ("definitions", "definition", "find_classes", "find_functions", "find_symbol"),
    "outline": ("symbols", "structure", "get_outline", "list_definitions", "file_outline", "inspect"),
    "run_tests": ("test", "pytest", "tests"),
}  # fmt: skip
"""Names models give to common tools; used only when the kit has the tool and the program's name is unknown."""


def near_names(tree: ast.Module, tools: Tools) -> bool:
    """Call the tool that an unknown name can only mean: a near miss or a common alias that takes the same arguments."""
    bound = bound_names(tree)
    changed = False
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name = node.func.id
        if (
            name in tools
            or name in grammar.BUILTINS
            or name in bound
            or (name in grammar.REFUSED_NAMES and name != "open")
        ):
            continue
        near = nearest_tool(name, node, tools)
        if near is not None:
            node.func.id = near
            changed = True
    return changed


def nearest_tool(name: str, call: ast.Call, tools: Tools) -> str | None:
    """Return the one tool that `name` can mean, `None` when none or several are as near."""
    scores: list[tuple[float, str]] = []
    for tool, signature in tools.items():
        if not _fits(call, signature):
            continue
        if name.lower() in _ALIASES.get(tool, ()):
            return tool
        mine, other = set(name.lower().split("_")), set(tool.lower().split("_"))
        overlap = len(mine & other) / len(mine | other)
        scores.append((max(SequenceMatcher(None, name.lower(), tool.lower()).ratio(), overlap), tool))
    scores.sort(reverse=True)
    if not scores or scores[0][0] < 0.7 or (len(scores) > 1 and scores[0][0] - scores[1][0] < 0.05):
        return None
    return scores[0][1]


def _fits(call: ast.Call, signature: Signature) -> bool:
    required = sum(1 for p in signature.params if p.required)
    given = len(call.args) + len(call.keywords)
    return required <= given <= len(signature.params) or any(isinstance(a, ast.Starred) for a in call.args)


def keyword_arguments(tree: ast.Module, tools: Tools) -> bool:
    """`grep("x", path="a.py")` → the one parameter that is still free, where an unknown keyword can only mean it."""
    changed = False
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tools):
            continue
        params = [p.name for p in tools[node.func.id].params]
        used = {*params[: len(node.args)], *(k.arg for k in node.keywords if k.arg)}
        free = [p for p in params if p not in used]
        unknown = [k for k in node.keywords if k.arg is not None and k.arg not in params]
        if len(unknown) == 1 and len(free) == 1:
            unknown[0].arg = free[0]
            changed = True
    return changed


def attribute_keys(tree: ast.Module, tools: Tools) -> bool:
    """`row.file` → `row["file"]`: rows are dicts, and an attribute that isn't called can only be a key."""

    class Fix(Rewriter):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            if isinstance(node.func, ast.Attribute):
                node.func.value = self.visit(node.func.value)
                node.args = [self.visit(a) for a in node.args]
                node.keywords = [self.visit(k) for k in node.keywords]
                return node
            self.generic_visit(node)
            return node

        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            self.generic_visit(node)
            if isinstance(node.ctx, ast.Load) and node.attr in keys:
                return self.put(ast.Subscript(node.value, ast.Constant(node.attr), ast.Load()), node)
            return node

    keys = {key for s in tools.values() for row in s.rows for key, _ in row.fields}
    fix = Fix(tools, bound_names(tree))
    fix.visit(tree)
    return fix.changed


Repair = Callable[[ast.Module, Tools], bool]
