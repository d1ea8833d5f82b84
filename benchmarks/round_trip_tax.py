"""The round-trip tax: one job as single-tool MCP calls and as one delegate, over real stdio.

    python benchmarks/round_trip_tax.py [--workspace DIR] [--name FUNCTION] [--prefix-tokens 8000]

The job: find the callers of a function and show the head of each file they stand in. An agent with single tools makes
one call for the callers and one for each file; each call is a turn, and each turn re-reads the conversation so far, so
its earlier calls and results are read again and again. The delegate does the same work inside one call. Prints calls, bytes on
the wire and an estimate of tokens re-read (4 bytes a token; Source: the common rule of thumb for English text and
code), with and without the conversation's own prefix.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

BYTES_PER_TOKEN = 4
ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """rows = find_callers(name)
files = sorted({r["file"] for r in rows})
{"callers": [f"{r['file']}:{r['line']} {r['name']}" for r in rows], "heads": {f: read(f).splitlines()[:10] for f in files}}"""


def size(value: object) -> int:
    """Return bytes of a value's JSON."""
    return len(json.dumps(value, ensure_ascii=False, default=str).encode())


def re_read(turns: list[int], prefix_tokens: int) -> int:
    """Return tokens read over all turns: each turn reads the prefix and every earlier turn's bytes again."""
    total = seen = 0
    for turn in turns:
        total += prefix_tokens + seen // BYTES_PER_TOKEN
        seen += turn
    return total + prefix_tokens + seen // BYTES_PER_TOKEN


async def play(root: Path, name: str) -> tuple[list[int], list[int]]:
    """Return bytes per turn (call and result together): single tools, then one delegate-style call."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    serve = ["-c", "from lackpy.cli import main; main()", "serve", "--workspace", str(root)]
    async with Client(
        stdio_client(StdioServerParameters(command=sys.executable, args=serve, env=env))
    ) as client:

        async def call(program: str, params: dict[str, str] | None = None) -> tuple[int, object]:
            arguments = {"program": program, **({"params": params} if params else {})}
            result = await client.call_tool("run_program", arguments)
            assert not result.is_error, result.content
            return size(arguments) + size(result.structured_content["output"]), result.structured_content[
                "output"
            ]

        used, rows = await call(f"find_callers({name!r})")
        single = [used]
        for file in sorted({row["file"] for row in rows}):
            single.append((await call(f"read({file!r}).splitlines()[:10]"))[0])
        return single, [(await call(PROGRAM, {"name": name}))[0]]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workspace", type=Path, default=ROOT)
    parser.add_argument("--name", default="statement")
    parser.add_argument(
        "--prefix-tokens", type=int, default=8000, help="Tokens of the conversation before the job."
    )
    options = parser.parse_args()
    single, one = anyio.run(play, options.workspace, options.name)
    print(
        f"{'':28}{'calls':>7}{'bytes':>10}{'tokens read, own':>20}{f'with {options.prefix_tokens} before':>20}"
    )
    for label, turns in (("single tools", single), ("one delegate", one)):
        own, whole = re_read(turns, 0), re_read(turns, options.prefix_tokens)
        print(f"{label:28}{len(turns):7}{sum(turns):10}{own:20}{whole:20}")
    print(
        f"ratio of tokens read: {re_read(single, 0) / re_read(one, 0):.1f} own, "
        f"{re_read(single, options.prefix_tokens) / re_read(one, options.prefix_tokens):.1f} with the prefix"
    )


if __name__ == "__main__":
    main()
