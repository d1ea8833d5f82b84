"""Replays stored requests under other thresholds: which templates there would be, and what they would have served.

Counts calls that a model or a caller wrote a program for; those that templates served already prove nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riggs.learn import Candidate, Group, Observation, candidates, group

if TYPE_CHECKING:
    from riggs.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one set of thresholds comes to.

    Attributes:
        name: What the set is called.
        thresholds: The set.
        templates: Groups that pass, count.
        held: Of these, groups that wait for a person for wrong serves or conflicts, count.
        calls: Successful calls looked at, count.
        covered: Of these, calls that some template would have served, count; each counts once.
        wrong: Calls that a template would have served with another program than the one that succeeded, count; the
            templates that would do so are held.
    """

    name: str
    thresholds: Thresholds
    templates: int
    held: int
    calls: int
    covered: int
    wrong: int

    @property
    def coverage(self) -> float:
        """Share of the calls, 0-1; 0 without calls."""
        return self.covered / self.calls if self.calls else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the public row."""
        return {
            "policy": self.name,
            "frequency": self.thresholds.frequency,
            "sessions": self.thresholds.sessions,
            "success_rate": self.thresholds.success_rate,
            "templates": self.templates,
            "held": self.held,
            "calls": self.calls,
            "covered": self.covered,
            "coverage": round(self.coverage, 4),
            "wrong_serves": self.wrong,
        }


def compare(observed: Sequence[Observation], sets: Sequence[tuple[str, Thresholds]]) -> list[Outcome]:
    """Replay under each named set of thresholds; they may differ in frequency, sessions and success rate.

    Args:
        observed: What `Store.observations` returned.
        sets: (name, thresholds); phrasings are admitted by the first one's `dominance` and `support`.

    Raises:
        ValueError: No set.
    """
    if not sets:
        raise ValueError("'sets' is empty; give at least one (name, thresholds)")
    groups = group(observed, sets[0][1])
    return [_outcome(name, limits, groups, observed) for name, limits in sets]


def _outcome(
    name: str, limits: Thresholds, groups: Sequence[Group], observed: Sequence[Observation]
) -> Outcome:
    found = candidates(groups, limits, observed)
    held = sum(1 for one in found if one.evidence.wrong_serves or one.evidence.conflicts)
    wrong = sum(one.evidence.wrong_serves for one in found)
    calls = covered = 0
    for seen in observed:
        calls += seen.successes
        if seen.successes and _is_covered(seen, found):
            covered += seen.successes
    return Outcome(name, limits, len(found), held, calls, covered, wrong)


def _is_covered(seen: Observation, found: Sequence[Candidate]) -> bool:
    return any(one.group.kit == seen.kit and one.pattern.match(seen.intent) is not None for one in found)
