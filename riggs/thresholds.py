"""Every number riggs decides by, with its unit and where it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass

DOMINANCE = 0.8
"""Share (0-1) of a phrasing's successes that must agree on one program before the phrasing may serve it.
The same share as `success_rate`: a phrasing answered two ways is no phrasing of either."""
DOUBT = 0.05
"""Expected number of phrasings, over one learning run, that were admitted on silently wrong programs only."""
MAX_SUPPORT = 4
"""Most successes a single phrasing is ever asked for, whatever the measured noise."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a group of traces is worth a template.

    Attributes:
        frequency: Successes needed, count >= 1.
        sessions: Distinct sessions among them, count >= 1.
        success_rate: successes / (successes + failures) needed, 0-1.
        dominance: See `DOMINANCE`.
        support: Successes each phrasing needs; `None` = from the measured share of silently wrong programs.
    """

    frequency: int = 5
    sessions: int = 3
    success_rate: float = 0.8
    dominance: float = DOMINANCE
    support: int | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense.

        Raises:
            ValueError: A threshold is out of its range.
        """
        for name in ("frequency", "sessions"):
            if getattr(self, name) < 1:
                raise ValueError(f"'{name}' must be >= 1 (got {getattr(self, name)})")
        for name in ("success_rate", "dominance"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"'{name}' must be between 0 and 1 (got {getattr(self, name)})")


def wilson_low(successes: int, failures: int, z: float = 1.959964) -> float:
    """Return the lower end of Wilson's 95 % interval of a success rate, 0 without trials.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.

    >>> round(wilson_low(5, 0), 3), wilson_low(0, 0)
    (0.566, 0.0)
    """
    n = successes + failures
    if n == 0:
        return 0.0
    rate = successes / n
    centre = rate + z * z / (2 * n)
    spread = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return max(0.0, (centre - spread) / (1 + z * z / n))
