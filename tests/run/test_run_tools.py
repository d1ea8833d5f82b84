"""Tool calls: traced, copied both ways, bounded in time, and contained whatever they do; on both executors."""

from __future__ import annotations

import collections
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from run_support import EXECUTORS, run, tool

from lackpy.errors import LackpyError
from lackpy.run import Cancel, ErrorKind, Executor, Limits, RunResult


@pytest.fixture(params=sorted(EXECUTORS))
def executor(request: pytest.FixtureRequest) -> Executor:
    return EXECUTORS[request.param]


def call(
    executor: Executor, fn: Any, program: str = "t('a')", limits: Limits | None = None, **more: Any
) -> RunResult:
    return run(executor, program, {"t": tool("t", {"x": "Any"}, fn, **more)}, None, limits)


def raising(exc: BaseException) -> Any:
    def fn(x: Any) -> Any:
        raise exc

    return fn


def test_a_call_leaves_a_record(executor: Executor) -> None:
    """Step, tool, arguments by parameter name, time, size and preview of the result."""
    result = run(executor, "rows = find('abc')\nread(path=rows[1]['file'])")
    first, second = result.calls
    assert (first.step, first.tool, first.args, first.ok, first.error) == (
        1,
        "find",
        {"name": "abc"},
        True,
        None,
    )
    assert first.preview == (
        '[{"name":"abc_0","file":"a.py","line":1},{"name":"abc_1","file":"b.py","line":3},'
        '{"name":"abc_2","file":"c.py","line":5}]'
    )
    assert first.result_bytes == len(first.preview)
    assert second.args == {"path": "b.py"}
    assert first.ms >= 0


def test_long_arguments_are_cut_in_the_record_only(executor: Executor) -> None:
    """The tool gets all of it; the trace a bounded picture."""
    seen: list[Any] = []
    result = call(executor, seen.append, "t('a' * 5000)\nt([0] * 900)\nt({'k': [[[[1]]]]})")
    assert seen == ["a" * 5000, [0] * 900, {"k": [[[[1]]]]}]
    texts = [record.args["x"] for record in result.calls]
    assert texts[0].endswith("… (5,000 characters)")
    assert texts[1][-1] == "… (900 items)"
    assert texts[2] == {"k": [[["… (1 items)"]]]}


@pytest.mark.parametrize(
    ("exc", "message"),
    [
        (ValueError("no such thing"), "t() failed: ValueError: no such thing"),
        (LackpyError("'a' is not a file", "use glob('*')"), "t() failed: 'a' is not a file"),
        (KeyError("a"), "t() failed: KeyError: 'a'"),
        (
            FileNotFoundError(2, "No such file or directory", "/srv/private/x.txt"),
            "t() failed: FileNotFoundError: No such file or directory: '…/x.txt'",
        ),
        (
            RuntimeError("connect failed: password=hunter2 host=/srv/db/main"),
            "t() failed: RuntimeError: connect failed: [masked] host=…/main",
        ),
        (RuntimeError("at <Thing object at 0x7f00aa>\nmore\nlines"), "t() failed: RuntimeError: at [object]"),
        (RuntimeError(), "t() failed: RuntimeError"),
        (SystemExit("bye"), "t() failed: it tried to end the process (SystemExit)"),
        (KeyboardInterrupt(), "t() failed: it tried to end the process (KeyboardInterrupt)"),
        (GeneratorExit(), "t() failed: it tried to end the process (GeneratorExit)"),
    ],
)
def test_a_failing_tool_ends_the_program_with_one_sentence(
    executor: Executor, exc: BaseException, message: str
) -> None:
    """Kind `tool`, the program's line, the record says the same; secrets, addresses and host folders are out."""
    result = call(executor, raising(exc), "x = 1\n\ny = t('a')\ny")
    assert not result.ok
    assert result.error is not None
    assert (result.error.kind, result.error.message, result.error.line) == (ErrorKind.TOOL, message, 2)
    assert result.calls[0].error == message
    assert result.calls[0].result_bytes is None
    assert result.error.hint == ("use glob('*')" if isinstance(exc, LackpyError) else "")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (object(), "is not plain data"),
        ((i for i in [1]), "type generator is not plain data"),
        (threading.Lock(), "is not plain data"),
        ([[1], {"a": len}], "is not plain data"),
    ],
)
def test_a_result_that_is_no_plain_data_is_refused(executor: Executor, value: Any, said: str) -> None:
    """The refusal is the tool's error; no host object reaches the program."""
    result = call(executor, lambda x: value)
    assert result.error is not None
    assert result.error.kind is ErrorKind.TOOL
    assert said in result.error.message


def test_subclasses_and_rich_values_arrive_as_plain_data(executor: Executor) -> None:
    """A defaultdict is a dict, a set is a set."""
    result = call(
        executor,
        lambda x: collections.defaultdict(int, a={2, 1}),
        "r = t('a')\n[r['a'], isinstance(r, dict), 1 in r['a']]",
    )
    assert result.output == [[1, 2], True, True]


def test_a_program_cannot_change_what_a_tool_keeps(executor: Executor) -> None:
    """Results and arguments are copies, both ways."""
    kept: list[Any] = [{"n": 1}]

    def fn(x: Any) -> Any:
        if isinstance(x, list):
            x.append("changed")
        return kept

    result = call(executor, fn, "a = t('a')\na.append(2)\na[0]['n'] = 5\nb = [1]\nt(b)\n[a, b, t('a')]")
    assert result.output == [[{"n": 5}, 2], [1], [{"n": 1}]]
    assert kept == [{"n": 1}]


def test_a_result_over_budget_is_a_limit_error(executor: Executor) -> None:
    """Items, characters, depth and digits bound what a tool may give."""
    for value in ([0] * 600, "x" * 600, [[[[[[1]]]]]], 10**50):
        limits = Limits(nodes=500, chars=500, depth=4, digits=40)
        result = call(executor, lambda x, value=value: value, limits=limits)
        assert result.error is not None
        assert result.error.kind is ErrorKind.LIMIT
        assert result.error.message.startswith("the result of t() is too large")


def test_an_argument_over_budget_never_reaches_the_tool(executor: Executor) -> None:
    """Small in memory, huge when walked."""
    seen: list[Any] = []
    program = "x = [0]\nfor i in range(60):\n    x = [x, x]\nt(x)"
    result = call(executor, seen.append, program, Limits(time_s=10, nodes=10_000, chars=10_000))
    assert result.error is not None
    assert result.error.kind is ErrorKind.LIMIT
    assert result.error.line == 4
    assert seen == []


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Return an event that a blocked tool waits for; it opens when the test is over."""
    event = threading.Event()
    yield event
    event.set()


def test_a_tool_has_its_own_deadline(executor: Executor, gate: threading.Event) -> None:
    """The spec's own time limit comes before the run's; the run goes on without the stuck tool."""
    result = call(executor, lambda x: gate.wait(60), "t('a')", Limits(time_s=30), timeout_s=0.05)
    assert result.error is not None
    assert result.error.kind is ErrorKind.LIMIT
    assert result.error.message == "t() took longer than its limit of 0.05 s"
    assert not result.calls[0].ok


def test_the_run_s_deadline_holds_for_its_tools(executor: Executor, gate: threading.Event) -> None:
    """Tool time is the program's time."""
    result = call(executor, lambda x: gate.wait(60), "t('a')", Limits(time_s=0.2))
    assert result.error is not None
    assert result.error.message == "the program took longer than 0.2 s, the last of it in t()"


def test_the_number_of_calls_is_bounded(executor: Executor) -> None:
    """One more than the budget ends the run; the calls before it are on record."""
    result = call(executor, lambda x: x, "[t(i) for i in range(9)]", Limits(time_s=10, tool_calls=5))
    assert result.error is not None
    assert result.error.message == "the program made more than 5 tool calls"
    assert [record.ok for record in result.calls] == [True] * 5 + [False]


def test_cancelling_ends_a_run_that_waits_for_a_tool(executor: Executor, gate: threading.Event) -> None:
    """From another thread; the result says cancelled, and callbacks don't pile up."""
    cancel = Cancel()
    entered = threading.Event()

    def fn(x: Any) -> Any:
        entered.set()
        return gate.wait(60)

    threading.Thread(target=lambda: entered.wait(30) and cancel.cancel(), daemon=True).start()
    result = run(executor, "t('a')", {"t": tool("t", {"x": "Any"}, fn)}, cancel=cancel)
    assert result.error is not None
    assert result.error.kind is ErrorKind.CANCELLED
    assert cancel.on_cancel == []


def test_cancelling_ends_a_run_that_computes(executor: Executor) -> None:
    """The endless loop is stopped from outside, long before its time limit."""
    cancel = Cancel()
    entered = threading.Event()
    tools = {"t": tool("t", {"x": "Any"}, lambda x: entered.set())}
    threading.Thread(target=lambda: entered.wait(30) and cancel.cancel(), daemon=True).start()
    program = "t('a')\nn = 0\nfor i in range(1000000):\n    for j in range(1000000):\n        n += 1\nn"
    result = run(executor, program, tools, None, Limits(time_s=60, steps=10**12), cancel=cancel)
    assert result.error is not None
    assert result.error.kind is ErrorKind.CANCELLED
    assert result.ms < 30_000


def test_a_run_cancelled_before_it_starts_runs_nothing(executor: Executor) -> None:
    """No tool is called."""
    cancel = Cancel(cancelled=True)
    seen: list[Any] = []
    result = run(executor, "t('a')", {"t": tool("t", {"x": "Any"}, seen.append)}, cancel=cancel)
    assert result.error is not None
    assert result.error.kind is ErrorKind.CANCELLED
    assert seen == []


def test_tools_with_a_builtin_s_name_are_the_tool(executor: Executor) -> None:
    """`open` and `filter` mean the kit's tools where it has them."""
    tools = {
        name: tool(name, {"x": "Any"}, lambda x, name=name: f"{name}:{x}")
        for name in ("open", "filter", "hash")
    }
    assert run(executor, "[open(1), filter('a'), hash('b')]", tools).output == [
        "open:1",
        "filter:a",
        "hash:b",
    ]


def test_a_coroutine_function_is_awaited(executor: Executor) -> None:
    """An async tool gives its value."""

    async def fn(x: Any) -> str:
        return f"got {x}"

    assert call(executor, fn).output == "got a"


def test_many_threads_run_at_once(executor: Executor) -> None:
    """Programs of several threads don't mix their values, prints or records."""
    results: dict[int, RunResult] = {}

    def work(n: int) -> None:
        program = f"x = [t(i) for i in range({n})]\nprint({n})\n[{n}, x]"
        results[n] = call(executor, lambda x: x * 2, program)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for n in range(12):
        assert results[n].output == [n, [2 * i for i in range(n)]]
        assert results[n].printed == f"{n}\n"
        assert [record.args["x"] for record in results[n].calls] == list(range(n))
