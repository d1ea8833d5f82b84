"""Tools, runners and comparisons that the tests of `lackpy.run` share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lackpy.kits.spec import ToolSpec
from lackpy.lang import check
from lackpy.lang.signature import Grade, Param, RowType, Signature
from lackpy.run import Executor, InlineExecutor, Limits, MontyExecutor, RunResult

ROW = RowType("Row", (("name", "str"), ("file", "str"), ("line", "int")))


def tool(
    name: str, params: dict[str, str], fn: Callable[..., Any], returns: str = "Any", **more: Any
) -> ToolSpec:
    """Return a spec; parameters are name → type."""
    rows = (ROW,) if "Row" in returns else ()
    signature = Signature(
        name, tuple(Param(p, t) for p, t in params.items()), returns, rows, Grade(0, 0), f"{name}."
    )
    return ToolSpec(signature, fn, **more)


def rows_of(name: str) -> list[dict[str, Any]]:
    return [
        {"name": f"{name}_{i}", "file": f"{'abc'[i % 3]}.py", "line": (i * 7) % 5 + 1}
        for i in range(len(name) % 5)
    ]


TOOLS = {
    spec.name: spec
    for spec in (
        tool("read", {"path": "str"}, lambda path: f"# {path}\nx = 1\n", "str"),
        tool("find", {"name": "str"}, rows_of, "list[Row]"),
        tool("size", {"path": "str"}, len, "int"),
    )
}


def run(
    executor: Executor,
    program: str,
    tools: dict[str, ToolSpec] | None = None,
    params: dict[str, Any] | None = None,
    limits: Limits | None = None,
    **more: Any,
) -> RunResult:
    """Check and run a program; it must be valid."""
    tools = TOOLS if tools is None else tools
    params = params or {}
    verdict = check(program, {n: s.signature for n, s in tools.items()}, params=params)
    assert verdict.ok, (program, verdict.violations)
    return executor.run(verdict, tools, params, limits or Limits(time_s=10), **more)


def essence(result: RunResult) -> tuple[Any, ...]:
    """Return what two executors must agree on: all but times, and an error's wording after its type."""
    error = result.error
    said = None if error is None else (error.kind, error.line, re.split(r"[: ]", error.message)[0])
    calls = [(c.step, c.tool, repr(c.args), c.ok, c.preview) for c in result.calls]
    return result.ok, repr(result.output), result.printed, said, calls


EXECUTORS = {"monty": MontyExecutor(workers=2), "inline": InlineExecutor()}
