"""Meaning-preserving rewrites of statements: jumps, blocks and the program's output.

`output` runs before the walk on every program and costs nothing where the last line is an expression;
`structure` runs only on programs whose walk met a statement that needs it; `replace` puts the
nodes in place that the walk decided on. Rewrites of single expressions are in `lower_expr`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lackpy.lang import lower_expr as build

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lackpy.lang.fresh import Fresh


def _expr(value: ast.expr, at: ast.AST) -> ast.Expr:
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(value), at))


def _assign(target: ast.expr, value: ast.expr, at: ast.AST) -> ast.Assign:
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([target], value), at))


def _set(identifier: str, value: ast.expr | bool | None, at: ast.AST) -> ast.Assign:
    constant = value if isinstance(value, ast.expr) else ast.Constant(value)
    return _assign(build.store(identifier), constant, at)


# -- output ------------------------------------------------------------------------------------------------


def output(body: list[ast.stmt], names: Fresh) -> bool:
    """Make `body` end in an expression whose value is the program's output, in place.

    A last `print(x)` gives x, a last assignment what it bound, a last `if` what its taken branch gives,
    a last `for` the one name its last statement assigns or fills. Anything else gives `None`.

    Args:
        body: The statements of a program that passed the walk.
        names: Where new names come from.

    Returns:
        Whether more changed than a name read at the end.
    """
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.Expr):
        _printed(body, last, names)
    elif isinstance(last, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        value = _bound(last)
        if value is not None:
            body.append(_expr(value, last))
    elif isinstance(last, ast.If):
        _branches(body, last, names)
        return True
    elif isinstance(last, ast.For):
        _loop(body, last)
        return True
    elif isinstance(last, ast.With):
        body[-1:] = unfold_with(last)
        return output(body, names)
    return False


def _printed(body: list[ast.stmt], last: ast.Expr, names: Fresh) -> None:
    call = last.value
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print"):
        return
    if len(call.args) != 1 or isinstance(call.args[0], ast.Starred):
        return
    value = call.args[0]
    if isinstance(value, (ast.Name, ast.Constant)):
        body.append(_expr(value, last))
        return
    if isinstance(value, ast.GeneratorExp):
        value = build.list_of(value)
    out = names.name("_out")
    call.args[0] = ast.copy_location(build.name(out), value)
    body[-1:] = [_set(out, value, last), last, _expr(build.name(out), last)]


def _bound(statement: ast.stmt) -> ast.expr | None:
    """Return an expression for what an assignment bound: a name, a tuple of names, the container of an item."""
    if isinstance(statement, ast.Assign):
        return _read(statement.targets[0])
    if isinstance(statement, ast.AugAssign) or (
        isinstance(statement, ast.AnnAssign) and statement.value is not None
    ):
        return _read(statement.target)
    return None


def _read(target: ast.expr) -> ast.expr | None:
    if isinstance(target, ast.Name):
        return build.name(target.id)
    if isinstance(target, ast.Starred):
        return _read(target.value)
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = [part for part in map(_read, target.elts) if part is not None]
        return ast.Tuple(list(parts), ast.Load()) if parts else None
    while isinstance(target, ast.Subscript):
        target = target.value
    return build.name(target.id) if isinstance(target, ast.Name) else None


def _branches(body: list[ast.stmt], last: ast.If, names: Fresh) -> None:
    blocks = [block for block in (last.body, last.orelse) if block]
    for block in blocks:
        output(block, names)
    ends = [block[-1] for block in blocks]
    values = [end.value for end in ends if isinstance(end, ast.Expr)]
    if not values:
        return
    shared = {value.id for value in values if isinstance(value, ast.Name)}
    if len(blocks) == len(values) == 2 and len(shared) == 1 and all(isinstance(v, ast.Name) for v in values):
        for block in blocks:
            if len(block) > 1:
                block.pop()
        body.append(_expr(build.name(shared.pop()), last))
        return
    out = names.name("_out")
    for block, end in zip(blocks, ends, strict=True):
        if isinstance(end, ast.Expr):
            block[-1] = _set(out, end.value, end)
    body[-1:] = [_set(out, None, last), last, _expr(build.name(out), last)]


_FILLERS = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})


def _loop(body: list[ast.stmt], last: ast.For) -> None:
    found = _tail(last.body)
    if found is None:
        return
    identifier, needs_start = found
    if needs_start and not _stores(body[:-1], identifier):
        body.insert(-1, _set(identifier, None, last))
    body.append(_expr(build.name(identifier), last))


def _tail(block: list[ast.stmt]) -> tuple[str, bool] | None:
    """Return the name that the last statement of a loop's body assigns or fills, and whether it may be new."""
    end = block[-1]
    if isinstance(end, (ast.Pass, ast.Continue)) and len(block) > 1:
        return _tail(block[:-1])
    if isinstance(end, ast.If):
        found = {tail for tail in (_tail(end.body), _tail(end.orelse) if end.orelse else None) if tail}
        return max(found) if len({name for name, _ in found}) == 1 else None
    if isinstance(end, (ast.For, ast.With)):
        return _tail(end.body)
    if isinstance(end, ast.Expr):
        call = end.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _FILLERS:
            root = _read(call.func.value) if isinstance(call.func.value, (ast.Name, ast.Subscript)) else None
            return (root.id, False) if isinstance(root, ast.Name) else None
        return None
    value = _bound(end)
    if not isinstance(value, ast.Name):
        return None
    plain = isinstance(end, (ast.Assign, ast.AnnAssign))
    target = end.targets[0] if isinstance(end, ast.Assign) else getattr(end, "target", None)
    return value.id, plain and isinstance(target, ast.Name)


def _stores(block: list[ast.stmt], identifier: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == identifier and isinstance(node.ctx, ast.Store)
        for statement in block
        for node in ast.walk(statement)
    )


# -- blocks and jumps --------------------------------------------------------------------------------------


def unfold_with(node: ast.With) -> list[ast.stmt]:
    """Return the assignments and the block that `with value as name:` stands for: plain data has nothing to close."""
    before: list[ast.stmt] = []
    for entry in node.items:
        target = entry.optional_vars
        value = entry.context_expr
        before.append(_expr(value, node) if target is None else _assign(target, value, node))
    return before + node.body


class _NeedsFlagError(Exception):
    """A jump sits where branches alone can't carry it."""


@dataclass(slots=True)
class _Loop:
    """The loop whose jumps are being lowered: names of its flags, once one is needed."""

    names: Fresh
    stop: str | None = None
    skip: str | None = None
    with_flags: bool = False

    def stopping(self) -> str:
        """Return the flag that ends the loop's work."""
        if self.stop is None:
            self.stop = self.names.name("_stop")
        return self.stop

    def skipping(self) -> str:
        """Return the flag that ends one round's work."""
        if self.skip is None:
            self.skip = self.names.name("_skip")
        return self.skip


def structure(tree: ast.Module, names: Fresh) -> None:
    """Lower `pass`, annotations, `with`, `for … else`, `continue` and `break` in place."""
    tree.body = _block(tree.body, _Loop(names))


def _block(statements: list[ast.stmt], loop: _Loop) -> list[ast.stmt]:
    done: list[ast.stmt] = []
    todo = list(reversed(statements))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Pass):
            continue
        if isinstance(node, ast.AnnAssign):
            if node.value is not None:
                done.append(_assign(node.target, node.value, node))
        elif isinstance(node, ast.With):
            todo.extend(reversed(unfold_with(node)))
        elif isinstance(node, ast.For):
            before, after = _for(node, loop)
            done.extend([*before, node])
            todo.extend(reversed(after))
        elif isinstance(node, (ast.Break, ast.Continue)):
            done.extend(_jump(node, loop))
            if todo:
                done.extend(_guarded(loop, _block(todo[::-1], loop), node))
            return done
        elif isinstance(node, ast.If):
            if _jumps(node.body) or _jumps(node.orelse):
                done.extend(_jumping_if(node, todo[::-1], loop))
                return done
            done.extend(_if(node, _block(node.body, loop), _block(node.orelse, loop)))
        else:
            done.append(node)
    return done


def _jumps(block: list[ast.stmt]) -> bool:
    """Tell whether `block` may leave the loop it stands in; the bodies of inner loops keep theirs."""
    for node in block:
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        if isinstance(node, ast.If) and (_jumps(node.body) or _jumps(node.orelse)):
            return True
        if isinstance(node, ast.With) and _jumps(node.body):
            return True
        if isinstance(node, ast.For) and _jumps(node.orelse):
            return True
    return False


def _if(node: ast.If, body: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
    if body:
        node.body, node.orelse = body, orelse
        return [node]
    if orelse:
        node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        node.body, node.orelse = orelse, []
        return [node]
    return [_expr(node.test, node)]


def _jump(node: ast.stmt, loop: _Loop) -> list[ast.stmt]:
    if not loop.with_flags:
        raise _NeedsFlagError
    flags = [_set(loop.skipping(), value=True, at=node)]
    if isinstance(node, ast.Break):
        flags.append(_set(loop.stopping(), value=True, at=node))
    return list(flags)


def _guarded(loop: _Loop, rest: list[ast.stmt], at: ast.AST) -> list[ast.stmt]:
    if not rest:
        return []
    return [_unless(loop.skipping(), rest, at)]


def _unless(flag: str, block: list[ast.stmt], at: ast.AST) -> ast.If:
    test = ast.UnaryOp(ast.Not(), build.name(flag))
    guarded = ast.copy_location(ast.If(test, block, []), at)
    ast.copy_location(test, at)
    ast.copy_location(test.operand, at)
    return guarded


def _jumping_if(node: ast.If, rest: list[ast.stmt], loop: _Loop) -> list[ast.stmt]:
    if loop.with_flags:
        body, orelse = _block(node.body, loop), _block(node.orelse, loop)
        return _if(node, body, orelse) + _guarded(loop, _block(rest, loop), node)
    if _ends_in_jump(node.body):
        return _if(node, _without_jump(node.body, loop), _block(node.orelse + rest, loop))
    if _ends_in_jump(node.orelse) and not _jumps(node.body):
        return _if(node, _block(node.body + rest, loop), _without_jump(node.orelse, loop))
    raise _NeedsFlagError


def _ends_in_jump(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], (ast.Break, ast.Continue)) and not _jumps(block[:-1])


def _without_jump(block: list[ast.stmt], loop: _Loop) -> list[ast.stmt]:
    before = _block(block[:-1], loop)
    jump = block[-1]
    return [*before, _set(loop.stopping(), value=True, at=jump)] if isinstance(jump, ast.Break) else before


def _for(node: ast.For, outer: _Loop) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Lower one loop in place; return the statements that go before and after it."""
    after = node.orelse
    node.orelse = []
    loop, body = _loop_body(node, outer)
    if loop.skip is not None:
        body.insert(0, _set(loop.skip, value=False, at=node))
    before: list[ast.stmt] = []
    if loop.stop is not None:
        # The target keeps the value it had at the break, so it is bound inside the guard.
        entry = outer.names.name("_item")
        body = [_unless(loop.stop, [_assign(node.target, build.name(entry), node), *body], node)]
        node.target = ast.copy_location(build.store(entry), node.target)
        before = [_set(loop.stop, value=False, at=node)]
        after = [_unless(loop.stop, after, node)] if after else []
    node.body = body or [_expr(ast.Constant(None), node)]
    return before, after


def _loop_body(node: ast.For, outer: _Loop) -> tuple[_Loop, list[ast.stmt]]:
    if not _jumps(node.body):
        loop = _Loop(outer.names)
        return loop, _block(node.body, loop)
    try:
        _probe(node.body)
    except _NeedsFlagError:
        loop = _Loop(outer.names, with_flags=True)
    else:
        loop = _Loop(outer.names)
    return loop, _block(node.body, loop)


def _probe(block: list[ast.stmt]) -> None:
    """Raise where branches alone can't carry the jumps of `block`; changes nothing."""
    for position, node in enumerate(block):
        rest = block[position + 1 :]
        if isinstance(node, (ast.Break, ast.Continue)):
            raise _NeedsFlagError
        if isinstance(node, ast.With) and _jumps(node.body):
            raise _NeedsFlagError
        if isinstance(node, ast.For) and _jumps(node.orelse):
            raise _NeedsFlagError
        if isinstance(node, ast.If) and (_jumps(node.body) or _jumps(node.orelse)):
            if _ends_in_jump(node.body):
                _probe(node.orelse + rest)
            elif _ends_in_jump(node.orelse) and not _jumps(node.body):
                _probe(node.body + rest)
            else:
                raise _NeedsFlagError
            return


# -- putting rewrites in place -----------------------------------------------------------------------------


class _Replacer(ast.NodeTransformer):
    def __init__(self, table: Mapping[int, ast.AST]) -> None:
        self.table = table

    def visit(self, node: ast.AST) -> ast.AST:
        new = self.table.get(id(node))
        if new is not None:
            node = ast.copy_location(new, node)
        self.generic_visit(node)
        return node


def replace(tree: ast.Module, table: Mapping[int, ast.AST]) -> None:
    """Replace nodes by identity, outer before inner, and give every new node a line."""
    _Replacer(table).visit(tree)
    ast.fix_missing_locations(tree)


def snapshot(node: ast.For | ast.comprehension) -> None:
    """Make a loop run over a copy of its iterable, in place."""
    copied = build.call("list", node.iter)
    node.iter = ast.fix_missing_locations(ast.copy_location(copied, node.iter))


def in_place_sort(node: ast.Call, names: Fresh) -> ast.stmt | None:
    """Return `x[:] = <sorted items>` for `x.sort(key=…)` whose key calls a tool; `x` must be simple."""
    function = node.func
    if not (isinstance(function, ast.Attribute) and build.is_simple(function.value)):
        return None
    items = build.keyed_first(node, names)
    if items is None:
        return None
    whole = ast.Subscript(function.value, ast.Slice(None, None, None), ast.Store())
    return ast.Assign([whole], items)
