"""Where programs run: two executors behind one protocol, the call tracer, the type check."""

from lackpy.run.choose import executor
from lackpy.run.inline import InlineExecutor
from lackpy.run.monty import MontyExecutor
from lackpy.run.record import CallRecord, Cancel, ErrorKind, Executor, Limits, RunError, RunResult
from lackpy.run.typecheck import typecheck

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
