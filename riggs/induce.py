"""From phrasings that share one program template to one readable pattern.

Exact by construction: the pattern stands for the given phrasings and for whatever the reviewed lexicon says is the
same request, nothing else. A slot that never varied is a literal; slot types are the narrowest that cover. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lackpy.intent import Entry, PatternError, PatternSet
from lackpy.intent.pattern import MAX_EXPANSIONS, plain_word
from lackpy.intent.slots import TYPES
from lackpy.intent.tokens import CLOSE, OPEN, WORD, Token
from riggs.normalise import Normalised, normalise

_ORDER = ("number", "language", "identifier", "dotted", "path", "dir", "glob", "text", "word")
# Values that are ordinary words elsewhere: a phrasing must survive them to need no line of its own.
_PROBES: Mapping[str, tuple[str, ...]] = {
    "identifier": ("run", "locate", "invoke", "Prompt", "make_thing", "style", "call", "getX"),
    "dotted": ("os.path", "locate", "click"),
    "path": ("a/b.py", "README.md", "Makefile", "LICENSE"),
    "dir": ("src", "tests", "a/b"),
    "glob": ("a/*.py",),
    "number": ("7", "12"),
    "language": ("Go", "python", "C++", "reStructuredText", "YAML"),
    "text": ("find it", "x", "not in tests"),
    "word": ("locate", "a-b"),
}


@dataclass(frozen=True)
class Pattern:
    """A pattern with the program it asks for.

    Attributes:
        pattern: Pattern text, in the language of `lackpy.intent.pattern`.
        program: Canonical program with the same slots.
        slots: Slot name → slot type.
        phrasings: Clean phrasings it was made from, slots as `{name}`.
    """

    pattern: str
    program: str
    slots: dict[str, str]
    phrasings: tuple[str, ...] = field(default=())

    @cached_property
    def matcher(self) -> PatternSet:
        """The compiled pattern."""
        return PatternSet([Entry("", self.pattern, self.slots)])

    def match(self, intent: str) -> dict[str, str | int] | None:
        """Return the slot values if the pattern covers the whole intent, else `None`."""
        hit = self.matcher.match(intent).hit
        return None if hit is None else hit.slots


class InductionError(ValueError):
    """No pattern can be made of these examples; the sentence says why."""


def induce(examples: Iterable[Any]) -> Pattern:
    """Make one pattern of examples that share a program.

    Args:
        examples: `Normalised` records, or rows that hold an intent and a program: `(intent, program, …)` or a mapping.

    Raises:
        InductionError: There is no usable example, or the programs differ in more than slot values.
    """
    records = [_record(e) for e in examples]
    usable = [r for r in records if r.usable]
    if not usable:
        raise InductionError(records[0].reason if records else "there are no examples")
    folded = fold_constant(usable)
    templates = {r.program_template for r in folded}
    if len(templates) > 1:
        shown = " / ".join(sorted(templates)[:2])
        raise InductionError(f"the examples have different programs: {shown}")
    return of_group(folded)


def _record(example: Any) -> Normalised:
    if isinstance(example, Normalised):
        return example
    if isinstance(example, Mapping):
        return normalise(str(example["intent"]), str(example["program"]))
    return normalise(str(example[0]), str(example[1]))


def fold_constant(records: Sequence[Normalised]) -> list[Normalised]:
    """Turn slots that never varied back into literals, group by group, until nothing changes."""
    out = list(records)
    for _ in range(6):
        groups: dict[str, list[int]] = {}
        for i, record in enumerate(out):
            groups.setdefault(record.program_template, []).append(i)
        changed = False
        for members in groups.values():
            always, bare = constant_slots([out[i] for i in members])
            always = _joining(out[members[0]], always, groups)
            for i in members:
                fold = always | {s.name for s in out[i].slots if s.name in bare and not s.quoted}
                if fold & {s.name for s in out[i].slots}:
                    out[i] = out[i].fold(fold)
                    changed = True
        if not changed:
            break
    return out


def _joining(record: Normalised, always: set[str], groups: Mapping[str, Any]) -> set[str]:
    """Of the constant slots, one whose literal makes the template equal to another group's; else all of them."""
    if len(always) > 1:
        for name in sorted(always):
            if record.fold((name,)).program_template in groups:
                return {name}
    return always


def constant_slots(records: Sequence[Normalised]) -> tuple[set[str], set[str]]:
    """Return the slots with one value over all records, and the text slots with one value where unquoted."""
    values: dict[str, set[str]] = {}
    bare: dict[str, set[str]] = {}
    for record in records:
        for slot in record.slots:
            values.setdefault(slot.name, set()).add(str(slot.value))
            if not slot.quoted:
                bare.setdefault(slot.name, set()).add(str(slot.value))
    always = {name for name, seen in values.items() if len(seen) == 1}
    words = {name for name, seen in bare.items() if len(seen) == 1 and name.startswith(("text", "word"))}
    return always, words - always


def of_group(records: Sequence[Normalised]) -> Pattern:
    """Make the pattern of records that share one program template; see `induce`.

    Raises:
        InductionError: Nothing is left that a pattern could say.
    """
    slots = slot_types(records)
    phrasings = _phrasings(records)
    kept: list[str] = []
    for phrasing, samples in phrasings.items():
        if kept and _served(kept, slots, samples + _probed(phrasing, slots)):
            continue
        if len(kept) < MAX_EXPANSIONS:
            try:
                PatternSet([Entry("", escape(phrasing), slots)])
            except PatternError:
                continue
            kept.append(phrasing)
    if not kept:
        raise InductionError("no phrasing has words of its own around its slots")
    return Pattern(join(kept), records[0].program_template, slots, tuple(phrasings))


def slot_types(records: Sequence[Normalised]) -> dict[str, str]:
    """Return the narrowest type of each slot that takes every value seen."""
    names = [s.name for s in records[0].slots]
    out: dict[str, str] = {}
    for name in names:
        seen = [s for r in records for s in r.slots if s.name == name]
        if all(s.quoted for s in seen) and any(s.type == "text" for s in seen):
            out[name] = "text"
            continue
        first = {s.type for s in seen if s.type != "text"}
        order = [*sorted(first, key=_ORDER.index), *_ORDER] if len(first) == 1 else list(_ORDER)
        out[name] = next((t for t in order if t != "text" and _covers(t, seen)), "word")
    return out


def _covers(kind: str, seen: Sequence[Any]) -> bool:
    slot = TYPES[kind]
    return all(slot.value(OPEN + s.said + CLOSE if s.quoted else s.said) == s.value for s in seen)


def _phrasings(records: Sequence[Normalised]) -> dict[str, list[str]]:
    """Return phrasing → intents seen, the most useful phrasings first: frequent concept text, then short.

    Where a phrasing was seen without quotes around a slot, its quoted twins follow from it and come later.
    """
    weight: dict[str, int] = {}
    for record in records:
        weight[plain(record.intent_normalized)] = weight.get(plain(record.intent_normalized), 0) + 1
    found: dict[str, tuple[tuple[int, str, int, int, int, str], list[str]]] = {}
    for record in records:
        light = _lower_words(record.intent_light)
        concept = plain(record.intent_normalized)
        key = (-weight[concept], concept, light.count('"'), _distance(light, concept), len(light), light)
        entry = found.setdefault(light, (key, []))
        if len(entry[1]) < 4:
            entry[1].append(_said(record))
    return {light: samples for light, (_, samples) in sorted(found.items(), key=lambda item: item[1][0])}


def _distance(light: str, concept: str) -> int:
    """How far a phrasing's words are from the words of its concept text: the nearest one reads best."""
    said, meant = set(plain(light).split()), set(plain(concept).split())
    return len(said ^ meant)


def plain(concept: str) -> str:
    """Concept text without the difference between a quoted and a bare slot."""
    return concept.replace('"', "")


def _lower_words(light: str) -> str:
    """Lower-case known words and the first word; anything that may be a name keeps its case."""
    out = []
    for i, token in enumerate(split(light)):
        if token.startswith(OPEN):
            out.append(token + CLOSE)
        elif (i == 0 and token.isalpha() and token.istitle()) or plain_word(
            Token(WORD, token, token.lower())
        ):
            out.append(token.lower())
        else:
            out.append(token)
    return " ".join(out)


def _said(record: Normalised) -> str:
    text = record.intent_light
    for slot in record.slots:
        text = text.replace('"{' + slot.name + '}"', f'"{slot.said}"').replace(
            "{" + slot.name + "}", slot.said
        )
    return text.replace(OPEN, '"').replace(CLOSE, '"')


def _probed(phrasing: str, slots: Mapping[str, str]) -> list[str]:
    out = []
    for k in range(8):
        text = phrasing
        for name, kind in slots.items():
            probes = _PROBES[kind]
            value = probes[k % len(probes)]
            if kind == "text":
                text = text.replace('"{' + name + '}"', "{" + name + "}")
                value = f'"{value}"'
            text = text.replace("{" + name + "}", value)
        out.append(text.replace(OPEN, '"').replace(CLOSE, '"'))
    return out


def _served(kept: list[str], slots: Mapping[str, str], intents: Iterable[str]) -> bool:
    matcher = PatternSet([Entry("", "|".join(escape(p) for p in kept), slots)])
    return all(matcher.match(intent).hit is not None for intent in intents)


# ---------------------------------------------------------------- writing the pattern

_ESCAPED = set("()|\\")


def escape(phrasing: str) -> str:
    """Write a phrasing in the pattern language."""
    return " ".join(_token(t) for t in split(phrasing))


def split(phrasing: str) -> list[str]:
    """Cut a phrasing into tokens; a quoted literal stays whole."""
    out: list[str] = []
    for i, part in enumerate(phrasing.split(OPEN)):
        inner, close, after = part.partition(CLOSE) if i else ("", "", part)
        if close:
            out.append(OPEN + inner)
        out.extend(after.split())
    return out


def _token(token: str) -> str:
    if token.startswith(OPEN):
        text = token[1:]
        mark = '"' if '"' not in text else "`"
        return mark + "".join("\\" + c if c in _ESCAPED else c for c in text) + mark
    return "".join("\\" + c if c in _ESCAPED or (c == "?" and len(token) > 1) else c for c in token)


def join(phrasings: Sequence[str]) -> str:
    """Write phrasings as one pattern, shared beginnings and ends said once; stands for exactly these phrasings."""
    return _alternatives([tuple(_token(t) for t in split(p)) for p in phrasings])


def _alternatives(rows: list[tuple[str, ...]]) -> str:
    """Group rows by first token, in order of first appearance, and write each group once."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for row in dict.fromkeys(rows):
        groups.setdefault(row[0] if row else "", []).append(row)
    return "|".join(_group(group) for group in groups.values())


def _group(rows: list[tuple[str, ...]]) -> str:
    head: list[str] = []
    while all(rows) and len({r[0] for r in rows}) == 1:
        head.append(rows[0][0])
        rows = [r[1:] for r in rows]
    tail: list[str] = []
    while all(rows) and len({r[-1] for r in rows}) == 1:
        tail.insert(0, rows[0][-1])
        rows = [r[:-1] for r in rows]
    middle = ""
    if any(rows):
        inner = _alternatives([r for r in rows if r])
        optional = any(not r for r in rows)
        middle = f"({inner} )?" if optional else f"({inner})"
    text = " ".join(head)
    if middle:
        text = f"{text} {middle}" if text else middle
    if tail:
        text += ("" if middle.endswith("?") or not text else " ") + " ".join(tail)
    return text
