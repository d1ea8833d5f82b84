"""What a tier is asked and what it answers. A provider gets text and gives text: no tools, no files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from lackpy.lang.signature import Signature
from lackpy.lang.verdict import Verdict, Violation


class Tier(StrEnum):
    """Who wrote the program; stored, so values are stable (DESIGN §2)."""

    TEMPLATES = "0"
    RULES = "1"
    LOCAL = "2"
    API = "3"
    CALLER = "caller"


@dataclass(frozen=True, slots=True)
class Feedback:
    """What was wrong with a previous attempt, for the one retry; `program` is "" when there is none to mend."""

    program: str
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a tier.

    Attributes:
        intent: The caller's words, untouched.
        kit: Kit name.
        signatures: Tool name → signature.
        params: Parameter name → type source of what the caller passed.
        feedback: Set on a retry.
        timeout_s: Seconds left for this tier.
    """

    intent: str
    kit: str
    signatures: Mapping[str, Signature]
    params: Mapping[str, str] = field(default_factory=dict)
    feedback: Feedback | None = None
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """One answer of a tier.

    Attributes:
        program: Proposed program; `None` when the tier passes.
        reason: Why it passed (one clause), or "" when it has a program.
        raw: Model text before repair.
        repairs: Names of repairs applied, in order.
        template: Template or rule name that matched.
        slots: Slot values captured, name → value.
        params: Extra program inputs bound from slots.
        model: Model id.
        examples: Ids of retrieved examples.
        tokens_in: Prompt tokens. tokens_out: completion tokens. cost_usd: dollars. `None` = unknown.
        ms: Milliseconds in the provider.
        error_kind: Stable id when it failed (`overload`, `rate_limit`, `auth`, `timeout`, `truncated`, …).
        verdict: The program's check when the tier has made it already, types included; else the dispatcher checks.
        problems: What is wrong with a program for this request although it validates.
    """

    program: str | None
    reason: str = ""
    raw: str | None = None
    repairs: tuple[str, ...] = ()
    template: str | None = None
    slots: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None
    examples: tuple[str, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    ms: float = 0.0
    error_kind: str | None = None
    verdict: Verdict | None = None
    problems: tuple[Violation, ...] = ()


class Provider(Protocol):
    """Implements one tier."""

    name: str
    tier: Tier

    def propose(self, request: Request) -> Proposal:
        """Answer or pass; raises nothing that a caller must handle."""
        ...

    def status(self) -> str:
        """One sentence for `lackpy status` and `doctor`: ready, or what is missing and what to do."""
        ...
