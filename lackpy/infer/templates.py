"""Tier 0: the template whose pattern accounts for the whole intent, filled with the values it names.

Consumes a request, the template library and the breaker; answers with a checked program or says why it passes.
Never runs anything and never guesses: two equally specific templates that differ are a miss, reported.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lackpy.infer.protocol import Proposal, Request, Tier
from lackpy.intent.clean import clean
from lackpy.lang import canonical
from lackpy.templates.format import Origin, Template, TemplateError
from lackpy.templates.loader import Loaded, Snapshot, rank
from lackpy.templates.nearest import Near, nearest
from lackpy.templates.ready import ReadyTemplates, TypeCheck

if TYPE_CHECKING:
    from lackpy.lang import Signature, Verdict
    from lackpy.templates.breaker import Breaker
    from lackpy.templates.loader import TemplateLibrary
    from lackpy.templates.pattern import Hit

_LOG = logging.getLogger("lackpy.templates")


@dataclass(frozen=True, slots=True)
class MatchReport:
    """Why an intent is or isn't served by a template.

    Attributes:
        hit: A template serves it.
        reason: Why not, one clause; "" on a hit.
        template, pattern, slots, program, grade: Of the template that serves it.
        cleaned: The intent as patterns see it.
        concept: The intent in the lexicon's words.
        nearest: Templates that share words with it, with the words their patterns leave over.
    """

    hit: bool
    reason: str = ""
    template: str | None = None
    pattern: str | None = None
    slots: Mapping[str, Any] = field(default_factory=dict)
    program: str | None = None
    grade: int | None = None
    cleaned: str = ""
    concept: str = ""
    nearest: tuple[Near, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain data for `lackpy template test --json`."""
        return {
            "hit": self.hit,
            "reason": self.reason,
            "template": self.template,
            "pattern": self.pattern,
            "slots": dict(self.slots),
            "program": self.program,
            "grade": self.grade,
            "cleaned": self.cleaned,
            "concept": self.concept,
            "nearest": [
                {
                    "template": n.name,
                    "phrasing": n.phrasing,
                    "pattern": n.pattern,
                    "left_over": list(n.leftover),
                    "score": n.score,
                }
                for n in self.nearest
            ],
        }


@dataclass(frozen=True, slots=True)
class _Choice:
    """The template that serves an intent, filled; or why none does."""

    reason: str = ""
    loaded: Loaded | None = None
    hit: Hit | None = None
    verdict: Verdict | None = None


class TemplateProvider:
    """Implements tier 0; thread-safe.

    Args:
        library: Where templates come from.
        breaker: Which ones rest after failing.
        typecheck: Checks types of a program (`lackpy.run.typecheck`); applied once to each template of the workspace.
    """

    name = "templates"
    tier = Tier.TEMPLATES

    def __init__(
        self, library: TemplateLibrary, breaker: Breaker, typecheck: TypeCheck | None = None
    ) -> None:
        """Match nothing yet."""
        self.library = library
        self.breaker = breaker
        self._ready = ReadyTemplates(typecheck)
        self._reported: set[str] = set()

    def propose(self, request: Request) -> Proposal:
        """Serve the most specific template that accounts for the whole intent, or pass."""
        started = time.perf_counter()
        choice = self._choose(request, self.library.current())
        ms = (time.perf_counter() - started) * 1000
        if choice.verdict is None or choice.loaded is None or choice.hit is None:
            return Proposal(None, choice.reason, ms=ms)
        return Proposal(
            choice.verdict.program,
            template=choice.loaded.template.name,
            slots=choice.hit.slots,
            ms=ms,
            verdict=choice.verdict,
        )

    def explain(self, request: Request) -> MatchReport:
        """Say what `propose` would do and why; nothing is counted."""
        snapshot = self.library.current()
        choice = self._choose(request, snapshot)
        cleaned = clean(request.intent)
        near = tuple(nearest(request.intent, self.served(snapshot)))
        if choice.verdict is None or choice.loaded is None or choice.hit is None:
            reason = choice.reason
            if not snapshot.hits(cleaned):
                refused = snapshot.refused(cleaned)
                if refused:
                    loaded, why = refused[0]
                    reason = f"template '{loaded.template.name}' has the words, but {why}"
                elif near and near[0].leftover:
                    left = ", ".join(f"'{w}'" for w in near[0].leftover)
                    reason = f"{reason}; the nearest, '{near[0].name}', doesn't account for {left}"
            return MatchReport(
                hit=False, reason=reason, cleaned=cleaned.light, concept=cleaned.normal, nearest=near
            )
        template = choice.loaded.template
        return MatchReport(
            hit=True,
            template=template.name,
            pattern=template.pattern,
            slots=choice.hit.slots,
            program=choice.verdict.program,
            grade=choice.verdict.grade.w,
            cleaned=cleaned.light,
            concept=cleaned.normal,
            nearest=tuple(n for n in near if n.name != template.name),
        )

    def served(self, snapshot: Snapshot | None = None) -> list[Template]:
        """Return the templates whose state lets them be served."""
        current = snapshot or self.library.current()
        return [one.template for one in current.templates.values() if one.template.state.served]

    def report(self, name: str, *, ok: bool) -> None:
        """Count how a serve went."""
        loaded = self.library.current().templates.get(name)
        if loaded is not None:
            self.breaker.report(name, loaded.digest, ok=ok)

    def problem(self, loaded: Loaded, signatures: Mapping[str, Signature]) -> str | None:
        """Return why a template isn't served with these tools at this moment, or `None`."""
        template = loaded.template
        if not template.state.served:
            return f"is {template.state.value}"
        ready = self._ready.get(loaded.key, loaded.template, signatures)
        if isinstance(ready, str):
            return ready
        return self.breaker.why_open(template.name, loaded.digest)

    def status(self) -> str:
        """Count the templates in force."""
        snapshot = self.library.current()
        served = self.served(snapshot)
        own = sum(1 for t in served if t.origin is Origin.WORKSPACE)
        broken = f"; {len(snapshot.problems)} not in force" if snapshot.problems else ""
        return f"ready: {own} of this workspace, {len(served) - own} shipped{broken}"

    def close(self) -> None:
        """Release the folder's watch."""
        self.library.close()

    # -- parts ---------------------------------------------------------------------------------------

    def _choose(self, request: Request, snapshot: Snapshot) -> _Choice:
        pairs = snapshot.hits(clean(request.intent))
        if not pairs:
            return _Choice("no template accounts for the whole intent")
        reason = ""
        for at, (loaded, hit) in enumerate(pairs):
            filled = self._filled(loaded, hit, request.signatures)
            if isinstance(filled, str):
                reason = reason or f"template '{loaded.template.name}' matches but {filled}"
                continue
            rival = self._rival(loaded, hit, filled, pairs[at + 1 :], request.signatures)
            if rival is not None:
                return _Choice(self._tie(loaded.template, rival))
            return _Choice("", loaded, hit, filled)
        return _Choice(reason)

    def _filled(self, loaded: Loaded, hit: Hit, signatures: Mapping[str, Signature]) -> Verdict | str:
        ready = self._ready.get(loaded.key, loaded.template, signatures)
        if isinstance(ready, str):
            return ready
        resting = self.breaker.why_open(loaded.template.name, loaded.digest)
        if resting is not None:
            return resting
        try:
            return ready(hit.slots)
        except TemplateError as exc:
            return str(exc)

    def _rival(
        self,
        loaded: Loaded,
        hit: Hit,
        filled: Verdict,
        others: list[tuple[Loaded, Hit]],
        signatures: Mapping[str, Signature],
    ) -> Template | None:
        """Return an equally specific template that would run another program."""
        best = rank(loaded, hit)
        for other, other_hit in others:
            if rank(other, other_hit) != best:
                return None
            its = self._filled(other, other_hit, signatures)
            if not isinstance(its, str) and canonical(its.program) != canonical(filled.program):
                return other.template
        return None

    def _tie(self, one: Template, other: Template) -> str:
        reason = (
            f"templates '{one.name}' and '{other.name}' match equally well and differ; narrow one of them"
        )
        if reason not in self._reported:
            self._reported.add(reason)
            _LOG.warning("%s", reason)
        return reason
