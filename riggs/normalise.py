"""One trace's intent and program with the values they share taken out on both sides.

`normalise("who calls Foo?", "find_callers('Foo')")` gives the concept text `callers of {name}` and the template
`find_callers("{name}")`. A value is a slot only if the intent names it and the program holds it as a literal or as a
whole part of one. Pure; touches no file, clock or network. A change of meaning here raises `NORMALISER_VERSION`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lackpy.intent.clean import clean, render
from lackpy.intent.lexicon import lexicon
from lackpy.intent.normal import BARE_CLOSE, BARE_OPEN, LANGUAGE_MARK, normal_forms
from lackpy.intent.slots import (
    DIR_WORDS,
    NUMBER_WORDS,
    STOP,
    TYPES,
    is_file_path,
    language_extension,
)
from lackpy.intent.tokens import CLOSE, HOLE_FIRST, NUMBER, OPEN, PUNCT, QUOTED, VALUE, WORD, Token
from riggs.shape import Place, Shape, shape_of

NORMALISER_VERSION = 1
"""Raised whenever the same trace would normalise differently; the store then normalises anew."""

_PATH_CALLS = {
    "glob": (0,),
    "read": (0,),
    "outline": (0,),
    "grep": (1, -1),
    "run_tests": (0, -1),
    "write": (0,),
    "edit": (0,),
}
_PATH_METHODS = frozenset(("startswith", "endswith", "removeprefix", "removesuffix"))
_NAME_CALLS = frozenset(("find_callers", "find_definitions"))
_SCOPE_WORDS = frozenset(
    [
        "in",
        "under",
        "below",
        "beneath",
        "underneath",
        "inside",
        "within",
        "search",
        "from",
        "grep",
        "through",
        "of",
        "for",
        "does",
        "do",
    ]
)
_LANGUAGE_HEADS = frozenset(
    ["file", "files", "source", "sources", "code", "script", "scripts", "module", "modules"]
)
_HOLE_KINDS = {"number": "n", "text": "q", "language": "l", "path": "p"}


@dataclass(frozen=True, slots=True)
class SlotValue:
    """One value that intent and program share.

    Attributes:
        name: Slot name, unique in its trace; numbered in program order where a name repeats.
        type: Narrowest slot type that fits this value.
        value: As the program holds it.
        said: As the intent says it, without quotes.
        quoted: The intent quotes it.
    """

    name: str
    type: str
    value: str | int
    said: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Normalised:
    """A trace with its values taken out.

    Attributes:
        intent_light: The intent as written after clean-up, slots as `{name}`; a quoted slot keeps double quotes.
        intent_normalized: Its concept text, slots as `{name}`.
        program_template: The canonical program with `{name}` in its strings (bare for a number).
        program_canonical: The canonical program with its own literals.
        slots: In program order.
        usable: A pattern may be made from it.
        reason: Why not, when it isn't usable.
    """

    intent_light: str
    intent_normalized: str
    program_template: str
    program_canonical: str
    slots: tuple[SlotValue, ...]
    usable: bool = True
    reason: str = ""
    draft: Draft = field(repr=False, compare=False, default=None)  # type: ignore[assignment]

    def fold(self, names: Iterable[str]) -> Normalised:
        """Return it with some slots turned back into the literals they held."""
        return finish(self.draft.without(frozenset(names)))


@dataclass(frozen=True, slots=True)
class Anchor:
    """A value and everywhere it was found: intent tokens, and (place index, start, end) in the program."""

    base: str
    type: str
    value: str | int
    said: str
    quoted: bool
    tokens: tuple[int, ...]
    spots: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What `finish` needs to write a trace with any choice of slots."""

    tokens: tuple[Token, ...]
    shape: Shape
    literals: tuple[str, ...]
    anchors: tuple[Anchor, ...]
    folded: frozenset[str] = frozenset()
    reason: str = ""

    def names(self) -> list[str]:
        """Slot names of the anchors, in program order; a repeated name is numbered."""
        seen: dict[str, int] = {}
        out = []
        for anchor in self.anchors:
            seen[anchor.base] = seen.get(anchor.base, 0) + 1
            out.append(anchor.base if seen[anchor.base] == 1 else f"{anchor.base}{seen[anchor.base]}")
        return out

    def without(self, names: frozenset[str]) -> Draft:
        """Return a draft whose slots of these names are literals again."""
        kept = tuple(a for a, name in zip(self.anchors, self.names(), strict=True) if name not in names)
        return Draft(self.tokens, self.shape, self.literals, kept, names, self.reason)


def normalise(intent: str, program: str) -> Normalised:
    r"""Normalise one trace; never raises on any text.

    >>> n = normalise("please list Python files in src/", 'files = glob("src/**/*.py")\\nfiles')
    >>> n.intent_normalized, n.program_template
    ('{language} files in {dir}', 'glob("{dir}/**/*.{language}")')
    """
    cleaned = clean(intent)
    shape, literals = shape_of(program)
    tokens = cleaned.tokens
    if not cleaned.readable:
        return finish(
            Draft((), shape, literals, (), reason="the intent is too long or holds unreadable characters")
        )
    return finish(_draft(tokens, shape, literals))


def _draft(tokens: tuple[Token, ...], shape: Shape, literals: tuple[str, ...]) -> Draft:
    finder = _Anchors(tokens, shape, literals)
    anchors = finder.find()
    bound = {i for a in anchors for i in a.tokens}
    return Draft(tokens, shape, literals, anchors, reason=_unbound(tokens, bound, shape, literals))


def _unbound(tokens: tuple[Token, ...], bound: set[int], shape: Shape, literals: tuple[str, ...]) -> str:
    """Name a value of the intent that the program ignores: such a program may have missed a condition."""
    if not shape.places and not literals:
        return ""
    for i, token in enumerate(tokens):
        if i in bound or token.kind in (WORD, PUNCT):
            continue
        if token.kind == VALUE and (token.text.startswith("-") or language_extension(token.text)):
            continue
        text = token.text.rstrip("/")
        if any(text in literal for literal in literals) or any(
            p.literal < 0 and str(p.number) == text for p in shape.places
        ):
            continue
        return f"the program doesn't use '{token.text[:40]}' of the intent"
    return ""


# ---------------------------------------------------------------- anchors


class _Anchors:
    """Find which values of an intent its program holds."""

    def __init__(self, tokens: tuple[Token, ...], shape: Shape, literals: tuple[str, ...]) -> None:
        self.tokens = tokens
        self.shape = shape
        self.literals = literals
        self.taken: dict[int, list[tuple[int, int]]] = {}

    def find(self) -> tuple[Anchor, ...]:
        found: dict[tuple[str, str], Anchor] = {}
        order = sorted(
            range(len(self.tokens)), key=lambda i: (-len(self.tokens[i].text), self.tokens[i].kind != QUOTED)
        )
        for i in order:
            anchor = self.anchor(i)
            if anchor is not None:
                found.setdefault((anchor.base, str(anchor.value)), anchor)
        anchors = [self.with_repeats(a) for a in found.values()]
        return tuple(sorted(anchors, key=lambda a: a.spots[0]))

    def with_repeats(self, anchor: Anchor) -> Anchor:
        """Add further tokens that say the same value."""
        more = [
            i
            for i, t in enumerate(self.tokens)
            if i not in anchor.tokens
            and t.text == anchor.said
            and t.kind == self.tokens[anchor.tokens[0]].kind
            and (t.kind != WORD or self.may_stand(i, anchor.said))
        ]
        tokens = tuple(sorted((*anchor.tokens, *more)))
        return Anchor(
            anchor.base, anchor.type, anchor.value, anchor.said, anchor.quoted, tokens, anchor.spots
        )

    def anchor(self, i: int) -> Anchor | None:
        token = self.tokens[i]
        if token.kind == NUMBER or (token.kind == WORD and token.word in NUMBER_WORDS):
            return self.number(i)
        if token.kind == PUNCT:
            return None
        language = self.language(i)
        if language is not None:
            return language
        if token.kind == VALUE and token.text.startswith("-"):
            return None
        if token.kind == WORD and not self.may_stand(i, token.text):
            return None
        said = token.text
        values = (
            [said] if token.kind == QUOTED else [said.rstrip("/"), said.removeprefix("./").rstrip("/"), said]
        )
        for value in dict.fromkeys(values):
            spots = self.spots(value, token)
            if spots:
                return self.made(i, value, said, spots)
        return None

    def may_stand(self, i: int, text: str) -> bool:
        """Tell whether a plain word at token `i` can be a value at all."""
        word = text.lower()
        before = self.tokens[i - 1].word if i else ""
        return word not in STOP or (word in DIR_WORDS and before in _SCOPE_WORDS)

    def number(self, i: int) -> Anchor | None:
        token = self.tokens[i]
        value = (
            NUMBER_WORDS.get(token.word)
            if token.kind == WORD
            else int(token.text)
            if len(token.text) < 10
            else None
        )
        if value is None or (token.kind == NUMBER and str(value) != token.text):
            return None
        spots = tuple(
            (k, 0, 0) for k, p in enumerate(self.shape.places) if p.literal < 0 and p.number == value
        )
        return (
            Anchor("n", "number", value, token.text, quoted=False, tokens=(i,), spots=spots)
            if spots
            else None
        )

    def language(self, i: int) -> Anchor | None:
        token = self.tokens[i]
        if token.kind not in (WORD, VALUE):
            return None
        extension = language_extension(token.text)
        if extension is None:
            return None
        after = self.tokens[i + 1].word if i + 1 < len(self.tokens) else ""
        before = self.tokens[i - 1].word if i else ""
        last = i + 1 == len(self.tokens) and before in ("are", "is", "in")
        clear = token.text != token.word or len(token.word) > 2
        if token.kind == WORD and after not in _LANGUAGE_HEADS and not last and not clear:
            return None
        spots: list[tuple[int, int, int]] = []
        for k, place in enumerate(self.shape.places):
            if place.literal < 0 or place.key:
                continue
            literal = self.literals[place.literal]
            at = len(literal) - len(extension)
            if literal.endswith("." + extension) and self.free(k, at, len(literal)):
                spots.append((k, at, len(literal)))
        if not spots:
            return None
        self.take(spots)
        return Anchor(
            "language", "language", extension, token.text, quoted=False, tokens=(i,), spots=tuple(spots)
        )

    def spots(self, value: str, token: Token) -> tuple[tuple[int, int, int], ...]:
        """Every free place of the program where `value` stands whole."""
        if not value:
            return ()
        found: list[tuple[int, int, int]] = []
        for k, place in enumerate(self.shape.places):
            if place.literal < 0 or place.key:
                continue
            literal = self.literals[place.literal]
            path = _is_path_place(place)
            if token.kind == QUOTED and path and self.other_bare(value):
                continue
            if token.kind != QUOTED and not path and self.other_quoted(value):
                continue
            if literal == value:
                if self.free(k, 0, len(literal)):
                    found.append((k, 0, len(literal)))
                continue
            if token.kind == WORD and place.call == "grep" and token.word in lexicon().vocabulary:
                continue  # a word of the request (`raise`, `print`), not a name in it
            if len(value) < 2 or (token.kind == WORD and not (place.free or place.call in _PATH_METHODS)):
                continue
            at = literal.find(value)
            while at >= 0:
                end = at + len(value)
                if _bounded(literal, at, end) and self.free(k, at, end):
                    found.append((k, at, end))
                at = literal.find(value, end)
        self.take(found)
        return tuple(found)

    def other_bare(self, value: str) -> bool:
        return any(t.text.rstrip("/") == value and t.kind in (WORD, VALUE) for t in self.tokens)

    def other_quoted(self, value: str) -> bool:
        return any(t.text == value and t.kind == QUOTED for t in self.tokens)

    def free(self, place: int, start: int, end: int) -> bool:
        return all(end <= s or e <= start for s, e in self.taken.get(place, ()))

    def take(self, spots: Iterable[tuple[int, int, int]]) -> None:
        for place, start, end in spots:
            self.taken.setdefault(place, []).append((start, end))

    def made(self, i: int, value: str, said: str, spots: tuple[tuple[int, int, int], ...]) -> Anchor:
        token = self.tokens[i]
        place = self.shape.places[spots[0][0]]
        literal = self.literals[place.literal]
        base = _base_name(place, value, literal, spots[0][1:])
        quoted = token.kind == QUOTED
        return Anchor(base, narrowest(value, quoted=quoted, base=base), value, said, quoted, (i,), spots)


def _is_path_place(place: Place) -> bool:
    return place.arg in _PATH_CALLS.get(place.call, ()) or (not place.free and place.call in _PATH_METHODS)


def _bounded(literal: str, start: int, end: int) -> bool:
    r"""Tell whether literal[start:end] stands between non-word characters (a regex escape such as `\b` counts)."""
    before, after = literal[:start], literal[end:]
    left = (
        not before
        or before.endswith(("test_", "Test"))  # a test carries the name of what it tests
        or not (before[-1].isalnum() or before[-1] == "_")
        or re.search(r"\\[bBsSwWdD]$", before) is not None
    )
    inner_left = not (literal[start].isalnum() or literal[start] == "_")
    right = not after or after.startswith("_test") or not (after[0].isalnum() or after[0] == "_")
    inner_right = not (literal[end - 1].isalnum() or literal[end - 1] == "_")
    return (left or inner_left) and (right or inner_right)


def _base_name(place: Place, value: str, literal: str, span: tuple[int, int]) -> str:
    if place.call in _NAME_CALLS:
        return "name"
    if _is_path_place(place):
        if any(c in value for c in "*?["):
            return "glob"
        if is_file_path(value):
            return "path"
        followed = literal[span[1] : span[1] + 1] == "/" or (span == (0, len(literal)) and "/" in value)
        return "dir" if followed or span == (0, len(literal)) else "name"
    if re.search(r"\bimport\b|\bfrom\b|\brequire\b", literal[: span[0]]):
        return "module"
    return "text" if place.free else "word"


def narrowest(value: str, *, quoted: bool, base: str) -> str:
    """Return the narrowest slot type that takes `value` as the intent says it."""
    captured = OPEN + value + CLOSE if quoted else value
    preferred: tuple[str, ...] = ("identifier", "dotted", "path", "dir", "glob", "word")
    if base == "module":
        preferred = ("dotted", "path", "word")
    elif base in ("path", "dir", "glob"):
        preferred = (base, "path", "dir", "glob", "word")
    elif base == "text" and quoted:
        preferred = ("text",)
    for name in preferred:
        if TYPES[name].value(captured) == value:
            return name
    return "text" if quoted else "word"


# ---------------------------------------------------------------- writing it out


def finish(draft: Draft) -> Normalised:
    """Write a draft with its slots in place."""
    names = draft.names()
    slots = tuple(
        SlotValue(name, a.type, a.value, a.said, a.quoted)
        for name, a in zip(names, draft.anchors, strict=True)
    )
    holes: dict[str, str] = {}
    kinds: dict[str, str] = {}
    tokens = list(draft.tokens)
    reason = draft.reason
    for n, (name, anchor) in enumerate(zip(names, draft.anchors, strict=True)):
        hole = chr(ord(HOLE_FIRST) + n)
        holes[hole] = name
        kinds[hole] = _HOLE_KINDS.get(anchor.type, "v")
        for i in anchor.tokens:
            tokens[i] = Token(QUOTED if anchor.quoted else VALUE, hole, "")
    out = tuple(tokens)
    light, concept = render(out), normal_forms(out, kinds)[0].replace(BARE_OPEN + LANGUAGE_MARK, BARE_OPEN)
    for hole, name in holes.items():
        slot = "{" + name + "}"
        light = light.replace(OPEN + hole + CLOSE, f'"{slot}"').replace(hole, slot)
        for marked in (OPEN + hole + CLOSE, BARE_OPEN + hole + BARE_CLOSE, hole):
            concept = concept.replace(marked, slot)
    if not draft.tokens and not reason:
        reason = "the intent is empty"
    if not reason and any("{" + name + "}" in text for name in names for text in draft.literals):
        reason = "the program's own text reads like one of the slots"
    return Normalised(
        light,
        concept,
        _template(draft, names),
        draft.shape.written(draft.literals),
        slots,
        usable=not reason,
        reason=reason,
        draft=draft,
    )


def _template(draft: Draft, names: list[str]) -> str:
    """The canonical program with slots in its literals."""
    holes: dict[int, list[tuple[int, int, str]]] = {}
    for name, anchor in zip(names, draft.anchors, strict=True):
        for spot, start, end in anchor.spots:
            holes.setdefault(spot, []).append((start, end, name))
    out = [draft.shape.texts[0]]
    for k, (place, after) in enumerate(zip(draft.shape.places, draft.shape.texts[1:], strict=True)):
        if place.literal < 0:
            out.append("{" + holes[k][0][2] + "}" if k in holes else str(place.number))
        else:
            out.append(_literal(draft.literals[place.literal], sorted(holes.get(k, ()))))
        out.append(after)
    return "".join(out)


def _literal(text: str, holes: list[tuple[int, int, str]]) -> str:
    pieces, at = "", 0
    for start, end, name in holes:
        pieces += text[at:start] + "{" + name + "}"
        at = end
    return quoted(pieces + text[at:])


def quoted(text: str) -> str:
    """Return a double-quoted Python literal."""
    return json.dumps(text, ensure_ascii=False) if text.isprintable() else repr(text)
