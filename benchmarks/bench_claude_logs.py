"""Reads a large generated Claude Code log and prints seconds, MB/s and the reader's peak memory.

    python benchmarks/bench_claude_logs.py --gigabytes 1

The budget is 500 MiB of memory whatever the log's size; the log holds calls, results of 0.2 to 60 kB, prompts, side
chains, records of no interest, a few torn lines and one 40 MB line.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOOLS = ("Read", "Grep", "Bash", "Edit", "Glob", "mcp__lackpy__delegate")
READ = """
import resource, sys, time
from pathlib import Path
from lackpy.traces.store import Store
from riggs.ingest.claude_code import ClaudeCode
from riggs.ingest.sink import collect
root = Path(sys.argv[1])
started = time.perf_counter()
(report,) = collect(Store(root / "store.duckdb"), [ClaudeCode(root / "ws", root / "logs")])
seconds = time.perf_counter() - started
print(report.read, report.turns, report.endings, report.problems, f"{seconds:.2f}",
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def generate(path: Path, size: int, seed: int = 1) -> int:
    """Write a log of about `size` bytes; return its lines."""
    rng = random.Random(seed)
    words = [f"word{n}" for n in range(5000)]
    filler = " ".join(rng.choice(words) for _ in range(12_000))
    written = lines = 0
    with path.open("wb") as file:
        while written < size:
            session = f"00000000-0000-4000-8000-{lines // 4000:012d}"
            base = {
                "sessionId": session,
                "timestamp": f"2026-05-{1 + lines // 100_000 % 28:02d}T10:00:00.000Z",
                "cwd": "/home/me/app",
                "version": "2.0.0",
                "gitBranch": "main",
                "uuid": f"u{lines}",
                "isSidechain": lines % 11 == 0,
            }
            use = f"toolu_{lines:024d}"
            tool = rng.choice(TOOLS)
            call = {
                "type": "tool_use",
                "id": use,
                "name": tool,
                "input": {"command": filler[: rng.randrange(20, 900)]},
            }
            start = rng.randrange(0, 20_000)
            text = filler[start : start + rng.choice((200, 800, 2000, 6000, 60_000))]
            result = {
                "type": "tool_result",
                "tool_use_id": use,
                "content": text,
                "is_error": rng.random() < 0.1,
            }
            records = [
                {"type": "assistant", "message": {"role": "assistant", "content": [call]}, **base},
                {
                    "type": "user",
                    "message": {"role": "user", "content": [result]},
                    "toolUseResult": text,
                    **base,
                },
            ]
            if lines % 40 == 0:
                records.append(
                    {"type": "user", "message": {"role": "user", "content": "find callers of x"}, **base}
                )
                records.append({"type": "file-history-snapshot", "snapshot": {"text": filler[:3000]}})
            block = b"".join(json.dumps(r).encode() + b"\n" for r in records)
            if lines % 5000 == 0:
                block += b'{"type": "assistant", "torn\n'
            file.write(block)
            written += len(block)
            lines += len(records)
        file.write(b'{"type": "user", "image": "' + b"A" * 40_000_000 + b'"}\n')
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    size = int(parser.parse_args().gigabytes * 1e9)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "logs").mkdir()
        (root / "ws").mkdir()
        started = time.perf_counter()
        lines = generate(root / "logs" / "big.jsonl", size)
        bytes_written = (root / "logs" / "big.jsonl").stat().st_size
        print(
            f"generated {bytes_written / 1e9:.2f} GB, {lines} lines in {time.perf_counter() - started:.0f} s"
        )
        for name in ("first reading", "second reading"):
            out = subprocess.run(
                [sys.executable, "-c", READ, folder], capture_output=True, text=True, check=True
            ).stdout
            read, turns, endings, problems, seconds, rss = out.split()
            print(
                f"{name}: {read} records, {turns} turns, {endings} endings, {problems} unreadable; "
                f"{seconds} s, {bytes_written / 1e6 / max(float(seconds), 0.01):.0f} MB/s, peak memory {rss} MiB (budget 500)"
            )
        store = (root / "store.duckdb").stat().st_size
        print(
            f"store: {store / 1e6:.0f} MB; generator's own peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB"
        )


if __name__ == "__main__":
    main()
