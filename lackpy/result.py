"""What a caller gets back from one delegate, generate or run: the JSON of DESIGN §12, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lackpy.lang.signature import Grade
from lackpy.run.record import CallRecord, RunError


@dataclass(frozen=True, slots=True)
class Passed:
    """A tier that did not answer, and why (one clause)."""

    tier: str
    provider: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ms:
    """Milliseconds by part, monotonic clock."""

    generate: float = 0.0
    validate: float = 0.0
    run: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """One call's answer.

    Attributes:
        ok: The program ran to its value (for `generate`: a valid program was found).
        output: Plain JSON data; a preview string when `truncated`.
        printed: What the program printed.
        trace_id: Its trace; `None` when none was recorded.
        tier, provider, template, slots: Who wrote the program.
        program: The lowered program.
        grade: Its grade.
        calls: Tool calls in order.
        ms: Where the time went.
        error: What went wrong.
        truncated: `output` is a preview; the rest is at `result(trace_id, offset)`.
        output_bytes: Length of the whole output's JSON in bytes.
        passed: Why earlier tiers passed.
        help: For a call that no tier served: nearest templates, signatures, what to send instead.
        notes: Anything else the caller should know, e.g. that the trace could not be recorded.
        violations: Structured violations of a refused program.
    """

    ok: bool
    output: Any = None
    printed: str = ""
    trace_id: str | None = None
    tier: str | None = None
    provider: str | None = None
    template: str | None = None
    slots: Mapping[str, Any] = field(default_factory=dict)
    program: str | None = None
    grade: Grade | None = None
    calls: tuple[CallRecord, ...] = ()
    ms: Ms = field(default_factory=Ms)
    error: RunError | None = None
    truncated: bool = False
    output_bytes: int | None = None
    passed: tuple[Passed, ...] = ()
    help: str | None = None
    notes: tuple[str, ...] = ()
    violations: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the public JSON form; every key is always present."""
        error = self.error
        return {
            "ok": self.ok,
            "output": self.output,
            "printed": self.printed,
            "trace_id": self.trace_id,
            "tier": self.tier,
            "provider": self.provider,
            "template": self.template,
            "slots": dict(self.slots),
            "program": self.program,
            "grade": {"w": self.grade.w, "d": self.grade.d} if self.grade else None,
            "calls": [call_json(c) for c in self.calls],
            "ms": {
                "generate": round(self.ms.generate, 3),
                "validate": round(self.ms.validate, 3),
                "run": round(self.ms.run, 3),
                "total": round(self.ms.total, 3),
            },
            "error": {
                "kind": str(error.kind),
                "message": error.message,
                "line": error.line,
                "hint": error.hint,
            }
            if error
            else None,
            "truncated": self.truncated,
            "output_bytes": self.output_bytes,
            "passed": [{"tier": p.tier, "provider": p.provider, "reason": p.reason} for p in self.passed],
            "violations": [violation_json(v) for v in self.violations],
            "help": self.help,
            "notes": list(self.notes),
        }


def call_json(call: CallRecord) -> dict[str, Any]:
    """Return the public form of one tool call."""
    return {
        "tool": call.tool,
        "args": dict(call.args),
        "ok": call.ok,
        "ms": round(call.ms, 3),
        "error": call.error,
    }


def violation_json(violation: Any) -> dict[str, Any]:
    """Return the public form of one violation."""
    return {
        "rule": violation.rule,
        "line": violation.line,
        "column": violation.column,
        "message": violation.message,
        "hint": violation.hint,
    }
