"""Replay a pattern over past traces before anyone is asked: what it would have served, and whether that was right.

Right = the canonical program it would have run is the one that succeeded. Wrong = another, unless that other program
is the odd one out among the successes of the same phrasing (a disagreement: shown, not counted). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lackpy.intent.clean import clean
from lackpy.intent.normal import BARE_CLOSE, BARE_OPEN
from lackpy.intent.slots import is_file_path, language_extension
from lackpy.intent.tokens import CLOSE, OPEN
from lackpy.lang import SlotError, canonical, fill
from lackpy.templates.fill import quote_regex
from riggs.induce import Pattern
from riggs.normalise import Normalised, normalise
from riggs.thresholds import DOMINANCE

_VALUE = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}|{BARE_OPEN}([^{BARE_CLOSE}]*){BARE_CLOSE}")


@dataclass(frozen=True, slots=True)
class Past:
    """One distinct (intent, program) of the history.

    Attributes:
        intent: As it was said.
        program: As it ran.
        count: Successes of exactly this pair, >= 0; a pair without any is no evidence of what is right.
        seconds: Model time its calls took together, seconds.
        cost_usd: What they cost together, US dollars.
        normalised: Worked out when absent.
    """

    intent: str
    program: str
    count: int = 1
    seconds: float = 0.0
    cost_usd: float = 0.0
    normalised: Normalised | None = None


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a pattern would have done.

    Attributes:
        served: Past calls it covers, count.
        right: Of these, calls where the same program succeeded.
        wrong: Of these, calls whose phrasing asks for another program.
        disagreements: Of these, calls where a lone other program succeeded for a phrasing that has a clear winner.
        total: All past calls looked at.
        coverage: served / total, 0-1.
        wrong_examples: (intent, program that succeeded, program it would have run), at most 10.
        saved_seconds: Model seconds of the right calls.
        saved_usd: US dollars of the right calls.
    """

    served: int
    right: int
    wrong: int
    disagreements: int
    total: int
    wrong_examples: tuple[tuple[str, str, str], ...] = ()
    saved_seconds: float = 0.0
    saved_usd: float = 0.0

    @property
    def coverage(self) -> float:
        """Share of all past calls it would have served, 0-1."""
        return self.served / self.total if self.total else 0.0


@dataclass(slots=True)
class _Tally:
    same: int = 0
    other: int = 0
    examples: list[tuple[str, str, str]] = field(default_factory=list)


def backtest(pattern: Pattern, history: Iterable[Any], *, dominance: float = DOMINANCE) -> Backtest:
    """Replay `pattern` over `history`.

    Args:
        pattern: What `induce` returned.
        history: `Past` records, or rows of (intent, program, success, …) as tuples or mappings; failed rows don't
            say what is right and count only towards `total`.
        dominance: Share of a phrasing's successes (0-1) that makes its winner clear.
    """
    tallies: dict[str, _Tally] = {}
    total = 0
    seconds = usd = 0.0
    for past in _rows(history):
        total += max(past.count, 1)
        if past.count < 1:
            continue
        values = pattern.match(past.intent)
        if values is None:
            continue
        said = said_values(past.normalised or normalise(past.intent, past.program))
        tally = tallies.setdefault(mask(past.intent, said), _Tally())
        would = would_run(pattern, values, past)
        if would == "":
            tally.same += past.count
            seconds += past.seconds
            usd += past.cost_usd
        else:
            tally.other += past.count
            tally.examples.append((past.intent, past.program, would))
    right = sum(t.same for t in tallies.values())
    wrong = [t for t in tallies.values() if t.other and t.same < dominance * (t.same + t.other)]
    odd = sum(t.other for t in tallies.values()) - sum(t.other for t in wrong)
    examples = tuple(e for t in wrong for e in t.examples)[:10]
    bad = sum(t.other for t in wrong)
    return Backtest(right + bad + odd, right, bad, odd, total, examples, seconds, usd)


def _rows(history: Iterable[Any]) -> Iterable[Past]:
    for row in history:
        if isinstance(row, Past):
            yield row
        elif isinstance(row, Mapping):
            ok = bool(row.get("success", True)) and row.get("feedback") != "bad"
            yield Past(str(row["intent"]), str(row["program"]), int(ok))
        else:
            ok = len(row) < 3 or bool(row[2])
            yield Past(str(row[0]), str(row[1]), int(ok))


def would_run(pattern: Pattern, values: Mapping[str, str | int], past: Past) -> str:
    """Return "" if the pattern, filled, is the past program; else the program it would have run."""
    normal = past.normalised or normalise(past.intent, past.program)
    held = {s.name: s.value for s in normal.slots}
    if normal.program_template == pattern.program and held == dict(values):
        return ""
    actual = normal.program_canonical
    would = filled(pattern, values)
    if canonical(would) == actual:
        return ""
    escaped = {
        n: quote_regex(v) if isinstance(v, str) and pattern.slots[n] in ("text", "word") else v
        for n, v in values.items()
    }
    if escaped != values and canonical(filled(pattern, escaped)) == actual:
        return ""
    return would


def filled(pattern: Pattern, values: Mapping[str, str | int]) -> str:
    """Return the pattern's program with these values."""
    try:
        return fill(pattern.program, pattern.slots, values)
    except SlotError as exc:
        return f"# {exc}"


def mask(intent: str, said: frozenset[str] = frozenset()) -> str:
    """Return an intent's concept text with its values blanked: what competes for one meaning.

    Args:
        intent: As it was said.
        said: Plain words that are values here, because some program holds them.
    """
    return _VALUE.sub(lambda m: _blank(m, said), clean(intent).normal)


def _blank(match: re.Match[str], said: frozenset[str]) -> str:
    quoted, bare = match[1], match[2]
    value = quoted if bare is None else bare
    if is_file_path(value) and " " not in value:
        return "⟨file⟩"
    if value.isdecimal():
        return "⟨n⟩"
    if quoted is None and value.isalpha() and value not in said and language_extension(value) is None:
        return value.lower()
    return "⟨⟩"


def said_values(normal: Normalised) -> frozenset[str]:
    """Return the words of an intent that its program holds."""
    return frozenset(s.said for s in normal.slots)


def conflicts(pattern: Pattern, others: Mapping[str, Pattern], intents: Sequence[str]) -> dict[str, int]:
    """Return name → intents of the past that both `pattern` and that other pattern cover with different programs."""
    out: dict[str, int] = {}
    for intent in intents:
        mine = pattern.match(intent)
        if mine is None:
            continue
        program = canonical(filled(pattern, mine))
        for name, other in others.items():
            theirs = other.match(intent)
            if theirs is not None and canonical(filled(other, theirs)) != program:
                out[name] = out.get(name, 0) + 1
    return out
