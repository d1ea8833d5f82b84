"""The pattern language of templates: literal words, `(a|b)`, `( … )?` and `{slot}`; nothing else.

A pattern is finite: it is expanded, each expansion goes through the same clean-up as an intent, and the results
become anchored RE2 expressions: one over the text as written (`light`), one over its concept text (`normal`).
An intent is served when it equals an expansion in either, so a pattern never covers more than its words say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import re2

from lackpy.errors import LackpyError
from lackpy.intent.clean import render, trim
from lackpy.intent.lexicon import lexicon
from lackpy.intent.normal import BARE_CLOSE, BARE_OPEN, normal_forms
from lackpy.intent.slots import STOP, SlotType, slot_type
from lackpy.intent.tokens import CLOSE, HOLE_FIRST, HOLE_LAST, OPEN, QUOTED, WORD, Token, scan

MAX_EXPANSIONS = 256
"""Upper bound on the phrasings one pattern may stand for."""
MAX_PATTERN_CHARS = 8_000

_HOLE = re.compile(f"[{HOLE_FIRST}-{HOLE_LAST}]")
_NORMAL_HOLE = re.compile(
    f"{BARE_OPEN}([{HOLE_FIRST}-{HOLE_LAST}]){BARE_CLOSE}|{OPEN}([{HOLE_FIRST}-{HOLE_LAST}]){CLOSE}"
)
_SLOT = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_REGEX_HABIT = re.compile(r"\.[*+]|\\[wWsSdDbB]|\[\^|\(\?[^:]|(?<!\*)\*\)|\+\)|^\^|\$$")
_INNER_TEXT = f"[^{OPEN}{CLOSE}]+"
_KINDS = {"number": "n", "text": "q", "language": "l", "path": "p"}


class PatternError(LackpyError):
    """A pattern can't be used; the sentence says what to change."""


@dataclass(frozen=True, slots=True)
class Form:
    """One expansion, ready to match.

    Attributes:
        text: The expansion in clean text, slots as `{name}`.
        regex: Anchored RE2 source, one unnamed group a slot occurrence.
        slots: Slot names in order of the groups.
        words: Literal words and characters outside slots, for specificity.
    """

    text: str
    regex: str
    slots: tuple[str, ...]
    words: int


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """A pattern after expansion.

    Attributes:
        source: The pattern as written.
        slots: Slot name → type.
        lights: Forms over `Cleaned.light`.
        normals: Forms over `Cleaned.normals`.
        concepts: Concept texts the `normals` were made from, each once; what `lackpy.intent.concepts` keeps.
    """

    source: str
    slots: Mapping[str, SlotType] = field(compare=False)
    lights: tuple[Form, ...]
    normals: tuple[Form, ...]
    concepts: tuple[str, ...] = field(default=(), compare=False, repr=False)


REMEMBERED: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[str, ...]] = {}
"""Concept texts computed earlier: (pattern, sorted slots) → texts. Filled by `lackpy.intent.concepts` only."""


def compile_pattern(pattern: str, slots: Mapping[str, str]) -> CompiledPattern:
    """Compile a pattern; `slots` maps each slot's name to its type's name.

    Raises:
        PatternError: It is malformed, too wide, or a slot isn't declared or isn't in every alternative.
    """
    return _compile(pattern, tuple(sorted(slots.items())))


@lru_cache(maxsize=20_000)
def _compile(pattern: str, slots: tuple[tuple[str, str], ...]) -> CompiledPattern:
    types: dict[str, SlotType] = {}
    for name, kind in slots:
        try:
            types[name] = slot_type(kind)
        except KeyError as exc:
            raise PatternError(f"pattern '{pattern}': {exc.args[0]}") from exc
    texts = expand(pattern)
    holes = {name: chr(ord(HOLE_FIRST) + i) for i, name in enumerate(sorted(types))}
    names = {hole: name for name, hole in holes.items()}
    kinds = {hole: _KINDS.get(types[name].name, "v") for hole, name in names.items()}
    lights: dict[str, Form] = {}
    normals: dict[str, Form] = {}
    remembered = REMEMBERED.get((pattern, slots))
    concepts = dict.fromkeys(remembered or ())
    for text in texts:
        tokens = _tokens(text, holes, pattern)
        missing = set(types) - {names[h] for t in tokens for h in _HOLE.findall(t.text)}
        if missing:
            raise PatternError(
                f"pattern '{pattern}': slot '{min(missing)}' is missing from the alternative '{text.strip()}'",
                "name every slot in every alternative",
            )
        form = _light_form(tokens, names, types)
        if form.words == 0:
            raise PatternError(
                f"pattern '{pattern}': '{text.strip()}' has no word of its own, it would match almost anything",
                "add the words that ask for this program",
            )
        lights.setdefault(form.regex, form)
        # A slot inside a longer token has no concept text.
        if remembered is None and not any(len(t.text) > 1 and _HOLE.search(t.text) for t in tokens):
            concepts[normal_forms(tokens, kinds)[0]] = None
    for concept in concepts:
        normal = _normal_form(concept, names, types)
        if normal is not None:
            normals.setdefault(normal.regex, normal)
    return CompiledPattern(pattern, types, tuple(lights.values()), tuple(normals.values()), tuple(concepts))


def _tokens(text: str, holes: Mapping[str, str], pattern: str) -> tuple[Token, ...]:
    def hole(match: re.Match[str]) -> str:
        if match[1] not in holes:
            raise PatternError(
                f"pattern '{pattern}': slot '{match[1]}' has no type",
                f"declare it: slots: {{{match[1]}: identifier}}",
            )
        return holes[match[1]]

    return trim(scan(_SLOT.sub(hole, text)))


# ---------------------------------------------------------------- expansion


def expand(pattern: str) -> list[str]:
    """Return every phrasing the pattern stands for, slots still written as `{name}`.

    >>> expand("(find )?(callers|usages) of {name}")
    ['find callers of {name}', 'find usages of {name}', 'callers of {name}', 'usages of {name}']

    Raises:
        PatternError: It is malformed or stands for more than `MAX_EXPANSIONS` phrasings.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        raise PatternError(f"a pattern has at most {MAX_PATTERN_CHARS} characters (got {len(pattern)})")
    habit = _REGEX_HABIT.search(_SLOT.sub("x", pattern))
    if habit:
        raise PatternError(
            f"pattern '{pattern}': '{habit[0]}' is regular-expression syntax, which patterns don't have",
            "use words, (a|b), (optional )? and {slot}",
        )
    parser = _Expander(pattern)
    out = parser.alternatives(top=True)
    return list(dict.fromkeys(" ".join(p.split()) for p in out))


class _Expander:
    """Recursive descent that yields expansions directly."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def fail(self, why: str) -> PatternError:
        return PatternError(f"pattern '{self.pattern}': {why} at column {self.at + 1}")

    def alternatives(self, *, top: bool = False) -> list[str]:
        out = self.sequence()
        while self.at < len(self.pattern) and self.pattern[self.at] == "|":
            self.at += 1
            out = self.bounded(out + self.sequence())
        if top and self.at < len(self.pattern):
            raise self.fail("')' without '('")
        return out

    def sequence(self) -> list[str]:
        out = [""]
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            char = self.pattern[self.at]
            if char == "(" and not self.pattern.startswith("()", self.at):
                inner = self.group()
                out = self.bounded([a + b for a in out for b in inner])
            elif char == "?" and self.optional_letter():
                out = self.bounded([v for a in out for v in (a, a[:-1])])
                self.at += 1
            elif self.pattern.startswith("()", self.at):
                out = [a + "()" for a in out]
                self.at += 2
            else:
                if char == "\\" and self.at + 1 < len(self.pattern):
                    self.at += 1
                    char = self.pattern[self.at]
                out = [a + char for a in out]
                self.at += 1
        return out

    def optional_letter(self) -> bool:
        """`callers? of` makes the s optional; a question mark at the end is punctuation."""
        before = self.pattern[self.at - 1 : self.at]
        return before.isalpha() and self.pattern[self.at + 1 :].strip() != ""

    def group(self) -> list[str]:
        self.at += 3 if self.pattern.startswith("(?:", self.at) else 1
        out = self.alternatives()
        if self.pattern[self.at : self.at + 1] != ")":
            raise self.fail("'(' is never closed")
        self.at += 1
        if self.pattern[self.at : self.at + 1] == "?":
            self.at += 1
            out = [*out, ""]
        return out

    def bounded(self, out: list[str]) -> list[str]:
        if len(out) > MAX_EXPANSIONS:
            raise PatternError(
                f"pattern '{self.pattern}' stands for more than {MAX_EXPANSIONS} phrasings",
                "split it into two templates",
            )
        return out


# ---------------------------------------------------------------- forms


def _light_form(tokens: tuple[Token, ...], names: Mapping[str, str], types: Mapping[str, SlotType]) -> Form:
    parts: list[str] = []
    slots: list[str] = []
    words = 0
    for i, token in enumerate(tokens):
        if len(token.text) == 1 and token.text in names:
            slots.append(names[token.text])
            parts.append(f"({types[names[token.text]].regex(must_quote=token.kind == QUOTED)})")
            continue
        rendered = OPEN + token.text + CLOSE if token.kind == QUOTED else token.text
        piece, at = "", 0
        for match in _HOLE.finditer(rendered):
            name = names[match[0]]
            slots.append(name)
            piece += _exact(rendered[at : match.start()]) + f"({types[name].bare or _INNER_TEXT})"
            at = match.end()
        words += at < len(rendered)
        tail = rendered[at:]
        parts.append(piece + (_exact(tail) if at or not (i == 0 or plain_word(token)) else re2.escape(tail)))
    text = _HOLE.sub(lambda m: "{" + names[m[0]] + "}", render(tokens))
    return Form(text, " ".join(parts), tuple(slots), words)


def _exact(text: str) -> str:
    """A literal that may be a name in code, so its case counts."""
    return f"(?-i:{re2.escape(text)})" if any(c.isalpha() for c in text) else re2.escape(text)


def plain_word(token: Token) -> bool:
    """Tell whether a token is a known word of English or of the lexicon, whose case means nothing."""
    return token.kind == WORD and (
        token.word in STOP or token.word in lexicon().vocabulary or "'" in token.word
    )


def _normal_form(concept: str, names: Mapping[str, str], types: Mapping[str, SlotType]) -> Form | None:
    """The form over concept text, or `None` when too little is left of it to tell one request from another."""
    slots: list[str] = []
    regex, at, words = "", 0, 0
    for match in _NORMAL_HOLE.finditer(concept):
        literal = concept[at : match.start()]
        words += len(literal.split())
        regex += _with_values(literal)
        name = names[match[1] or match[2]]
        slots.append(name)
        quoted = f"{OPEN}[^{OPEN}{CLOSE}]+{CLOSE}"
        bare = f"{BARE_OPEN}[^{OPEN}{CLOSE}{BARE_OPEN}{BARE_CLOSE}]+{BARE_CLOSE}"
        if match[2] or types[name].bare is None:
            regex += f"({quoted})"
        else:
            regex += f"({bare}|{quoted})" if types[name].quoted else f"({bare})"
        at = match.end()
    words += len(concept[at:].split())
    if words == 0 or set(slots) != set(types) or _HOLE.search(_NORMAL_HOLE.sub("", concept)):
        return None
    text = _NORMAL_HOLE.sub(lambda m: "{" + names[m[1] or m[2]] + "}", concept)
    return Form(text, regex + _with_values(concept[at:]), tuple(slots), words)


_VALUES = re.compile(f"({OPEN}[^{CLOSE}]*{CLOSE}|{BARE_OPEN}[^{BARE_CLOSE}]*{BARE_CLOSE})")


def _with_values(literal: str) -> str:
    return "".join(_exact(p) if i % 2 else re2.escape(p) for i, p in enumerate(_VALUES.split(literal)))
