"""Many processes, one workspace: no acknowledged trace is lost, none arrives twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import pytest

from lackpy import sqlfiles
from lackpy.traces.drain import drain
from lackpy.traces.query import count_traces, list_traces
from lackpy.traces.store import Store

# Prints each id once its append returned: what is printed is acknowledged.
WRITER = """
import sys
from pathlib import Path
from lackpy.traces.drain import drain
from lackpy.traces.ids import new_id, utc_now
from lackpy.traces.journal import Journal

state, count = Path(sys.argv[1]), int(sys.argv[2])
journal = Journal(state / "journal", segment_bytes=20_000)
for i in range(count):
    trace_id = new_id()
    journal.append({
        "trace_id": trace_id, "ts": utc_now(), "session_id": sys.argv[3], "intent": f"intent {i}", "kit": "debug",
        "project": "p", "valid": True, "success": True, "program": "x" * 200,
    })
    print(trace_id, flush=True)
    if i % 50 == 49:
        drain(state, wait_s=0.0)
journal.close()
"""
READER = """
import sys
from pathlib import Path
from lackpy.traces.query import list_traces

while not (Path(sys.argv[1]) / "stop").exists():
    list_traces(Path(sys.argv[1]), limit=5)
"""
HOLDER = """
import sys
from pathlib import Path
from lackpy.traces.store import Store

with Store(Path(sys.argv[1]) / ".lackpy", wait_s=60).write():
    print("open", flush=True)
    sys.stdin.read()
"""


def start(code: str, *argv: object, **options) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, argv)], text=True, **options)


def stored_ids(state) -> list[str]:
    with Store(state, wait_s=30).read() as connection:
        ids = [row[0] for row in connection.execute("select trace_id from traces").fetchall()]
        for name in sqlfiles.names("audits"):
            assert connection.execute(sqlfiles.statement(name)).fetchall() == [], name
    return ids


def check_all_arrived(state, acknowledged: set[str]) -> list[str]:
    """Drain what is left, compare, and return the ids that were stored."""
    assert not drain(state, wait_s=30).locked
    ids = stored_ids(state)
    assert len(ids) == len(set(ids)), "none twice"
    assert acknowledged <= set(ids), "none lost"
    assert list((state / "journal").iterdir()) == []
    return ids


@pytest.mark.slow
def test_eight_writers_a_looping_reader_and_a_holder(state) -> None:
    """8 times 250 appends beside a reader that drains all the time and one process that keeps the store open."""
    workspace = state.parent
    with Store(state).write():
        pass
    reader = start(READER, workspace)
    holder = start(HOLDER, workspace, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    writers = [start(WRITER, state, 250, f"s{n}", stdout=subprocess.PIPE) for n in range(8)]
    try:
        outputs = [writer.communicate(timeout=300)[0] for writer in writers]
    finally:
        holder.communicate(timeout=60)
        (workspace / "stop").touch()
        reader.wait(timeout=120)
    assert [writer.returncode for writer in writers] == [0] * 8
    assert reader.returncode == 0
    acknowledged = {line for output in outputs for line in output.split()}
    assert len(acknowledged) == 2_000
    assert len(check_all_arrived(state, acknowledged)) == 2_000
    assert count_traces(workspace) == 2_000
    assert len(list_traces(workspace, limit=3_000, session="s3")) == 250


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_killed_writers_and_drains_lose_nothing_acknowledged(state) -> None:
    """SIGKILL at a random point of appends and drains, six times over; a record not yet acknowledged may arrive too."""
    choose = random.Random(7)
    acknowledged: set[str] = set()
    for round_number in range(6):
        writer = start(WRITER, state, 5_000, f"s{round_number}", stdout=subprocess.PIPE)
        for _ in range(choose.randrange(20, 140)):
            acknowledged.add(writer.stdout.readline().strip())
        os.kill(writer.pid, signal.SIGKILL)
        acknowledged.update(line for line in writer.communicate()[0].split("\n")[:-1] if line)
    ids = check_all_arrived(state, acknowledged)
    assert len(ids) <= len(acknowledged) + 6
