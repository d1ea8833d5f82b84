"""Drives the real dispatcher, executor, journal and ratchet over a stream of requests, promoting each evening.

The model tier is a stand-in that hands back what the stream says; everything else is what users run. A served program
is wrong when it is another program than the right one and gives another answer.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from lackpy.infer.protocol import Proposal, Request, Tier
from lackpy.lang import canonical
from lackpy.result import Result
from lackpy.service import Lackpy
from riggs.candidates import Status, review
from riggs.promote import promote
from riggs.store import Store
from riggs.thresholds import Thresholds
from riggs.upkeep import upkeep
from riggs.workload import Call

STEADY_DAYS = 10


@dataclass(frozen=True, slots=True)
class Costs:
    """What a model call is taken to cost: milliseconds and US dollars (Source: data/prices.toml's small API model)."""

    model_ms: float = 1_500.0
    model_usd: float = 0.001


@dataclass(slots=True)
class Day:
    """One simulated day: calls, those served from templates, wrong serves, templates promoted in its evening."""

    day: int
    calls: int = 0
    served: int = 0
    wrong: int = 0
    failed: int = 0
    promoted: int = 0

    @property
    def share(self) -> float:
        """Template-served share of the day's calls, 0-1."""
        return self.served / self.calls if self.calls else 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One simulated run.

    Attributes:
        seed: Of the stream.
        days: Day by day.
        wrong: (day, intent, served program, right program) of every wrong serve.
        templates: Templates at the end.
        saved_ms: Model milliseconds not spent. saved_usd: dollars not spent.
    """

    seed: int
    days: tuple[Day, ...]
    wrong: tuple[tuple[int, str, str, str], ...]
    templates: int
    saved_ms: float
    saved_usd: float

    @property
    def crossover(self) -> int | None:
        """First day on which more than half of the calls are template-served."""
        return next((d.day for d in self.days if d.share > 0.5), None)

    @property
    def steady(self) -> float:
        """Template-served share of the last ten days' calls, 0-1."""
        last = self.days[-STEADY_DAYS:]
        calls = sum(d.calls for d in last)
        return sum(d.served for d in last) / calls if calls else 0.0


class StandIn:
    """The model tier: answers with the program it is told, and reports what a model would have cost."""

    name = "stand-in"
    tier = Tier.LOCAL

    def __init__(self, costs: Costs) -> None:
        """Answer nothing yet."""
        self._costs = costs
        self.program = ""

    def propose(self, request: Request) -> Proposal:
        """Hand back the current program."""
        del request
        return Proposal(
            self.program,
            model="stand-in",
            ms=self._costs.model_ms,
            cost_usd=self._costs.model_usd,
            raw=self.program,
        )

    def status(self) -> str:
        """Say that it is ready."""
        return "ready: a stand-in"


def simulate(
    calls: Iterable[Call],
    workspace: Path,
    *,
    seed: int = 0,
    thresholds: Thresholds | None = None,
    costs: Costs | None = None,
    starter: bool = False,
    progress: Callable[[Day], None] | None = None,
) -> Outcome:
    """Run a stream through the real parts.

    Args:
        calls: In order of time.
        workspace: A source tree in which the programs run; its `.lackpy` is written.
        seed: Kept in the outcome.
        thresholds: When a group is promoted; the workspace's when absent.
        costs: Of a model call.
        starter: Keep the shipped library on; a measurement of learning must not.
        progress: Called after each day.
    """
    costs = costs or Costs()
    model = StandIn(costs)
    now = [datetime.now(UTC)]
    _configure(workspace, starter=starter)
    days: list[Day] = []
    wrong: list[tuple[int, str, str, str]] = []
    with Lackpy(workspace, providers=[model], clock=lambda: now[0]) as runtime:
        for number, todays in groupby(calls, key=lambda c: c.day):
            day = Day(number)
            for call in todays:
                now[0], model.program = call.ts, call.model_program
                _one(runtime, call, day, wrong)
            day.promoted = _evening(workspace, thresholds, now[0])
            days.append(day)
            if progress is not None:
                progress(day)
    served = sum(d.served for d in days)
    templates = len(list((workspace / ".lackpy" / "templates").glob("*.tmpl")))
    return Outcome(
        seed, tuple(days), tuple(wrong), templates, served * costs.model_ms, served * costs.model_usd
    )


def _configure(workspace: Path, *, starter: bool) -> None:
    """Write the configuration that dispatcher and ratchet both read; one that is there stays."""
    path = workspace / ".lackpy" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        on = "true" if starter else "false"
        path.write_text(f"[tiers]\nretry = false\n[templates]\nstarter = {on}\n[rules]\nenabled = {on}\n")


def _one(runtime: Lackpy, call: Call, day: Day, wrong: list[tuple[int, str, str, str]]) -> None:
    result = runtime.delegate(call.intent, session=call.session_id)
    day.calls += 1
    day.failed += not result.ok
    if result.tier == Tier.TEMPLATES:
        day.served += 1
        if _is_wrong(runtime, result, call):
            day.wrong += 1
            wrong.append((call.day, call.intent, result.program or "", call.program))
    elif call.feedback in ("good", "bad") and result.trace_id:
        runtime.feedback(result.trace_id, call.feedback)


def _is_wrong(runtime: Lackpy, result: Result, call: Call) -> bool:
    """Another program than the right one, and another answer."""
    if canonical(result.program or "") == canonical(call.program):
        return False
    verdict = runtime.validate(call.program)
    if not verdict.ok:
        return True
    kit = runtime.load_kit()
    right = runtime.executor.run(verdict, kit.tools, {}, runtime.config.limits)
    return not (right.ok and result.ok and right.output == result.output and not result.truncated)


def _evening(workspace: Path, thresholds: Thresholds | None, now: datetime) -> int:
    """Move templates by their serves, then promote everything that is ready; return how many."""
    store = Store(workspace)
    upkeep(store, now=now)
    ready = [r for r in review(store, thresholds) if r.status is Status.READY]
    for one in ready:
        promote(store, one, reason="simulated policy: everything ready, at day's end")
    return len(ready)


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return medians and ranges over seeds."""
    crossovers = [o.crossover for o in outcomes]
    reached = [c for c in crossovers if c is not None]
    return {
        "seeds": len(outcomes),
        "days": max((len(o.days) for o in outcomes), default=0),
        "crossover_day": _spread(reached),
        "never_crossed": crossovers.count(None),
        "steady_share": _spread([o.steady for o in outcomes]),
        "wrong_serves": _spread([len(o.wrong) for o in outcomes]),
        "wrong_serves_total": sum(len(o.wrong) for o in outcomes),
        "calls": sum(d.calls for o in outcomes for d in o.days),
        "served": sum(d.served for o in outcomes for d in o.days),
        "templates": _spread([o.templates for o in outcomes]),
        "saved_minutes": _spread([o.saved_ms / 60_000 for o in outcomes]),
        "saved_usd": _spread([o.saved_usd for o in outcomes]),
    }


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"median": None, "min": None, "max": None}
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def curve(outcomes: Sequence[Outcome]) -> Iterator[dict[str, float]]:
    """Yield one row a day: median, lowest and highest share over seeds."""
    for index in range(max((len(o.days) for o in outcomes), default=0)):
        shares = [o.days[index].share for o in outcomes if index < len(o.days)]
        yield {"day": index + 1, "median": statistics.median(shares), "low": min(shares), "high": max(shares)}
