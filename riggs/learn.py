"""The whole ratchet over rows in memory: group, admit phrasings, induce, back-test, and hand out template texts.

Works on raw rows and on aggregated ones alike, so the store's SQL can feed it counts. Programs are grouped first and
phrasings inside a group; a phrasing is admitted where its successes agree on the group's program. Touches no file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lackpy.intent import Entry, PatternSet
from lackpy.intent.clean import clean
from lackpy.templates.format import State, Template, dump
from riggs.backtest import Backtest, Past, backtest, conflicts, mask, said_values, would_run
from riggs.induce import InductionError, Pattern, fold_constant, of_group, plain
from riggs.normalise import Normalised, normalise
from riggs.thresholds import DOUBT, MAX_SUPPORT, Thresholds, wilson_low


@dataclass(frozen=True, slots=True)
class Observation:
    """What is known of one distinct (intent, program, kit).

    Attributes:
        intent: As it was said.
        program: As it ran.
        kit: Name of the kit.
        successes: Calls that ran to a value and weren't marked bad, count.
        failures: Valid calls that failed, or were marked bad, count.
        bad: How many of the failures ran but were marked bad by their caller.
        sessions: Session ids of the successes.
        seconds: Model time of its calls together, seconds.
        cost_usd: Their cost together, US dollars.
        served: It was served from a template, so it is no evidence of its own rightness.
    """

    intent: str
    program: str
    kit: str = "debug"
    successes: int = 0
    failures: int = 0
    bad: int = 0
    sessions: frozenset[str] = frozenset()
    seconds: float = 0.0
    cost_usd: float = 0.0
    served: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """An observation with its values taken out."""

    seen: Observation
    normal: Normalised
    mask: str


@dataclass(frozen=True, slots=True)
class Group:
    """Observations that share a program template and a kit.

    Attributes:
        id: Stable for a program template and kit, whatever phrasings come to it.
        kit: Name of the kit.
        program_template: Canonical program with slots.
        members: All its observations.
        admitted: Those whose phrasing clearly asks for this program.
        refused: Phrasing → why it isn't admitted.
    """

    id: str
    kit: str
    program_template: str
    members: tuple[Member, ...]
    admitted: tuple[Member, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def successes(self) -> int:
        """Successes of the admitted phrasings, count."""
        return sum(m.seen.successes for m in self.admitted)

    @property
    def failures(self) -> int:
        """Failures of the group's program, whatever the phrasing, count."""
        return sum(m.seen.failures for m in self.members)

    @property
    def sessions(self) -> int:
        """Distinct sessions among the admitted successes, count."""
        return len(frozenset[str]().union(*(m.seen.sessions for m in self.admitted)))

    @property
    def success_rate(self) -> float:
        """Successes / (successes + failures), 0-1."""
        tried = self.successes + self.failures
        return self.successes / tried if tried else 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a maintainer decides from.

    Attributes:
        successes: Successes of the admitted phrasings, count.
        failures: Failures of the program, `bad` feedback included, count.
        sessions: Distinct sessions among the successes, count.
        success_rate: 0-1.
        wilson_low: Lower end of its 95 % interval, 0-1.
        coverage: Share of all past calls the pattern covers, 0-1.
        wrong_serves: Past calls it would have served wrongly, count.
        disagreements: Lone other programs that succeeded for its phrasings, count.
        conflicts: Other template → past intents both cover with different programs.
        saved_seconds: Model seconds it would have saved.
        saved_usd: US dollars it would have saved.
        phrasings: Distinct clean phrasings behind it, most frequent first.
        examples: Up to 5 (intent, program) pairs.
    """

    successes: int
    failures: int
    sessions: int
    success_rate: float
    wilson_low: float
    coverage: float
    wrong_serves: int
    disagreements: int
    conflicts: dict[str, int]
    saved_seconds: float
    saved_usd: float
    phrasings: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A group that passed the thresholds, with its pattern and back-test."""

    group: Group
    name: str
    pattern: Pattern
    tested: Backtest
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Learned:
    """A template a maintainer could promote.

    Attributes:
        name: Safe as a file name.
        pattern: Pattern text.
        program: Program with slots.
        slots: Slot name → slot type.
        evidence: Why.
        text: The template file's content.
        id: The candidate's stable id.
    """

    name: str
    pattern: str
    program: str
    slots: dict[str, str]
    evidence: Evidence
    text: str
    id: str


def learn(
    examples: Iterable[Any],
    *,
    kit: str = "debug",
    frequency: int = 5,
    sessions: int = 3,
    success_rate: float = 0.8,
    support: int | None = None,
    state: State = State.PROBATION,
) -> list[Learned]:
    """Return the templates that past calls justify, most used first; touches no file.

    Args:
        examples: Rows of (intent, program, success, session), as tuples, mappings or objects with these names; a
            mapping may add `kit` and `feedback` (`bad` makes a success a failure).
        kit: Kit of rows that name none.
        frequency: Successes a template needs, count >= 1.
        sessions: Distinct sessions among them, count >= 1.
        success_rate: successes / (successes + failures) it needs, 0-1.
        support: Successes each phrasing needs; `None` = from the measured share of silently wrong programs.
        state: State written into the files.

    Raises:
        ValueError: A threshold is out of range, or a row lacks intent or program.
    """
    limits = Thresholds(frequency, sessions, success_rate, support=support)
    observed = observations(examples, kit=kit)
    found = candidates(group(observed, limits), limits, observed)
    safe = _safe_together([c for c in found if not c.tested.wrong], observed, limits)
    return [learned(c, state) for c in safe]


def _safe_together(
    found: list[Candidate], observed: Sequence[Observation], limits: Thresholds
) -> list[Candidate]:
    """Drop candidates until none of them, served beside the others, would have run a wrong program."""
    clashing = {c.name for c in found if c.evidence.conflicts}
    past = [Past(o.intent, o.program, o.successes) for o in observed if o.successes and not o.served]
    while clashing:
        wrong = _jointly_wrong(found, past, limits.dominance)
        if not wrong:
            break
        worst = max(wrong, key=lambda i: (wrong[i], i))
        found = [c for i, c in enumerate(found) if i != worst]
    return found


def _jointly_wrong(found: Sequence[Candidate], past: Sequence[Past], dominance: float) -> dict[int, int]:
    """Return candidate index → past calls it would have served wrongly beside the others."""
    together = PatternSet([Entry(i, c.pattern.pattern, c.pattern.slots) for i, c in enumerate(found)])
    votes: dict[tuple[int, str], list[int]] = {}
    for one in past:
        hit = together.match(one.intent).hit
        if hit is None:
            continue
        index = int(str(hit.key))
        said = said_values(one.normalised or normalise(one.intent, one.program))
        vote = votes.setdefault((index, mask(one.intent, said)), [0, 0])
        vote[bool(would_run(found[index].pattern, hit.slots, one))] += one.count
    out: dict[int, int] = {}
    for (index, _), (right, wrong) in votes.items():
        if wrong and right < dominance * (right + wrong):
            out[index] = out.get(index, 0) + wrong
    return out


def observations(rows: Iterable[Any], *, kit: str = "debug") -> list[Observation]:
    """Aggregate raw rows by (intent, program, kit).

    Raises:
        ValueError: A row lacks intent or program.
    """
    out: dict[tuple[str, str, str], Observation] = {}
    for n, row in enumerate(rows):
        if isinstance(row, Observation):
            one = row
        else:
            get = _getter(row, n)
            bad = get("feedback") == "bad"
            ran = bool(get("success", True))
            session = str(get("session", get("session_id", "")) or "")
            one = Observation(
                str(get("intent")),
                str(get("program")),
                str(get("kit") or kit),
                int(ran and not bad),
                int(not ran or bad),
                int(ran and bad),
                frozenset((session,)) if ran and not bad else frozenset(),
                served=get("tier") == 0,
            )
        key = (one.intent, one.program, one.kit)
        before = out.get(key)
        out[key] = one if before is None else _added(before, one)
    return list(out.values())


def _getter(row: Any, n: int) -> Any:
    if isinstance(row, Mapping):
        named: Mapping[str, Any] = row
    elif isinstance(row, Sequence) and not isinstance(row, str):
        named = dict(zip(("intent", "program", "success", "session", "kit", "feedback"), row, strict=False))
    else:
        names = ("intent", "program", "success", "session", "session_id", "kit", "feedback", "tier")
        named = {k: getattr(row, k) for k in names if hasattr(row, k)}
    for need in ("intent", "program"):
        if named.get(need) is None:
            raise ValueError(f"row {n + 1} has no '{need}'; give (intent, program, success, session)")
    return named.get


def _added(a: Observation, b: Observation) -> Observation:
    return replace(
        a,
        successes=a.successes + b.successes,
        failures=a.failures + b.failures,
        bad=a.bad + b.bad,
        sessions=a.sessions | b.sessions,
        seconds=a.seconds + b.seconds,
        cost_usd=a.cost_usd + b.cost_usd,
        served=a.served and b.served,
    )


# ---------------------------------------------------------------- groups


def group(rows: Iterable[Any], limits: Thresholds | None = None) -> list[Group]:
    """Group observations by kit and program template, and admit the phrasings that clearly ask for it."""
    limits = limits or Thresholds()
    observed = observations(rows)
    members = _members(observed)
    ballots = _ballots(members)
    need = limits.support or _support(ballots, members)
    grouped: dict[tuple[str, str], list[Member]] = {}
    for member in members:
        if not member.seen.served:
            grouped.setdefault((member.seen.kit, member.normal.program_template), []).append(member)
    for (kit, _), rest in list(grouped.items()):
        for member in rest:
            tests = _test_slots(member)
            special = member.normal.fold(tests) if tests else member.normal
            other = grouped.get((kit, special.program_template))
            if tests and other is not None and other is not rest:
                other.append(replace(member, normal=special))
    return [_group(kit, template, rest, ballots, need, limits) for (kit, template), rest in grouped.items()]


def _members(observed: Sequence[Observation]) -> list[Member]:
    """Normalise, and fold what never varied among successes, kit by kit."""
    out: list[Member] = []
    for kit in dict.fromkeys(o.kit for o in observed):
        mine = [o for o in observed if o.kit == kit]
        normal = [normalise(o.intent, o.program) for o in mine]
        said: dict[str, frozenset[str]] = {}
        for o, n in zip(mine, normal, strict=True):
            said[o.intent] = said.get(o.intent, frozenset()) | said_values(n)
        proof = [i for i, o in enumerate(mine) if o.successes and not o.served and normal[i].usable]
        for i, folded in zip(proof, fold_constant([normal[i] for i in proof]), strict=True):
            normal[i] = folded
        known = {n.program_canonical: n for i, n in enumerate(normal) if i in set(proof)}
        for i, o in enumerate(mine):
            if i not in set(proof) and normal[i].program_canonical in known:
                normal[i] = _like(normal[i], known[normal[i].program_canonical])
            out.append(Member(o, normal[i], mask(o.intent, said[o.intent])))
    return out


def _like(record: Normalised, model: Normalised) -> Normalised:
    """Fold a failed attempt as the successes of the same program were folded, so it counts in their group."""
    extra = {s.name for s in record.slots} - {s.name for s in model.slots}
    return record.fold(extra) if extra else record


Ballots = dict[tuple[str, str], dict[str, int]]


def _ballots(members: Sequence[Member]) -> Ballots:
    """(kit, masked phrasing) → program → successes; a program is told by its template with test folders literal."""
    out: Ballots = {}
    for m in members:
        if m.seen.successes and not m.seen.served:
            votes = out.setdefault((m.seen.kit, m.mask), {})
            votes[_ballot(m)] = votes.get(_ballot(m), 0) + m.seen.successes
    return out


def _ballot(member: Member) -> str:
    tests = _test_slots(member)
    return member.normal.fold(tests).program_template if tests else member.normal.program_template


def _test_slots(member: Member) -> list[str]:
    """The slots that the word tests fills: a folder like any other, and a concept of its own."""
    return [s.name for s in member.normal.slots if s.type == "dir" and s.value == "tests" and not s.quoted]


def _support(ballots: Ballots, members: Sequence[Member]) -> int:
    """Successes a phrasing needs so that hardly any is admitted on silently wrong programs alone.

    The share of silently wrong programs is measured: `bad` marks, and odd ones out where a phrasing has a clear
    winner. Without any sign of such programs one success is enough.
    """
    total = silent = 0
    sizes: dict[int, int] = {}
    for votes in ballots.values():
        count, best = sum(votes.values()), max(votes.values())
        total += count
        if count > 1 and best >= 0.8 * count:
            silent += count - best
        sizes[best] = sizes.get(best, 0) + 1
    bad = sum(m.seen.bad for m in members)
    if silent + bad == 0 or total == 0:
        return 1
    rate = (silent + bad) / (total + bad)
    for need in range(1, MAX_SUPPORT):
        if sizes.get(need, 0) * rate**need <= DOUBT:
            return need
    return MAX_SUPPORT


def _group(
    kit: str, template: str, members: list[Member], ballots: Ballots, need: int, limits: Thresholds
) -> Group:
    admitted: list[Member] = []
    refused: dict[str, str] = {}
    for m in members:
        if not m.seen.successes:
            continue
        votes = ballots[(kit, m.mask)]
        mine, total = votes.get(_ballot(m), 0), sum(votes.values())
        if not m.normal.usable:
            refused[m.seen.intent] = m.normal.reason
        elif mine < limits.dominance * total:
            refused[m.seen.intent] = f"its successes don't agree: {mine} of {total} ran this program"
        elif mine < need:
            refused[m.seen.intent] = (
                f"seen {mine} times with this program; {need} needed at this project's noise"
            )
        else:
            admitted.append(m)
    return Group(group_id(kit, template), kit, template, tuple(members), tuple(admitted), refused)


def group_id(kit: str, program_template: str) -> str:
    """Return the id of a group: 12 hexadecimal digits that depend on kit and program template only."""
    return hashlib.sha256(f"{kit}\0{program_template}".encode("utf-8", "replace")).hexdigest()[:12]


# ---------------------------------------------------------------- candidates


def candidates(
    groups: Sequence[Group],
    limits: Thresholds | None = None,
    history: Iterable[Observation] = (),
    live: Mapping[str, Pattern] | None = None,
) -> list[Candidate]:
    """Return the groups that pass the thresholds, with pattern, back-test and conflicts; most successes first.

    Args:
        groups: What `group` returned.
        limits: Thresholds; the defaults when absent.
        history: Everything to replay over; the groups' own members when empty.
        live: Name → pattern of the templates now served.
    """
    limits = limits or Thresholds()
    past = [Past(o.intent, o.program, o.successes, o.seconds, o.cost_usd) for o in history]
    if not past:
        past = [
            Past(m.seen.intent, m.seen.program, m.seen.successes, m.seen.seconds, m.seen.cost_usd, m.normal)
            for g in groups
            for m in g.members
        ]
    names: set[str] = set(live or ())
    made: list[tuple[Group, str, Pattern]] = []
    for g in sorted(groups, key=lambda g: (-g.successes, g.id)):
        if (
            g.successes < limits.frequency
            or g.sessions < limits.sessions
            or g.success_rate < limits.success_rate
        ):
            continue
        try:
            pattern = of_group([m.normal for m in g.admitted])
        except InductionError:
            continue
        name = _name(pattern, names)
        names.add(name)
        made.append((g, name, _named_slots(pattern)))
    return [_candidate(g, name, pattern, past, made, live or {}, limits) for g, name, pattern in made]


def _candidate(
    g: Group,
    name: str,
    pattern: Pattern,
    past: Sequence[Past],
    made: Sequence[tuple[Group, str, Pattern]],
    live: Mapping[str, Pattern],
    limits: Thresholds,
) -> Candidate:
    tested = backtest(pattern, past, dominance=limits.dominance)
    others = {n: p for other, n, p in made if other is not g and other.kit == g.kit} | dict(live)
    intents = list(dict.fromkeys(m.seen.intent for m in g.members))
    clash = conflicts(pattern, others, intents)
    shown = tuple((m.seen.intent, m.seen.program) for m in g.admitted[:5])
    evidence = Evidence(
        g.successes,
        g.failures,
        g.sessions,
        g.success_rate,
        wilson_low(g.successes, g.failures),
        tested.coverage,
        tested.wrong,
        tested.disagreements,
        clash,
        tested.saved_seconds,
        tested.saved_usd,
        pattern.phrasings,
        shown,
    )
    return Candidate(g, name, pattern, tested, evidence)


_SLOT = re.compile(r"\"?\{\w+\}\"?")
_NOT_NAME = re.compile(r"[^a-z0-9]+")
_STARTS = frozenset(
    [
        "find",
        "show",
        "list",
        "get",
        "give",
        "me",
        "all",
        "every",
        "of",
        "which",
        "what",
        "who",
        "where",
        "is",
        "are",
        "in",
        "the",
    ]
)


def _name(pattern: Pattern, taken: set[str]) -> str:
    """A short file name from the concept text of its first phrasing."""
    first = next(iter(pattern.phrasings), pattern.pattern)
    concept = plain(_SLOT.sub(" ", clean(_SLOT.sub("x", first)).normal.lower()))
    words = [w for w in _NOT_NAME.sub(" ", concept).split() if w != "x"][:6] or ["template"]
    base = "-".join(words)[:48].strip("-") or "template"
    name, n = base, 2
    while name in taken:
        name, n = f"{base}-{n}", n + 1
    return name


def _named_slots(pattern: Pattern) -> Pattern:
    """Give a text slot of a plainer type a name that says so: {text} of dotted names is {module}."""
    better = {
        "identifier": "name",
        "dotted": "module",
        "path": "path",
        "dir": "dir",
        "glob": "glob",
        "word": "word",
    }
    renames: dict[str, str] = {}
    for name, kind in pattern.slots.items():
        stem = name.rstrip("0123456789")
        if stem in ("text", "word", "name") and kind in better:
            new = better[kind] + name[len(stem) :]
            if new != name and new not in pattern.slots and new not in renames.values():
                renames[name] = new
    if not renames:
        return pattern

    def swap(text: str) -> str:
        for old, new in renames.items():
            text = text.replace("{" + old + "}", "{" + new + "}")
        return text

    return Pattern(
        swap(pattern.pattern),
        swap(pattern.program),
        {renames.get(n, n): k for n, k in pattern.slots.items()},
        tuple(swap(p) for p in pattern.phrasings),
    )


def learned(candidate: Candidate, state: State = State.PROBATION) -> Learned:
    """Write a candidate as a template file's text."""
    pattern, evidence = candidate.pattern, candidate.evidence
    template = Template(
        candidate.name,
        pattern.pattern,
        pattern.program,
        dict(pattern.slots),
        candidate.group.kit,
        state,
        description=f"Learned from {evidence.successes} successes in {evidence.sessions} sessions.",
    )
    return Learned(
        candidate.name,
        pattern.pattern,
        pattern.program,
        dict(pattern.slots),
        evidence,
        dump(template),
        candidate.group.id,
    )
