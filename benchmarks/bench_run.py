"""What running a program costs: checkout, calls, border copies, guards, the type check.

Run: `python benchmarks/bench_run.py`. Prints medians in milliseconds and ratios within this run; asserts nothing.
"""

from __future__ import annotations

import ast
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from lackpy.kits import spec_of
from lackpy.lang import check
from lackpy.run import InlineExecutor, Limits, MontyExecutor, typecheck
from lackpy.run.plain import copy_plain, json_safe

ROWS = [
    {"name": f"f{i}", "file": f"src/m{i % 40}.py", "line": i, "text": "def f(): ..."} for i in range(2000)
]


def read(path: str) -> str:
    """Return the text of a file."""
    return f"# {path}\nx = 1\n"


def find(name: str) -> list[dict[str, Any]]:
    """Return rows."""
    return ROWS[: int(name)]


TOOLS = {name: spec_of(fn, name=name) for name, fn in {"read": read, "find": find}.items()}
SIGNATURES = {name: spec.signature for name, spec in TOOLS.items()}
PROGRAMS = {
    "no call": "1 + 1",
    "1 call": "read('a.py')",
    "6 calls": "[read(p) for p in ['a', 'b', 'c', 'd', 'e', 'f']]",
    "1 call, 100 rows out": "find('100')",
    "1 call, 2,000 rows out": "find('2000')",
    "10,000 loop steps": "n = 0\nfor i in range(10000):\n    n += i % 7\nn",
}


def median_ms(work: Callable[[], Any], times: int = 60) -> float:
    """Return the median of `times` runs in milliseconds, after one to warm up."""
    work()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def run_once(executor: Any, program: str) -> Callable[[], Any]:
    verdict = check(program, SIGNATURES)

    def work() -> None:
        result = executor.run(verdict, TOOLS, {}, Limits())
        if not result.ok:
            raise SystemExit(f"{program!r} failed: {result.error}")

    return work


def main() -> None:
    """Print one line a measurement."""
    started = time.perf_counter()
    monty, inline = MontyExecutor(workers=2), InlineExecutor()
    run_once(monty, "1")()
    print(f"monty: import to first result      {(time.perf_counter() - started) * 1000:9.2f} ms")
    print(f"{'program':32}{'monty ms':>10}{'inline ms':>11}{'monty / inline':>16}")
    for name, program in PROGRAMS.items():
        times = 20 if "2,000" in name else 60
        first, second = (median_ms(run_once(e, program), times) for e in (monty, inline))
        print(f"{name:32}{first:10.3f}{second:11.3f}{first / second:15.1f}x")
    dumps = median_ms(lambda: json.dumps(ROWS), 30)
    print(f"json.dumps of 2,000 rows           {dumps:9.3f} ms")
    for name, work in (
        ("copy_plain", lambda: copy_plain(ROWS, Limits())),
        ("json_safe", lambda: json_safe(ROWS)),
    ):
        taken = median_ms(work, 30)
        print(
            f"{name} of the same{'':{17 - len(name)}}      {taken:9.3f} ms  {taken / dumps:5.2f} x json.dumps"
        )
    bare = compile(ast.parse(PROGRAMS["10,000 loop steps"]), "<bench>", "exec")
    plain = median_ms(lambda: exec(bare, {}))
    guarded = median_ms(run_once(inline, PROGRAMS["10,000 loop steps"]))
    print(f"guards: 10,000 loop steps          {guarded:9.3f} ms  {guarded / plain:5.1f} x unguarded Python")
    numbers = iter(range(10**9))
    fresh = median_ms(lambda: typecheck(f"x = read('a{next(numbers)}')\nx.strip()", SIGNATURES), 20)
    known = median_ms(lambda: typecheck("x = read('a')\nx.strip()", SIGNATURES), 60)
    print(f"type check, new program            {fresh:9.3f} ms")
    print(f"type check, known program          {known:9.3f} ms")
    monty.close()


if __name__ == "__main__":
    main()
