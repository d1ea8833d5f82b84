"""Many processes on one workspace: no trace is lost or doubled, no delegate fails."""

from __future__ import annotations

import collections
import json
import subprocess
import sys
import threading

import pytest

from lackpy import Lackpy
from lackpy.traces.query import list_traces
from lackpy.traces.store import Store

pytestmark = pytest.mark.slow

PROCESSES, DELEGATES, ENOUGH = 8, 250, 100_000
# Prints a line for each acknowledged trace: what is printed is what a caller may rely on.
CHILD = """
import json, sys
from lackpy import Lackpy
name, count = sys.argv[1], int(sys.argv[2])
with Lackpy(".", session=name) as runtime:
    for number in range(count):
        result = runtime.delegate(f"echo the word {name}x{number}")
        done = {"id": result.trace_id, "ok": result.ok and result.output == f"{name}x{number}"}
        print(json.dumps({**done, "notes": result.notes}), flush=True)
"""
HOLDER = """
import sys
from lackpy.traces.store import Store
while True:
    with Store(sys.argv[1]).write() as connection:
        print("held", flush=True)
        if not sys.stdin.readline():
            break
    print("free", flush=True)
    if not sys.stdin.readline():
        break
"""


@pytest.fixture
def echoing(workspace):
    """Return the workspace with one cheap template of its own and a store."""
    with Lackpy(workspace) as runtime:
        runtime.create("'{word}'", "echo", "echo the word {word}")
    with Store(workspace).write():
        pass
    return workspace


def child(workspace, name, count):
    """Start one process that delegates `count` times in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, name, str(count)],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def acknowledged(lines):
    """Return what a child printed, without a last line that its end cut short."""
    return [json.loads(line) for line in lines if line.endswith("\n")]


def stored(workspace):
    """Return how often each trace id is in the store, once everything is drained."""
    assert list_traces(workspace, limit=1)
    with Store(workspace).read() as connection:
        return collections.Counter(
            row[0] for row in connection.execute("select trace_id from traces").fetchall()
        )


class Holder:
    """A process that keeps the store open until it is told to let go."""

    def __init__(self, workspace):
        self._process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(workspace)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._next("held")

    def _next(self, word):
        assert self._process.stdout.readline() == f"{word}\n"

    def turn(self, word):
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self._next(word)

    def stop(self):
        self._process.stdin.close()
        assert self._process.wait(60) == 0
        self._process.stdout.close()


def test_eight_processes_two_thousand_delegates(cli, echoing):
    """8 x 250 delegates, `trace list` in a loop, the store held open by turns: all 2,000 traces are there."""
    holder = Holder(echoing)
    children = [child(echoing, f"p{number}", DELEGATES) for number in range(PROCESSES)]
    outputs = {}

    def collect(number):
        outputs[number] = children[number].communicate()

    readers = [threading.Thread(target=collect, args=(number,)) for number in range(PROCESSES)]
    for reader in readers:
        reader.start()
    listed, held = [], True
    while any(reader.is_alive() for reader in readers) or len(listed) < 2:
        listed.append(cli("lackpy", "trace", "list", "--json"))
        held = not held
        holder.turn("held" if held else "free")
    for reader in readers:
        reader.join()
    holder.stop()

    assert [process.returncode for process in children] == [0] * PROCESSES
    assert [error for _, error in outputs.values() if error] == []
    done = [row for text, _ in outputs.values() for row in acknowledged(text.splitlines(keepends=True))]
    assert [row for row in done if not row["ok"] or row["notes"]] == []
    assert [
        (one.returncode, one.stderr) for one in listed if one.returncode or "Traceback" in one.stderr
    ] == []
    assert any(json.loads(one.stdout) for one in listed)
    found = stored(echoing)
    assert len({row["id"] for row in done}) == PROCESSES * DELEGATES
    assert set(found) == {row["id"] for row in done}
    assert set(found.values()) == {1}
    assert list((echoing / ".lackpy/journal").glob("*.jsonl")) == []


@pytest.mark.parametrize("drained", [False, True], ids=["drained_after", "drained_before_and_after"])
def test_what_was_acknowledged_before_a_kill_is_in_the_store(echoing, drained):
    """Processes killed while they write: each trace id that they gave out is in the store once."""
    children = [child(echoing, f"k{number}", ENOUGH) for number in range(3)]
    lines = {process: [process.stdout.readline() for _ in range(60)] for process in children}
    if drained:
        assert len(list_traces(echoing, limit=1_000)) >= 180
        for process in children:
            lines[process] += [process.stdout.readline() for _ in range(60)]
    for process in children:
        process.kill()
    for process in children:
        with process.stdout, process.stderr:  # not `communicate`, which forgets what `readline` read ahead
            lines[process] += process.stdout.readlines()
            assert process.stderr.read() == ""
        process.wait()
    done = [row for printed in lines.values() for row in acknowledged(printed)]
    assert all(row["ok"] and row["id"] for row in done)
    found = stored(echoing)
    assert {row["id"] for row in done} - set(found) == set()
    assert set(found.values()) == {1}
    assert len(found) - len(done) <= len(children)  # written, and killed before it was said
    assert list((echoing / ".lackpy/journal").glob("*.jsonl")) == []
