"""Split an intent into words, values, numbers and punctuation. Pure text work; knows no synonyms.

A quoted span is always one value, whatever quote it wears. A bare token that looks like code (an underscore, a
dot, a slash, a digit, an inner capital …) is a value too. Everything else is a word, kept with its case.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

MAX_CHARS = 4_000
"""Intents longer than this (characters) are never matched: no recurring request is that long."""

OPEN, CLOSE = "⟦", "⟧"
"""Delimiters of a quoted value in cleaned text."""
HOLE_FIRST, HOLE_LAST = "\ue000", "\ue0ff"
"""Characters that stand for a pattern's slots while it is compiled; an intent that holds one is unreadable."""

WORD, VALUE, QUOTED, NUMBER, PUNCT = "w", "v", "q", "n", "p"


class Token(NamedTuple):
    """One token: its kind (one of the letters above), the text as written, and the lower-cased word."""

    kind: str
    text: str
    word: str


_SCAN = re.compile(
    r"\"([^\"]*)\""
    r"|`+([^`]+)`+"
    r"|(?<![^\s(\[{:=,])'([^\n]+?)'(?!\w)"
    r"|[^\s\"`]+"
    r"|[\"`]"
)
_CURLY = str.maketrans(
    {
        "“": '"',
        "”": '"',
        "„": '"',
        "«": '"',
        "»": '"',
        "\u2018": "'",
        "\u2019": "'",
        "\u201a": "'",
        "\u00b4": "'",
    }
)
_FOREIGN = re.compile("[\ud800-\udfff\ue000-\uf8ff\x00-\x08\x0e-\x1f⟦⟧⟨⟩]")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*", re.UNICODE)
_CLITIC_HOSTS = frozenset(
    ["what", "where", "who", "how", "that", "there", "it", "let", "here", "when", "which"]
)
_SMILEYS = frozenset((":)", ":-)", ";)", ":D", "🙂", "🙏"))
_ABBREVIATIONS = frozenset(("i.e", "e.g", "i.e.", "e.g.", "etc", "vs", "w/o", "w/"))
_ORDINAL = re.compile(f"([0-9]{{1,9}}|[{HOLE_FIRST}-{HOLE_LAST}])(?:st|nd|rd|th)")
_TRAILING = ",;:?!."
_LEADING = "([{"


def readable(text: str) -> bool:
    """Tell whether an intent can be matched: not too long, no lone surrogate, control or private-use character."""
    return len(text) <= MAX_CHARS and _FOREIGN.search(text) is None


def scan(text: str) -> list[Token]:
    """Return the tokens of `text`."""
    if not text.isascii():
        text = text.translate(_CURLY)
    out: list[Token] = []
    for match in _SCAN.finditer(text):
        if match.lastindex:
            out.append(Token(QUOTED, match[match.lastindex], ""))
            continue
        chunk = match[0]
        if chunk.isalpha() and chunk.isascii():
            out.append(_word(chunk))
        else:
            _chunk(chunk, out)
    return out


def _word(chunk: str) -> Token:
    lower = chunk.lower()
    if (
        chunk == lower
        or chunk[1:] == lower[1:]
        or chunk.isupper()
        or (chunk[:-1].isupper() and chunk[-1] == "s")
    ):
        return Token(WORD, chunk, lower)
    return Token(VALUE, chunk, lower)


def _chunk(chunk: str, out: list[Token]) -> None:
    """Tokens of one blank-free piece of text."""
    if chunk in _SMILEYS:
        return
    while chunk and chunk[0] in _LEADING and not chunk.endswith((")", "]", "}")) and len(chunk) > 1:
        out.append(Token(PUNCT, chunk[0], ""))
        chunk = chunk[1:]
    tail: list[Token] = []
    while len(chunk) > 1:
        last = chunk[-1]
        if last in _TRAILING or (
            last in ")]}" and chunk.count(last) > chunk.count({")": "(", "]": "[", "}": "{"}[last])
        ):
            tail.append(Token(PUNCT, last, ""))
        else:
            break
        chunk = chunk[:-1]
    if chunk[0] in _LEADING and chunk[-1] in ")]}" and len(chunk) > 2 and chunk[1:-1].isalpha():
        out.append(Token(PUNCT, chunk[0], ""))
        tail.append(Token(PUNCT, chunk[-1], ""))
        chunk = chunk[1:-1]
    if chunk.endswith("()") and len(chunk) > 2:
        chunk = chunk[:-2]
    clitic = ""
    if chunk.endswith("'s") and len(chunk) > 2 and chunk[:-2].lower() not in _CLITIC_HOSTS:
        chunk, clitic = chunk[:-2], "'s"
    elif chunk.endswith("s'") and len(chunk) > 2 and chunk[:-1].isalpha():
        chunk, clitic = chunk[:-1], "'s"
    ordinal = _ORDINAL.fullmatch(chunk)
    if ordinal:
        chunk, clitic = ordinal[1], "th"
    out.append(_plain(chunk))
    if clitic:
        out.append(Token(WORD, clitic, clitic))
    out.extend(reversed(tail))


def _plain(chunk: str) -> Token:
    if chunk.isalpha() and chunk.isascii():
        return _word(chunk)
    if chunk.lower() in _ABBREVIATIONS:
        return Token(WORD, chunk, chunk.lower())
    if chunk.isdecimal() and chunk.isascii():
        return Token(NUMBER, chunk, "")
    if _WORD.fullmatch(chunk):
        folded = chunk if chunk.isascii() else unicodedata.normalize("NFKC", chunk)
        return _word(folded) if folded.isalpha() else Token(WORD, folded, folded.lower())
    if not any(c.isalnum() or HOLE_FIRST <= c <= HOLE_LAST for c in chunk) and chunk not in ("*", "_", "**"):
        return Token(PUNCT, chunk, "")
    return Token(VALUE, chunk if chunk.isascii() else _composed(chunk), chunk.lower())


def _composed(chunk: str) -> str:
    """NFKC for identifiers, as Python compares them; a path keeps its own bytes."""
    folded = unicodedata.normalize("NFKC", chunk)
    return folded if folded.isidentifier() else chunk
