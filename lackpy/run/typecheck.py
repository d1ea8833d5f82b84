"""The type check: a program against its kit's stubs, in a sandbox worker, before anything runs.

The program is checked as the body of a function that nobody calls, its parameters the call's, so no part
of it executes. What comes out are violations of rule `type`, with the program's own lines.
"""

from __future__ import annotations

import ast
import functools
import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lackpy.lang.stubs import stubs
from lackpy.lang.verdict import Violation
from lackpy.run.choose import executor
from lackpy.run.monty import MontyExecutor
from lackpy.run.pool import NoSandboxError

if TYPE_CHECKING:
    from lackpy.lang.signature import RowType, Signature

RULE = "type"
WAIT_S = 10.0
"""Longest wait for a free worker, in seconds."""
CHECK_LIMITS = {"max_feed_duration_secs": 5.0, "max_memory": 512 * 1024 * 1024}
CACHED = 1024
"""Programs whose answer is kept."""


def typecheck(
    program: str, signatures: Mapping[str, Signature], params: Mapping[str, str] | Iterable[str] = ()
) -> tuple[Violation, ...]:
    """Check a lowered program's types; nothing runs.

    Args:
        program: Source after lowering, as `Verdict.program` gives it.
        signatures: The tools it may call.
        params: Names that hold a value when it starts, with their type source where it is known.

    Returns:
        One violation for each fault, in source order; none when the checker can't judge.
    """
    types = params if isinstance(params, Mapping) else dict.fromkeys(params, "Any")
    declared = stubs(signatures, {})
    faults = _faults(program, declared, tuple(types.items()))
    lines = program.split("\n")
    rows = {row.name: row for signature in signatures.values() for row in signature.rows}
    found = [_violation(fault, lines, rows, signatures) for fault in faults if _certain(fault[1])]
    return tuple(sorted(dict.fromkeys(found), key=lambda v: (v.line, v.column)))


@functools.lru_cache(maxsize=CACHED)
def _faults(
    program: str, declared: str, params: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str, int, int, int], ...]:
    """Return (code, message, line, column, end column) of each fault, lines and columns 1-based."""
    from pydantic_monty import MontyError, MontyTypingError  # noqa: PLC0415  # 20 ms, at the first check only

    runner = executor("monty")
    if not isinstance(runner, MontyExecutor):
        return ()
    code = _as_function(program, params)
    try:
        with runner.pool.session(
            wait_s=WAIT_S,
            limits=CHECK_LIMITS,
            type_check=True,
            type_check_stubs=declared,
            type_check_format="json",
        ) as worker:
            worker.session.feed_run(code)
    except MontyTypingError as exc:
        return tuple(_parsed(exc.display()))
    except (MontyError, NoSandboxError, TimeoutError):
        return ()
    return ()


_HEAD = "from typing import Any"
"""What a parameter's type may name beside builtins."""
_LINES_BEFORE = 2


def _as_function(program: str, params: tuple[tuple[str, str], ...]) -> str:
    arguments = ", ".join(f"{name}: {kind}" for name, kind in params)
    body = ast.parse(program).body or [ast.Pass()]
    indented = ast.unparse(ast.If(ast.Constant(1), body, []))
    return f"{_HEAD}\ndef __lackpy_check({arguments}):\n" + indented.partition("\n")[2]


def _parsed(text: str) -> Iterable[tuple[str, str, int, int, int]]:
    for entry in json.loads(text):
        if entry.get("severity") != "error":
            continue
        start, end = entry["location"], entry["end_location"]
        last = end["column"] if end["row"] == start["row"] else start["column"]
        yield entry["code"], entry["message"], start["row"] - _LINES_BEFORE, start["column"] - 4, last - 4


_KEY = re.compile(r'[Uu]nknown key "(?P<key>[^"]*)" for TypedDict `(?P<row>\w+)`')
_ARGUMENT = re.compile(
    r"Argument to .*?`(?P<tool>\w+)` is incorrect: Expected `(?P<want>.+)`, found `(?P<got>.+)`"
)
_INDEX = re.compile(r"key of type `Literal\[(?P<key>\"[^\"]*\")\]` on object of type `list\[(?P<row>\w+)\]`")
_LITERAL = re.compile(r"Literal\[((?:\"[^\"]*\"|[^\[\]])*)\]")
_MAYBE_NONE = re.compile(r"\bNone\b")
_HONEST = "values are what the tools' signatures say; convert or pick the part you need"


def _violation(
    fault: tuple[str, str, int, int, int],
    lines: list[str],
    rows: Mapping[str, RowType],
    signatures: Mapping[str, Signature],
) -> Violation:
    _, message, line, column, end = fault
    source = lines[line - 1] if 0 < line <= len(lines) else ""
    text = source[column - 1 : end - 1] or source.strip()
    said, hint = _wording(message.replace("`", "'"), message, rows, signatures)
    return Violation(RULE, line, max(column, 1), said, hint, text[:80])


def _certain(message: str) -> bool:
    """Tell whether a fault is one on every path: a value that is only sometimes `None` or of another type is none."""
    argument = _ARGUMENT.search(message)
    if argument is not None:
        return argument["want"] not in argument["got"].split(" | ")
    return (
        _MAYBE_NONE.search(message.partition("Overload[")[0]) is None
        and " | " not in message.partition("Overload[")[0]
    )


def _wording(
    said: str, message: str, rows: Mapping[str, RowType], signatures: Mapping[str, Signature]
) -> tuple[str, str]:
    unknown = _KEY.search(message)
    if unknown is not None and unknown["row"] in rows:
        fields = rows[unknown["row"]].fields
        keys = ", ".join(repr(name) for name, _ in fields)
        return f"a {unknown['row']} has no key {unknown['key']!r}", f"use one of its keys: {keys}"
    argument = _ARGUMENT.search(message)
    if argument is not None and argument["tool"] in signatures:
        return (
            f"'{argument['tool']}' wants {argument['want']}, this is {_plain_type(argument['got'])}",
            _argument_hint(argument["want"], argument["got"], rows, signatures[argument["tool"]]),
        )
    index = _INDEX.search(message)
    if index is not None:
        key = repr(json.loads(index["key"]))
        return (
            f"a list[{index['row']}] has no key {key}",
            f"take one row, x[0][{key}], or each: [r[{key}] for r in x]",
        )
    said = _LITERAL.sub(r"\1", said)
    for name, signature in signatures.items():
        if f"`{name}`" in message:
            return said, f"write {signature.text()}"
    return said, _HONEST


def _argument_hint(want: str, got: str, rows: Mapping[str, RowType], signature: Signature) -> str:
    row = rows.get(got)
    if row is not None:
        fitting = [name for name, kind in row.fields if kind == want]
        if fitting:
            return f"pass one of the row's fields, e.g. row[{_best(fitting, signature)!r}]"
    listed = re.fullmatch(r"list\[(\w+)\]", got)
    if listed is not None:
        return "call it once for each item: [... for x in items]"
    return f"write {signature.text()}"


def _best(fields: list[str], signature: Signature) -> str:
    """Prefer a field named like a parameter; a row's `file` is what a `path` means."""
    wanted: list[Any] = [p.name for p in signature.params]
    if "path" in wanted:
        wanted.append("file")
    return next((name for name in wanted if name in fields), fields[0])


def _plain_type(kind: str) -> str:
    return _LITERAL.sub(r"\1", kind)
