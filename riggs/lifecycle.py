"""A template's standing, as a pure state machine over its serves.

    probation --probation_good serves, at most one bad--> active
    probation --probation_bad in a row (the first one after a quarantine)--> quarantined
    active    --bad_in_row in a row, or windows below their floors--> quarantined
    quarantined --rest over--> probation        (the rest doubles each time)
    quarantined --retire_after quarantines--> retired

Nothing else moves a template: out of quarantine there is only probation, which is served, so that it can show itself.
Disabled and retired templates stay as they are until a person decides. Clock and serves are parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any

from lackpy.templates.format import State
from riggs.errors import RiggsError
from riggs.trust import Windows
from riggs.trust_config import DEFAULT, TrustConfig


@dataclass(frozen=True, slots=True)
class Policy:
    """When a template moves; `[lifecycle]` in the configuration.

    Attributes:
        bad_in_row: Bad serves in a row that put an active template out of service; as the dispatcher's breaker.
        probation_bad: The same in probation, where trust has to be shown first.
        probation_good: Good serves that make it active, with at most one bad among them.
        min_serves: Fewer serves than this in its present state don't judge the windows: one early failure must not.
        session_floor: Session window below this puts it out of service: one serve in two fails.
        baseline_floor: Baseline window below this does too: steady 1 in 5 falls below, 1 in 25 stays above.
        prior: Windows' value when a state begins; promotion asks for more than 8 in 10 already.
        rest_s: Seconds in quarantine the first time.
        rest_factor: Each further rest is so many times longer.
        max_rest_s: Longest rest, seconds.
        retire_after: Quarantines after which it doesn't come back by itself.
    """

    bad_in_row: int = 3
    probation_bad: int = 2
    probation_good: int = 10
    min_serves: int = 20
    session_floor: float = 0.6
    baseline_floor: float = 0.88
    prior: float = 0.95
    rest_s: float = 86_400.0
    rest_factor: float = 2.0
    max_rest_s: float = 30 * 86_400.0
    retire_after: int = 4


def policy_from(section: Mapping[str, Any], where: str = "[lifecycle]") -> Policy:
    """Read the `[lifecycle]` table.

    Raises:
        RiggsError: An unknown key or a value out of range.
    """
    kinds = {f.name: f.type for f in fields(Policy)}
    values: dict[str, Any] = {}
    for key, value in section.items():
        if key not in kinds:
            raise RiggsError(f"{where}: unknown key '{key}'; known: {', '.join(kinds)}")
        whole = kinds[key] == "int"
        low = 1 if whole or key == "rest_factor" else 0
        high = 1.0 if key in ("session_floor", "baseline_floor", "prior") else 1e9
        good = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not good or not low <= value <= high:
            raise RiggsError(f"{where}: '{key}' must be a number from {low} to {high:g} (got {value!r})")
        values[key] = value if whole else float(value)
    return replace(Policy(), **values)


@dataclass(frozen=True, slots=True)
class Serve:
    """One call that the template served.

    Attributes:
        at: When, UTC.
        is_good: It ran to its value and nobody called it wrong.
        trace_id: The call's trace.
    """

    at: datetime
    is_good: bool
    trace_id: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a template stands.

    Attributes:
        state: Present state.
        since: When it began, UTC.
        quarantines: How often it was quarantined so far.
    """

    state: State
    since: datetime
    quarantines: int = 0


@dataclass(frozen=True, slots=True)
class Transition:
    """One step.

    Attributes:
        was, state: From, to.
        at: When it takes effect, UTC: the moment of judging; for `active` the serve that earned it.
        reason: One clause with the numbers.
        trace_ids: The serves that decided, newest last.
    """

    was: State
    state: State
    at: datetime
    reason: str
    trace_ids: tuple[str, ...] = ()


def advance(
    standing: Standing,
    serves: Sequence[Serve],
    now: datetime,
    policy: Policy,
    trust: TrustConfig = DEFAULT,
) -> tuple[Standing, list[Transition]]:
    """Judge all serves since the present state began, and the rest that may be over by `now`.

    Args:
        standing: Where the template stands.
        serves: Its serves in order of time; those before `standing.since` are left out.
        now: The moment of judging, UTC.
        policy: When it moves.
        trust: Weights of the windows.
    """
    found: list[Transition] = []
    while (step := _next(standing, serves, now, policy, trust)) is not None:
        found.append(step)
        again = standing.quarantines + (step.state is State.QUARANTINED)
        standing = Standing(step.state, step.at, again)
    return standing, found


def rest_s(quarantines: int, policy: Policy) -> float:
    """Return how long the rest after the n-th quarantine is, seconds.

    >>> rest_s(1, Policy()), rest_s(3, Policy())
    (86400.0, 345600.0)
    """
    return min(policy.rest_s * policy.rest_factor ** min(max(quarantines - 1, 0), 60), policy.max_rest_s)


def _next(
    standing: Standing, serves: Sequence[Serve], now: datetime, policy: Policy, trust: TrustConfig
) -> Transition | None:
    if standing.state is State.QUARANTINED:
        return _after_rest(standing, now, policy)
    if standing.state not in (State.ACTIVE, State.PROBATION):
        return None
    return _on_serves(standing, (s for s in serves if s.at > standing.since), now, policy, trust)


def _after_rest(standing: Standing, now: datetime, policy: Policy) -> Transition | None:
    if standing.quarantines >= policy.retire_after:
        reason = f"quarantined {standing.quarantines} times; promote it again when it is right"
        return Transition(State.QUARANTINED, State.RETIRED, standing.since, reason)
    rest = rest_s(standing.quarantines, policy)
    if now < standing.since + timedelta(seconds=rest):
        return None
    reason = f"rested {rest / 3600:.0f} h; it has to show itself again"
    return Transition(State.QUARANTINED, State.PROBATION, now, reason)


def _on_serves(
    standing: Standing, serves: Iterable[Serve], now: datetime, policy: Policy, trust: TrustConfig
) -> Transition | None:
    """Judge serve by serve; a quarantine begins now, when it can take effect, not at the serve that caused it."""
    was = standing.state
    in_probation = was is State.PROBATION
    limit = policy.bad_in_row
    if in_probation:
        limit = 1 if standing.quarantines else policy.probation_bad
    windows = Windows(policy.prior, policy.prior, policy.prior)
    good = bad = 0
    row: list[str] = []
    for serve in serves:
        windows = windows.then(1.0 if serve.is_good else 0.0, trust)
        good, bad = good + serve.is_good, bad + (not serve.is_good)
        row = [] if serve.is_good else [*row, serve.trace_id]
        if len(row) >= limit:
            reason = f"{len(row)} bad serve{'s' if len(row) > 1 else ''} in a row"
            return Transition(was, State.QUARANTINED, now, reason, tuple(row))
        low = _too_low(windows, policy)
        if low:
            return Transition(was, State.QUARANTINED, now, low, tuple(row))
        if in_probation and good >= policy.probation_good and bad <= 1:
            reason = f"{good} good serves, {bad} bad"
            return Transition(was, State.ACTIVE, serve.at, reason)
        if in_probation and bad > 1 and good + bad >= policy.probation_good:
            reason = f"{bad} of {good + bad} serves in probation were bad"
            return Transition(was, State.QUARANTINED, now, reason, tuple(row))
    return None


def _too_low(windows: Windows, policy: Policy) -> str:
    if windows.events < policy.min_serves:
        return ""
    if windows.session < policy.session_floor:
        return f"session window {windows.session:.2f} is below {policy.session_floor:.2f}"
    if windows.baseline < policy.baseline_floor:
        return f"baseline window {windows.baseline:.2f} is below {policy.baseline_floor:.2f}"
    return ""
