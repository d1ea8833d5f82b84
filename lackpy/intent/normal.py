"""Concept text: an intent's tokens after the lexicon, scope phrases at the end, values in brackets.

A bare value stands as `⟨x⟩`, a quoted one as `⟦x⟧`; every other word is a concept of the lexicon or plain English.
Unknown words are kept, so that a phrase with anything extra never equals a phrase without it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lackpy.intent.lexicon import Rule, lexicon
from lackpy.intent.slots import NUMBER_WORDS, STOP, is_file_path, language_extension, languages
from lackpy.intent.slots import extensions as _extensions
from lackpy.intent.tokens import CLOSE, HOLE_FIRST, HOLE_LAST, NUMBER, OPEN, PUNCT, QUOTED, VALUE, Token

BARE_OPEN, BARE_CLOSE = "⟨", "⟩"
LANGUAGE_MARK = "~"
"""Stands before a language's canonical name, so that no other slot takes it."""
_FIRST = 0xE100
_MAX_TOKENS = 400
_CONTRACTIONS = {
    "what's": "what is", "whats": "what is", "where's": "where is", "who's": "who is", "how's": "how is",
    "that's": "that is", "there's": "there is", "it's": "it is", "which's": "which is", "what're": "what are",
    "don't": "do not", "doesn't": "does not", "didn't": "did not", "isn't": "is not", "aren't": "are not",
    "wasn't": "was not", "weren't": "were not", "haven't": "have not", "hasn't": "has not", "can't": "can not",
    "cannot": "can not", "won't": "will not", "shouldn't": "should not", "couldn't": "could not", "dont": "do not",
    "i'm": "i am", "we've": "we have", "i've": "i have", "they're": "they are", "let's": "let us",
}  # fmt: skip
_LANGUAGE_HEADS = frozenset(("file", "files", "source", "sources", "code", "script", "scripts"))
_MARK = re.compile(r" (?:\x01([a-z])(.)|([^ \x01\x02]+)(?:\x02(.))?)")


class Encoded:
    """Encoded text plus what its index characters point to."""

    __slots__ = ("text", "tokens", "words")

    def __init__(self, tokens: tuple[Token, ...], holes: Mapping[str, str]) -> None:
        """Encode tokens; `holes` maps a slot's character to its kind letter."""
        self.tokens = tokens
        parts: list[str] = []
        words: set[str] = set()
        for i, token in enumerate(tokens):
            index = chr(_FIRST + i)
            kind = token.kind
            if kind == "w":
                self._word(token, i, index, parts, words)
            elif kind == PUNCT and token.text[0] == "#":
                parts.append("\x01v" + index)
            elif kind == PUNCT or (kind == VALUE and token.text.startswith("-")):
                parts.append(token.text)
                words.add(token.text)
            elif token.text == "tests/":
                parts.append("tests\x02" + index)
                words.add("tests")
            else:
                parts.append("\x01" + self._kind(token, holes) + index)
        self.text = "".join([" " + part for part in parts])
        self.words = words

    def _word(self, token: Token, i: int, index: str, parts: list[str], words: set[str]) -> None:
        word = token.word
        if word in _CONTRACTIONS:
            for piece in _CONTRACTIONS[word].split():
                parts.append(piece)
                words.add(piece)
            return
        if "-" in word:
            pieces = word.split("-")
            if all(p in STOP or p in lexicon().vocabulary for p in pieces):
                parts.extend(pieces)
                words.update(pieces)
                return
        following = self.tokens[i + 1].word if i + 1 < len(self.tokens) else ""
        if (
            following in _LANGUAGE_HEADS
            and word in languages()
            and word not in ("text", "header", "notebook")
        ):
            parts.append("\x01l" + index)
            return
        if word in NUMBER_WORDS:
            parts.append("\x01n" + index)
            return
        if token.text != word and (i or token.text.isupper()) and is_file_path(token.text):
            parts.append("\x01p" + index)
            return
        words.add(word)
        parts.append(word if word in STOP and word != "tests" else f"{word}\x02{index}")

    @staticmethod
    def _kind(token: Token, holes: Mapping[str, str]) -> str:
        text = token.text
        if len(text) == 1 and HOLE_FIRST <= text <= HOLE_LAST:
            return "q" if token.kind == QUOTED else holes.get(text, "v")
        if token.kind == QUOTED:
            return "q"
        if token.kind == NUMBER:
            return "n"
        if token.kind == VALUE and language_extension(text):
            return "l"
        if len(text) > 1 and any(HOLE_FIRST <= c <= HOLE_LAST for c in text):
            return "v"
        return "p" if is_file_path(text) else "v"


def normal_forms(tokens: tuple[Token, ...], holes: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the concept text and its other readings; empty when the intent is too long to read."""
    if len(tokens) > _MAX_TOKENS:
        return ("",)
    encoded = Encoded(tokens, holes or {})
    text = rewrite(encoded)
    main = render(encoded, text, values=False)
    if "\x01t" in text:
        return main, render(encoded, text, values=True)
    return (main,)


def rewrite(encoded: Encoded, trail: list[tuple[str, str]] | None = None) -> str:
    """Apply every rule in order; `trail` collects (rule, text after) for explanations."""
    text, words = encoded.text, encoded.words
    marks: list[str] = []
    scoped, tail = False, ""
    known = lexicon()
    index, rules, scopes_end = known.index, known.rules, known.scopes_end
    pending = list(known.always)
    for word in words:
        pending += index.get(word, ())
    pending.sort()
    at, last = 0, -1
    while at < len(pending):
        number = pending[at]
        at += 1
        if number == last:
            continue
        last = number
        if number >= scopes_end and not scoped:
            scoped = True
            text, tail = _lift_scope(text)
        rule = rules[number]
        for need in rule.needs:
            if need.isdisjoint(words):
                break
        else:
            before = text
            text, tail = _step(rule, text, tail, words, marks, trail, scoped=scoped)
            if text is not before:
                more = [n for word in rule.to for n in index.get(word, ()) if n > number]
                if more:
                    pending[at:] = sorted(pending[at:] + more)
    if not scoped:
        text, tail = _lift_scope(text)
    return "".join([" " + m for m in marks]) + text + tail


def _step(
    rule: Rule,
    text: str,
    tail: str,
    words: set[str],
    marks: list[str],
    trail: list[tuple[str, str]] | None,
    *,
    scoped: bool,
) -> tuple[str, str]:
    """Apply one rule, and lift what it marked."""
    changed = _apply(rule, text, words)
    if changed is text:
        return text, tail
    if "#" in changed:
        changed = _lift_marks(changed, marks)
        if "#" in changed and scoped and not tail:
            changed, tail = _lift_scope(changed)
    if trail is not None:
        trail.append((rule.source, changed))
    return changed, tail


_ASKS = re.compile(r" (#(?!in |out )[a-z_]+)")
_SCOPES = re.compile(r" #(?:in|out) (?:\x01[a-z].|[^ \x01\x02]+(?:\x02.)?)")


def _lift_marks(text: str, marks: list[str]) -> str:
    marks.extend(_ASKS.findall(text))
    return _ASKS.sub("", text)


def _lift_scope(text: str) -> tuple[str, str]:
    """Move a single scope out of the phrase; two or more stay where they were said, for each may belong elsewhere."""
    found = _SCOPES.findall(text)
    if len(found) != 1:
        return text, ""
    return _SCOPES.sub("", text), found[0]


def _apply(rule: Rule, text: str, words: set[str]) -> str:
    def emit(match: re.Match[str]) -> str:
        captured: dict[str, str] = {}
        for name, number in rule.marks:
            if name[0] == "$":
                captured[name] = match[number] or ""
            elif match[number] is not None and name not in captured:
                start = match.start(number)
                kind = text[start - 1] if text[start - 2] == "\x01" else "v"
                captured[name] = f" \x01{'t' if name == 'D' else kind}{match[number]}"
        out = ""
        for piece in rule.to:
            if piece in captured:
                out += captured[piece]
            elif piece[0].isupper() and piece.rstrip("0123456789") in _SINGLE:
                continue
            else:
                out += " " + piece
                words.add(piece)
        return out

    new, count = rule.regex().subn(emit, text)
    return new if count else text


_SINGLE = frozenset("TVQPNLDUW")


def render(encoded: Encoded, text: str, *, values: bool) -> str:
    """Turn encoded text into concept text; `values` reads words with both meanings as values."""
    vocabulary = lexicon().vocabulary
    asks: list[str] = []
    scopes: list[str] = []
    body: list[str] = []
    scope: list[str] | None = None
    for match in _MARK.finditer(text):
        kind, index, word, windex = match.groups()
        if word is not None:
            if word in {"#in", "#out"}:
                scope = ["in" if word == "#in" else "not in"]
                continue
            if word.startswith("#"):
                asks.append(word[1:])
                continue
            piece = word
            if windex and word not in vocabulary:
                piece = BARE_OPEN + encoded.tokens[ord(windex) - _FIRST].text + BARE_CLOSE
        else:
            piece = _value(encoded.tokens[ord(index) - _FIRST], kind, values=values)
        if scope is not None:
            scope.append(piece)
            scopes.append(" ".join(scope))
            body.append(f"\x02{len(scopes) - 1}")
            scope = None
        else:
            body.append(piece)
    return _assemble(asks, scopes, body)


def _value(token: Token, kind: str, *, values: bool) -> str:
    if kind == "t":
        return BARE_OPEN + token.text.rstrip("/") + BARE_CLOSE if values else "tests"
    if token.kind == QUOTED:
        return OPEN + token.text + CLOSE
    if kind == "l":
        if HOLE_FIRST <= token.text[0] <= HOLE_LAST:
            return BARE_OPEN + token.text + BARE_CLOSE
        extension = language_extension(token.text)
        name = _extensions()[extension] if extension else token.text
        return BARE_OPEN + LANGUAGE_MARK + name + BARE_CLOSE
    return BARE_OPEN + token.text + BARE_CLOSE


_ASK_ORDER = {"group": 0, "not": 1, "exists": 2, "whether": 2, "count": 3, "open": 4}


def _assemble(asks: list[str], scopes: list[str], body: list[str]) -> str:
    """Asks first, the phrase, then grouping, then a single scope; two scopes stay where they were said."""
    asked = set(asks)
    if "exists" in asked:
        asked.discard("whether")
    if "by_file" in asked:
        asked.discard("group")
    # An ask said twice stays twice: "not never" isn't "never".
    left = [a for a in asks if a in asked]
    front = sorted((a for a in left if a in _ASK_ORDER), key=lambda a: _ASK_ORDER[a])
    back = sorted(a.replace("_", " ") for a in left if a not in _ASK_ORDER)
    if len(scopes) == 1:
        words = [w for w in body if w[0] != "\x02"]
        return " ".join([*front, *words, *back, *scopes])
    words = [scopes[int(w[1:])] if w[0] == "\x02" else w for w in body]
    return " ".join([*front, *words, *back])
