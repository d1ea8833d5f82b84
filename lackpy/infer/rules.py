"""Tier 1: keyword rules. A rule serves a telegraphic intent whose every token it knows, in whatever order.

Consumes a request and the shipped `data/rules.toml`; answers with a program or says why it passes. A rule needs one
word of each of its `words` groups and one value for each slot; it may meet its `optional` words; anything left over
(a negation, a number, a second value, an unknown word) is a miss. A value must look like code or be quoted, because
without word order a plain word can't be told from a qualifier.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import re2

from lackpy.errors import LackpyError
from lackpy.infer.protocol import Proposal, Request, Tier
from lackpy.intent.clean import clean
from lackpy.intent.slots import SlotType, slot_type
from lackpy.intent.tokens import CLOSE, NUMBER, OPEN, QUOTED, VALUE, WORD, Token
from lackpy.lang import canonical
from lackpy.resources import text as resource
from lackpy.templates.format import Origin, Template, TemplateError
from lackpy.templates.ready import ReadyTemplates

if TYPE_CHECKING:
    from lackpy.lang import Verdict
    from lackpy.templates.breaker import Breaker

PREFIX = "rule:"
"""Rules are counted and reported under this prefix, so that no template shares their name."""
_KEYS = {"name", "words", "optional", "slots", "program", "description"}


class RuleError(LackpyError):
    """The rules file can't be used."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One keyword rule.

    Attributes:
        name: Its identity.
        words: Groups of alternatives; exactly one word of each group must occur, once.
        optional: Words that may occur and say nothing more.
        slots: Slot name → slot type.
        program: Program text with slots.
    """

    name: str
    words: tuple[frozenset[str], ...]
    optional: frozenset[str]
    slots: Mapping[str, str]
    program: str

    @property
    def template(self) -> Template:
        """The rule as a template, for checking and filling its program."""
        pattern = " ".join(f"{{{name}}}" for name in self.slots)
        return Template(PREFIX + self.name, pattern, self.program, self.slots, origin=Origin.STARTER)


def parse_rules(text: str, path: str = "<rules>") -> tuple[Rule, ...]:
    """Read a rules file.

    Raises:
        RuleError: It isn't TOML, or a rule lacks something or holds something unknown.
    """
    try:
        rows = tomllib.loads(text).get("rule", [])
    except tomllib.TOMLDecodeError as exc:
        raise RuleError(f"{path}: not valid TOML: {exc}") from exc
    return tuple(_rule(row, f"{path}: rule {number}") for number, row in enumerate(rows, 1))


def _rule(row: Mapping[str, Any], where: str) -> Rule:
    unknown = sorted(set(row) - _KEYS)
    if unknown:
        raise RuleError(f"{where}: unknown key '{unknown[0]}'; known: {', '.join(sorted(_KEYS))}")
    missing = [key for key in ("name", "words", "program") if not row.get(key)]
    if missing:
        raise RuleError(f"{where}: '{missing[0]}' is missing")
    try:
        for kind in row.get("slots", {}).values():
            slot_type(kind)
    except KeyError as exc:
        raise RuleError(f"{where} ('{row['name']}'): {exc.args[0]}") from exc
    return Rule(
        name=row["name"],
        words=tuple(frozenset(group) for group in row["words"]),
        optional=frozenset(row.get("optional", ())),
        slots=dict(row.get("slots", {})),
        program=row["program"].strip(),
    )


_Found = tuple[Rule, dict[str, "str | int"], "Verdict"]


@cache
def shipped_rules() -> tuple[Rule, ...]:
    """Return the rules of `data/rules.toml`."""
    return parse_rules(resource("data/rules.toml"), "data/rules.toml")


class RuleProvider:
    """Implements tier 1; thread-safe.

    Args:
        rules: The rules; the shipped ones when absent.
        breaker: Which ones rest after failing; `None` for none.
    """

    name = "rules"
    tier = Tier.RULES

    def __init__(self, rules: Iterable[Rule] | None = None, breaker: Breaker | None = None) -> None:
        """Load the rules when first asked."""
        self._given = tuple(rules) if rules is not None else None
        self._breaker = breaker
        self._ready = ReadyTemplates()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in force."""
        return self._given if self._given is not None else shipped_rules()

    def propose(self, request: Request) -> Proposal:
        """Serve the one rule that accounts for every token, or pass."""
        started = time.perf_counter()
        found, reason = self._find(request)
        ms = (time.perf_counter() - started) * 1000
        if found is None:
            return Proposal(None, reason, ms=ms)
        rule, values, verdict = found
        return Proposal(verdict.program, template=PREFIX + rule.name, slots=values, ms=ms, verdict=verdict)

    def report(self, name: str, *, ok: bool) -> None:
        """Count how a served rule went; names of templates are none of its business."""
        if self._breaker is not None and name.startswith(PREFIX):
            self._breaker.report(name, "rule", ok=ok)

    def status(self) -> str:
        """Count the rules."""
        return f"ready: {len(self.rules)} rules"

    def _find(self, request: Request) -> tuple[_Found | None, str]:
        tokens = clean(request.intent).tokens
        reason = "no rule accounts for the whole intent"
        found: list[_Found] = []
        for rule in self.rules:
            values = match(rule, tokens)
            if values is None:
                continue
            resting = self._breaker.why_open(PREFIX + rule.name, "rule") if self._breaker else None
            if resting is not None:
                reason = f"rule '{rule.name}' matches but {resting}"
                continue
            ready = self._ready.get(rule.name, rule.template, request.signatures)
            if isinstance(ready, str):
                reason = f"rule '{rule.name}' matches but {ready}"
                continue
            try:
                found.append((rule, values, ready(values)))
            except TemplateError as exc:
                reason = f"rule '{rule.name}' matches but {exc}"
        if len(found) > 1 and len({canonical(verdict.program) for _, _, verdict in found}) > 1:
            names = " and ".join(f"'{rule.name}'" for rule, _, _ in found)
            return None, f"rules {names} match equally well and differ"
        return (found[0], "") if found else (None, reason)


def match(rule: Rule, tokens: tuple[Token, ...]) -> dict[str, str | int] | None:
    """Return slot values when the rule accounts for every token, else `None`."""
    groups = list(rule.words)
    left: list[Token] = []
    for token in tokens:
        if token.kind != WORD:
            left.append(token)
            continue
        group = next((g for g in groups if token.word in g), None)
        if group is not None:
            groups.remove(group)
        elif token.word not in rule.optional:
            return None
    if groups or len(left) != len(rule.slots):
        return None
    values: dict[str, str | int] = {}
    free = dict(rule.slots)
    for token in left:
        taken = next(((n, v) for n, kind in free.items() if (v := _value(kind, token)) is not None), None)
        if taken is None:
            return None
        del free[taken[0]]
        values[taken[0]] = taken[1]
    return values


def _value(kind: str, token: Token) -> str | int | None:
    if token.kind not in (VALUE, QUOTED, NUMBER):
        return None
    captured = OPEN + token.text + CLOSE if token.kind == QUOTED else token.text
    found = slot_type(kind)
    return found.value(captured) if re2.fullmatch(_source(found), captured) else None


@cache
def _source(kind: SlotType) -> str:
    return kind.regex()
