"""The in-process executor: the validated tree, with guards woven in, compiled and run in the caller's thread.

Opt-in, for hosts where a worker process can't be spawned. It holds against escapes and leaks like the sandbox:
the namespace has no builtins, every value a program touches is plain data, and the guards' names can't be
spelled. It is no full boundary against resource bombs: one call into Python's own code can't be stopped
from inside, so sizes are estimated before the call, and an estimate can miss.

Rows of the hostile corpus in `tests/corpora` that it does not contain: none (`tests/run/test_run_corpus.py`).
Known to be weaker than the sandbox:

- memory is what the whole process takes, so other threads' work counts too; where the system doesn't tell
  (no `/proc`), all bytes asked for count as if none were given back;
- a single call on values inside the budgets runs to its end, whatever the clock says: a search for one
  megabyte in another, a sort of some million texts;
- a tool that never returns keeps its thread.
"""

from __future__ import annotations

import ast
import time
from typing import TYPE_CHECKING, Any

from lackpy.lang import grammar
from lackpy.run import finish
from lackpy.run.finish import Printed, PrintLimitError
from lackpy.run.guarded_calls import COUNTED_BUILTINS, OPERATIONS, PLAIN_BUILTINS, Calls
from lackpy.run.meter import LimitError
from lackpy.run.ordered import OrderedSet
from lackpy.run.plain import PlainError, copy_plain
from lackpy.run.record import RunError, RunResult
from lackpy.run.tracer import StopRunError, Tracer
from lackpy.run.weave import OUT, weave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lackpy.kits.spec import ToolSpec
    from lackpy.lang.verdict import Verdict
    from lackpy.run.record import Cancel, Limits

FILENAME = "<program>"
_BUILTINS = frozenset(grammar.BUILTINS)
_TYPES: dict[str, type] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
    "set": set,
    "tuple": tuple,
}


class InlineExecutor:
    """Runs programs in this process, in the calling thread; safe to use from many threads at once."""

    name = "inline"

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
        guards = Calls(limits, deadline, printed)
        namespace = _namespace(guards, tracer, tools)
        for name, value in params.items():
            try:
                namespace[name] = ordered(copy_plain(value, limits))
            except PlainError as exc:
                return finish.failure(finish.params_error(name, exc), tracer, printed, started)

        def stop() -> None:
            guards.cancelled = True
            guards.batch = 0
            tracer.stop()

        with finish.Registered(cancel, stop):
            error = _execute(verdict.program, namespace, guards, tools)
            if error is None:
                return finish.success(namespace.get(OUT), limits, tracer, printed, started)
        return finish.failure(error, tracer, printed, started)

    def close(self) -> None:
        """Nothing to release."""


def _namespace(guards: Calls, tracer: Tracer, tools: Mapping[str, ToolSpec]) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__builtins__": {}, **_TYPES, OUT: None, "<slice>": slice}
    for woven, method in OPERATIONS.items():
        namespace[woven] = getattr(guards, method)
    for name in COUNTED_BUILTINS:
        namespace[f"<call {name}>"] = getattr(guards, f"call_{name}")
    for name, function in PLAIN_BUILTINS.items():
        namespace[f"<call {name}>"] = function
    for name in tools:
        namespace[name] = _tool(tracer, name)
    return namespace


def _tool(tracer: Tracer, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return ordered(tracer.call(name, args, kwargs))

    return call


def ordered(value: Any) -> Any:
    """Return plain data with its sets made ordered; other containers are changed in place."""
    kind = type(value)
    if kind is set or kind is frozenset:
        return OrderedSet(value)
    if kind is list:
        for index, item in enumerate(value):
            if type(item) in _CONTAINERS:
                value[index] = ordered(item)
    elif kind is dict:
        for key, item in value.items():
            if type(item) in _CONTAINERS:
                value[key] = ordered(item)
    elif kind is tuple:
        return tuple([ordered(item) for item in value])
    return value


_CONTAINERS = frozenset({list, dict, tuple, set, frozenset})


def _execute(
    program: str, namespace: dict[str, Any], guards: Calls, tools: Mapping[str, ToolSpec]
) -> RunError | None:
    """Run a program's lowered text; return what ended it, `None` when it came to its end."""
    try:
        code = compile(weave(ast.parse(program), _BUILTINS - set(tools)), FILENAME, "exec", dont_inherit=True)
        exec(code, namespace)  # noqa: S102  # the only one: a validated tree over guards and traced tools
    except StopRunError as exc:
        return finish.at_line(exc.error, _line(exc))
    except LimitError as exc:
        return finish.at_line(exc.error, _line(exc))
    except PrintLimitError as exc:
        return finish.at_line(finish.print_limit(guards.limits), _line(exc))
    except MemoryError as exc:
        return finish.at_line(finish.memory_limit(guards.limits), _line(exc))
    except RecursionError as exc:
        return finish.at_line(finish.size_limit("it is nested too deep"), _line(exc))
    except Exception as exc:  # noqa: BLE001  # a program's own failure, of any type
        return finish.runtime_error(type(exc).__name__, str(exc), _line(exc), tools)
    return None


def _line(exc: BaseException) -> int | None:
    """Return the program's innermost line on the way to `exc`."""
    line = None
    trace = exc.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
