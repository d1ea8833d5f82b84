"""Journal and store, as ratios taken in one run: append against a bare append and fsync, drain and load speeds.

    python benchmarks/bench_traces.py [--traces 200000] [--folder DIR]

Prints one line a row: name, value, budget, verdict. `rows()` gives the same to `benchmarks/run.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from lackpy.traces.drain import drain
from lackpy.traces.ids import new_id, utc_now
from lackpy.traces.journal import Journal, bounded_line
from lackpy.traces.mask import mask_text
from lackpy.traces.record import Attempt, Trace
from lackpy.traces.store import Store


def sample(number: int) -> Trace:
    """Return a trace of usual size: one attempt, two calls."""
    call = {"step": 1, "tool": "find_callers", "args": {"name": f"name_{number % 97}"}, "ok": True, "ms": 1.5,
            "error": None, "result_bytes": 900, "preview": '[{"file": "app/api.py", "line": 12}]'}  # fmt: skip
    return Trace(
        trace_id=new_id(), ts=utc_now(), project="demo", session_id=f"s{number % 50}",
        intent=f"find callers of name_{number % 97} and show which files import it", kit="debug", tier="0",
        provider="templates", template="find-callers", slots={"name": f"name_{number % 97}"},
        program=f'rows = find_callers("name_{number % 97}")\nsorted([r["file"] for r in rows])',
        attempts=(Attempt("0", "templates", ok=True, ms=0.02),), valid=True, success=number % 20 != 0, grade_w=1,
        grade_d=0, calls=(call, {**call, "step": 2}), output_preview='["app/api.py:12"]' * 20, output_bytes=340,
        executor="monty", total_ms=2.4, lackpy_version="0.1.0",
    )  # fmt: skip


def append_ratio(folder: Path, count: int = 400) -> tuple[float, float, float]:
    """Return (ratio, append ms, bare ms), medians over interleaved pairs on the same disk."""
    journal = Journal(folder / "journal")
    traces = [sample(i) for i in range(count)]
    lines = [bounded_line(trace) for trace in traces]
    ours, bare = [], []
    fd = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    journal.append(sample(0))
    for trace, line in zip(traces, lines, strict=True):
        start = time.perf_counter()
        journal.append(trace)
        middle = time.perf_counter()
        os.write(fd, line)
        os.fsync(fd)
        ours.append(middle - start)
        bare.append(time.perf_counter() - middle)
    os.close(fd)
    journal.close()
    ours_ms, bare_ms = statistics.median(ours) * 1e3, statistics.median(bare) * 1e3
    return ours_ms / bare_ms, ours_ms, bare_ms


def drain_seconds(folder: Path, count: int) -> tuple[float, float]:
    """Return (seconds to drain, seconds to load the same lines with read_json and explicit columns)."""
    lines = b"".join(bounded_line(sample(i)) for i in range(count))
    segment = folder / "journal" / "00000000000000000001-1-aa.jsonl"
    segment.parent.mkdir(exist_ok=True)
    segment.write_bytes(lines)
    bare = folder / "bare.jsonl"
    bare.write_bytes(lines)
    with Store(folder / "traces.duckdb").write():
        pass
    start = time.perf_counter()
    report = drain(folder)
    seconds = time.perf_counter() - start
    assert report.inserted == count, report
    columns = {
        name: "JSON" if name in ("params", "slots", "attempts", "calls") else "VARCHAR"
        for name in Trace.__slots__
    }
    with duckdb.connect(str(folder / "bare.duckdb")) as connection:
        start = time.perf_counter()
        connection.execute(
            "create table t as select * from "
            f"read_json(?, format = 'newline_delimited', columns = {json.dumps(columns)})",
            [str(bare)],
        )
    return seconds, time.perf_counter() - start


def rows(folder: Path | None = None, traces: int = 200_000) -> list[dict[str, Any]]:
    """Return every row: name, value, unit, budget (`None` = none stated), ok."""
    found = []
    with tempfile.TemporaryDirectory(dir=folder) as name:
        base = Path(name)
        ratio, ours, bare = append_ratio(base)
        found.append({"name": f"journal append / bare append+fsync ({ours:.3f} / {bare:.3f} ms)", "value": ratio,
                      "unit": "x", "budget": 2.0, "ok": ratio <= 2.0})  # fmt: skip
        start = time.perf_counter()
        for i in range(2_000):
            bounded_line(sample(i))
        found.append({"name": "build one journal line", "value": (time.perf_counter() - start) / 2_000 * 1e6,
                      "unit": "us", "budget": None, "ok": True})  # fmt: skip
        text = json.dumps([call for i in range(40) for call in sample(i).calls])
        start = time.perf_counter()
        for _ in range(20):
            mask_text(text)
        speed = len(text) * 20 / (time.perf_counter() - start) / 1e6
        found.append({"name": "mask text", "value": speed, "unit": "MB/s", "budget": None, "ok": True})
        seconds, plain = drain_seconds(base / "d" if (base / "d").mkdir() is None else base, traces)
        found.append({"name": f"drain {traces} traces (bare read_json {plain:.2f} s)", "value": seconds, "unit": "s",
                      "budget": None, "ok": True})  # fmt: skip
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=200_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    for row in rows(options.folder, options.traces):
        budget = "-" if row["budget"] is None else f"<= {row['budget']:g}"
        print(
            f"{row['name']:<70} {row['value']:>9.2f} {row['unit']:<5} {budget:<8} {'ok' if row['ok'] else 'SHORT'}"
        )
