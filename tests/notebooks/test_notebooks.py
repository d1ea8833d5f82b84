"""Every shipped notebook runs from top to bottom, on a workspace with traces and on one without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lackpy.traces.ids import new_id
from lackpy.traces.journal import Journal
from lackpy.traces.record import Trace

FOLDER = Path(__file__).parents[2] / "notebooks"
NAMES = sorted(p.stem for p in FOLDER.glob("*.py"))


def run(name: str, workspace: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / f"{name}.py")],
        cwd=workspace,
        env={**os.environ, "LACKPY_WORKSPACE": str(workspace), "PYTHONPATH": str(FOLDER.parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_the_five_are_shipped():
    assert NAMES == ["candidates", "convergence", "long_tail", "model_quality", "trust"]


@pytest.mark.parametrize("name", NAMES)
def test_runs_on_an_empty_store(name, tmp_path):
    run(name, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_runs_on_traces_and_leaves_the_store_free(name, tmp_path):
    """The notebook closes the store: the next write gets it at once."""
    from riggs.store import Store

    journal = Journal(tmp_path / ".lackpy" / "journal")
    for n in range(12):
        journal.append(
            Trace(
                trace_id=new_id(),
                ts=f"2026-01-{n % 4 + 1:02d}T10:00:00.000000Z",
                project="p",
                session_id=f"s{n % 4}",
                intent=f"find callers of name_{n}",
                kit="debug",
                tier=("caller", "2", "0")[n % 3],
                template="callers" if n % 3 == 2 else None,
                model="m" if n % 3 == 1 else None,
                program=f'find_callers("name_{n}")',
                valid=True,
                success=n != 5,
                gen_ms=10.0,
                total_ms=12.0,
            )
        )
    journal.close()
    store = Store(tmp_path, wait_s=0.5)
    store.sync()
    run(name, tmp_path)
    with store.write() as connection:
        assert connection.execute("select count(*) from traces").fetchone() == (12,)
