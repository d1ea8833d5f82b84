"""Makers of traces for the tests of this folder."""

from __future__ import annotations

from typing import Any

from lackpy.traces.ids import new_id, utc_now
from lackpy.traces.record import Trace


def make_trace(**changes: Any) -> Trace:
    """Return a successful trace with some fields changed."""
    values: dict[str, Any] = {
        "trace_id": new_id(),
        "ts": utc_now(),
        "project": "demo",
        "session_id": "s1",
        "intent": "find callers of validate_token",
        "kit": "debug",
        "tier": "0",
        "provider": "templates",
        "program": 'find_callers("validate_token")',
        "slots": {"name": "validate_token"},
        "calls": (
            {"step": 1, "tool": "find_callers", "args": {"name": "validate_token"}, "ok": True, "ms": 1.5},
        ),
        "valid": True,
        "success": True,
        "output_preview": "[]",
        "output_bytes": 2,
        "total_ms": 2.5,
    }
    return Trace(**{**values, **changes})
