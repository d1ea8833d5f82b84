"""May this program run? One walk answers, in the order the program would run.

`check` takes a text and the signatures of a kit and returns a `Verdict`; it raises on no text. The
walk accepts what the tables in `grammar` allow and what `lower` can rewrite; where something was
rewritten the lowered tree is walked once more, and that second walk accepts the tables only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from lackpy.lang import grammar, lower, lower_expr, rules, violations
from lackpy.lang.fresh import Fresh
from lackpy.lang.parse import parse, source_lines
from lackpy.lang.signature import Grade, Signature
from lackpy.lang.verdict import Verdict, Violation
from lackpy.lang.violations import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NO_GRADE = Grade(0, 0)
_NO_NAMES: frozenset[str] = frozenset()


def check(
    source: str,
    signatures: Mapping[str, Signature],
    *,
    params: Iterable[str] = (),
    max_grade: Grade | None = None,
    rules: Iterable[str] = (),
) -> Verdict:
    """Parse, lower, validate and grade a program.

    Args:
        source: The program, of any text at all.
        signatures: The tools it may call, by the name it calls them.
        params: Names that hold a value when the program starts.
        max_grade: The highest grade the program may have; `None` for no cap.
        rules: Extra rules, see `lackpy.lang.rules`.

    Returns:
        The verdict: every violation in source order, or the lowered tree with its grade and calls.
    """
    tree = parse(source)
    if isinstance(tree, Violation):
        return Verdict(False, (tree,), _NO_GRADE, (), source)
    names = Fresh(source)
    try:
        walk = _Walk(source, signatures, params, names)
        lower.output(tree.body, names)
        walk.run(tree)
        found = walk.found
        if not found and walk.rewrites(tree):
            again = _Walk(source, signatures, params, names, strict=True)
            again.run(tree)
            found = again.found
    except (RecursionError, MemoryError):
        deep = violations.too_deep(Place(), grammar.MAX_DEPTH)
        return Verdict(False, (deep,), _NO_GRADE, (), source)
    calls = tuple(name for _, name in sorted((places[0], name) for name, places in walk.calls.items()))
    grade = _NO_GRADE
    for name in calls:
        grade = grade.join(signatures[name].grade)
    if max_grade is not None and not grade.within(max_grade):
        found.extend(_over_cap(walk, calls, max_grade))
    found.extend(_broken_rules(walk, calls, rules))
    if found:
        found.sort(key=_position)
        return Verdict(False, tuple(dict.fromkeys(found)), grade, calls, source)
    return Verdict(True, (), grade, calls, source, tree)


def lowered(tree: ast.Module, signatures: Mapping[str, Signature]) -> ast.Module:
    """Return `tree` lowered in place, as far as it holds nothing the language refuses.

    Args:
        tree: A parsed program.
        signatures: Its tools.
    """
    source = _names_of(tree)
    names = Fresh(source)
    walk = _Walk(source, signatures, (), names, free=True)
    lower.output(tree.body, names)
    walk.run(tree)
    if not walk.found:
        walk.rewrites(tree)
    return tree


def _names_of(tree: ast.Module) -> str:
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    names.update(n.arg for n in ast.walk(tree) if isinstance(n, ast.arg))
    return " ".join(sorted(names))


def _position(violation: Violation) -> tuple[int, int, str]:
    return violation.line, violation.column, violation.rule


def _over_cap(walk: _Walk, calls: tuple[str, ...], cap: Grade) -> list[Violation]:
    over: list[Violation] = []
    for name in calls:
        grade = walk.tools[name].grade
        if not grade.within(cap):
            place = walk.place_at(walk.calls[name][0], name)
            over.append(violations.grade_cap(place, name, f"({grade.w}, {grade.d})", f"({cap.w}, {cap.d})"))
    return over


def _broken_rules(walk: _Walk, calls: tuple[str, ...], wanted: Iterable[str]) -> list[Violation]:
    found: list[Violation] = []
    for text in wanted:
        facts = rules.Facts(
            grades={name: walk.tools[name].grade for name in calls},
            calls={name: tuple(walk.place_at(at, name) for at in walk.calls[name]) for name in calls},
            loops=tuple(walk.place_at(at, "for") for at in walk.loops),
            printed=tuple(walk.place_at(at, "print") for at in walk.prints),
        )
        found.extend(rules.broken(text, facts))
    return found


class _Walk:
    """State of one walk over one program."""

    __slots__ = (
        "_lines",
        "_snapshots",
        "bound",
        "calls",
        "escaped",
        "found",
        "free",
        "local",
        "loop",
        "loops",
        "missing",
        "mutated",
        "names",
        "not_sets",
        "pending",
        "prints",
        "replaced",
        "sets",
        "shared",
        "source",
        "strict",
        "structural",
        "tool_calls",
        "tools",
        "unscoped",
    )

    def __init__(
        self,
        source: str,
        tools: Mapping[str, Signature],
        params: Iterable[str],
        names: Fresh,
        *,
        strict: bool = False,
        free: bool = False,
    ) -> None:
        self.source = source
        self.tools = tools
        self.names = names
        self.strict = strict
        self.free = free
        self.found: list[Violation] = []
        self.bound: set[str] = set(params)
        self.local: frozenset[str] = _NO_NAMES
        self.calls: dict[str, list[tuple[int, int]]] = {}
        self.tool_calls = 0
        self.loops: list[tuple[int, int]] = []
        self.prints: list[tuple[int, int]] = []
        self.loop = 0
        self.pending: list[ast.Name] = []
        self.missing: list[ast.Name] = []
        self.replaced: dict[int, ast.AST] = {}
        self.structural = False
        # What decides whether a loop needs a snapshot: names that may share an object with another
        # name, and the root names of what a body changes (`None` where there is no such name).
        self.shared: set[str] = set(self.bound)
        self.escaped: set[str] = set()
        self.mutated: list[str | None] = []
        self.sets: set[str] = set()
        self.not_sets: set[str] = set()
        self._snapshots: list[tuple[ast.For | ast.comprehension, list[str | None]]] = []
        self._lines: list[str] | None = None

    # -- the whole program --

    def run(self, tree: ast.Module) -> None:
        """Walk `tree`; what it finds is in `found`, `calls`, `replaced`, `structural`."""
        if len(self.source) > grammar.MAX_NODES and self._too_many_nodes(tree):
            self.found.append(violations.too_many_nodes(Place(), grammar.MAX_NODES))
            return
        _block(self, tree.body, 0)
        if self.missing:
            self._resolve()
        if self._snapshots and not self.strict and not self.found:
            self._take_snapshots()

    def rewrites(self, tree: ast.Module) -> bool:
        """Put in place what the walk decided to rewrite; tell whether anything changed."""
        if self.replaced:
            lower.replace(tree, self.replaced)
        if self.structural:
            lower.structure(tree, self.names)
        return bool(self.replaced) or self.structural

    def _too_many_nodes(self, tree: ast.Module) -> bool:
        count = 0
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                count += 1
                if count > grammar.MAX_NODES:
                    return True
        return False

    def _take_snapshots(self) -> None:
        changed = self.shared | self.escaped
        for node, roots in self._snapshots:
            if any(root is None or root in changed for root in roots):
                lower.snapshot(node)

    # -- places --

    def place(self, node: ast.AST, text: str | None = None) -> Place:
        """Return where `node` is, in characters; the text is the node's own unless given."""
        line = getattr(node, "lineno", 1)
        offset = getattr(node, "col_offset", 0)
        return self.place_at((line, offset), self._text(node) if text is None else text)

    def place_at(self, at: tuple[int, int], text: str) -> Place:
        """Return the place of a (line, byte offset) pair."""
        line, offset = at
        lines = self.lines()
        row = lines[line - 1] if line <= len(lines) else ""
        column = len(row.encode("utf-8", "replace")[:offset].decode("utf-8", "replace")) + 1
        return Place(line, column, text[:80])

    def lines(self) -> list[str]:
        """Return the source by line."""
        if self._lines is None:
            self._lines = source_lines(self.source.removeprefix("\ufeff"))
        return self._lines

    def _text(self, node: ast.AST) -> str:
        line = getattr(node, "lineno", 0)
        lines = self.lines()
        if not 1 <= line <= len(lines):
            return ""
        row = lines[line - 1].encode("utf-8", "replace")
        end = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", line) == line else len(row)
        return row[getattr(node, "col_offset", 0) : end].decode("utf-8", "replace").strip()

    # -- refusals --

    def refuse(self, node: ast.AST, kind: str | None = None, *, at: ast.AST | None = None) -> None:
        """Report a node type outside the whitelist."""
        kind = kind or type(node).__name__
        refusal = grammar.REFUSED_NODES.get(kind)
        place = self.place(at or node)
        if refusal is None:
            self.found.append(
                violations.forbidden_syntax(place, f"'{kind}'", "write it with the constructs of the spec")
            )
        else:
            self.found.append(violations.forbidden_syntax(place, refusal.what, refusal.hint))

    def no_such_name(self, node: ast.Name) -> None:
        """Report a name that nothing binds, or that can't be a value."""
        identifier = node.id
        place = self.place(node, identifier)
        if identifier in self.tools:
            self.found.append(violations.tool_as_value(place, identifier))
        elif identifier in grammar.BUILTINS:
            self.found.append(violations.builtin_as_value(place, identifier))
        elif self.free:
            return
        elif self.loop:
            self.pending.append(node)
        else:
            self.missing.append(node)

    def _resolve(self) -> None:
        """Report the names that had no value where they were read."""
        for node in self.missing:
            identifier = node.id
            place = self.place(node, identifier)
            if identifier in self.bound:
                self.found.append(violations.used_before(place, identifier))
            else:
                self.found.append(violations.unknown_name(place, identifier, self._near(identifier)))

    def _near(self, identifier: str) -> str:
        reserved = grammar.REFUSED_NAMES.get(identifier)
        if reserved is not None:
            return reserved
        known = [*self.tools, *sorted(self.bound), *grammar.BUILTINS]
        close = get_close_matches(identifier, known, n=1, cutoff=0.7)
        if close:
            return f"did you mean '{close[0]}'?"
        if self.tools:
            shown = ", ".join(sorted(self.tools)[:12])
            return f"assign it first, or use a tool: {shown}"
        return "assign it first"

    def bind(self, node: ast.Name) -> None:
        """Bind a target name, or report why it can't be one."""
        identifier = node.id
        if identifier in self.tools:
            self.found.append(violations.rebound(self.place(node, identifier), identifier, "tool"))
        elif identifier in grammar.BUILTINS:
            self.found.append(violations.rebound(self.place(node, identifier), identifier, "builtin"))
        elif identifier.startswith("__") or identifier in grammar.RESERVED_NAMES:
            self.found.append(violations.reserved_name(self.place(node, identifier), identifier))
        else:
            self.bound.add(identifier)

    def local_name(self, identifier: str, node: ast.AST) -> None:
        """Check a name that a comprehension or a lambda binds for itself."""
        if identifier in self.tools:
            self.found.append(violations.rebound(self.place(node, identifier), identifier, "tool"))
        elif identifier in grammar.BUILTINS:
            self.found.append(violations.rebound(self.place(node, identifier), identifier, "builtin"))
        elif identifier.startswith("__") or identifier in grammar.RESERVED_NAMES:
            self.found.append(violations.reserved_name(self.place(node, identifier), identifier))


# -- expressions -------------------------------------------------------------------------------------------


def _expr(w: _Walk, n: ast.expr, d: int) -> None:
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    handler = _EXPRESSIONS.get(type(n))
    if handler is None:
        w.refuse(n)
    else:
        handler(w, n, d + 1)


def _name(w: _Walk, n: ast.Name, d: int) -> None:
    identifier = n.id
    if identifier in w.bound or identifier in w.local:
        w.escaped.add(identifier)
    else:
        w.no_such_name(n)


_PLAIN_CONSTANTS = frozenset({str, int, float, bool, type(None)})


def _constant(w: _Walk, n: ast.Constant, d: int) -> None:
    kind = type(n.value)
    if kind is str:
        return
    if kind is int:
        if n.value.bit_length() > grammar.MAX_INT_BITS:
            w.found.append(violations.number_too_large(w.place(n), grammar.MAX_INT_BITS))
    elif kind not in _PLAIN_CONSTANTS:
        word, hint = {
            bytes: ("bytes", "write text without the b"),
            complex: ("complex number", "use whole or decimal numbers"),
        }.get(kind, ("'...'", "write the value itself"))
        w.found.append(violations.literal(w.place(n), word, hint))


def _items(w: _Walk, n: ast.List | ast.Tuple | ast.Set, d: int) -> None:
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    d += 1
    for e in n.elts:
        if type(e) is ast.Starred:
            _starred(w, e, d)
        else:
            handler = _EXPRESSIONS.get(type(e))
            if handler is None:
                w.refuse(e)
            else:
                handler(w, e, d)


def _starred(w: _Walk, n: ast.Starred, d: int) -> None:
    if type(n.value) is ast.GeneratorExp:
        n.value = lower_expr.list_of(n.value)
    _expr(w, n.value, d)


def _dict(w: _Walk, n: ast.Dict, d: int) -> None:
    for key in n.keys:
        if key is not None:
            _expr(w, key, d)
    for value in n.values:
        _expr(w, value, d)


def _subscript(w: _Walk, n: ast.Subscript, d: int) -> None:
    value = n.value
    if type(value) is ast.Name and (value.id in w.bound or value.id in w.local):
        pass  # the object itself doesn't get another name here
    else:
        _expr(w, value, d)
    index = n.slice
    if type(index) is ast.Slice:
        _slice(w, index, d)
    elif type(index) is not ast.Constant:
        _expr(w, index, d)
    elif type(index.value) is not str:
        _constant(w, index, d)


def _slice(w: _Walk, n: ast.Slice, d: int) -> None:
    if n.lower is not None:
        _expr(w, n.lower, d)
    if n.upper is not None:
        _expr(w, n.upper, d)
    if n.step is not None:
        _expr(w, n.step, d)


def _attribute(w: _Walk, n: ast.Attribute, d: int) -> None:
    w.found.append(violations.attribute(w.place(n), n.attr))
    if type(n.value) is not ast.Name:
        _expr(w, n.value, d)


_OPERATORS = frozenset({ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.FloorDiv})


def _binop(w: _Walk, n: ast.BinOp, d: int) -> None:
    op = type(n.op)
    left, right = n.left, n.right
    if op not in _OPERATORS:
        _other_operator(w, n)
    elif op is ast.Mult and (type(left) is ast.Constant or type(right) is ast.Constant):
        _static_size(w, n)
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    handler = _EXPRESSIONS.get(type(left))
    if handler is None:
        w.refuse(left)
    else:
        handler(w, left, d + 1)
    handler = _EXPRESSIONS.get(type(right))
    if handler is None:
        w.refuse(right)
    else:
        handler(w, right, d + 1)


def _other_operator(w: _Walk, n: ast.BinOp) -> None:
    new: ast.expr | None = None
    if not w.strict:
        if isinstance(n.op, ast.Pow):
            new = lower_expr.power(n)
        elif isinstance(n.op, (ast.BitOr, ast.BitAnd, ast.BitXor)):
            new = lower_expr.set_operator(n, w.sets - w.not_sets)
    if new is None:
        w.refuse(n.op, at=n)
    else:
        w.replaced[id(n)] = new


def _static_size(w: _Walk, n: ast.BinOp) -> None:
    for sequence, times in ((n.left, n.right), (n.right, n.left)):
        if type(times) is not ast.Constant or type(times.value) is not int or times.value <= 0:
            continue
        if type(sequence) is ast.Constant and type(sequence.value) is str:
            size = len(sequence.value) * times.value
        elif type(sequence) in {ast.List, ast.Tuple}:
            size = len(sequence.elts) * times.value  # type: ignore[attr-defined]  # the test above
        else:
            continue
        if size > grammar.MAX_STATIC_SIZE:
            w.found.append(violations.static_size(w.place(n), size, grammar.MAX_STATIC_SIZE))


def _unary(w: _Walk, n: ast.UnaryOp, d: int) -> None:
    if type(n.op) is ast.Invert:
        w.refuse(n.op, at=n)
    _expr(w, n.operand, d)


def _boolop(w: _Walk, n: ast.BoolOp, d: int) -> None:
    for value in n.values:
        _expr(w, value, d)


def _compare(w: _Walk, n: ast.Compare, d: int) -> None:
    _expr(w, n.left, d)
    comparators = n.comparators
    for i, value in enumerate(comparators):
        if type(value) is ast.GeneratorExp:
            comparators[i] = value = lower_expr.list_of(value)
        _expr(w, value, d)


def _ifexp(w: _Walk, n: ast.IfExp, d: int) -> None:
    _expr(w, n.test, d)
    _expr(w, n.body, d)
    _expr(w, n.orelse, d)


def _joined(w: _Walk, n: ast.JoinedStr, d: int) -> None:
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    for part in n.values:
        if type(part) is ast.FormattedValue:
            value = part.value
            handler = _EXPRESSIONS.get(type(value))
            if handler is None:
                w.refuse(value)
            else:
                handler(w, value, d + 1)
            spec = part.format_spec
            if spec is not None:
                _spec(w, spec, d)
        elif type(part) is not ast.Constant:
            _expr(w, part, d)


def _spec(w: _Walk, n: ast.expr, d: int) -> None:
    _expr(w, n, d)
    for part in n.values if isinstance(n, ast.JoinedStr) else ():
        if type(part) is ast.Constant:
            size = _width(part.value)
            if size > grammar.MAX_FORMAT_WIDTH:
                w.found.append(violations.static_size(w.place(n), size, grammar.MAX_FORMAT_WIDTH))


def _width(spec: str) -> int:
    """Return the largest whole number in a format specification."""
    if len(spec) < 6:
        return 0
    digits = "".join(c if c.isdecimal() else " " for c in spec).split()
    return max((int(run[:20]) for run in digits), default=0)


def _formatted(w: _Walk, n: ast.FormattedValue, d: int) -> None:
    _expr(w, n.value, d)
    if n.format_spec is not None:
        _spec(w, n.format_spec, d)


def _lambda(w: _Walk, n: ast.Lambda, d: int) -> None:
    w.found.append(violations.lambda_place(w.place(n)))
    _lambda_body(w, n, d)


def _lambda_body(w: _Walk, n: ast.Lambda, d: int) -> None:
    a = n.args
    names = [p.arg for p in a.args]
    if len(names) != 1 or a.posonlyargs or a.vararg or a.kwonlyargs or a.kwarg or a.defaults:
        w.found.append(violations.lambda_shape(w.place(n)))
        parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(p for p in (a.vararg, a.kwarg) if p)]
        names = [p.arg for p in parameters]
        for default in (*a.defaults, *(v for v in a.kw_defaults if v)):
            _expr(w, default, d)
    for identifier in names:
        w.local_name(identifier, n)
    before = w.local
    w.local = before.union(names)
    w.shared.update(names)
    _expr(w, n.body, d)
    w.local = before


def _comprehension(w: _Walk, n: ast.ListComp | ast.SetComp, d: int) -> None:
    before = _generators(w, n.generators, d)
    mark = len(w.mutated)
    _expr(w, n.elt, d)
    w.local = before
    if len(w.mutated) > mark:
        _note_comprehension(w, n.generators, mark)


def _dict_comprehension(w: _Walk, n: ast.DictComp, d: int) -> None:
    before = _generators(w, n.generators, d)
    mark = len(w.mutated)
    _expr(w, n.key, d)
    _expr(w, n.value, d)
    w.local = before
    if len(w.mutated) > mark:
        _note_comprehension(w, n.generators, mark)


def _generators(w: _Walk, generators: list[ast.comprehension], d: int) -> frozenset[str]:
    """Walk the loops of a comprehension; return the names that were local outside it."""
    before = w.local
    for g in generators:
        if g.is_async:
            w.refuse(g, "AsyncFor", at=g.iter)
        if type(g.iter) is ast.GeneratorExp:
            g.iter = lower_expr.list_of(g.iter)
        _expr(w, g.iter, d)
        target = g.target
        if type(target) is ast.Name:
            identifier = target.id
            w.local_name(identifier, target)
            w.local |= {identifier}
            w.shared.add(identifier)
        else:
            _local_target(w, target)
        if g.ifs:
            mark = len(w.mutated)
            for test in g.ifs:
                _expr(w, test, d)
            if len(w.mutated) > mark:
                _note_comprehension(w, generators, mark)
    return before


def _local_target(w: _Walk, target: ast.expr) -> None:
    if isinstance(target, ast.Name):
        w.local_name(target.id, target)
        w.local |= {target.id}
        w.shared.add(target.id)
    elif isinstance(target, (ast.Tuple, ast.List)):
        if sum(isinstance(e, ast.Starred) for e in target.elts) > 1:
            w.found.append(violations.two_stars(w.place(target)))
        for e in target.elts:
            _local_target(w, e.value if isinstance(e, ast.Starred) else e)
    else:
        w.found.append(violations.target(w.place(target)))


def _note_comprehension(w: _Walk, generators: list[ast.comprehension], mark: int) -> None:
    for g in generators:
        if not _is_fresh(w, g.iter):
            w._snapshots.append((g, w.mutated[mark:]))  # noqa: SLF001  # the walk's own functions


# -- calls -------------------------------------------------------------------------------------------------


def _call(w: _Walk, n: ast.Call, d: int) -> None:
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    d += 1
    f = n.func
    kind = type(f)
    args = n.args
    keywords = n.keywords
    if kind is ast.Name:
        identifier = f.id  # type: ignore[attr-defined]  # the test above
        if identifier in w.tools:
            places = w.calls.get(identifier)
            if places is None:
                w.calls[identifier] = places = []
            places.append((f.lineno, f.col_offset))
            w.tool_calls += 1
            _tool_arguments(w, n, w.tools[identifier])
        else:
            builtin = grammar.BUILTINS.get(identifier)
            if builtin is None:
                _unknown_call(w, f)  # type: ignore[arg-type]  # the test above
            else:
                if _builtin_call(w, n, identifier, builtin, d):
                    return
    elif kind is ast.Attribute:
        if _method_call(w, n, f, d):  # type: ignore[arg-type]  # the test above
            return
    elif kind is ast.Lambda:
        _lambda(w, f, d)  # type: ignore[arg-type]  # the test above
    else:
        w.found.append(violations.call_target(w.place(f)))
        if kind not in {ast.Call, ast.Constant}:
            _expr(w, f, d)
    for i, a in enumerate(args):
        handler = _EXPRESSIONS.get(type(a))
        if handler is not None:
            handler(w, a, d)
        elif type(a) is ast.GeneratorExp:
            args[i] = new = lower_expr.list_of(a)
            _comprehension(w, new, d)
        elif type(a) is ast.Starred:
            _starred(w, a, d)
        else:
            w.refuse(a)
    if keywords:
        _keywords(w, keywords, d)


def _keywords(w: _Walk, keywords: list[ast.keyword], d: int) -> None:
    seen: set[str | None] = set()
    for k in keywords:
        if k.arg is not None and k.arg in seen:
            w.found.append(
                violations.arguments(w.place(k), f"argument '{k.arg}' is given twice", f"one {k.arg}=...")
            )
        seen.add(k.arg)
        if type(k.value) is ast.GeneratorExp:
            k.value = lower_expr.list_of(k.value)
        _expr(w, k.value, d)


def _unknown_call(w: _Walk, f: ast.Name) -> None:
    if f.id in w.bound or f.id in w.local:
        w.found.append(violations.call_of_value(w.place(f), f.id))
    else:
        w.no_such_name(f)


def _tool_arguments(w: _Walk, n: ast.Call, signature: Signature) -> None:
    """Check a tool call's arguments against its signature, as far as they can be counted."""
    params = signature.params
    args, keywords = n.args, n.keywords
    if len(args) == len(params) and not keywords:
        for a in args:
            if type(a) is ast.Starred:
                return
        return
    message = _misfit(args, keywords, signature)
    if message:
        w.found.append(violations.arguments(w.place(n), message, signature.text()))


def _misfit(args: list[ast.expr], keywords: list[ast.keyword], signature: Signature) -> str:
    params = signature.params
    names = [p.name for p in params]
    variable = any(p.name.startswith("*") for p in params)
    starred = any(type(a) is ast.Starred for a in args)
    doubled = any(k.arg is None for k in keywords)
    if variable:
        return ""
    if len(args) > len(names) and not starred:
        return f"'{signature.name}' takes {_count(len(names))}, {len(args)} given"
    given = set() if starred else set(names[: len(args)])
    for k in keywords:
        if k.arg is None:
            continue
        if k.arg not in names:
            return f"'{signature.name}' has no argument '{k.arg}'"
        if k.arg in given:
            return f"'{signature.name}' gets argument '{k.arg}' twice"
        given.add(k.arg)
    if starred or doubled:
        return ""
    missing = [p.name for p in params if p.required and p.name not in given]
    return f"'{signature.name}' misses argument '{missing[0]}'" if missing else ""


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments" if number else "no arguments"


_TYPE_NAMES = frozenset(name for name, builtin in grammar.BUILTINS.items() if builtin.is_type)


def _builtin_call(w: _Walk, n: ast.Call, identifier: str, builtin: grammar.Builtin, d: int) -> bool:
    """Check one builtin call; return whether its arguments were walked here."""
    args, keywords = n.args, n.keywords
    count = len(args)
    if (count < builtin.least or (builtin.most is not None and count > builtin.most)) and not any(
        type(a) is ast.Starred for a in args
    ):
        if not (identifier == "sort_by" and count + len(keywords) >= 2 and count <= 3):
            message = f"'{identifier}' does not take {_count(count)}"
            w.found.append(violations.arguments(w.place(n), message, builtin.text))
    if keywords:
        allowed = builtin.keywords
        for k in keywords:
            if k.arg is not None and allowed is not None and k.arg not in allowed:
                message = f"'{identifier}' has no argument '{k.arg}'"
                w.found.append(violations.arguments(w.place(k), message, builtin.text))
        if identifier in grammar.LAMBDA_HOSTS:
            _keyed_call(w, n, d)
            return True
    if identifier == "isinstance":
        if args:
            _expr(w, args[0], d)
        for a in args[1:]:
            _type_argument(w, a, d)
        if keywords:
            _keywords(w, keywords, d)
        return True
    if identifier == "sort_by":
        _keyed_call(w, n, d)
        return True
    if identifier == "print":
        w.prints.append((n.lineno, n.col_offset))
    return False


def _type_argument(w: _Walk, n: ast.expr, d: int) -> None:
    if type(n) is ast.Name and n.id in _TYPE_NAMES:
        return
    if type(n) is ast.Tuple and d <= grammar.MAX_DEPTH:
        for e in n.elts:
            _type_argument(w, e, d + 1)
        return
    _expr(w, n, d)


def _keyed_call(w: _Walk, n: ast.Call, d: int) -> None:
    """Walk a call that may carry a key: `sorted`, `min`, `max`, `sort_by`, `.sort`."""
    before = w.tool_calls
    which = n.func.id if isinstance(n.func, ast.Name) else ".sort"
    args = n.args
    for i, a in enumerate(args):
        if type(a) is ast.GeneratorExp:
            args[i] = a = lower_expr.list_of(a)
        if type(a) is ast.Starred:
            _starred(w, a, d)
        elif which == "sort_by" and i == 1:
            before = w.tool_calls
            n.args[1] = _key(w, a, d, allow_text=True)
        else:
            _expr(w, a, d)
    others = [k for k in n.keywords if k.arg != "key"]
    keys = [k for k in n.keywords if k.arg == "key"]
    if others:
        _keywords(w, others, d)
    if len(keys) > 1 or (keys and which == "sort_by" and len(args) > 1):
        w.found.append(
            violations.arguments(w.place(keys[-1]), "argument 'key' is given twice", "one key=...")
        )
    if keys:
        before = w.tool_calls
        keys[0].value = _key(w, keys[0].value, d, allow_text=which == "sort_by")
    has_key = bool(keys) or (which == "sort_by" and len(args) > 1)
    calls_tool = has_key and w.tool_calls > before
    if w.strict:
        return
    if which == "sort_by":
        new = lower_expr.sort_by(n, w.names)
        if isinstance(new, ast.Call) and calls_tool:
            new = lower_expr.keyed_first(new, w.names)
        if new is None:
            w.found.append(violations.key_value(w.place(n)))
        else:
            w.replaced[id(n)] = new
    elif calls_tool and which != ".sort":
        new = lower_expr.keyed_first(n, w.names)
        if new is None:
            w.found.append(violations.key_value(w.place(n)))
        else:
            w.replaced[id(n)] = new
    elif calls_tool:
        w.found.append(violations.statement_value(w.place(n), ".sort() with a tool call in its key"))


def _key(w: _Walk, n: ast.expr, d: int, *, allow_text: bool) -> ast.expr:
    """Walk the value of a `key=`; return what stands there after lowering."""
    if type(n) is ast.Lambda:
        mark = len(w.mutated)
        _lambda_body(w, n, d)
        del w.mutated[mark:]
        return n
    if type(n) is ast.Name:
        if n.id in w.tools:
            w.found.append(violations.tool_as_key(w.place(n), n.id))
            return n
        builtin = grammar.BUILTINS.get(n.id)
        if builtin is not None:
            if not builtin.keyable:
                w.found.append(violations.key_value(w.place(n)))
            return n
    if type(n) is ast.Attribute:
        new = lower_expr.method_key(n, w.names)
        if new is not None:
            return ast.fix_missing_locations(ast.copy_location(new, n))
    if type(n) is ast.Constant and n.value is None:
        return n
    _expr(w, n, d)
    if not allow_text:
        w.found.append(violations.key_value(w.place(n)))
    return n


def _method_call(w: _Walk, n: ast.Call, f: ast.Attribute, d: int) -> bool:
    """Check one method call; return whether its arguments were walked here."""
    method = f.attr
    receiver = f.value
    if method not in grammar.ALL_METHODS:
        return _other_method(w, n, f, d)
    if type(receiver) is ast.Name and (receiver.id in w.bound or receiver.id in w.local):
        if method in grammar.MUTATORS:
            w.mutated.append(receiver.id)
    elif type(receiver) is not ast.Constant or type(receiver.value) is not str:
        _expr(w, receiver, d)
        if method in grammar.MUTATORS:
            w.mutated.append(None)
    if method == "sort" and n.keywords:
        _keyed_call(w, n, d)
        return True
    return False


def _other_method(w: _Walk, n: ast.Call, f: ast.Attribute, d: int) -> bool:
    method = f.attr
    if method == "format" and not w.strict:
        new = lower_expr.format_call(n, w.names)
        if isinstance(new, str):
            w.found.append(violations.format_text(w.place(n), new))
            if type(f.value) is not ast.Constant:
                _expr(w, f.value, d)
        else:
            w.replaced[id(n)] = new
        return False
    if method == "fromkeys" and type(f.value) is ast.Name and f.value.id == "dict" and not w.strict:
        comprehension = lower_expr.fromkeys(n, w.names)
        if comprehension is not None:
            if type(n.args[0]) is ast.GeneratorExp:
                n.args[0] = lower_expr.list_of(n.args[0])
                comprehension = lower_expr.fromkeys(n, w.names)
            w.replaced[id(n)] = comprehension  # type: ignore[assignment]  # the test above
            return False
    hint = grammar.REFUSED_METHODS.get(method)
    if hint is None:
        close = get_close_matches(method, sorted(grammar.ALL_METHODS), n=1, cutoff=0.75)
        hint = f"did you mean '.{close[0]}()'?" if close else "use a method of str, list, dict, set or tuple"
    w.found.append(violations.unknown_method(w.place(n), method, hint))
    if type(f.value) is not ast.Name or f.value.id in w.bound:
        _expr(w, f.value, d)
    return False


# -- statements --------------------------------------------------------------------------------------------


def _block(w: _Walk, body: list[ast.stmt], d: int) -> None:
    if d > grammar.MAX_DEPTH:
        raise RecursionError
    d += 1
    for statement in body:
        handler = _STATEMENTS.get(type(statement))
        if handler is None:
            w.refuse(statement)
        else:
            handler(w, statement, d)


def _expression(w: _Walk, n: ast.Expr, d: int) -> None:
    value = n.value
    kind = type(value)
    if kind is ast.Name and (value.id in w.bound or value.id in w.local):  # type: ignore[attr-defined]  # as tested
        return
    if kind is ast.Call and not w.strict and _is_keyed_sort(value):  # type: ignore[arg-type]  # as tested
        _sort_statement(w, n, value, d)  # type: ignore[arg-type]  # as tested
        return
    _expr(w, value, d)


def _is_keyed_sort(n: ast.Call) -> bool:
    return bool(n.keywords) and type(n.func) is ast.Attribute and n.func.attr == "sort"


def _sort_statement(w: _Walk, n: ast.Expr, value: ast.Call, d: int) -> None:
    mark, before = len(w.found), w.tool_calls
    _expr(w, value, d)
    if w.tool_calls == before:
        return
    refusals = [v for v in w.found[mark:] if v.rule == "statement"]
    if not refusals:
        return
    new = lower.in_place_sort(value, w.names)
    if new is not None:
        w.found[mark:] = [v for v in w.found[mark:] if v.rule != "statement"]
        w.replaced[id(n)] = new


def _assign(w: _Walk, n: ast.Assign, d: int) -> None:
    value = n.value
    handler = _EXPRESSIONS.get(type(value))
    if handler is None:
        w.refuse(value)
    else:
        handler(w, value, d)
    for target in n.targets:
        if type(target) is ast.Name:
            w.bind(target)
            identifier = target.id
            if type(value) not in _NEW_OBJECTS:
                w.shared.add(identifier)
                w.not_sets.add(identifier)
            elif type(value) is ast.Call:
                if not _makes_new(w, value):
                    w.shared.add(identifier)
                (w.sets if lower_expr.is_set(value, ()) else w.not_sets).add(identifier)
            elif type(value) is ast.Set or type(value) is ast.SetComp:
                w.sets.add(identifier)
            else:
                w.not_sets.add(identifier)
        else:
            _target(w, target, d)
    if len(n.targets) > 1:
        w.shared.update(t.id for t in n.targets if type(t) is ast.Name)


_NEW_OBJECTS = frozenset(
    {
        ast.List,
        ast.Dict,
        ast.Set,
        ast.Tuple,
        ast.ListComp,
        ast.DictComp,
        ast.SetComp,
        ast.Constant,
        ast.JoinedStr,
        ast.BinOp,
        ast.UnaryOp,
        ast.Compare,
        ast.Call,
    }
)


def _makes_new(w: _Walk, n: ast.Call) -> bool:
    """Tell whether a call's result is an object no other name can reach."""
    f = n.func
    if type(f) is ast.Name:
        return f.id in w.tools or f.id not in {"min", "max", "sum", "enumerate", "zip", "reversed"}
    return type(f) is ast.Attribute and f.attr not in grammar.ALIASING_METHODS


def _target(w: _Walk, n: ast.expr, d: int) -> None:
    """Walk a target that is no plain name of a plain assignment."""
    kind = type(n)
    if kind is ast.Name:
        w.bind(n)  # type: ignore[arg-type]  # the test above
        w.shared.add(n.id)  # type: ignore[attr-defined]  # the test above
        w.not_sets.add(n.id)  # type: ignore[attr-defined]  # the test above
    elif kind is ast.Subscript:
        base = n.value  # type: ignore[attr-defined]  # the test above
        w.mutated.append(base.id if type(base) is ast.Name else None)
        _subscript(w, n, d)  # type: ignore[arg-type]  # the test above
    elif kind is ast.Tuple or kind is ast.List:
        stars = 0
        for e in n.elts:  # type: ignore[attr-defined]  # the test above
            if type(e) is ast.Starred:
                stars += 1
                _target(w, e.value, d)
            else:
                _target(w, e, d)
        if stars > 1:
            w.found.append(violations.two_stars(w.place(n)))
    elif kind is ast.Attribute:
        _attribute(w, n, d)  # type: ignore[arg-type]  # the test above
    elif kind is ast.Starred:
        w.found.append(violations.star(w.place(n)))
        _target(w, n.value, d)  # type: ignore[attr-defined]  # the test above
    else:
        w.found.append(violations.target(w.place(n)))


def _aug_assign(w: _Walk, n: ast.AugAssign, d: int) -> None:
    op = type(n.op)
    value, target = n.value, n.target
    if op not in _OPERATORS:
        _other_aug(w, n)
    handler = _EXPRESSIONS.get(type(value))
    if handler is None:
        w.refuse(value)
    else:
        handler(w, value, d)
    if type(target) is ast.Name:
        if target.id not in w.bound:
            if target.id in w.tools or target.id in grammar.BUILTINS:
                w.bind(target)
            else:
                w.no_such_name(target)
            return
        if type(value) is not ast.Constant and type(value) is not ast.JoinedStr:
            w.mutated.append(target.id)
    elif type(target) is ast.Subscript:
        _target(w, target, d)
    else:
        _target(w, target, d)


def _other_aug(w: _Walk, n: ast.AugAssign) -> None:
    if not w.strict and type(n.target) is ast.Name:
        read = ast.copy_location(ast.Name(n.target.id, ast.Load()), n.target)
        operation = ast.copy_location(ast.BinOp(read, n.op, n.value), n)
        new = (
            lower_expr.power(operation)
            if isinstance(n.op, ast.Pow)
            else lower_expr.set_operator(operation, w.sets - w.not_sets)
            if isinstance(n.op, (ast.BitOr, ast.BitAnd, ast.BitXor))
            else None
        )
        if new is not None:
            w.replaced[id(n)] = ast.Assign([n.target], new)
            return
    w.refuse(n.op, at=n)


def _if(w: _Walk, n: ast.If, d: int) -> None:
    _expr(w, n.test, d)
    _block(w, n.body, d)
    if n.orelse:
        _block(w, n.orelse, d)


def _for(w: _Walk, n: ast.For, d: int) -> None:
    if type(n.iter) is ast.GeneratorExp:
        n.iter = lower_expr.list_of(n.iter)
    _expr(w, n.iter, d)
    _target(w, n.target, d)
    w.loops.append((n.lineno, n.col_offset))
    w.loop += 1
    if w.loop > grammar.MAX_LOOP_DEPTH:
        raise RecursionError
    mark = len(w.mutated)
    _block(w, n.body, d)
    w.loop -= 1
    if len(w.mutated) > mark and not _is_fresh(w, n.iter):
        w._snapshots.append((n, w.mutated[mark:]))  # noqa: SLF001  # the walk's own functions
    if w.pending and not w.loop:
        # What is bound further down in the loop an earlier round may have bound.
        w.missing += [node for node in w.pending if node.id not in w.bound]
        w.pending = []
    if n.orelse:
        if w.strict:
            w.refuse(n)
        w.structural = True
        _block(w, n.orelse, d)


_NEW_LISTS = frozenset({"sorted", "list", "set", "tuple", "dict", "range", "str", "sort_by"})
_LAZY = frozenset({"enumerate", "zip", "reversed"})
_FRESH_KINDS = frozenset(
    {
        ast.List,
        ast.Tuple,
        ast.Set,
        ast.Dict,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.Constant,
        ast.JoinedStr,
        ast.BinOp,
    }
)


def _is_fresh(w: _Walk, n: ast.expr) -> bool:
    """Tell whether nothing but the loop can reach the iterable; note the receiver of a live view."""
    kind = type(n)
    if kind in _FRESH_KINDS:
        return True
    if kind is not ast.Call:
        return False
    f = n.func  # type: ignore[attr-defined]  # the test above
    if type(f) is ast.Name:
        if f.id in _LAZY:
            return all(_is_fresh(w, a) for a in n.args)  # type: ignore[attr-defined]  # the test above
        return f.id in w.tools or f.id in _NEW_LISTS
    if type(f) is ast.Attribute and f.attr in grammar.LIVE_VIEWS and type(f.value) is ast.Name:
        w.escaped.add(f.value.id)
    return type(f) is ast.Attribute and f.attr not in grammar.ALIASING_METHODS


def _jump(w: _Walk, n: ast.stmt, d: int) -> None:
    if w.loop == 0 or w.strict:
        w.refuse(n)
    w.structural = True


def _pass(w: _Walk, n: ast.Pass, d: int) -> None:
    if w.strict:
        w.refuse(n)
    w.structural = True


_ANNOTATIONS = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.BitOr,
)


def _ann_assign(w: _Walk, n: ast.AnnAssign, d: int) -> None:
    if n.value is None or w.strict:
        w.refuse(n)
        return
    for part in ast.walk(n.annotation):
        if not isinstance(part, (*_ANNOTATIONS, ast.expr_context)):
            w.refuse(n)
            return
    w.structural = True
    _assign(w, ast.copy_location(ast.Assign([n.target], n.value), n), d)


def _with(w: _Walk, n: ast.With, d: int) -> None:
    if w.strict:
        w.refuse(n)
    w.structural = True
    for entry in n.items:
        _expr(w, entry.context_expr, d)
        if entry.optional_vars is not None:
            _target(w, entry.optional_vars, d)
    _block(w, n.body, d)


_EXPRESSIONS: dict[type, Callable[[_Walk, Any, int], None]] = {}
_STATEMENTS: dict[type, Callable[[_Walk, Any, int], None]] = {}
_EXPRESSIONS.update(
    {
        ast.Call: _call,
        ast.Name: _name,
        ast.Constant: _constant,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
        ast.List: _items,
        ast.Tuple: _items,
        ast.Set: _items,
        ast.Dict: _dict,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.DictComp: _dict_comprehension,
        ast.Compare: _compare,
        ast.BoolOp: _boolop,
        ast.UnaryOp: _unary,
        ast.BinOp: _binop,
        ast.JoinedStr: _joined,
        ast.FormattedValue: _formatted,
        ast.Lambda: _lambda,
        ast.IfExp: _ifexp,
    }
)
_STATEMENTS.update(
    {
        ast.Expr: _expression,
        ast.Assign: _assign,
        ast.AugAssign: _aug_assign,
        ast.For: _for,
        ast.If: _if,
        ast.With: _with,
        ast.Pass: _pass,
        ast.Break: _jump,
        ast.Continue: _jump,
        ast.AnnAssign: _ann_assign,
    }
)
