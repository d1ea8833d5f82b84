r"""Read `data/lexicon.toml`: the reviewed rules that turn developer speech into concept phrases.

A rule line reads `from => to`. `from` holds words, `(a|b)` alternatives, `{a|b}` alternatives that `to` repeats as
`$1`, `[x]` optional parts, `@macro` references, `^` and `$` for the ends of the intent, `/` before what must follow
but stays, and value marks: `T` any value or unknown word, `V` a value that shows it is one (quoted or code-like), `Q`
quoted, `P` file path, `N` number, `L` language, `U` an unknown plural, `D` the word "tests" (it may be a folder), `W`
(only after `/`) two tokens of which the first is a plain word.
`to` repeats the marks. Words produced by a rule are concepts and can never become a value.

Rules run over encoded text: every token is a blank and then a word, a word with `\x02` and its token's index
character (it may be a value), or `\x01`, a kind letter and the index character (it is one).
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache

from lackpy.resources import text

_MARKS = {
    "U": r" [^ \x01\x02]+[^ \x01\x02us]s\x02(.)",
    "T": r" (?:\x01[qvp]|(?!tests\x02)[^ \x01\x02]+\x02)(.)",
    "W": r" (?!file(?: |\x02|\Z))[^ \x01\x02]+(?:\x02.)? (?!and |or |plus |\x03)[^ ]+()",
    "D": r" tests\x02(.)",
    "V": r" \x01[qvp](.)",
    "Q": r" \x01q(.)",
    "P": r" \x01p(.)",
    "N": r" \x01n(.)",
    "L": r" \x01l(.)",
}
_PIECE = re.compile(r"[()|\[\]{}]|[^\s()|\[\]{}]+")
_END = r"(?![^ ])"
_CLOSING = {"(": ")", "[": "]", "{": "}"}


AFTER_SCOPES = "callers"
"""The group of rules that starts once scopes are marked."""


class LexiconError(ValueError):
    """A line of the lexicon can't be read."""


@dataclass(slots=True)
class Rule:
    """One compiled-on-demand rewrite.

    Attributes:
        source: The line as written.
        group: Name of the group whose `why` explains it.
        needs: The rule can apply only if each of these sets has a word present.
        pattern: Python regex source over encoded text.
        marks: (mark name, group number) in order.
        to: Replacement pieces: words and mark names.
    """

    source: str
    group: str
    needs: tuple[frozenset[str], ...]
    pattern: str
    marks: tuple[tuple[str, int], ...]
    to: tuple[str, ...]
    compiled: re.Pattern[str] | None = None

    def regex(self) -> re.Pattern[str]:
        """Compile at first use; most intents touch few rules."""
        if self.compiled is None:
            self.compiled = re.compile(self.pattern)
        return self.compiled


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All rules in order, and every word they mention.

    Attributes:
        rules: In the order they run.
        vocabulary: Every word of a rule, and the plain English that is no value by itself.
        reasons: Group name → why its rules hold.
        index: Word → numbers of the rules that can only apply when it is present.
        always: Numbers of rules without a word of their own.
        scopes_end: Number of the first rule after the scopes; there a single scope is moved out of the phrase.
    """

    rules: tuple[Rule, ...]
    vocabulary: frozenset[str]
    reasons: dict[str, str]
    index: dict[str, tuple[int, ...]]
    always: tuple[int, ...]
    scopes_end: int


class _Parser:
    """Recursive descent over one `from` side."""

    def __init__(self, source: str, macros: dict[str, str], words: set[str]) -> None:
        for _ in range(4):
            if "@" not in source:
                break
            source = re.sub(r"@(\w+)", lambda m: f"({macros[m[1]]})", source)
        self.pieces = _PIECE.findall(source)
        self.at = 0
        self.marks: list[tuple[str, int]] = []
        self.words = words
        self.depth = 0
        self.needs: list[frozenset[str]] = []

    def sequence(self, stop: str = "") -> tuple[str, frozenset[str]]:
        """Parse up to `stop`; return regex and the cheapest set of words one of which must be present."""
        branches: list[tuple[str, frozenset[str]]] = []
        regex, need = "", frozenset[str]()
        while self.at < len(self.pieces):
            piece = self.pieces[self.at]
            if piece in (")", "]", "}"):
                if piece != stop:
                    raise LexiconError(f"unbalanced '{piece}'")
                break
            self.at += 1
            if piece == "/":
                ahead, _ = self.sequence(stop)
                regex += f"(?={ahead}{_END})"
                break
            if piece == "|":
                branches.append((regex, need))
                regex, need = "", frozenset()
                if self.depth == 0:
                    raise LexiconError("'|' stands outside a group")
                continue
            self.depth += 1
            part, wants = self.element(piece)
            self.depth -= 1
            regex += part
            if wants and self.depth == 0 and not branches:
                self.needs.append(wants)
            if wants and (not need or len(wants) < len(need)):
                need = wants
        branches.append((regex, need))
        if len(branches) == 1:
            return branches[0]
        union = frozenset().union(*(b[1] for b in branches)) if all(b[1] for b in branches) else frozenset()
        return "(?:" + "|".join(b[0] for b in branches) + ")", union

    def element(self, piece: str) -> tuple[str, frozenset[str]]:
        if piece in _CLOSING:
            if piece == "{":
                self.marks.append((f"${sum(m[0][0] == '$' for m in self.marks) + 1}", len(self.marks) + 1))
            regex, need = self.sequence(_CLOSING[piece])
            if self.at >= len(self.pieces):
                raise LexiconError(f"'{piece}' is never closed")
            self.at += 1
            if piece == "{":
                return f"({regex})", need
            return (regex, need) if piece == "(" else (f"(?:{regex})?", frozenset())
        if piece == "^":
            return r"\A", frozenset()
        if piece == "$":
            return r"\Z", frozenset()
        mark = piece.rstrip("0123456789")
        if mark in _MARKS:
            self.marks.append((piece, len(self.marks) + 1))
            return _MARKS[mark], frozenset()
        self.words.add(piece)
        return f" {re.escape(piece)}(?:\\x02.)?", frozenset((piece,))


@cache
def lexicon() -> Lexicon:
    """Return the shipped lexicon.

    Raises:
        LexiconError: A line can't be read; the message holds it.
    """
    return parse(text("data/lexicon.toml"))


def parse(source: str) -> Lexicon:
    """Parse lexicon text (see the module text for the rule language)."""
    table = tomllib.loads(source)
    macros: dict[str, str] = table.get("macros", {})
    rules: list[Rule] = []
    words: set[str] = set(table.get("words", {}).get("known", "").split())
    reasons: dict[str, str] = {}
    for group in table["group"]:
        reasons[group["name"]] = group["why"]
        lines = [line.strip() for line in group["rules"].splitlines()]
        rules += [_rule(line, group["name"], macros, words) for line in lines if line]
    index: dict[str, list[int]] = {}
    always = []
    for number, rule in enumerate(rules):
        if not rule.needs:
            always.append(number)
        for word in min(rule.needs, key=_weight, default=()):
            index.setdefault(word, []).append(number)
    end = next((n for n, rule in enumerate(rules) if rule.group == AFTER_SCOPES), len(rules))
    return Lexicon(
        tuple(rules), frozenset(words), reasons, {w: tuple(n) for w, n in index.items()}, tuple(always), end
    )


_COMMON = frozenset(
    (
        "of",
        "is",
        "in",
        "are",
        "that",
        "which",
        "what",
        "files",
        "file",
        "find",
        "show",
        "list",
        "the",
        "for",
        "all",
    )
)


def _weight(words: frozenset[str]) -> int:
    """How often one of these words is likely to be in an intent, for choosing what a rule is indexed by."""
    return len(words) + 10 * len(words & _COMMON)


def _rule(line: str, group: str, macros: dict[str, str], words: set[str]) -> Rule:
    left, arrow, right = line.partition("=>")
    where = f"lexicon, group '{group}', line '{line}'"
    if not arrow:
        raise LexiconError(f"{where}: '=>' is missing")
    try:
        parser = _Parser(left, macros, words)
        regex, _ = parser.sequence()
    except (LexiconError, KeyError) as exc:
        raise LexiconError(f"{where}: {exc}") from exc
    to = tuple(right.split())
    names = {name for name, _ in parser.marks}
    for piece in to:
        if piece.rstrip("0123456789") not in _MARKS and piece[0] != "$":
            words.add(piece)
        elif piece not in names:
            raise LexiconError(f"{where}: '{piece}' has no source")
    return Rule(line, group, tuple(parser.needs), regex + _END, tuple(parser.marks), to)
