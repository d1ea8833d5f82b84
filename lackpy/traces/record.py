"""The trace: one delegate call's record, as the journal writes it and the store's `traces` table holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Attempt:
    """One tier's try within a call.

    Attributes:
        tier: `0`, `1`, `2`, `3` or `caller`.
        provider: e.g. `templates`, `rules`, `ollama`, `llamacpp`, `anthropic`.
        ok: Its program validated (and, for tiers 0 and 1, ran).
        reason: Why it passed or failed, one clause; "" when ok.
        raw: Model text before repair, cut; `None` for tiers 0 and 1.
        program: The program proposed; `None` when it passed.
        repairs: Repairs applied, in order.
        errors: Violations as `L3:5 rule: message; hint`.
        examples: Ids of the examples in the prompt.
        retry: It was the one retry of its tier.
        ms: Milliseconds. tokens_in, tokens_out: model tokens. cost_usd: dollars. `None` = unknown.
        error_kind: Stable id of the failure.
        template: Template or rule that made the program; a failing one is found by it.
    """

    tier: str
    provider: str
    ok: bool
    reason: str = ""
    raw: str | None = None
    program: str | None = None
    repairs: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    retry: bool = False
    ms: float = 0.0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    error_kind: str | None = None
    template: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """One delegate call. Field names are the store's column names; `ts` is ISO 8601 UTC with `Z`.

    Attributes:
        trace_id: UUIDv7, the key.
        ts: When the call started, UTC.
        project: Workspace folder's name (not its path).
        session_id: Session.
        intent: As given; "" for a bare `run`.
        kit: Kit name, or `custom` for an ad-hoc tool list.
        params: Parameter name → type source; values are not kept.
        tier, provider, model, template: Who wrote the program; `None` when no tier did.
        slots: Slot values a template captured.
        program: Lowered program that ran (or the last invalid one).
        program_given: Program before lowering, when it differs.
        attempts: Every try, in order.
        valid: A program validated.
        success: It ran to its value.
        error_kind, error: `ErrorKind` value and sentence.
        grade_w, grade_d: Grade of the program that ran.
        calls: Tool calls `{step, tool, args, ok, ms, error, result_bytes, preview}`.
        output_preview: JSON text of the output, cut. output_bytes: its full length in bytes.
        printed_bytes: Captured print.
        executor: `monty` or `inline`.
        gen_ms, validate_ms, run_ms, total_ms: Milliseconds, monotonic.
        tokens_in, tokens_out, cost_usd: Sums over attempts; `None` = unknown.
        lackpy_version: Version that wrote it.
    """

    trace_id: str
    ts: str
    project: str
    session_id: str
    intent: str
    kit: str
    params: Mapping[str, str] = field(default_factory=dict)
    tier: str | None = None
    provider: str | None = None
    model: str | None = None
    template: str | None = None
    slots: Mapping[str, Any] = field(default_factory=dict)
    program: str | None = None
    program_given: str | None = None
    attempts: tuple[Attempt, ...] = ()
    valid: bool = False
    success: bool = False
    error_kind: str | None = None
    error: str | None = None
    grade_w: int | None = None
    grade_d: int | None = None
    calls: tuple[Mapping[str, Any], ...] = ()
    output_preview: str | None = None
    output_bytes: int | None = None
    printed_bytes: int = 0
    executor: str | None = None
    gen_ms: float = 0.0
    validate_ms: float = 0.0
    run_ms: float = 0.0
    total_ms: float = 0.0
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    lackpy_version: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A verdict on one trace: `good` or `bad`. `bad` counts as a failure of that trace."""

    trace_id: str
    ts: str
    verdict: str
    note: str = ""
