"""What an outcome is worth, how fast the windows move, when a recommendation changes: every default with its reason.

`[trust]` in `.lackpy/config.toml` changes any of them:

    [trust]
    prior = 0.5
    alphas = {immediate = 0.4, session = 0.08, baseline = 0.02}
    scores = {tests-failure = 0.5, denied = "ignore"}
    tighten_below = 0.55
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

from riggs.errors import RiggsError

IGNORE = "ignore"
"""Written instead of a score: the category never moves trust."""

SCORES: Mapping[str, float] = MappingProxyType(
    {
        # A bare outcome is the score of any category that isn't listed.
        "success": 1.0,
        "failure": 0.3,  # a failing call is often how an agent finds its way
        "denied": 0.0,  # someone had to step in
        "tests-failure": 0.5,  # a red run is information; the work isn't done
        "commit-failure": 0.3,
        "timeout": 0.2,
        "floor-block": 0.0,
        "user-rejected": 0.0,
        "delegate-failure": 0.3,
        "delegate-bad": 0.0,  # the caller said that the answer was wrong
        "serve-success": 1.0,
        "serve-failure": 0.0,  # a template is a claim; one that fails was wrong
        "serve-bad": 0.0,
    }
)


@dataclass(frozen=True, slots=True)
class TrustConfig:
    """Numbers that trust depends on.

    Attributes:
        scores: Category or bare outcome → score, 0..1.
        ignored: Categories that never move trust.
        prior: Windows' value before the first event, 0..1; 0.5 claims nothing.
        immediate: Weight of a new event in the immediate window; half of it is the last 1.4 events.
        session: The same for the session window; half of it is the last 8 events.
        baseline: The same for the baseline window; half of it is the last 34 events.
        min_events: Fewer events than this give no direction and no recommendation.
        band: Immediate and baseline window this close are level.
        tighten_below: Session window below this asks to tighten.
        tighten_until: … until it is above this.
        loosen_above: Session window above this asks to loosen …
        loosen_until: … until it is below this.
        loosen_baseline: … and only with a baseline window above this.
        falling_gap: Immediate and session window this far below the baseline window are a fall.
        sustain: Events in a row for which a condition must hold before the recommendation changes.
        clock_slack_s: Events dated later than now by more than this are left out until their time comes, seconds.
    """

    scores: Mapping[str, float] = field(default_factory=lambda: SCORES)
    ignored: frozenset[str] = frozenset()
    prior: float = 0.5
    immediate: float = 0.4
    session: float = 0.08
    baseline: float = 0.02
    min_events: int = 20
    band: float = 0.05
    tighten_below: float = 0.55
    tighten_until: float = 0.65
    loosen_above: float = 0.9
    loosen_until: float = 0.8
    loosen_baseline: float = 0.75
    falling_gap: float = 0.15
    sustain: int = 5
    clock_slack_s: float = 300.0

    def score(self, category: str, outcome: str) -> float | None:
        """Return what an event is worth, `None` when it doesn't move trust."""
        if category in self.ignored:
            return None
        found = self.scores.get(category)
        return self.scores.get(outcome) if found is None else found

    @property
    def settings(self) -> str:
        """Return a digest of what the stored windows depend on."""
        parts = (self.prior, self.immediate, self.session, self.baseline, sorted(self.scores.items()))
        return hashlib.sha256(repr((*parts, sorted(self.ignored))).encode()).hexdigest()[:16]


DEFAULT = TrustConfig()
_ALPHAS = ("immediate", "session", "baseline")
_SHARES = frozenset(f.name for f in fields(TrustConfig) if f.type == "float") - {"clock_slack_s"}


def from_section(section: Mapping[str, Any], where: str = "[trust]") -> TrustConfig:
    """Read the `[trust]` table.

    Raises:
        RiggsError: An unknown key or a value out of range; the sentence says which and what to write.
    """
    config = DEFAULT
    for key, value in section.items():
        if key == "alphas":
            config = _alphas(config, value, where)
        elif key == "scores":
            config = _scores(config, value, where)
        elif key in _SHARES and key not in _ALPHAS:
            config = _with(config, {key: _share(value, f"{where} {key}")})
        elif key in ("min_events", "sustain"):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise RiggsError(f"{where}: '{key}' must be a whole number >= 1 (got {value!r})")
            config = _with(config, {key: value})
        elif key == "clock_slack_s":
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
                raise RiggsError(f"{where}: 'clock_slack_s' must be seconds >= 0 (got {value!r})")
            config = replace(config, clock_slack_s=float(value))
        else:
            known = ", ".join(["alphas", "scores", *sorted(_SHARES - set(_ALPHAS)), "min_events", "sustain"])
            raise RiggsError(f"{where}: unknown key '{key}'; known: {known}, clock_slack_s")
    if not config.tighten_below <= config.tighten_until <= config.loosen_until <= config.loosen_above:
        raise RiggsError(
            f"{where}: needs tighten_below <= tighten_until <= loosen_until <= loosen_above "
            f"(got {config.tighten_below}, {config.tighten_until}, {config.loosen_until}, {config.loosen_above})"
        )
    return config


def _with(config: TrustConfig, changes: Mapping[str, Any]) -> TrustConfig:
    """Return `config` with fields changed whose names and types were checked."""
    return replace(config, **changes)


def _share(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise RiggsError(f"{what} must be a number from 0 to 1 (got {value!r})")
    return float(value)


def _alphas(config: TrustConfig, value: Any, where: str) -> TrustConfig:
    if not isinstance(value, Mapping) or set(value) - set(_ALPHAS):
        raise RiggsError(f"{where}: 'alphas' must be a table with {', '.join(_ALPHAS)} (got {value!r})")
    found = {key: _share(item, f"{where} alphas.{key}") for key, item in value.items()}
    zero = next((key for key, item in found.items() if not item), None)
    if zero:
        raise RiggsError(f"{where}: alphas.{zero} must be > 0; a window that never moves says nothing")
    return _with(config, found)


def _scores(config: TrustConfig, value: Any, where: str) -> TrustConfig:
    if not isinstance(value, Mapping):
        raise RiggsError(f"{where}: 'scores' must be a table of category = score (got {value!r})")
    scores, ignored = dict(config.scores), set(config.ignored)
    for category, item in value.items():
        if item == IGNORE:
            scores.pop(category, None)
            ignored.add(category)
        else:
            scores[category] = _share(item, f"{where} scores.{category}")
    return replace(config, scores=MappingProxyType(scores), ignored=frozenset(ignored))
