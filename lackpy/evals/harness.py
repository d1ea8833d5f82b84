"""Runs cases through one model provider under several steps and counts what came out.

Uses the real kit, language, type check and executor: an evaluated call is a delegate call without its trace. Model
answers can be kept in a folder, keyed by everything that decides them, so that a changed repair is measured without
asking the model again; the seconds kept are those of the first time.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from lackpy.evals.steps import Step
from lackpy.infer.model import Asker, Client, Completion, Settings
from lackpy.infer.protocol import Feedback, Proposal, Request
from lackpy.kits import load_kit
from lackpy.lang import Verdict, check
from lackpy.run import executor, typecheck
from lackpy.run.record import Limits

if TYPE_CHECKING:
    from lackpy.evals.cases import Case, Scorer
    from lackpy.infer.prompt import Message
    from lackpy.kits import Kit


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one case gave under one step.

    Attributes:
        case: Its id. group: its group.
        valid_raw: The model's first text was valid as it stood.
        valid_repaired: Valid after repair, before any retry.
        valid: Valid in the end.
        right: It ran and the scorer accepts its output.
        seconds: In the model, retries included.
        tokens_in: Prompt tokens. tokens_out: completion tokens. `None` = unknown.
        program: The last program. output: JSON text of its output, cut. error: why it isn't valid or didn't run.
        repairs: Repairs made.
    """

    case: str
    group: str
    valid_raw: bool
    valid_repaired: bool
    valid: bool
    right: bool
    seconds: float
    tokens_in: int | None
    tokens_out: int | None
    program: str | None
    output: str
    error: str
    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """All outcomes of one step."""

    step: str
    outcomes: tuple[Outcome, ...]

    def count(self, field: str) -> int:
        """Return how many outcomes have a true `field`."""
        return sum(1 for o in self.outcomes if getattr(o, field))

    def median_seconds(self) -> float:
        """Return the median seconds in the model."""
        return median(o.seconds for o in self.outcomes)

    def mean_tokens(self, field: str) -> float | None:
        """Return mean tokens a case; `None` when the provider counts none."""
        known = [getattr(o, field) for o in self.outcomes if getattr(o, field) is not None]
        return sum(known) / len(known) if known else None


class CachedClient:
    """A client that keeps answers in a folder; without a folder it only measures."""

    def __init__(self, client: Client, folder: Path | None, identity: str) -> None:
        """Wrap `client`; `identity` names what else decides its answers (file, seed, context)."""
        self.client = client
        self.model = client.model
        self.seconds = 0.0
        self._folder = folder
        self._identity = identity

    def room(self) -> int | None:
        """Return the wrapped client's room."""
        return self.client.room()

    def complete(self, messages: Sequence[Message], request: Request, settings: Settings) -> Completion:
        """Answer from the folder, else from the model."""
        constrained = (
            settings.grammar if settings.grammar != "retry" or request.feedback is not None else "off"
        )
        grammar = sorted(s.text() for s in request.signatures.values()) if constrained != "off" else None
        key = json.dumps([self._identity, [dict(m) for m in messages], grammar], sort_keys=True)
        path = (
            self._folder / (hashlib.sha256(key.encode()).hexdigest()[:32] + ".json") if self._folder else None
        )
        if path is not None and path.is_file():
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.seconds += kept.pop("seconds")
            return Completion(**kept)
        started = time.perf_counter()
        answer = self.client.complete(messages, request, settings)
        spent = time.perf_counter() - started
        self.seconds += spent
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({**asdict(answer), "seconds": spent}), encoding="utf-8")
        return answer


def run_eval(
    cases: Sequence[Case],
    asker: Asker,
    scorer: Scorer,
    steps: Iterable[Step],
    *,
    kit: str = "debug",
    cache: Path | None = None,
    identity: str = "",
    progress: Callable[[str, Case], None] | None = None,
) -> tuple[Measured, ...]:
    """Measure every step on every case.

    Args:
        cases: What to try.
        asker: The provider's asker: its client, retriever and default settings.
        scorer: Decides whether an output is right.
        steps: Configurations, in table order.
        kit: Kit of every case.
        cache: Folder that keeps model answers; `None` keeps none.
        identity: What decides an answer besides the prompt.
        progress: Called before each case.
    """
    kits: dict[Path, Kit] = {}
    client = CachedClient(asker.client, cache, f"{asker.client.model} {identity}")
    measured = []
    for step in steps:
        settings = replace(asker.settings, **step.settings)
        asking = Asker(client, asker.retriever, settings)
        outcomes = []
        for case in cases:
            if progress is not None:
                progress(step.name, case)
            if case.workspace not in kits:
                kits[case.workspace] = load_kit(kit, case.workspace)
            client.seconds = 0.0
            outcomes.append(_outcome(case, asking, step, kits[case.workspace], scorer, client))
        measured.append(Measured(step.name, tuple(outcomes)))
    return tuple(measured)


def _outcome(case: Case, asker: Asker, step: Step, kit: Kit, scorer: Scorer, client: CachedClient) -> Outcome:
    request = Request(case.intent, kit.name, kit.signatures, timeout_s=300.0)
    first = asker.propose(request)
    verdict = _verdict(first, request, types=step.typecheck)
    raw_ok = bool(first.raw) and check(first.raw or "", kit.signatures).ok
    proposal, final = first, verdict
    if verdict is not None and not verdict.ok and step.retry:
        again = replace(request, feedback=Feedback(verdict.program, verdict.violations))
        second = asker.propose(again)
        better = _verdict(second, request, types=step.typecheck)
        if better is not None and better.ok:
            proposal, final = second, better
    base = Outcome(
        case.id,
        case.group,
        valid_raw=raw_ok,
        valid_repaired=verdict is not None and verdict.ok,
        valid=final is not None and final.ok,
        right=False,
        seconds=client.seconds,
        tokens_in=proposal.tokens_in,
        tokens_out=proposal.tokens_out,
        program=proposal.program,
        output="",
        error=proposal.reason,
        repairs=proposal.repairs,
    )
    if final is None or not final.ok:
        return replace(base, error=str(final.violations[0]) if final is not None else proposal.reason)
    ran = executor("monty").run(final, kit.tools, {}, Limits())
    if not ran.ok:
        return replace(base, error=ran.error.message if ran.error else "failed")
    output = ran.output if ran.output is not None or not ran.printed else ran.printed
    return replace(
        base, right=scorer(case.row, output), output=json.dumps(output, ensure_ascii=False, default=str)[:400]
    )


def _verdict(proposal: Proposal, request: Request, *, types: bool) -> Verdict | None:
    if proposal.program is None:
        return None
    verdict = check(proposal.program, request.signatures, params=request.params)
    if not verdict.ok or not types:
        return verdict
    wrong: Any = typecheck(verdict.program, request.signatures, request.params)
    return replace(verdict, ok=False, violations=tuple(wrong), tree=None) if wrong else verdict
