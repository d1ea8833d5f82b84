"""ToolSpec: a signature plus the plain Python callable behind it, and the `@tool` decorator's target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lackpy.lang.signature import Signature


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One callable tool.

    Attributes:
        signature: Name, parameters, result type, grade, doc.
        fn: The callable; called with plain data, must return plain data (or what the border can convert).
        timeout_s: Deadline of one call in seconds; `None` uses `Limits.tool_time_s`.
        provider: Where it came from: `builtin`, `python`, `mcp:SERVER`, `caller`.
    """

    signature: Signature
    fn: Callable[..., Any]
    timeout_s: float | None = None
    provider: str = "caller"

    @property
    def name(self) -> str:
        """The name a program calls."""
        return self.signature.name
