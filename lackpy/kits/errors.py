"""What is wrong with a kit, a tool's definition or a tool provider."""

from __future__ import annotations

from lackpy.errors import LackpyError


class KitError(LackpyError):
    """A kit or tool can't be used; the sentence names the file and line where there is one."""
