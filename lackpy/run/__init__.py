"""Where programs run: two executors behind one protocol, the call tracer, the type check.

The executors are imported when first used: their records are needed by everyone, they themselves only by a run.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lackpy.run.record import CallRecord, Cancel, ErrorKind, Executor, Limits, RunError, RunResult

if TYPE_CHECKING:
    from lackpy.run.choose import executor
    from lackpy.run.inline import InlineExecutor
    from lackpy.run.monty import MontyExecutor
    from lackpy.run.typecheck import typecheck

_HOMES = {
    "executor": "choose",
    "InlineExecutor": "inline",
    "MontyExecutor": "monty",
    "typecheck": "typecheck",
}


def __getattr__(name: str) -> Any:
    """Import an executor or the type check on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'lackpy.run' has no attribute '{name}'")
    value = getattr(import_module(f"lackpy.run.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


__all__ = [
    "CallRecord",
    "Cancel",
    "ErrorKind",
    "Executor",
    "InlineExecutor",
    "Limits",
    "MontyExecutor",
    "RunError",
    "RunResult",
    "executor",
    "typecheck",
]
