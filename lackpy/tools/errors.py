"""The one exception that tools raise on purpose."""

from __future__ import annotations

from lackpy.errors import LackpyError


class ToolError(LackpyError):
    """A tool can't answer; the sentence says what, where, and what to do instead."""
