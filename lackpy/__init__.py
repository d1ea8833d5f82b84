"""lackpy: one intent in, one traced result out. The names in `__all__` are public; everything else may move.

They are imported when first used: `import lackpy` takes milliseconds. `run` and `validate` are bound at once, for
`lackpy.run` is also a package of this one and the name must be the function.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lackpy.api import run, validate

if TYPE_CHECKING:
    from lackpy.config import Config
    from lackpy.errors import LackpyError
    from lackpy.infer.protocol import Proposal, Provider, Request, Tier
    from lackpy.kits import ToolSpec, tool
    from lackpy.lang import Grade, Verdict, Violation
    from lackpy.result import Result
    from lackpy.run.record import CallRecord, Cancel, ErrorKind, Executor, Limits, RunError, RunResult
    from lackpy.service import Lackpy

_HOMES = {
    "CallRecord": "run.record",
    "Cancel": "run.record",
    "Config": "config",
    "ErrorKind": "run.record",
    "Executor": "run.record",
    "Grade": "lang.signature",
    "Lackpy": "service",
    "LackpyError": "errors",
    "Limits": "run.record",
    "Proposal": "infer.protocol",
    "Provider": "infer.protocol",
    "Request": "infer.protocol",
    "Result": "result",
    "RunError": "run.record",
    "RunResult": "run.record",
    "Tier": "infer.protocol",
    "ToolSpec": "kits.spec",
    "Verdict": "lang.verdict",
    "Violation": "lang.verdict",
    "tool": "kits",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lackpy' has no attribute '{name}'")
    value = getattr(import_module(f"lackpy.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted({*_HOMES, "run", "validate"})


__all__ = [
    "CallRecord",
    "Cancel",
    "Config",
    "ErrorKind",
    "Executor",
    "Grade",
    "Lackpy",
    "LackpyError",
    "Limits",
    "Proposal",
    "Provider",
    "Request",
    "Result",
    "RunError",
    "RunResult",
    "Tier",
    "ToolSpec",
    "Verdict",
    "Violation",
    "run",
    "tool",
    "validate",
]
