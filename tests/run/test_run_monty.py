"""The sandbox executor: limits, workers that die, and a pool that several threads share."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from run_support import TOOLS, run, tool

from lackpy.lang import check
from lackpy.run import ErrorKind, InlineExecutor, Limits, MontyExecutor, RunResult, executor, finish
from lackpy.run.pool import Worker, WorkerPool


@pytest.fixture(scope="module")
def monty() -> MontyExecutor:
    return MontyExecutor(workers=2)


def failed(result: RunResult) -> tuple[ErrorKind, str]:
    assert result.error is not None
    return result.error.kind, result.error.message


def test_the_time_limit_ends_a_loop(monty: MontyExecutor) -> None:
    """A limit error within the limit and a short grace."""
    result = run(monty, "for i in range(10000000000):\n    x = i\nx", limits=Limits(time_s=0.2))
    assert failed(result) == (ErrorKind.LIMIT, "the program took longer than 0.2 s")


def test_the_time_limit_ends_what_the_sandbox_cannot_interrupt(monty: MontyExecutor) -> None:
    """The worker is killed; the next run has another."""
    bomb = "x = []\nfor i in range(60):\n    x = [x, x]\nprint(x)"
    assert failed(run(monty, bomb, limits=Limits(time_s=0.2))) == (
        ErrorKind.LIMIT,
        "the program took longer than 0.2 s",
    )
    assert run(monty, "1 + 1").output == 2


def test_time_after_slow_tools_counts(monty: MontyExecutor) -> None:
    """The sandbox's clock stands still during a tool call; the run's does not."""
    wait = threading.Event()
    tools = {"t": tool("t", {"x": "Any"}, wait.wait)}
    program = "t(0.3)\nfor i in range(10000000000):\n    x = i\nx"
    result = run(monty, program, tools, limits=Limits(time_s=0.6))
    assert failed(result) == (ErrorKind.LIMIT, "the program took longer than 0.6 s")
    assert result.ms < 5_000


def test_the_memory_limit(monty: MontyExecutor) -> None:
    """One large repetition, and many small pieces."""
    limits = Limits(time_s=10, memory_bytes=16 * 2**20)
    for program in ("n = 100000000\nx = 'ab' * n\nlen(x)", "x = [[i] for i in range(3000000)]\nlen(x)"):
        assert failed(run(monty, program, limits=limits)) == (
            ErrorKind.LIMIT,
            "the program needed more than 16 MiB of memory",
        )


def test_an_output_over_budget_never_leaves_the_sandbox(monty: MontyExecutor) -> None:
    """Items and characters; the error says the budget."""
    limits = Limits(time_s=10, nodes=1000, chars=10_000)
    for program in (
        "list(range(5000))",
        "x = 'a' * 200000\nx",
        "x = [1]\nfor i in range(70):\n    x = [x, x]\n{'k': x}",
    ):
        kind, message = failed(run(monty, program, limits=limits))
        assert kind is ErrorKind.LIMIT
        assert message.startswith("the output is too large: it holds more than 1,000 items")


def test_printed_text_is_bounded_and_kept_up_to_there(monty: MontyExecutor) -> None:
    """The limit ends the program; what fits is kept."""
    result = run(
        monty, "for i in range(100000000):\n    print('hello')", limits=Limits(time_s=20, printed_chars=60)
    )
    assert failed(result) == (ErrorKind.LIMIT, "the program printed more than 60 characters")
    assert result.printed == "hello\n" * 10


def test_a_worker_killed_while_idle_is_replaced(monty: MontyExecutor) -> None:
    """The next run doesn't notice."""
    pids = set()
    for _ in range(3):
        with monty.pool.session(wait_s=5) as worker:
            assert worker.pid is not None
            pids.add(worker.pid)
            pid = worker.pid
        os.kill(pid, signal.SIGKILL)
        assert run(monty, "1 + 1").output == 2
    assert len(pids) == 3


def test_a_worker_killed_during_a_tool_call_is_a_crash() -> None:
    """What ran is on record and nothing runs twice; the next run works."""
    seen: list[str] = []
    held: list[Worker] = []

    def fn(x: str) -> int:
        seen.append(x)
        held[0].kill()
        return 1

    only = MontyExecutor(pool=Watched(held))
    result = run(only, "t('a') + t('b')", {"t": tool("t", {"x": "str"}, fn)})
    assert failed(result) == (ErrorKind.CRASH, "the sandbox worker died")
    assert seen == ["a"]
    assert [record.ok for record in result.calls] == [True]
    assert run(only, "1 + 1").output == 2
    only.close()


class Watched(WorkerPool):
    """A pool of one worker that tells who is held."""

    def __init__(self, held: list[Worker]) -> None:
        super().__init__(1)
        self.held = held

    @contextlib.contextmanager
    def session(self, **options: Any) -> Iterator[Worker]:
        with super().session(**options) as worker:
            self.held.append(worker)
            yield worker


def test_workers_have_stdio_of_their_own(monty: MontyExecutor) -> None:
    """A worker's stdin and stdout are not this process's: a protocol on them stays clean."""
    with monty.pool.session(wait_s=5) as worker:
        for fd in (0, 1):
            theirs = os.readlink(f"/proc/{worker.pid}/fd/{fd}")
            assert theirs.startswith("pipe:")
            assert theirs != os.readlink(f"/proc/self/fd/{fd}")


def test_a_full_pool_makes_runs_wait() -> None:
    """One worker serves many threads in turn; a run that waits past its time limit says so."""
    pool = WorkerPool(workers=1)
    only = MontyExecutor(pool=pool)
    with pool.session(wait_s=5):
        result = run(only, "1", limits=Limits(time_s=0.1))
    assert failed(result) == (ErrorKind.LIMIT, "the program took longer than 0.1 s")
    results: list[RunResult] = []
    threads = [threading.Thread(target=lambda: results.append(run(only, "len('abc')"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.output for result in results] == [3] * 6
    only.close()


def test_closing_ends_the_workers_and_a_later_run_starts_anew() -> None:
    """A busy worker is left to finish."""
    only = MontyExecutor(workers=1)
    with only.pool.session(wait_s=5) as worker:
        pid = worker.pid
        only.close()
        assert worker.session.feed_run("1 + 1") == 2
    assert not Path(f"/proc/{pid}").exists()
    assert run(only, "2 + 2").output == 4
    only.close()
    only.close()


def test_a_refused_program_is_not_run(monty: MontyExecutor) -> None:
    """Neither executor runs a verdict that isn't ok."""
    signatures = {name: spec.signature for name, spec in TOOLS.items()}
    verdict = check("import os", signatures)
    for runner in (monty, InlineExecutor()):
        result = runner.run(verdict, TOOLS, {}, Limits())
        assert failed(result)[0] is ErrorKind.VALIDATION
    assert finish.refused(replace(verdict, violations=())).message == "the program was not validated"


def test_parameters_are_values(monty: MontyExecutor) -> None:
    """Plain data the program reads by name, on both executors; anything else is a usage error."""
    for runner in (monty, InlineExecutor()):
        params = {"p": {"a": (1, {2})}, "filter": "x"}
        assert run(runner, "[p['a'], filter, 2 in p['a'][1]]", params=params).output == [[1, [2]], "x", True]
        assert failed(run(runner, "p", params={"p": object()}))[0] is ErrorKind.USAGE
        assert failed(run(runner, "p", params={"p": "x" * 99}, limits=Limits(chars=50)))[0] is ErrorKind.LIMIT


def test_an_empty_program_gives_nothing(monty: MontyExecutor) -> None:
    """And so does one that ends in a statement without a value."""
    for runner in (monty, InlineExecutor()):
        for program in ("", "# only a comment", "if 1 > 2:\n    print('no')"):
            result = run(runner, program)
            assert (result.ok, result.output, result.printed) == (True, None, "")


def test_hints_name_the_keys_that_rows_have(monty: MontyExecutor) -> None:
    """A missing key of a row is answered with the rows of the kit."""
    for runner in (monty, InlineExecutor()):
        result = run(runner, "rows = find('abc')\nkey = 'bo' + 'dy'\n[r[key] for r in rows]")
        assert result.error is not None
        assert (result.error.message, result.error.line) == ("KeyError: 'body'", 3)
        assert result.error.hint == "find() rows have name, file, line"


def test_conversions_are_noted_on_the_result(monty: MontyExecutor) -> None:
    """`notes` says what strict JSON made necessary."""
    for runner in (monty, InlineExecutor()):
        result = run(runner, "[float('nan'), {'b', 'a'}]")
        assert result.output == ["NaN", ["a", "b"]]
        assert len(result.notes) == 2
        assert failed(run(runner, "{1: 2, '1': 3}")) == (
            ErrorKind.OUTPUT,
            "the output can't be returned: two keys of one dict both become the text '1'; use text keys",
        )


def test_executors_by_name() -> None:
    """One of each a process; another name is an error that lists both."""
    assert executor("monty") is executor("monty")
    assert executor("inline").name == "inline"
    with pytest.raises(ValueError, match="must be 'monty' or 'inline'"):
        executor("docker")
    with pytest.raises(ValueError, match="'workers' must be >= 1"):
        WorkerPool(0)


def test_a_run_from_a_worker_thread_is_the_same(monty: MontyExecutor) -> None:
    """No limit depends on the main thread."""
    program = "for i in range(1000000000):\n    x = i\nx"
    found: list[RunResult] = []

    def work() -> None:
        limits = Limits(time_s=0.2, steps=10**12)
        found.extend([run(monty, program, limits=limits), run(InlineExecutor(), program, limits=limits)])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    for result in found:
        assert failed(result) == (ErrorKind.LIMIT, "the program took longer than 0.2 s")
        assert result.ms < 10_000


def test_a_sandbox_that_cannot_start_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """No exception leaves `run`."""
    monkeypatch.setenv("MONTY_BIN", "/nowhere/at/monty")
    only = MontyExecutor(workers=1)
    kind, message = failed(run(only, "1"))
    assert kind is ErrorKind.CRASH
    assert message.startswith("the sandbox can't be started: ")
    assert "/nowhere/at" not in message
