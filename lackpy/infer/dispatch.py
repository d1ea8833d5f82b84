"""Ask the tiers in order until one has a valid program; every try is kept.

Consumes a request and providers; yields validated candidates lazily, so that the caller can run one and ask for the
next. Never runs a program. A model tier whose program is refused is asked once more with the violations and their
hints; then the next tier's turn comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lackpy.infer.help import no_program_help
from lackpy.infer.protocol import Feedback, Proposal, Provider, Request, Tier
from lackpy.lang import Grade, Signature, Verdict, Violation, check
from lackpy.result import Passed
from lackpy.traces.record import Attempt

if TYPE_CHECKING:
    from lackpy.infer.templates import MatchReport, TemplateProvider

LIBRARY_TIERS = frozenset((Tier.TEMPLATES, Tier.RULES))
RAW_CHARS = 20_000
"""Characters of a model's answer that an attempt keeps."""
TypeCheck = Callable[[str, Mapping[str, Signature], Mapping[str, str]], tuple[Violation, ...]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One validated program.

    Attributes:
        verdict: Its check, `ok`.
        proposal: What the tier answered.
        tier: Its tier.
        provider: Its provider's name.
        validate_ms: Milliseconds of checking, types included.
    """

    verdict: Verdict
    proposal: Proposal
    tier: Tier
    provider: str
    validate_ms: float


class Dispatcher:
    """The tiers of one workspace, in order; thread-safe when its providers are.

    Args:
        providers: In the order they are asked.
        typecheck: Type check of a model's or rule's program; `None` for none.
        retry: Ask a model tier once more with what was wrong.
        missing: (tier, provider, sentence) of tiers that aren't set up, for status and help.
    """

    def __init__(
        self,
        providers: Iterable[Provider],
        *,
        typecheck: TypeCheck | None = None,
        retry: bool = True,
        missing: Iterable[tuple[Tier, str, str]] = (),
    ) -> None:
        """Ask nobody yet."""
        self.providers = tuple(providers)
        self.retry = retry
        self._typecheck = typecheck
        self.missing = tuple(missing)

    def search(
        self,
        request: Request,
        *,
        max_grade: Grade | None = None,
        rules: Iterable[str] = (),
        progress: Callable[[str], None] | None = None,
        skip_tiers: Iterable[Tier] = (),
    ) -> Search:
        """Return the candidates for a request, found as they are asked for.

        Args:
            request: The question; its `timeout_s` bounds all tiers together.
            max_grade: Highest grade a program may have.
            rules: Extra rules it must keep.
            progress: Called with one sentence when a model tier is asked.
            skip_tiers: Tiers that aren't asked.
        """
        return Search(self, request, max_grade, tuple(rules), progress, frozenset(skip_tiers))

    def validate(
        self, program: str, request: Request, max_grade: Grade | None, rules: tuple[str, ...]
    ) -> Verdict:
        """Check a proposed program, types included."""
        verdict = check(program, request.signatures, params=request.params, max_grade=max_grade, rules=rules)
        if not verdict.ok or self._typecheck is None:
            return verdict
        wrong = self._typecheck(verdict.program, request.signatures, request.params)
        return replace(verdict, ok=False, violations=tuple(wrong), tree=None) if wrong else verdict

    @property
    def templates(self) -> TemplateProvider | None:
        """Tier 0's provider, if it is on."""
        return next((p for p in self.providers if p.tier is Tier.TEMPLATES), None)  # type: ignore[return-value]

    def report(self, template: str, *, ok: bool) -> None:
        """Count how a served template or rule went; three bad serves in a row stop it for a while."""
        for provider in self.providers:
            count = getattr(provider, "report", None)
            if count is not None:
                count(template, ok=ok)

    def explain(self, request: Request) -> MatchReport | None:
        """Say why tier 0 does or doesn't serve an intent; `None` when it is off."""
        return self.templates.explain(request) if self.templates else None

    def help(self, request: Request, passed: Iterable[Passed]) -> str:
        """Say what a caller can do when no tier had a program."""
        served = self.templates.served() if self.templates else []
        off = [Passed(str(tier), name, said) for tier, name, said in self.missing]
        return no_program_help(request, [*passed, *off], served)

    def statuses(self) -> list[tuple[Tier, str, str]]:
        """Return (tier, provider, one sentence) for every tier, set up or not."""
        ready = [(p.tier, p.name, p.status()) for p in self.providers]
        return sorted([*ready, *self.missing], key=lambda row: row[0])

    def template_rows(self, signatures: Mapping[str, Signature] | None = None) -> list[dict[str, Any]]:
        """Return one row a template: name, state, origin, pattern, slots, kit, counts, path and problem.

        Args:
            signatures: Also report what these tools can't serve.
        """
        provider = self.templates
        if provider is None:
            return []
        snapshot = provider.library.current()
        problems = {p.name: p.reason for p in snapshot.problems}
        rows = []
        for name, loaded in sorted(snapshot.templates.items()):
            template = loaded.template
            problem = problems.pop(name, None)
            if problem is None and signatures is not None and template.state.served:
                problem = provider.problem(loaded, signatures)
            rows.append(
                {
                    "name": name,
                    "state": template.state.value,
                    "origin": template.origin.value,
                    "pattern": template.pattern,
                    "slots": dict(template.slots),
                    "kit": template.kit,
                    "success_count": template.success_count,
                    "fail_count": template.fail_count,
                    "path": template.path,
                    "description": template.description,
                    "problem": problem,
                }
            )
        rows += [
            {"name": name, "state": "broken", "origin": "workspace", "pattern": "", "problem": reason}
            for name, reason in problems.items()
        ]
        return rows

    def close(self) -> None:
        """Release what providers hold: watches, models, connections."""
        for provider in self.providers:
            close = getattr(provider, "close", None)
            if close is not None:
                close()


class Search:
    """One request's way through the tiers; iterate it once.

    Going on after a candidate says that it failed while running: its attempt is marked so.

    Attributes:
        passed: Tiers that had no valid program so far, and why.
        attempts: Every try so far, as the trace keeps it.
        generate_ms: Milliseconds in providers so far.
        last_refused: The last program that validation refused.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        request: Request,
        max_grade: Grade | None,
        rules: tuple[str, ...],
        progress: Callable[[str], None] | None,
        skip_tiers: frozenset[Tier],
    ) -> None:
        """Ask nobody yet."""
        self.passed: list[Passed] = []
        self.attempts: list[Attempt] = []
        self.generate_ms = 0.0
        self.last_refused: Verdict | None = None
        self._dispatcher = dispatcher
        self._request = request
        self._max_grade = max_grade
        self._rules = rules
        self._progress = progress
        self._skip = skip_tiers
        self._deadline = time.monotonic() + request.timeout_s

    def __iter__(self) -> Iterator[Candidate]:
        """Yield validated candidates, tier by tier."""
        for provider in self._dispatcher.providers:
            if provider.tier in self._skip:
                continue
            left = self._deadline - time.monotonic()
            if left <= 0:
                self._pass(provider, "no time left")
                continue
            candidate = self._ask(provider, replace(self._request, timeout_s=left))
            if candidate is None:
                continue
            yield candidate
            self.attempts[-1] = replace(
                self.attempts[-1], ok=False, reason="its program failed while running"
            )

    def _ask(self, provider: Provider, request: Request) -> Candidate | None:
        """Ask one tier, a model at most twice; `None` when it has no valid program."""
        is_model = provider.tier not in LIBRARY_TIERS
        if is_model and self._progress is not None:
            self._progress(f"asking {provider.name}")
        candidate, refused = self._try(provider, request, retry=False)
        if candidate is not None or not refused or not is_model or not self._dispatcher.retry:
            return candidate
        left = self._deadline - time.monotonic()
        if left <= 0:
            return None
        if self._progress is not None:
            self._progress(f"asking {provider.name} again: {refused.violations[0].message}")
        again = replace(request, timeout_s=left, feedback=Feedback(refused.source, refused.violations))
        self.passed.pop()
        return self._try(provider, again, retry=True)[0]

    def _try(
        self, provider: Provider, request: Request, *, retry: bool
    ) -> tuple[Candidate | None, Verdict | None]:
        """Ask once; return the candidate, or the verdict that refused it (`None` when the tier passed)."""
        proposal = provider.propose(request)
        self.generate_ms += proposal.ms
        if proposal.program is None:
            reason = proposal.reason or "it has no program and says no reason"
            self._attempt(provider, proposal, retry=retry, reason=reason)
            self._pass(provider, reason)
            return None, None
        started = time.perf_counter()
        verdict = self._verdict(proposal, request)
        validate_ms = (time.perf_counter() - started) * 1000
        if verdict.ok:
            self._attempt(provider, proposal, retry=retry)
            return Candidate(verdict, proposal, provider.tier, provider.name, validate_ms), None
        self.last_refused = verdict
        reason = f"its program was refused: {verdict.violations[0]}"
        if len(verdict.violations) > 1:
            reason += f" (and {len(verdict.violations) - 1} more)"
        self._attempt(provider, proposal, retry=retry, reason=reason, violations=verdict.violations)
        self._pass(provider, reason)
        return None, verdict

    def _verdict(self, proposal: Proposal, request: Request) -> Verdict:
        """Return the program's check; a tier's own stands unless the caller's cap or rules say more."""
        own = proposal.verdict
        if own is None:
            return self._dispatcher.validate(proposal.program or "", request, self._max_grade, self._rules)
        if not self._rules and (self._max_grade is None or own.grade.within(self._max_grade)):
            return own
        capped = check(own.program, request.signatures, max_grade=self._max_grade, rules=self._rules)
        return own if capped.ok else capped

    def _attempt(
        self,
        provider: Provider,
        proposal: Proposal,
        *,
        retry: bool,
        reason: str = "",
        violations: tuple[Violation, ...] = (),
    ) -> None:
        self.attempts.append(
            Attempt(
                tier=str(provider.tier),
                provider=provider.name,
                ok=not reason,
                reason=reason,
                raw=proposal.raw[:RAW_CHARS] if proposal.raw is not None else None,
                program=proposal.program,
                repairs=tuple(proposal.repairs),
                errors=tuple(str(v) for v in violations),
                examples=tuple(proposal.examples),
                retry=retry,
                ms=proposal.ms,
                tokens_in=proposal.tokens_in,
                tokens_out=proposal.tokens_out,
                cost_usd=proposal.cost_usd,
                error_kind=proposal.error_kind,
                template=proposal.template,
            )
        )

    def _pass(self, provider: Provider, reason: str) -> None:
        self.passed.append(Passed(str(provider.tier), provider.name, reason))
