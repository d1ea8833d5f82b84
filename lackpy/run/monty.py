"""The default executor: the program runs in a sandbox worker process and can harm only that.

Time, memory and print limits are enforced by the worker and, past a short grace, by killing it. Tools run
here, through the call tracer, one call at a time. Nothing a program does reaches this process
except plain data that was size-checked inside the sandbox.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lackpy.run import finish, wording
from lackpy.run.finish import Printed, PrintLimitError
from lackpy.run.plain import PlainError, copy_plain
from lackpy.run.pool import GRACE_S, NO_SANDBOX, NoSandboxError, Worker, WorkerPool
from lackpy.run.prelude import HOST, OVER, guarded
from lackpy.run.record import ErrorKind, RunError, RunResult
from lackpy.run.tracer import StopRunError, Tracer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_monty import FunctionSnapshot, MontyRuntimeError, SyncSnapshot

    from lackpy.kits.spec import ToolSpec
    from lackpy.lang.verdict import Verdict
    from lackpy.run.record import Cancel, Limits

SLOW_TOOLS_S = 0.1
"""Seconds in tools after which the wall clock is watched too: the sandbox's own clock stands still meanwhile."""


class MontyExecutor:
    """Runs programs in a pool of warm sandbox processes; safe to use from many threads.

    Args:
        workers: Most programs that run at once; more wait.
        pool: Use this pool instead of one of its own.
    """

    name = "monty"

    def __init__(self, workers: int = 4, *, pool: WorkerPool | None = None) -> None:
        self.pool = pool or WorkerPool(workers)

    def run(
        self,
        verdict: Verdict,
        tools: Mapping[str, ToolSpec],
        params: Mapping[str, Any],
        limits: Limits,
        cancel: Cancel | None = None,
    ) -> RunResult:
        """Run the lowered program; never raises for what it or a tool does."""
        started = time.perf_counter()
        deadline = time.monotonic() + limits.time_s
        tracer = Tracer(tools, limits, deadline)
        printed = Printed(limits.printed_chars)
        if not verdict.ok or verdict.tree is None:
            return finish.failure(finish.refused(verdict), tracer, printed, started)
        inputs: dict[str, Any] = {}
        for name, value in params.items():
            try:
                inputs[name] = copy_plain(value, limits)
            except PlainError as exc:
                return finish.failure(finish.params_error(name, exc), tracer, printed, started)
        code, before = guarded(verdict.program, verdict.tree, tuple(tools), limits)
        run = _Run(tools, limits, tracer, printed, before)
        with finish.Registered(cancel, run.cancel):
            outcome = self._attempt(run, code, inputs, deadline) or self._attempt(run, code, inputs, deadline)
        if outcome is None:
            outcome = _DIED
        if isinstance(outcome, RunError):
            return finish.failure(outcome, tracer, printed, started)
        return finish.success(outcome.value, limits, tracer, printed, started)

    def close(self) -> None:
        """End the worker processes."""
        self.pool.close()

    def _attempt(
        self, run: _Run, code: str, inputs: dict[str, Any], deadline: float
    ) -> _Output | RunError | None:
        import pydantic_monty as sandbox  # noqa: PLC0415  # 20 ms that a program-less command need not pay

        left_s = deadline - time.monotonic()
        limits = {
            "max_feed_duration_secs": max(left_s, 0.001),
            "max_memory": run.limits.memory_bytes,
            "max_suspensions": run.limits.tool_calls + 8,
        }
        if run.cancelled:
            return finish.cancelled()
        try:
            with self.pool.session(wait_s=left_s, given_up=lambda: run.cancelled, limits=limits) as worker:
                return run.drive(worker, code, inputs)
        except TimeoutError:
            return finish.cancelled() if run.cancelled else finish.time_limit(run.limits)
        except NoSandboxError as exc:
            return RunError(ErrorKind.CRASH, str(exc), None, exc.hint)
        except sandbox.MontyError as exc:
            return RunError(
                ErrorKind.CRASH, f"the sandbox failed: {wording.guarded(str(exc))}", None, NO_SANDBOX
            )


@dataclass(frozen=True, slots=True)
class _Output:
    """What the program's last expression gave."""

    value: Any


_DIED = RunError(ErrorKind.CRASH, "the sandbox worker died", None, "run it again; report it if it stays")


@dataclass(slots=True)
class _Run:
    """One program in one worker."""

    tools: Mapping[str, ToolSpec]
    limits: Limits
    tracer: Tracer
    printed: Printed
    before: int
    cancelled: bool = False
    out_of_time: bool = False
    worker: Worker | None = None
    alarm: threading.Timer | None = field(default=None)

    def cancel(self) -> None:
        """Stop now, from any thread: end the tool call that is waited for, and the worker."""
        self.cancelled = True
        self.tracer.stop()
        worker = self.worker
        if worker is not None:
            worker.kill()

    def drive(self, worker: Worker, code: str, inputs: dict[str, Any]) -> _Output | RunError | None:
        """Feed the program and answer its tool calls until it ends; `None` when the worker is worth another."""
        import pydantic_monty as sandbox  # noqa: PLC0415  # 20 ms that a program-less command need not pay

        self.worker = worker
        try:
            if self.cancelled:
                return finish.cancelled()
            snapshot: SyncSnapshot = worker.session.feed_start(
                code, inputs=inputs, print_callback=self._print
            )
            while not isinstance(snapshot, sandbox.MontyComplete):
                if isinstance(snapshot, sandbox.FunctionSnapshot):
                    snapshot = self._answer(snapshot)
                elif isinstance(snapshot, sandbox.NameLookupSnapshot):
                    snapshot = snapshot.resume()
                else:
                    return RunError(ErrorKind.CRASH, "the sandbox waits for something that never comes")
            return finish.print_limit(self.limits) if self.printed.over else _Output(snapshot.output)
        except StopRunError as exc:
            return exc.error
        except sandbox.MontyRuntimeError as exc:
            return self._failed(exc)
        except sandbox.MontyCrashedError as exc:
            return self._crashed(timed_out=exc.timed_out)
        except sandbox.MontySyntaxError as exc:
            return finish.runtime_error("SyntaxError", str(exc), None, self.tools)
        except sandbox.MontyConversionError as exc:
            return RunError(ErrorKind.OUTPUT, f"a value can't be passed to the program: {exc}")
        except ValueError as exc:
            # A whole number with more digits than Python converts, met where a value crosses the border.
            return finish.size_limit(str(exc).partition(";")[0])
        finally:
            self.worker = None
            if self.alarm is not None:
                self.alarm.cancel()

    def _answer(self, snapshot: FunctionSnapshot) -> SyncSnapshot:
        name = str(snapshot.function_name).removeprefix(HOST)
        try:
            result = self.tracer.call(name, snapshot.args, snapshot.kwargs)
        except StopRunError as exc:
            raise StopRunError(finish.at_line(exc.error, self._line_of(snapshot))) from None
        left_s = self.tracer.deadline - time.monotonic()
        if left_s <= 0:
            raise StopRunError(finish.time_limit(self.limits))
        if self.alarm is None and self.tracer.tool_s > SLOW_TOOLS_S:
            self.alarm = threading.Timer(left_s + GRACE_S, self._ring)
            self.alarm.daemon = True
            self.alarm.start()
        return snapshot.resume({"return_value": result})

    def _ring(self) -> None:
        self.out_of_time = True
        worker = self.worker
        if worker is not None:
            worker.kill()

    def _print(self, _stream: str, text: str) -> None:
        try:
            self.printed.add(text)
        except PrintLimitError:
            worker = self.worker
            if worker is not None:
                worker.kill()

    def _line_of(self, snapshot: FunctionSnapshot) -> int | None:
        """Return the program's line that made a call: the sandbox tells it with the traceback of a failure."""
        import pydantic_monty as sandbox  # noqa: PLC0415  # loaded by `drive` already

        if self.cancelled:
            return None
        try:
            snapshot.resume({"exc_type": "RuntimeError", "message": ""})
        except sandbox.MontyRuntimeError as exc:
            return self._line(exc)
        except sandbox.MontyError:
            return None
        return None

    def _line(self, exc: MontyRuntimeError) -> int | None:
        lines = [frame.line - self.before for frame in exc.traceback()]
        return next((line for line in reversed(lines) if line > 0), None)

    def _failed(self, exc: MontyRuntimeError) -> RunError:
        if self.cancelled:
            return finish.cancelled()
        if self.printed.over:
            return finish.print_limit(self.limits)
        inner = exc.exception()
        line = self._line(exc)
        if isinstance(inner, TimeoutError):
            return finish.at_line(finish.time_limit(self.limits), line)
        if isinstance(inner, MemoryError):
            return finish.at_line(finish.memory_limit(self.limits), line)
        if isinstance(inner, RecursionError):
            return finish.at_line(finish.size_limit("it is nested too deep"), line)
        if type(inner) is RuntimeError and inner.args == (OVER,):
            over = f"it holds more than {self.limits.nodes:,} items or {self.limits.chars:,} characters"
            return finish.at_line(finish.size_limit(over), line)
        return finish.runtime_error(type(inner).__name__, str(inner), line, self.tools)

    def _crashed(self, *, timed_out: bool) -> RunError | None:
        """Say why the worker died; `None` when it was not our doing and no tool ran yet: try another."""
        if self.cancelled:
            return finish.cancelled()
        if self.printed.over:
            return finish.print_limit(self.limits)
        if timed_out or self.out_of_time or time.monotonic() >= self.tracer.deadline:
            return finish.time_limit(self.limits)
        return _DIED if self.tracer.records else None
