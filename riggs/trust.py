"""Trust as arithmetic: three exponentially weighted windows, their direction, and what they recommend.

Pure: no store, no clock. A window starts at the prior and moves by `alpha * (score - window)` for each event in order
of time, then id. A self-reported event may lower a window, never raise it; an event without a score moves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from riggs.trust_config import TrustConfig


@dataclass(frozen=True, slots=True)
class Windows:
    """The three windows after some events, each 0..1.

    Attributes:
        immediate: Follows the last few events.
        session: Follows about a session's worth.
        baseline: Follows the long run.
        events: How many events moved them; 0 = no data, the values are the prior.
    """

    immediate: float
    session: float
    baseline: float
    events: int = 0

    @classmethod
    def start(cls, config: TrustConfig) -> Windows:
        """Return the windows before the first event."""
        return cls(config.prior, config.prior, config.prior)

    def then(self, score: float, config: TrustConfig, *, is_capped: bool = False) -> Windows:
        """Return the windows after one more event.

        Args:
            score: What the event is worth, 0..1.
            config: Weights.
            is_capped: Self-reported: no window rises.
        """
        return Windows(
            _step(self.immediate, score, config.immediate, is_capped),
            _step(self.session, score, config.session, is_capped),
            _step(self.baseline, score, config.baseline, is_capped),
            self.events + 1,
        )


def _step(window: float, score: float, alpha: float, is_capped: bool) -> float:
    change = score - window
    return window if is_capped and change > 0 else window + alpha * change


def fold(
    scores: Iterable[tuple[float, bool]], config: TrustConfig, start: Windows | None = None
) -> list[Windows]:
    """Return the windows after each (score, is_capped), from `start` or the prior on."""
    windows = start or Windows.start(config)
    found = []
    for score, is_capped in scores:
        windows = windows.then(score, config, is_capped=is_capped)
        found.append(windows)
    return found


class Direction(StrEnum):
    """Where trust is going."""

    UP = "up"
    LEVEL = "level"
    DOWN = "down"
    NO_DATA = "no data"


ARROWS = {Direction.UP: "↑", Direction.LEVEL: "→", Direction.DOWN: "↓", Direction.NO_DATA: "·"}


def direction(windows: Windows, config: TrustConfig) -> Direction:
    """Compare the session window with the baseline; within the band, or with few events, there is none."""
    if windows.events < config.min_events:
        return Direction.NO_DATA
    gap = windows.session - windows.baseline
    if abs(gap) <= config.band:
        return Direction.LEVEL
    return Direction.UP if gap > 0 else Direction.DOWN


class Advice(StrEnum):
    """What riggs recommends; it never enforces."""

    TIGHTEN = "tighten"
    HOLD = "hold"
    LOOSEN = "loosen"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Advice with its reason.

    Attributes:
        advice: What to do.
        reason: One clause with the numbers.
        since: How many events ago it became so.
    """

    advice: Advice
    reason: str
    since: int = 0


def recommend(series: Sequence[Windows], config: TrustConfig) -> Recommendation:
    """Return the recommendation after a series of windows, oldest first.

    Hysteresis: the level that ends a recommendation is not the level that starts it. Sustained trend: a condition must
    hold for `sustain` events in a row before anything changes, so that one bad call tightens nothing and one good one
    loosens nothing. A fall is its own reason to tighten, whatever the level.
    """
    if not series or series[-1].events < config.min_events:
        seen = series[-1].events if series else 0
        return Recommendation(Advice.HOLD, f"{seen} of the {config.min_events} events that a judgement needs")
    advice, wanted, held, since = Advice.HOLD, Advice.HOLD, 0, 0
    for windows in series:
        since += 1
        wish = _wish(windows, advice, config)
        held = held + 1 if wish is wanted else 1
        wanted = wish
        if wish is not advice and held >= config.sustain and windows.events >= config.min_events:
            advice, since = wish, 0
    return Recommendation(advice, _reason(series[-1], advice, config), since)


def _wish(windows: Windows, now: Advice, config: TrustConfig) -> Advice:
    """Return the advice that this moment alone asks for, given the advice in force."""
    low = config.tighten_until if now is Advice.TIGHTEN else config.tighten_below
    if windows.session < low or is_falling(windows, config):
        return Advice.TIGHTEN
    high = config.loosen_until if now is Advice.LOOSEN else config.loosen_above
    if windows.session > high and windows.baseline > config.loosen_baseline:
        return Advice.LOOSEN
    return Advice.HOLD


def is_falling(windows: Windows, config: TrustConfig) -> bool:
    """Tell whether both quick windows are far below the long run."""
    floor = windows.baseline - config.falling_gap
    return windows.session < floor and windows.immediate < floor


def _reason(windows: Windows, advice: Advice, config: TrustConfig) -> str:
    session, baseline = f"session {windows.session:.2f}", f"baseline {windows.baseline:.2f}"
    if advice is Advice.TIGHTEN:
        if is_falling(windows, config):
            return f"falling: {session}, immediate {windows.immediate:.2f}, far below {baseline}"
        return f"{session} has not been above {config.tighten_until:.2f} since it fell below {config.tighten_below:.2f}"
    if advice is Advice.LOOSEN:
        return (
            f"{session} stays above {config.loosen_until:.2f}, {baseline} above {config.loosen_baseline:.2f}"
        )
    return f"{session}, {baseline}: neither low enough to tighten nor high enough to loosen"


def tail_length(config: TrustConfig, precision: float = 1e-12) -> int:
    """Return after how many events the start no longer matters to `precision`."""
    slowest = min(config.immediate, config.session, config.baseline)
    return 1 if slowest >= 1 else math.ceil(math.log(precision) / math.log(1 - slowest)) + 1
