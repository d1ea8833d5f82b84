"""Ask the tiers in order until one has a valid program; every try is kept.

Consumes a request and providers; yields validated candidates lazily, so that the caller can run one and ask for the
next. Never runs a program. A model tier whose answer held no program, or whose program was refused or failed while
running, is asked once more with what was wrong; then the next tier's turn comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lackpy.infer.again import fault, may_go_on
from lackpy.infer.help import no_program_help
from lackpy.infer.protocol import Feedback, Proposal, Provider, Request, Tier
from lackpy.lang import Grade, Signature, Verdict, Violation, check
from lackpy.result import Passed
from lackpy.traces.record import Attempt

if TYPE_CHECKING:
    from lackpy.infer.templates import MatchReport, TemplateProvider
    from lackpy.run.record import RunResult

LIBRARY_TIERS = frozenset((Tier.TEMPLATES, Tier.RULES))
NO_PROGRAM_KINDS = frozenset(("no_program", "truncated", "empty"))
"""Error kinds of an answer that says something else than a program; asking again can help."""
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
        doubt: Ask once more too where a model's program found nothing for a text that the intent doesn't state.
        missing: (tier, provider, sentence) of tiers that aren't set up, for status and help.
    """

    def __init__(
        self,
        providers: Iterable[Provider],
        *,
        typecheck: TypeCheck | None = None,
        retry: bool = True,
        doubt: bool = True,
        missing: Iterable[tuple[Tier, str, str]] = (),
    ) -> None:
        """Ask nobody yet."""
        self.providers = tuple(providers)
        self.retry = retry
        self.doubt = doubt and retry
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

    Going on after a candidate says that it failed while running: its attempt is marked so, and a model of whose error
    `goes_on` was told is asked once more.

    Attributes:
        passed: Tiers that had no valid program so far, and why.
        attempts: Every try so far, as the trace keeps it.
        generate_ms: Milliseconds in providers so far.
        last_refused: The last program that validation refused.
        doubted: A run that found nothing was doubted; that happens once.
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
        self.doubted = False
        self._dispatcher = dispatcher
        self._request = request
        self._max_grade = max_grade
        self._rules = rules
        self._progress = progress
        self._skip = skip_tiers
        self._deadline = time.monotonic() + request.timeout_s
        self._faults: list[Violation] = []

    def goes_on(self, candidate: Candidate, ran: RunResult) -> bool:
        """Tell whether the next candidate may be asked for after this run; a model hears what was wrong.

        After a run that worked and found nothing the caller keeps that answer, unless a later one is better.
        """
        library = candidate.tier in LIBRARY_TIERS
        doubt = self._dispatcher.doubt and not self.doubted
        if not may_go_on(candidate.verdict, ran, self._request.intent, library=library, doubt=doubt):
            return False
        self.doubted = self.doubted or ran.ok
        self._faults.append(fault(ran))
        return True

    def __iter__(self) -> Iterator[Candidate]:
        """Yield validated candidates, tier by tier."""
        for provider in self._dispatcher.providers:
            if provider.tier in self._skip:
                continue
            left = self._deadline - time.monotonic()
            if left <= 0:
                self._pass(provider, "no time left")
                continue
            feedback: Feedback | None = None
            for retry in (False, True):
                candidate, feedback = self._try(provider, self._asking(provider, feedback), retry=retry)
                if candidate is not None:
                    self._faults.clear()
                    yield candidate
                    nothing = any(f.rule == "nothing" for f in self._faults)
                    reason = "its program found nothing" if nothing else "its program failed while running"
                    self.attempts[-1] = replace(self.attempts[-1], ok=nothing, reason=reason)
                    if self._faults:  # from `goes_on`
                        program = "" if nothing else candidate.verdict.program
                        feedback = Feedback(program, tuple(self._faults))
                if feedback is None or retry or not self._may_retry(provider):
                    break
                if candidate is None:
                    self.passed.pop()
            if self.doubted:  # there is an answer: a second look is worth no dearer tier
                return

    def _may_retry(self, provider: Provider) -> bool:
        is_model = provider.tier not in LIBRARY_TIERS
        return is_model and self._dispatcher.retry and time.monotonic() < self._deadline

    def _asking(self, provider: Provider, feedback: Feedback | None) -> Request:
        """Return what a tier is asked now, and say so when it is slow."""
        if provider.tier not in LIBRARY_TIERS and self._progress is not None:
            again = f" again: {feedback.violations[0].message}" if feedback is not None else ""
            self._progress(f"asking {provider.name}{again}")
        return replace(self._request, timeout_s=self._deadline - time.monotonic(), feedback=feedback)

    def _try(
        self, provider: Provider, request: Request, *, retry: bool
    ) -> tuple[Candidate | None, Feedback | None]:
        """Ask once; return the candidate, or what a retry should know (`None` when the tier passed for good)."""
        proposal = provider.propose(request)
        self.generate_ms += proposal.ms
        if proposal.program is None:
            reason = proposal.reason or "it has no program and says no reason"
            self._attempt(provider, proposal, retry=retry, reason=reason)
            self._pass(provider, reason)
            return None, _without_program(proposal)
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
        return None, Feedback(verdict.source, verdict.violations)

    def _verdict(self, proposal: Proposal, request: Request) -> Verdict:
        """Return the program's check; a tier's own stands unless the caller's cap or rules say more."""
        own = proposal.verdict
        if own is None:
            verdict = self._dispatcher.validate(proposal.program or "", request, self._max_grade, self._rules)
            if not verdict.ok or not proposal.problems:
                return verdict
            return replace(verdict, ok=False, violations=proposal.problems, tree=None)
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


def _without_program(proposal: Proposal) -> Feedback | None:
    if proposal.error_kind not in NO_PROGRAM_KINDS:
        return None
    said = Violation("no-program", 1, 1, proposal.reason, "write one notebook cell, only code")
    return Feedback("", (said,))
