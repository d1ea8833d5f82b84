"""What could become a template: the learner over the store's counts, with live templates and past decisions heeded.

Reads only. A request that a live template already serves with the same program is no news; a rejected group stays
away until its successes have doubled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy import config as configuration
from lackpy.errors import LackpyError
from lackpy.templates.fill import compile_template
from lackpy.templates.format import Template, TemplateError
from lackpy.templates.loader import TemplateLibrary
from riggs.backtest import Past, would_run
from riggs.induce import Pattern
from riggs.learn import Candidate, Observation, candidates, group
from riggs.learn import learned as as_learned
from riggs.thresholds import Thresholds

if TYPE_CHECKING:
    from lackpy.kits import Kit
    from riggs.store import Store

MATERIAL = 2
"""A rejected or demoted group comes back when its successes are this many times those of the decision."""


class Status(StrEnum):
    """What stands between a candidate and promotion."""

    READY = "ready"
    WRITES = "writes"
    WRONG_SERVES = "wrong-serves"
    CONFLICT = "conflict"
    UNUSABLE = "unusable"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Review:
    """One candidate as a maintainer sees it.

    Attributes:
        candidate: Pattern, group and evidence.
        status: What stands in the way.
        reason: Why, one clause; "" when ready.
        grade_w: World coupling of its program; `None` when it is unusable.
    """

    candidate: Candidate
    status: Status
    reason: str
    grade_w: int | None

    @property
    def id(self) -> str:
        """Stable id: kit and program template."""
        return self.candidate.group.id

    def to_json(self) -> dict[str, Any]:
        """Return the public row."""
        evidence = self.candidate.evidence
        return {
            "id": self.id,
            "name": self.candidate.name,
            "pattern": self.candidate.pattern.pattern,
            "program_template": self.candidate.pattern.program,
            "slots": dict(self.candidate.pattern.slots),
            "kit": self.candidate.group.kit,
            "successes": evidence.successes,
            "failures": evidence.failures,
            "sessions": evidence.sessions,
            "success_rate": round(evidence.success_rate, 4),
            "wilson_low": round(evidence.wilson_low, 4),
            "coverage": round(evidence.coverage, 4),
            "wrong_serves": evidence.wrong_serves,
            "disagreements": evidence.disagreements,
            "conflicts": sorted(evidence.conflicts),
            "saved_seconds": round(evidence.saved_seconds, 3),
            "saved_usd": round(evidence.saved_usd, 6),
            "grade_w": self.grade_w,
            "status": self.status.value,
            "reason": self.reason,
        }


def thresholds_of(config: configuration.Config) -> Thresholds:
    """Read `[candidates]`.

    Raises:
        ConfigError: An unknown key or a value out of range.
    """
    section = dict(config.section("candidates"))
    known = {"frequency", "sessions", "success_rate", "dominance", "support"}
    unknown = sorted(set(section) - known)
    if unknown:
        raise configuration.ConfigError(
            f"{config.path}: unknown key 'candidates.{unknown[0]}'; known: {', '.join(sorted(known))}"
        )
    try:
        return Thresholds(**section)
    except (TypeError, ValueError) as exc:
        raise configuration.ConfigError(f"{config.path}: [candidates] {exc}") from exc


def review(
    store: Store, limits: Thresholds | None = None, *, rejected: bool = False, keeps: bool = True
) -> list[Review]:
    """Return the candidates, most successes first.

    Args:
        store: A synced store.
        limits: Thresholds; the workspace's configuration when absent.
        rejected: Also those that a person put away.
        keeps: As `TemplateLibrary`'s; `False` writes nothing.

    Raises:
        StoreError, ConfigError: The store or the configuration can't be used.
    """
    config = configuration.load(store.workspace)
    limits = limits or thresholds_of(config)
    observed = store.observations()
    live = live_patterns(store.workspace, config, keeps=keeps)
    marked = [_served(one, live) for one in observed]
    found = candidates(group(marked, limits), limits, observed, _of_kit_agnostic(live))
    put_away = decided(store)
    reviews = [_review(store.workspace, one, put_away) for one in found]
    return [r for r in reviews if rejected or r.status is not Status.REJECTED]


def live_patterns(
    workspace: Path, config: configuration.Config, *, keeps: bool = True
) -> dict[str, tuple[str, Pattern]]:
    """Return name → (kit, pattern) of every template that the dispatcher serves now."""
    library = TemplateLibrary(
        workspace / ".lackpy" / "templates", starter=config.templates.starter, keeps=keeps
    )
    try:
        loaded = library.current().templates
        return {
            name: (
                one.template.kit,
                Pattern(one.template.pattern, one.template.program, dict(one.template.slots)),
            )
            for name, one in loaded.items()
            if one.template.state.served
        }
    finally:
        library.close()


def _of_kit_agnostic(live: Mapping[str, tuple[str, Pattern]]) -> dict[str, Pattern]:
    return {name: pattern for name, (_, pattern) in live.items()}


def _served(one: Observation, live: Mapping[str, tuple[str, Pattern]]) -> Observation:
    """Mark a request that a live template serves with the same program: it teaches nothing more."""
    if not one.successes:
        return one
    for kit, pattern in live.values():
        if kit != one.kit:
            continue
        values = pattern.match(one.intent)
        if values is not None and not would_run(pattern, values, Past(one.intent, one.program)):
            return Observation(**{**_fields(one), "served": True})
    return one


def _fields(one: Observation) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def decided(store: Store) -> dict[str, int]:
    """Return candidate id → successes when a person last put it away; those promoted since are left out."""
    rows = store.rows(
        "select candidate_id, arg_max(action, ts) as action, arg_max(evidence, ts) as evidence from decisions "
        "where candidate_id is not null group by candidate_id"
    )
    return {
        row["candidate_id"]: int(json.loads(row["evidence"] or "{}").get("successes", 0))
        for row in rows
        if row["action"] in ("reject", "demote")
    }


def _review(workspace: Path, one: Candidate, put_away: Mapping[str, int]) -> Review:
    evidence = one.evidence
    before = put_away.get(one.group.id)
    if before is not None and evidence.successes < MATERIAL * max(before, 1):
        return Review(
            one, Status.REJECTED, f"put away at {before} successes; comes back at {MATERIAL * before}", None
        )
    try:
        grade_w = compiled_grade(workspace, template_of(one))
    except LackpyError as exc:
        return Review(one, Status.UNUSABLE, str(exc), None)
    if evidence.wrong_serves:
        return Review(
            one, Status.WRONG_SERVES, f"would have served {evidence.wrong_serves} past calls wrongly", grade_w
        )
    if evidence.conflicts:
        return Review(one, Status.CONFLICT, f"overlaps with {', '.join(sorted(evidence.conflicts))}", grade_w)
    if grade_w >= 3:
        return Review(one, Status.WRITES, "its program writes; promote it with --allow-writes", grade_w)
    return Review(one, Status.READY, "", grade_w)


def template_of(one: Candidate) -> Template:
    """Return the template a candidate would become."""
    from lackpy.templates.format import parse  # noqa: PLC0415  # the text is the contract

    return parse(as_learned(one).text)


def kit_named(workspace: Path, name: str) -> Kit:
    """Load the kit a template names.

    Raises:
        KitError: It is gone, or the traces used an unnamed tool list.
    """
    from lackpy.kits import load_kit  # noqa: PLC0415  # loads parsers

    return load_kit(name, workspace)


def compiled_grade(workspace: Path, template: Template) -> int:
    """Return the `w` of a template's program against its kit.

    Raises:
        LackpyError: Kit or program can't be used.
    """
    from lackpy.lang import check  # noqa: PLC0415
    from lackpy.templates.fill import instantiate, sample_values  # noqa: PLC0415

    kit = kit_named(workspace, template.kit)
    compile_template(template, kit.signatures)
    verdict = instantiate(template, sample_values(template), kit.signatures)
    if not verdict.ok:
        raise TemplateError(f"template '{template.name}': {verdict.violations[0]}")
    return check(verdict.program, kit.signatures).grade.w
