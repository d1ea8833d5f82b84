"""Records of a run: its limits, one traced tool call, its error and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from lackpy.kits.spec import ToolSpec
    from lackpy.lang.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one run; every one is hard.

    Attributes:
        time_s: Wall-clock seconds for the whole program, tool time included.
        memory_bytes: Extra memory the program may take.
        steps: Loop and call steps (inline executor).
        tool_calls: Host calls.
        tool_time_s: Seconds for one tool call unless its spec says otherwise.
        nodes: Values in one argument, tool result or output, walked.
        depth: Nesting of one such value.
        chars: Characters in one such value, all strings together.
        digits: Decimal digits of one integer.
        printed_chars: Characters of captured print.
        output_bytes: JSON bytes returned inline; more becomes a preview and a handle.
    """

    time_s: float = 30.0
    memory_bytes: int = 256 * 1024 * 1024
    steps: int = 5_000_000
    tool_calls: int = 1_000
    tool_time_s: float = 30.0
    nodes: int = 500_000
    depth: int = 64
    chars: int = 16_000_000
    digits: int = 4_000
    printed_chars: int = 100_000
    output_bytes: int = 40_000


class ErrorKind(StrEnum):
    """Why a delegate call failed; stored, so values are stable."""

    VALIDATION = "validation"
    RUNTIME = "runtime"
    TOOL = "tool"
    LIMIT = "limit"
    CRASH = "crash"
    CANCELLED = "cancelled"
    OUTPUT = "output"
    NO_PROGRAM = "no_program"
    USAGE = "usage"


@dataclass(frozen=True, slots=True)
class RunError:
    """What ended a run. `line` is 1-based in the lowered program, `None` when unknown."""

    kind: ErrorKind
    message: str
    line: int | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One traced tool call.

    Attributes:
        step: 1-based order within the run.
        tool: Tool name.
        args: Parameter name → plain data, bounded for the trace.
        ok: It returned.
        ms: Milliseconds by the monotonic clock.
        error: Error sentence when it raised.
        result_bytes: JSON bytes of the result; `None` when it raised.
        preview: Result's JSON, cut.
    """

    step: int
    tool: str
    args: Mapping[str, Any]
    ok: bool
    ms: float
    error: str | None = None
    result_bytes: int | None = None
    preview: str = ""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What one run gave.

    Attributes:
        ok: The program ended and its output could be returned.
        output: Strict JSON's data: `None`, `bool`, `int`, finite `float`, `str`, `list`, `dict` with text keys.
        printed: What it printed, up to `Limits.printed_chars`.
        calls: Every tool call, in order.
        error: What ended it, `None` when `ok`.
        ms: Milliseconds of the whole run by the monotonic clock.
        notes: What was converted to make `output` strict JSON, one sentence a rule.
    """

    ok: bool
    output: Any
    printed: str
    calls: tuple[CallRecord, ...]
    error: RunError | None
    ms: float
    notes: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Cancel:
    """Set from any thread to stop a run; executors poll or wait on it.

    `on_cancel` callbacks run once, in the cancelling thread.
    """

    cancelled: bool = False
    on_cancel: list[Any] = field(default_factory=list)

    def cancel(self) -> None:
        """Ask the run to stop now."""
        if not self.cancelled:
            self.cancelled = True
            for callback in self.on_cancel:
                callback()


class Executor(Protocol):
    """Runs one validated program. Implementations: monty (default), inline."""

    name: str

    def run(
        self,
        verdict: Verdict,
        tools: Mapping[str, ToolSpec],
        params: Mapping[str, Any],
        limits: Limits,
        cancel: Cancel | None = None,
    ) -> RunResult:
        """Run `verdict.tree`/`verdict.program`; never raises for what the program or a tool does."""
        ...

    def close(self) -> None:
        """Release workers."""
        ...
