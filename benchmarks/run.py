"""Every budget of the design as one table: what was measured, the budget, the ratio, and which rows fall short.

    python benchmarks/run.py [--quick] [--only NAME …]

Each row runs a script of this folder, or times a whole command, in a process of its own. `--quick` shrinks the
10-million-trace row to one million and leaves the slow corpora out. Figures depend on the machine; ratios within one run
are what to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


@dataclass(frozen=True)
class Row:
    """One measured budget; `value` and `budget` are in the same unit, smaller is better."""

    name: str
    value: float
    budget: float
    unit: str

    @property
    def ok(self) -> bool:
        return self.value <= self.budget


def script(name: str, *options: str) -> dict:
    """Run a script of this folder and return the JSON it prints last."""
    done = subprocess.run(
        [sys.executable, str(HERE / name), *options],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return json.loads(done.stdout[done.stdout.index("{") :])


def command(*argv: str, cwd: Path, runs: int = 5) -> float:
    """Return the median seconds of a whole command."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run(
            argv, cwd=cwd, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def cold_start() -> Iterator[Row]:
    """Whole commands, warm file cache."""
    lackpy = (sys.executable, "-c", "from lackpy.cli import main; main()")
    riggs = (sys.executable, "-c", "from riggs.cli import main; main()")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "a.py").write_text("def helper():\n    return 1\n\n\nhelper()\n")
        command(*lackpy, "delegate", "find callers of helper", cwd=root, runs=1)
        yield Row("lackpy --help", command(*lackpy, "--help", cwd=root), 0.3, "s")
        yield Row(
            "tier-0 lackpy delegate",
            command(*lackpy, "delegate", "find callers of helper", cwd=root),
            0.8,
            "s",
        )
        yield Row("riggs candidates, small store", command(*riggs, "candidates", cwd=root), 1.0, "s")


def validate() -> Iterator[Row]:
    """Lower, check and grade against `ast.parse` of the same program."""
    import ast

    from lackpy.kits import load_kit
    from lackpy.lang import check

    program = (
        'rows = find_callers("handle")\nfiles = sorted({r["file"] for r in rows})\ncounts = {}\nfor row in rows:\n'
        '    if row["file"].startswith("src/"):\n        counts[row["file"]] = counts.get(row["file"], 0) + 1\n'
        'top = sorted(counts.items(), key=lambda kv: kv[1], reverse=True)[:5]\n[f"{name}: {n}" for name, n in top]\n'
    )
    signatures = load_kit("debug", ROOT).signatures

    def microseconds(work: Callable[[], object]) -> float:
        times = []
        for _ in range(400):
            started = time.perf_counter()
            work()
            times.append((time.perf_counter() - started) * 1e6)
        return statistics.median(times)

    yield Row(
        "validate / ast.parse",
        microseconds(lambda: check(program, signatures)) / microseconds(lambda: ast.parse(program)),
        2.5,
        "x",
    )


def delegate() -> Iterator[Row]:
    """A served delegate in process: one tool call in the sandbox, trace fsynced."""
    from lackpy import Lackpy

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.py").write_text("def helper():\n    return 1\n\n\nhelper()\n")
        with Lackpy(folder) as runtime:
            times = []
            for n in range(250):
                started = time.perf_counter()
                result = runtime.delegate("find callers of helper")
                assert result.tier == "0", result
                if n >= 50:
                    times.append((time.perf_counter() - started) * 1e3)
    yield Row("tier-0 delegate, one tool call, monty, fsynced", statistics.median(times), 3.0, "ms")


def over_stdio() -> Iterator[Row]:
    found = script("bench_mcp.py", "--json", "--calls", "200")
    yield Row("tier-0 delegate over stdio / empty tool call", found["ratio"], found["budget"], "x")


def candidates(traces: int) -> Iterator[Row]:
    found = script("bench_candidates.py", "--json", "--traces", str(traces))
    yield Row(f"candidates over {traces:,} traces, cold", found["cold_s"], 5.0, "s")
    yield Row(f"candidates over {traces:,} traces, rollup", found["rollup_s"], 0.5, "s")
    yield Row("peak memory of that run", found["peak_gib"], 2.0, "GiB")


def matching() -> Iterator[Row]:
    """Tier-0 decisions, and the same templates tried one by one with Python's re."""
    done = subprocess.run(
        [sys.executable, str(HERE / "bench_match.py"), "--sizes", "10,10000", "--calls", "1000"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    small, large = (line.split() for line in done.stdout.splitlines()[1:3])
    yield Row("tier-0 decision at 10,000 templates", float(large[3]), 30.0, "us")
    yield Row("tier-0 decision, 10,000 templates / 10", float(large[3]) / float(small[3]), 1.5, "x")
    scan = scan_microseconds(10_000)
    print(
        f"  side by side: {float(large[3]):.0f} us, a scan with Python's re {scan:.0f} us, {scan / float(large[3]):.0f} times as long"
    )


def scan_microseconds(count: int) -> float:
    """Return the median time to try `count` patterns in turn on an intent that the last one matches."""
    verbs = "find show list count trace audit collect review".split()
    patterns = [
        re.compile(
            rf"({verbs[n % 8]} )?(all )?topic{n} (callers|usages) of (?P<name>[^\W\d]\w*)$", re.IGNORECASE
        )
        for n in range(count)
    ]
    times = []
    for n in range(30):
        intent = f"show all topic{count - 1} callers of name_{n}".replace("show", verbs[(count - 1) % 8])
        started = time.perf_counter()
        assert next(p for p in patterns if p.match(intent))
        times.append((time.perf_counter() - started) * 1e6)
    return statistics.median(times)


def journal() -> Iterator[Row]:
    from bench_traces import append_ratio

    with tempfile.TemporaryDirectory() as folder:
        yield Row("journal append / bare append and fsync", append_ratio(Path(folder))[0], 2.0, "x")


def normalising() -> Iterator[Row]:
    """Seconds for 4,000 distinct traces on one core, none seen before."""
    from riggs.normalise import normalise

    shapes = (
        ("find callers of {0}", 'find_callers("{0}")'),
        (
            'which files under src/{0} mention "needle {0}"?',
            'sorted({{r["file"] for r in grep("needle {0}", "src/{0}/**/*")}})',
        ),
        ("how many callers does {0} have", 'n = len(find_callers("{0}"))\nn'),
        ("show the outline of src/{0}.py", 'outline("src/{0}.py")'),
    )
    traces = [
        (said.format(f"name_{n}"), ran.format(f"name_{n}")) for n in range(1_000) for said, ran in shapes
    ]
    normalise(*traces[0])
    started = time.perf_counter()
    for intent, program in traces:
        normalise(intent, program)
    yield Row("normalise 4,000 distinct traces, one core", time.perf_counter() - started, 1.0, "s")


def main() -> int:
    """Print the table; exit 1 when a row falls short."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    sections: dict[str, Callable[[], Iterator[Row]]] = {
        "validate": validate,
        "delegate": delegate,
        "stdio": over_stdio,
        "cold": cold_start,
        "matching": matching,
        "journal": journal,
        "normalise": normalising,
        "candidates": lambda: candidates(1_000_000 if options.quick else 10_000_000),
    }
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()}")
    short = 0
    for name, section in sections.items():
        if options.only and name not in options.only:
            continue
        for row in section():
            short += not row.ok
            verdict = "ok" if row.ok else "SHORT"
            print(
                f"{row.name:52} {row.value:10.3f} {row.unit:4} budget {row.budget:8.3f}  ratio {row.value / row.budget:5.2f}  {verdict}",
                flush=True,
            )
    print(f"{short} rows fall short" if short else "all rows within budget")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
