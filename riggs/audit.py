"""Asks a model about calls that templates served: does it write the same program? Too many times no, and it is stopped.

A disagreement isn't an error (the model may be the one that is wrong), so a template is judged by the lower end of an
interval, against a budget. The model is asked with the store closed; each answer is kept as soon as it is there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lackpy import config as configuration
from lackpy import sqlfiles
from lackpy.errors import LackpyError
from lackpy.infer.build import build_dispatcher
from lackpy.infer.dispatch import Dispatcher
from lackpy.infer.protocol import Provider, Request
from lackpy.lang import canonical
from lackpy.templates.create import template_folder
from lackpy.templates.format import State, Template
from lackpy.templates.loader import TemplateLibrary
from riggs.candidates import kit_named
from riggs.errors import RiggsError
from riggs.template_states import Change, quarantine
from riggs.thresholds import wilson_low

if TYPE_CHECKING:
    from lackpy.kits import Kit
    from riggs.store import Store

MODELS = ("ollama", "llamacpp", "anthropic")
NO_MODEL = "no model tier is set up, nothing was audited; add [ollama], [llamacpp] or [anthropic] to the configuration"


@dataclass(frozen=True, slots=True)
class AuditPolicy:
    """How much is audited and what is tolerated; `[audit]` in the configuration.

    Attributes:
        share: Of the calls of templates out of probation, 0-1.
        budget_per_run: Calls a run asks a model about, count.
        error_budget: Rate of disagreement that a template may surely exceed before it is stopped, 0-1. A model of 3 to
            7 billion parameters is itself wrong about that often.
        timeout_s: Seconds for one question.
    """

    share: float = 0.05
    budget_per_run: int = 50
    error_budget: float = 0.2
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Due:
    """One served call to ask about."""

    trace_id: str
    ts: datetime
    template: str
    intent: str
    kit: str
    params: Mapping[str, str]
    program: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """What the audits of one template came to.

    Attributes:
        template: Its name.
        agrees, disagrees: Calls for which the model wrote the same program, another one.
        silent: Calls for which it had no valid program; they don't count.
        example: Trace id of the newest disagreement.
    """

    template: str
    agrees: int
    disagrees: int
    silent: int = 0
    example: str | None = None

    @property
    def low(self) -> float:
        """Lower end of Wilson's 95 % interval of the rate of disagreement, 0-1."""
        return wilson_low(self.disagrees, self.agrees)

    @property
    def high(self) -> float:
        """Upper end, 0-1."""
        return 1.0 - wilson_low(self.agrees, self.disagrees)

    def to_json(self) -> dict[str, Any]:
        """Return the public row."""
        judged = self.agrees + self.disagrees
        return {
            "template": self.template,
            "agrees": self.agrees,
            "disagrees": self.disagrees,
            "silent": self.silent,
            "rate": round(self.disagrees / judged, 4) if judged else None,
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "example": self.example,
        }


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What a run did.

    Attributes:
        asked: Calls a model was asked about and answered.
        skipped: Calls whose kit can't be loaded any more.
        agreements: Every audited template, most disagreements first.
        over_budget: Templates past the error budget.
        changes: What was done about them.
        problem: Why the run ended early; "" when it didn't.
    """

    asked: int
    skipped: int
    agreements: tuple[Agreement, ...]
    over_budget: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    problem: str = ""


def policy_from(section: Mapping[str, Any], where: str = "[audit]") -> AuditPolicy:
    """Read the `[audit]` table.

    Raises:
        RiggsError: An unknown key or a value out of range.
    """
    kinds = {f.name: f.type for f in fields(AuditPolicy)}
    values: dict[str, Any] = {}
    for key, value in section.items():
        if key not in kinds:
            raise RiggsError(f"{where}: unknown key '{key}'; known: {', '.join(kinds)}")
        whole = kinds[key] == "int"
        high = 1.0 if key in ("share", "error_budget") else 1e9
        good = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not good or not 0 <= value <= high:
            raise RiggsError(f"{where}: '{key}' must be a number from 0 to {high:g} (got {value!r})")
        values[key] = value if whole else float(value)
    return AuditPolicy(**values)


def model_tiers(store: Store, config: configuration.Config) -> tuple[Provider, ...]:
    """Return the configured model tiers, in the order they are asked; empty when there is none."""
    order = tuple(name for name in config.tiers.order if name in MODELS)
    only = replace(config, tiers=replace(config.tiers, order=order))
    return build_dispatcher(store.workspace, only).providers


def audit(
    store: Store,
    providers: Iterable[Provider] | None = None,
    *,
    policy: AuditPolicy | None = None,
    dry_run: bool = False,
    now: datetime | None = None,
    progress: Callable[[str], None] | None = None,
) -> AuditReport:
    """Ask about what is due, keep the answers, stop templates past their budget.

    Args:
        store: A synced store.
        providers: Model tiers; the configured ones when absent.
        policy: The workspace's configuration when absent.
        dry_run: Stop nothing; answers are kept all the same.
        now: Time of the audit, aware UTC.
        progress: Called with one line before each question.

    Raises:
        LackpyError: The store or the configuration can't be used, or no model tier is set up.
    """
    config = configuration.load(store.workspace)
    policy = policy or policy_from(config.section("audit"), f"{config.path}: [audit]")
    asked_of = tuple(model_tiers(store, config) if providers is None else providers)
    if not asked_of:
        raise RiggsError(NO_MODEL)
    at = now or datetime.now(UTC)
    templates = _served(store, config)
    dispatcher = Dispatcher(asked_of, retry=config.tiers.retry)
    asked, skipped, problem = _ask_all(store, dispatcher, due(store, templates, policy), policy, at, progress)
    found = agreements(store)
    over = tuple(a.template for a in found if a.low > policy.error_budget and a.template in templates)
    changes: list[Change] = []
    if over and not dry_run:
        of = {a.template: a for a in found}
        with store.write() as connection:
            for name in over:
                reason = _reason(of[name], policy)
                changes.append(quarantine(connection, store.workspace, templates[name], reason, at))
    return AuditReport(asked, skipped, tuple(found), over, tuple(changes), problem)


def due(store: Store, templates: Mapping[str, Template], policy: AuditPolicy) -> list[Due]:
    """Return the served calls to ask about, those in probation first."""
    values = {
        "probation": [name for name, one in templates.items() if one.state is State.PROBATION],
        "served": list(templates),
        "share": policy.share,
        "budget": policy.budget_per_run,
    }
    rows = store.rows(sqlfiles.statement("trust/audit_due"), values)
    return [Due(**{**row, "params": json.loads(row["params"] or "{}")}) for row in rows]


def agreements(store: Store) -> list[Agreement]:
    """Return what the audits of each template came to, most disagreements first."""
    return [Agreement(**row) for row in store.rows(sqlfiles.statement("trust/audit_agreement"))]


def _served(store: Store, config: configuration.Config) -> dict[str, Template]:
    library = TemplateLibrary(template_folder(store.workspace), starter=config.templates.starter)
    try:
        loaded = library.current().templates
    finally:
        library.close()
    return {name: one.template for name, one in loaded.items() if one.template.state.served}


def _ask_all(
    store: Store,
    dispatcher: Dispatcher,
    calls: list[Due],
    policy: AuditPolicy,
    at: datetime,
    progress: Callable[[str], None] | None,
) -> tuple[int, int, str]:
    """Return how many were asked about and skipped, and why it ended early; a tier that is down isn't asked again."""
    kits: dict[str, Kit | None] = {}
    asked = skipped = 0
    for number, call in enumerate(calls, 1):
        if call.kit not in kits:
            kits[call.kit] = _kit(store, call.kit)
        kit = kits[call.kit]
        if kit is None:
            skipped += 1
            continue
        if progress is not None:
            progress(f"{number}/{len(calls)} {call.template}: {call.intent}")
        request = Request(
            call.intent, kit.name, kit.signatures, params=call.params, timeout_s=policy.timeout_s
        )
        search = dispatcher.search(request, max_grade=kit.max_grade, rules=kit.rules)
        candidate = next(iter(search), None)
        down = next((a for a in search.attempts if a.error_kind), None)
        if candidate is None and down is not None:
            return asked, skipped, f"{down.provider}: {down.reason}"
        program = candidate.verdict.program if candidate else None
        _keep(store, call, program, candidate.proposal.model or candidate.provider if candidate else None, at)
        asked += 1
    return asked, skipped, ""


def _kit(store: Store, name: str) -> Kit | None:
    try:
        return kit_named(store.workspace, name)
    except LackpyError:
        return None


def _keep(store: Store, call: Due, program: str | None, model: str | None, at: datetime) -> None:
    values = {
        "trace_id": call.trace_id,
        "template": call.template,
        "agrees": None if program is None else canonical(program) == canonical(call.program),
        "model": model,
        "program": program,
        "served_program": call.program,
        "seen_at": call.ts,
        "now": at.astimezone(UTC).replace(tzinfo=None),
    }
    with store.write() as connection:
        connection.execute(sqlfiles.statement("trust/add_audit"), values)


def _reason(one: Agreement, policy: AuditPolicy) -> str:
    return (
        f"a model wrote another program for {one.disagrees} of {one.agrees + one.disagrees} audited serves: surely "
        f"more than {one.low:.0%}, the budget is {policy.error_budget:.0%}"
    )
