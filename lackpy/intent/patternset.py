"""Match one intent against every pattern at once: one index over text as written, one over concept text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from lackpy.intent.clean import Cleaned, clean
from lackpy.intent.normal import BARE_OPEN, LANGUAGE_MARK
from lackpy.intent.pattern import CompiledPattern, Form, compile_pattern
from lackpy.intent.tree import PieceTree, cut, form_pieces


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


@lru_cache(maxsize=50_000)
def _regexp(source: str) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    return re2.compile(source, options)


class _Layer:
    """The forms of all entries in one index; `rows[i]` is the entry and the form that row i of it stands for."""

    __slots__ = ("_tree", "rows")

    def __init__(self, forms: Iterable[tuple[int, Form]]) -> None:
        self.rows = list(forms)
        self._tree = PieceTree(form_pieces(form.text, form.slots) for _, form in self.rows)

    def find(self, text: str) -> list[tuple[int, Form]]:
        """Return (entry, form) that may match, in the order they were added."""
        return [self.rows[i] for i in self._tree.find(cut(text))] if self.rows else []


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
        self._light = _Layer(((i, f) for i, c in enumerate(self.compiled) for f in c.lights))
        self._normal = _Layer(((i, f) for i, c in enumerate(self.compiled) for f in c.normals))

    def __len__(self) -> int:
        return len(self.entries)

    def match(self, intent: str | Cleaned) -> Match:
        """Return the entries that cover `intent` entirely; never raises on any text."""
        cleaned = clean(intent) if isinstance(intent, str) else intent
        if not cleaned.light or not self.entries:
            return _NO_MATCH
        refused: list[tuple[Hashable, str]] = []
        hits = self.as_written(cleaned, refused) or self.by_concept(cleaned, refused)
        if not hits:
            return Match(None, refused=tuple(refused)) if refused else _NO_MATCH
        if len(hits) == 1:
            return Match(hits[0], tuple(hits), (), tuple(refused))
        hits.sort(key=lambda h: (tuple(-r for r in h.rank), str(h.key)))
        tied = tuple(h for h in hits if h.rank == hits[0].rank)
        if len(tied) > 1:
            return Match(None, tuple(hits), tied, tuple(refused))
        return Match(hits[0], tuple(hits), (), tuple(refused))

    def as_written(self, cleaned: Cleaned, refused: list[tuple[Hashable, str]] | None = None) -> list[Hit]:
        """Return entries whose pattern, as written, is the intent; `refused` collects (key, reason)."""
        return self._hits(self._light, cleaned.light, "light", [] if refused is None else refused)

    def by_concept(self, cleaned: Cleaned, refused: list[tuple[Hashable, str]] | None = None) -> list[Hit]:
        """Return entries whose pattern means what the intent means; the lexicon costs ten times `as_written`."""
        hits: list[Hit] = []
        for text in cleaned.normals if self._normal.rows else ():
            known = {h.key for h in hits}
            found = self._hits(self._normal, text, "normal", [] if refused is None else refused)
            hits += [h for h in found if h.key not in known]
        return hits

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
        narrow = sum([types[n].rank for n in form.slots])
        rank = (1 if route == "light" else 0, -len(form.slots), form.words, narrow)
        return Hit(self.entries[index].key, values, route, form.text, rank)
