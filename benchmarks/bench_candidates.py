"""Candidates over many synthetic traces: cold from all traces, and from the rollup. Prints seconds and peak memory.

    python benchmarks/bench_candidates.py [--traces 10000000] [--forms 20000]

Each form is one distinct (intent, program, kit); forms are drawn with a Zipf-like weight, ten calls a session.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from lackpy import sqlfiles
from lackpy.traces.store import Store
from riggs.store import roll_up

COLD_BUDGET_S, ROLLUP_BUDGET_S, MEMORY_BUDGET_GIB = 5.0, 0.5, 2.0
THRESHOLDS = {"frequency": 5, "sessions": 3, "success_rate": 0.8}


def fill(store: Store, traces: int, forms: int) -> None:
    """Write `traces` rows and the normal forms they use, by SQL alone."""
    with store.write() as con:
        con.execute("set memory_limit = '2GiB'")
        con.execute(
            "insert into normalised by name select md5_number('find callers of name_' || i || chr(31) || "
            "'find_callers(\"name_' || i || '\")' || chr(31) || 'debug') as norm_id, "
            "'find callers of name_' || i as intent, 'find_callers(\"name_' || i || '\")' as program, "
            "'debug' as kit, 1 as normaliser_version, 'callers of {name}' as intent_normalized, "
            "'template_' || (i % 2000) as program_template, 'g' || (i % 2000) as group_id "
            "from range(?) as r(i)",
            [forms],
        )
        con.execute(
            "insert into traces by name select uuid()::varchar as trace_id, "
            "timestamp '2026-01-01' + to_seconds((i * 0.3)::bigint) as ts, 'p' as project, "
            "'s' || (i // 10) as session_id, 'find callers of name_' || f as intent, 'debug' as kit, "
            "case when i % 3 = 0 then '0' else 'caller' end as tier, 'find_callers(\"name_' || f || '\")' as program, "
            "true as valid, hash(i) % 10 > 0 as success, 12.5 as gen_ms, 20.0 as total_ms, "
            "timestamp '2026-12-01' as ingested_at "
            "from (select i, least((random() ** 3 * ?)::bigint, ? - 1) as f from range(?) as r(i))",
            [forms, forms, traces],
        )


def timed(store: Store, name: str) -> tuple[float, int]:
    """Run one shipped query in a fresh connection; return seconds and rows."""
    with store.read() as con:
        con.execute("set memory_limit = '2GiB'")
        started = time.perf_counter()
        rows = con.execute(sqlfiles.statement(name), THRESHOLDS).fetchall()
        return time.perf_counter() - started, len(rows)


def main() -> None:
    """Print the figures as a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--traces", type=int, default=10_000_000)
    parser.add_argument("--forms", type=int, default=20_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "traces.duckdb")
        fill(store, options.traces, options.forms)
        cold_s, cold_rows = timed(store, "candidates")
        started = time.perf_counter()
        with store.write() as con:
            con.execute("set memory_limit = '2GiB'")
            roll_up(con)
        build_s = time.perf_counter() - started
        rollup_s, rollup_rows = timed(store, "candidates_rollup")
        size = (Path(folder) / "traces.duckdb").stat().st_size
    peak_gib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    figures = {
        "traces": options.traces,
        "groups": cold_rows,
        "agree": cold_rows == rollup_rows,
        "cold_s": round(cold_s, 2),
        "rollup_s": round(rollup_s, 3),
        "rollup_build_s": round(build_s, 2),
        "peak_gib": round(peak_gib, 2),
        "store_gib": round(size / 1024**3, 2),
    }
    if options.json:
        print(json.dumps(figures))
        return
    print(
        f"{options.traces:,} traces, {options.forms:,} forms, {cold_rows} groups pass, both ways agree: {figures['agree']}"
    )
    for what, value, budget in (
        ("cold, all traces (s)", cold_s, COLD_BUDGET_S),
        ("from the rollup (s)", rollup_s, ROLLUP_BUDGET_S),
        ("peak memory (GiB)", peak_gib, MEMORY_BUDGET_GIB),
    ):
        print(
            f"{what:24} {value:8.3f}  budget {budget:5.1f}  ratio {value / budget:5.2f}  {'ok' if value <= budget else 'OVER'}"
        )
    print(f"building the rollup took {build_s:.1f} s; the store takes {figures['store_gib']} GiB")


if __name__ == "__main__":
    sys.exit(main())
