"""Runs cases through one model provider under several steps and counts what came out.

Uses the real dispatcher, kit, language, type check and executor: an evaluated call is a delegate call with one tier and
without its trace. Model
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
from typing import TYPE_CHECKING

from lackpy.evals.steps import Step
from lackpy.infer.again import is_better
from lackpy.infer.dispatch import Candidate, Dispatcher
from lackpy.infer.model import Asker, Client, Completion, Settings, is_constrained
from lackpy.infer.protocol import Request, Tier
from lackpy.kits import load_kit
from lackpy.lang import check
from lackpy.run import executor, typecheck
from lackpy.run.record import Limits, RunResult

if TYPE_CHECKING:
    from lackpy.evals.cases import Case, Scorer
    from lackpy.infer.prompt import Message
    from lackpy.kits import Kit
    from lackpy.traces.record import Attempt

TIMEOUT_S = 300.0
"""Seconds of one case; a model on a busy machine isn't cut short."""


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
        tokens_in: Prompt tokens, retries included. tokens_out: completion tokens. `None` = unknown.
        program: The last program. output: JSON text of its output, cut. error: why it isn't valid or didn't run.
        repairs: Repairs made to the first answer.
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
        kit = sorted(s.text() for s in request.signatures.values())
        grammar = kit if is_constrained(settings, request) else None
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


class _Measured:
    """The asker as a tier of its own, for a dispatcher."""

    name = "measured"
    tier = Tier.LOCAL

    def __init__(self, asker: Asker) -> None:
        self.propose = asker.propose

    def status(self) -> str:
        return "ready"


def _outcome(case: Case, asker: Asker, step: Step, kit: Kit, scorer: Scorer, client: CachedClient) -> Outcome:
    request = Request(case.intent, kit.name, kit.signatures, timeout_s=TIMEOUT_S)
    check_types = typecheck if step.typecheck else None
    dispatcher = Dispatcher([_Measured(asker)], typecheck=check_types, retry=step.retry, doubt=step.doubt)
    search = dispatcher.search(request)
    candidate: Candidate | None = None
    ran: RunResult | None = None
    for found in search:
        run = executor("monty").run(found.verdict, kit.tools, {}, Limits())
        if is_better(run, ran):
            candidate, ran = found, run
        if not search.goes_on(found, run):
            break
    first, last = search.attempts[0], search.attempts[-1]
    done = ran is not None and ran.ok
    output = None if ran is None or not ran.ok else ran.output
    if done and output is None and ran is not None:
        output = ran.printed or None
    return Outcome(
        case.id,
        case.group,
        valid_raw=bool(first.raw) and check(first.raw or "", kit.signatures).ok,
        valid_repaired=first.program is not None and not first.errors,
        valid=candidate is not None,
        right=done and scorer(case.row, output),
        seconds=client.seconds,
        tokens_in=_total(a.tokens_in for a in search.attempts),
        tokens_out=_total(a.tokens_out for a in search.attempts),
        program=candidate.proposal.program if candidate else last.program,
        output=json.dumps(output, ensure_ascii=False, default=str)[:400] if done else "",
        error=_error(ran, last),
        repairs=first.repairs,
    )


def _total(counts: Iterable[int | None]) -> int | None:
    known = [c for c in counts if c is not None]
    return sum(known) if known else None


def _error(ran: RunResult | None, last: Attempt) -> str:
    if ran is None:
        return last.errors[0] if last.errors else last.reason
    return ran.error.message if ran.error is not None else ""
