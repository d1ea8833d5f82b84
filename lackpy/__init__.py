"""lackpy: one intent in, one traced result out. These names are public; everything else may move."""

from lackpy.api import run, validate
from lackpy.config import Config
from lackpy.errors import LackpyError
from lackpy.infer.protocol import Proposal, Provider, Request, Tier
from lackpy.kits import ToolSpec, tool
from lackpy.lang import Grade, Verdict, Violation
from lackpy.result import Result
from lackpy.run.record import CallRecord, Cancel, ErrorKind, Executor, Limits, RunError, RunResult
from lackpy.service import Lackpy
from lackpy.version import version

__version__ = version()
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
