"""How a run ends, the same for every executor: the result record, the wording and hints of errors. Pure."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lackpy.run import wording
from lackpy.run.plain import BudgetError, PlainError, copy_plain, json_safe
from lackpy.run.record import ErrorKind, RunError, RunResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lackpy.kits.spec import ToolSpec
    from lackpy.lang.verdict import Verdict
    from lackpy.run.record import Cancel, Limits
    from lackpy.run.tracer import Tracer

SMALLER = "return less: a count, the first items, or the fields you need"
FASTER = "narrow the search first, then loop over what is left"


class PrintLimitError(Exception):
    """The program printed more than its budget."""


@dataclass(slots=True)
class Printed:
    """Captured print, up to a budget of characters."""

    budget: int
    parts: list[str] = field(default_factory=list)
    chars: int = 0

    def add(self, text: str) -> None:
        """Keep `text`; keep what still fits and raise `PrintLimitError` when it is too much."""
        room = self.budget - self.chars
        self.chars += len(text)
        if room > 0:
            self.parts.append(text[:room])
        if self.chars > self.budget:
            raise PrintLimitError

    @property
    def over(self) -> bool:
        """Tell whether something was cut."""
        return self.chars > self.budget

    def text(self) -> str:
        """Return what was kept."""
        return "".join(self.parts)


@dataclass(slots=True)
class Registered:
    """Calls `callback` when `cancel` is set, while the block lasts."""

    cancel: Cancel | None
    callback: Any

    def __enter__(self) -> None:
        if self.cancel is not None:
            self.cancel.on_cancel.append(self.callback)
            if self.cancel.cancelled:
                self.callback()

    def __exit__(self, *_: object) -> None:
        if self.cancel is not None and self.callback in self.cancel.on_cancel:
            self.cancel.on_cancel.remove(self.callback)


def time_limit(limits: Limits) -> RunError:
    """Return the error of a program that ran out of time."""
    return RunError(ErrorKind.LIMIT, f"the program took longer than {limits.time_s:g} s", None, FASTER)


def memory_limit(limits: Limits) -> RunError:
    """Return the error of a program that ran out of memory."""
    mib = limits.memory_bytes / 2**20
    return RunError(ErrorKind.LIMIT, f"the program needed more than {mib:g} MiB of memory", None, SMALLER)


def step_limit(limits: Limits) -> RunError:
    """Return the error of a program that took too many steps."""
    return RunError(ErrorKind.LIMIT, f"the program took more than {limits.steps:,} steps", None, FASTER)


def print_limit(limits: Limits) -> RunError:
    """Return the error of a program that printed too much."""
    message = f"the program printed more than {limits.printed_chars:,} characters"
    return RunError(ErrorKind.LIMIT, message, None, "end with the value instead of printing it")


def size_limit(what: str) -> RunError:
    """Return the error of an output over its budget."""
    return RunError(ErrorKind.LIMIT, f"the output is too large: {what}", None, SMALLER)


def cancelled() -> RunError:
    """Return the error of a cancelled run."""
    return RunError(ErrorKind.CANCELLED, "the run was cancelled")


def refused(verdict: Verdict) -> RunError:
    """Return the error of a program whose verdict isn't ok."""
    first = verdict.violations[0] if verdict.violations else None
    message = str(first) if first else "the program was not validated"
    return RunError(ErrorKind.VALIDATION, message, first.line if first else None, first.hint if first else "")


def runtime_error(kind: str, text: str, line: int | None, tools: Mapping[str, ToolSpec]) -> RunError:
    """Return the error of a program that failed by itself: Python's type and text, and a hint where one is known."""
    said = wording.without_objects(wording.one_line(text))
    if (kind == "KeyError" and said.startswith("'slice(")) or said == "unhashable type: 'slice'":
        hint = "a dict has no positions; cut a list of it: `list(d.items())[:3]`"
        return RunError(ErrorKind.RUNTIME, "TypeError: a dict can't be sliced", line, hint)
    message = f"{kind}: {said}" if said else kind
    return RunError(ErrorKind.RUNTIME, message, line, _hint(kind, said, tools))


_HINTS = {
    "IndexError": "check that the list is long enough: `x[0] if x else None`",
    "ZeroDivisionError": "check the divisor first: `a / b if b else 0`",
    "AttributeError": "values are plain data; check the type first: `isinstance(x, str)`",
}


def _hint(kind: str, text: str, tools: Mapping[str, ToolSpec]) -> str:
    if kind == "KeyError":
        rows = sorted(
            f"{spec.name}() rows have {', '.join(name for name, _ in row.fields)}"
            for spec in tools.values()
            for row in spec.signature.rows
        )
        return "; ".join(rows[:6]) if rows else f"use `x.get({text})`, or check `{text} in x` first"
    if "'NoneType'" in text:
        return "check for None first: `x if x is not None else ...`"
    return _HINTS.get(kind, "")


def params_error(name: str, exc: PlainError) -> RunError:
    """Return the error of a parameter that can't be passed to a program."""
    kind = ErrorKind.LIMIT if isinstance(exc, BudgetError) else ErrorKind.USAGE
    return RunError(kind, f"parameter '{name}' can't be passed: {exc}")


def failure(error: RunError, tracer: Tracer, printed: Printed, started: float) -> RunResult:
    """Return the result of a run that failed."""
    return RunResult(
        ok=False,
        output=None,
        printed=printed.text(),
        calls=tuple(tracer.records),
        error=error,
        ms=_ms_since(started),
    )


def success(value: Any, limits: Limits, tracer: Tracer, printed: Printed, started: float) -> RunResult:
    """Return the result of a run that ended with `value`, or its failure when `value` can't be returned."""
    try:
        safe = json_safe(copy_plain(value, limits))
    except BudgetError as exc:
        return failure(size_limit(str(exc)), tracer, printed, started)
    except PlainError as exc:
        error = RunError(
            ErrorKind.OUTPUT, f"the output can't be returned: {exc}", None, "end with plain data"
        )
        return failure(error, tracer, printed, started)
    return RunResult(
        ok=True,
        output=safe.value,
        printed=printed.text(),
        calls=tuple(tracer.records),
        error=None,
        ms=_ms_since(started),
        notes=safe.notes,
    )


def at_line(error: RunError, line: int | None) -> RunError:
    """Return `error` with its line, unless it has one."""
    return error if error.line is not None or line is None else replace(error, line=line)


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
