"""Match one intent against every pattern at once: one RE2 set over text as written, one over concept text."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from lackpy.intent.clean import Cleaned, clean
from lackpy.intent.normal import BARE_CLOSE, BARE_OPEN, LANGUAGE_MARK
from lackpy.intent.pattern import CompiledPattern, Form, compile_pattern
from lackpy.intent.tokens import CLOSE, OPEN

_MAX_MEM = 512 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """One pattern to match: its key (a template's name), its text and its slots' types."""

    key: Hashable
    pattern: str
    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry that covers the whole intent.

    Attributes:
        key: The entry's key.
        slots: Slot name → program value (text or whole number).
        route: `light` when the intent reads as the pattern is written, `normal` when only the concepts agree.
        form: The expansion that matched.
        rank: Larger is more specific; equal ranks tie.
    """

    key: Hashable
    slots: dict[str, str | int]
    route: str
    form: str
    rank: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """What an intent met.

    Attributes:
        hit: The most specific entry, or `None`: nothing matched, or the best ones tie.
        hits: Every entry that matched, most specific first.
        tied: Entries that share the best rank when there are several.
        refused: (key, reason) of entries whose words matched but whose slots refused a value.
    """

    hit: Hit | None
    hits: tuple[Hit, ...] = ()
    tied: tuple[Hit, ...] = ()
    refused: tuple[tuple[Hashable, str], ...] = ()


_NO_MATCH = Match(None)


# Any slot value, for the set: it only finds who might match; each form's own expression then decides. Exact slot
# expressions hold Unicode classes, which cost a set megabytes a slot.
_ANY_LIGHT = f"(?:[^ {OPEN}{CLOSE}]+|{OPEN}[^{OPEN}{CLOSE}]+{CLOSE})"
_ANY_NORMAL = f"(?:{BARE_OPEN}[^{BARE_OPEN}{BARE_CLOSE}]+{BARE_CLOSE}|{OPEN}[^{OPEN}{CLOSE}]+{CLOSE})"
_ANY_INNER = f"[^{OPEN}{CLOSE}]+"


def _coarse(form: Form, any_value: str) -> str:
    """Return a lower-case expression that matches whatever the form matches, and little more."""
    if not form.slots:
        return str(re2.escape(form.text.lower()))
    holes = re.compile("|".join(re.escape("{" + name + "}") for name in set(form.slots)))
    out, at = "", 0
    for hole in holes.finditer(form.text):
        before = form.text[: hole.start()]
        is_quoted = before.count(OPEN) > before.count(CLOSE)
        out += re2.escape(before[at:].lower()) + (_ANY_INNER if is_quoted else any_value)
        at = hole.end()
    return out + str(re2.escape(form.text[at:].lower()))


def _options() -> Any:
    options = re2.Options()
    options.max_mem = _MAX_MEM
    options.never_capture = True
    options.log_errors = False
    return options


@lru_cache(maxsize=50_000)
def _regexp(source: str) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile(source, options)


class _Layer:
    """One RE2 set over single forms; `rows[i]` is the entry and the form that set member i stands for."""

    __slots__ = ("rows", "set")

    def __init__(self, forms: Iterable[tuple[int, Form]], any_value: str) -> None:
        self.rows = list(forms)
        self.set: Any = None
        if self.rows:
            self.set = re2.Set.FullMatchSet(_options())
            for _, form in self.rows:
                self.set.Add(_coarse(form, any_value))
            self.set.Compile()

    def find(self, text: str) -> list[tuple[int, Form]]:
        """Return (entry, form) that may match, in the order they were added."""
        if self.set is None:
            return []
        return [self.rows[i] for i in sorted(self.set.Match(text.lower()) or ())]


class PatternSet:
    """Patterns compiled for matching; immutable, safe to share between threads."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Compile every entry.

        Raises:
            PatternError: A pattern can't be used.
        """
        self.entries = tuple(entries)
        self.compiled: tuple[CompiledPattern, ...] = tuple(
            compile_pattern(e.pattern, e.slots) for e in self.entries
        )
        self._light = _Layer(((i, f) for i, c in enumerate(self.compiled) for f in c.lights), _ANY_LIGHT)
        self._normal = _Layer(((i, f) for i, c in enumerate(self.compiled) for f in c.normals), _ANY_NORMAL)

    def __len__(self) -> int:
        return len(self.entries)

    def match(self, intent: str | Cleaned) -> Match:
        """Return the entries that cover `intent` entirely; never raises on any text."""
        cleaned = clean(intent) if isinstance(intent, str) else intent
        if not cleaned.light or not self.entries:
            return _NO_MATCH
        refused: list[tuple[Hashable, str]] = []
        hits = self._hits(self._light, cleaned.light, "light", refused)
        if not hits and self._normal.set is not None:
            for text in cleaned.normals:
                known = {h.key for h in hits}
                hits += [h for h in self._hits(self._normal, text, "normal", refused) if h.key not in known]
        if not hits:
            return Match(None, refused=tuple(refused)) if refused else _NO_MATCH
        hits.sort(key=lambda h: (tuple(-r for r in h.rank), str(h.key)))
        tied = tuple(h for h in hits if h.rank == hits[0].rank)
        if len(tied) > 1:
            return Match(None, tuple(hits), tied, tuple(refused))
        return Match(hits[0], tuple(hits), (), tuple(refused))

    def _hits(self, layer: _Layer, text: str, route: str, refused: list[tuple[Hashable, str]]) -> list[Hit]:
        out: dict[int, Hit] = {}
        reasons: dict[int, str] = {}
        data = text.encode()
        for index, form in layer.find(text):
            if index in out:
                continue
            found = self._capture(index, form, data, route)
            if isinstance(found, Hit):
                out[index] = found
            elif found:
                reasons[index] = found
        refused += [(self.entries[i].key, why) for i, why in reasons.items() if i not in out]
        return list(out.values())

    def _capture(self, index: int, form: Form, data: bytes, route: str) -> Hit | str:
        """Return the hit, or why a slot refuses its value ("" when the form doesn't match after all)."""
        # On bytes the wrapper skips its offset arithmetic, which costs more than the match.
        match = _regexp(form.regex).fullmatch(data)
        if match is None:
            return ""
        types = self.compiled[index].slots
        values: dict[str, str | int] = {}
        for name, group in zip(form.slots, match.groups(), strict=True):
            captured = group.decode()
            raw = captured[1:-1] if captured[0] == BARE_OPEN else captured
            kind = types[name]
            value = None
            if route != "normal" or raw[0] != LANGUAGE_MARK:
                value = kind.value(raw)
            elif kind.name == "language":
                value = kind.value(raw[1:])
            if value is None:
                return f"{{{name}}} takes a {types[name].name}, not {raw!r}"
            if values.setdefault(name, value) != value:
                return f"{{{name}}} would be {values[name]!r} and {value!r}"
        narrow = sum(types[n].rank for n in form.slots)
        rank = (1 if route == "light" else 0, -len(form.slots), form.words, narrow)
        return Hit(self.entries[index].key, values, route, form.text, rank)
