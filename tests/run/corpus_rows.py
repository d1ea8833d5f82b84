"""Runs rows of the hostile corpus on one executor; as a script, in a process that a row may kill.

Usage: `corpus_rows.py FOLDER EXECUTOR FIRST` prints one JSON line a row, from row FIRST on.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

CORPORA = Path(__file__).resolve().parents[1] / "corpora"
TIME_S = 0.5
"""Time limit of one row in seconds; what is to end within 2 s has the rest as grace."""
ADDRESS_SPACE = 4 * 2**30
"""Bytes the child may map; a row that asks for more fails instead of taking the machine down."""


def rows() -> list[dict[str, Any]]:
    """Return every row but the slot cases, which need templates."""
    text = (CORPORA / "adversarial_dev.jsonl").read_text(encoding="utf-8")
    found = [json.loads(line) for line in text.split("\n") if line]
    return [row for row in found if row["kind"] != "slot_injection"]


def load(name: str) -> Any:
    """Return a fresh copy of a module beside the corpora: it reads `ADV_BASE` when it is made."""
    spec = importlib.util.spec_from_file_location(f"{name}_here", CORPORA / "workspace" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def host_tools(folder: Path) -> tuple[dict[str, Any], Any]:
    """Build the workspace and return the misbehaving tools over it, and their module."""
    from lackpy.kits import spec_of

    os.environ["ADV_BASE"] = str(folder)
    load("make_workspace").build()
    module = load("corpus_tools")
    return {name: spec_of(fn, name=name) for name, fn in module.TOOLS.items()}, module


def resident_mib() -> float:
    """Return this process's resident memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def run_row(row: dict[str, Any], executor: Any, tools: dict[str, Any]) -> dict[str, Any]:
    """Run one row that validation lets through; return what the corpus asks about."""
    from lackpy.lang import check
    from lackpy.run import Limits

    verdict = check(row["program"], {name: spec.signature for name, spec in tools.items()})
    if not verdict.ok:
        return {"id": row["id"], "outcome": "refused"}
    before, started, busy = resident_mib(), time.perf_counter(), time.process_time()
    result = executor.run(verdict, tools, {}, Limits(time_s=TIME_S))
    seen = f"{json.dumps(result.output)} {result.printed} {result.error} {result.calls}"
    return {
        "id": row["id"],
        "outcome": "value" if result.ok else str(result.error.kind),
        "message": "" if result.ok else result.error.message[:200],
        "seconds": time.perf_counter() - started,
        "busy_s": time.process_time() - busy,
        "mib": resident_mib() - before,
        "leaked": [secret for secret in row["must_not_contain"] if secret in seen],
    }


def main(folder: str, name: str, first: int) -> None:
    """Run rows from `first` on, one line of JSON each; the line before a row names it."""
    import resource

    from lackpy.run import executor

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    tools, _ = host_tools(Path(folder))
    runner = executor(name)
    for index, row in enumerate(rows()):
        if index >= first and row["expect"] != "reject":
            print(json.dumps({"start": index, "id": row["id"]}), flush=True)
            print(json.dumps(run_row(row, runner, tools)), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(CORPORA.parents[1]))
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
