"""The installed version."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _installed


@cache
def version() -> str:
    """Return the distribution's version, `0+source` when it isn't installed."""
    try:
        return _installed("lackpy-riggs")
    except PackageNotFoundError:
        return "0+source"
