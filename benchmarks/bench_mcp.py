"""A tier-0 delegate over MCP stdio against an empty MCP tool call, in one run. Prints medians and their ratio.

    python benchmarks/bench_mcp.py [--calls 300]

Both servers are real processes on the official SDK, asked by its client in turn, A B A B. The delegate makes one tool
call and its trace is fsynced before the answer.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

BUDGET = 3.0
EMPTY = """
import anyio
from mcp.server import MCPServer
server = MCPServer("empty")
@server.tool()
def nothing() -> int:
    "Return at once."
    return 0
anyio.run(server.run_stdio_async)
"""
ROOT = Path(__file__).resolve().parents[1]


async def measure(calls: int, root: Path) -> dict[str, float]:
    """Return median milliseconds of both calls and of the fsync the delegate pays."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    serve = ["-c", "from lackpy.cli import main; main()", "serve", "--workspace", str(root)]
    quiet = await anyio.open_file(os.devnull, "w")
    async with AsyncExitStack() as stack:
        empty = await stack.enter_async_context(
            Client(stdio_client(StdioServerParameters(command=sys.executable, args=["-c", EMPTY], env=env)))
        )
        ours = await stack.enter_async_context(
            Client(
                stdio_client(
                    StdioServerParameters(command=sys.executable, args=serve, env=env), errlog=quiet.wrapped
                )
            )
        )
        times: dict[str, list[float]] = {"empty": [], "delegate": [], "fsync": []}
        for n in range(calls + 20):
            for name, client, tool, arguments in (
                ("empty", empty, "nothing", {}),
                ("delegate", ours, "delegate", {"intent": "find callers of helper"}),
            ):
                started = time.perf_counter()
                result = await client.call_tool(tool, arguments)
                if n >= 20:
                    times[name].append((time.perf_counter() - started) * 1e3)
                assert not result.is_error, result.content
            if n >= 20:
                times["fsync"].append(fsync_ms(root))
    return {name: statistics.median(values) for name, values in times.items()}


def fsync_ms(root: Path) -> float:
    """Return milliseconds of one bare append and fsync beside the journal."""
    started = time.perf_counter()
    handle = os.open(root / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(handle, b"x" * 1000)
    os.fsync(handle)
    os.close(handle)
    return (time.perf_counter() - started) * 1e3


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "a.py").write_text("def helper():\n    return 1\n\n\ndef main():\n    return helper()\n")
        figures = anyio.run(measure, options.calls, root)
    ratio = figures["delegate"] / figures["empty"]
    if options.json:
        print(json.dumps({**figures, "ratio": ratio, "budget": BUDGET}))
        return
    print(f"empty tool call over stdio      {figures['empty']:7.2f} ms (median of {options.calls})")
    print(
        f"tier-0 delegate over stdio      {figures['delegate']:7.2f} ms, of which an fsync takes {figures['fsync']:.2f} ms"
    )
    print(f"ratio {ratio:.2f}  budget {BUDGET}  {'ok' if ratio <= BUDGET else 'OVER'}")


if __name__ == "__main__":
    main()
