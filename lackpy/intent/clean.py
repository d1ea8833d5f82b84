"""The clean-up that dispatcher and ratchet share: what two phrasings must have in common to be one request.

`light` drops only what carries no meaning (politeness, articles, end punctuation, quote style, blanks). `normal`
goes on to the reviewed lexicon in `data/lexicon.toml` and is computed when first asked for. Neither drops a
negation, a qualifier, a number or anything unknown.
"""

from __future__ import annotations

from functools import lru_cache

from lackpy.intent.tokens import CLOSE, OPEN, PUNCT, QUOTED, WORD, Token, readable, scan

_ARTICLES = frozenset(("the", "a", "an"))
_END = frozenset((".", "?", "!", ",", ";", ":", "…", "...", "-", "\u2013", "\u2014", "!!", "??"))


def _phrases(*lines: str) -> dict[str, list[tuple[str, ...]]]:
    table: dict[str, list[tuple[str, ...]]] = {}
    for line in lines:
        words = tuple(line.split())
        table.setdefault(words[0], []).append(words)
    for options in table.values():
        options.sort(key=len, reverse=True)
    return table


# Openers that ask for attention or are polite; they say nothing about what is wanted.
_OPENERS = _phrases(
    "please", "pls", "plz", "kindly", "hey", "hi", "hello", "ok", "okay", "alright", "well", "so", "now", "next",
    "thanks", "quick question", "quickly",
    "can you", "could you", "would you", "will you",
    "i need you to", "i want you to", "i would like you to", "i'd like you to",
    "i need to", "i want to", "i would like to", "i'd like to", "we need to", "we want to", "i have to",
    "i'd like", "i would like", "i need", "i want", "we need", "let's", "help me", "help me to", "i'm trying to",
    "let us", "go ahead and",
)  # fmt: skip
# Closers, read from the end of the intent.
_CLOSERS = _phrases(
    "please", "pls", "plz", "thanks", "thx", "ty", "cheers", "thank you", "thanks a lot", "many thanks", "for me",
    "if you can", "if possible", "thank you very much", "when you can", "would you", "will you", "could you",
)  # fmt: skip
_CLOSERS_BY_END: dict[str, list[tuple[str, ...]]] = {}
for _options in _CLOSERS.values():
    for _option in _options:
        _CLOSERS_BY_END.setdefault(_option[-1], []).append(_option)
for _options in _CLOSERS_BY_END.values():
    _options.sort(key=len, reverse=True)


class Cleaned:
    """One intent after clean-up.

    Attributes:
        tokens: What is left, in order.
        light: The tokens joined by blanks; a quoted value stands between `⟦` and `⟧`, case is kept.
        readable: False for text that is never matched: too long, or with characters no request holds.
    """

    __slots__ = ("_normals", "light", "readable", "tokens")

    def __init__(self, tokens: tuple[Token, ...], *, readable: bool = True) -> None:
        """Join the tokens; the normal form waits until it is asked for."""
        self.tokens = tokens
        self.readable = readable
        self.light = render(tokens)
        self._normals: tuple[str, ...] | None = None

    @property
    def normal(self) -> str:
        """The lexicon-normalised concept text."""
        return self.normals[0]

    @property
    def normals(self) -> tuple[str, ...]:
        """`normal`, and where a word may be a concept or a value (`in tests`), the reading as a value."""
        if self._normals is None:
            from lackpy.intent.normal import normal_forms  # noqa: PLC0415  the lexicon loads when first needed

            self._normals = normal_forms(self.tokens) if self.readable else ("",)
        return self._normals

    def __repr__(self) -> str:
        return f"Cleaned({self.light!r})"


def render(tokens: tuple[Token, ...]) -> str:
    """Return the light text of tokens."""
    return " ".join([OPEN + t.text + CLOSE if t.kind == QUOTED else t.text for t in tokens])


@lru_cache(maxsize=4096)
def clean(intent: str) -> Cleaned:
    """Clean an intent; the same text gives the same (cached) object."""
    if not readable(intent):
        return Cleaned((), readable=False)
    return Cleaned(trim(scan(intent)))


def trim(tokens: list[Token]) -> tuple[Token, ...]:
    """Drop politeness, articles, commas and end punctuation."""
    end = len(tokens)
    start = _open(tokens, end)
    while True:
        while end > start and tokens[end - 1].kind == PUNCT and tokens[end - 1].text in _END:
            end -= 1
        step = _closer(tokens, start, end)
        if not step:
            break
        end -= step
    start = _open(tokens, end, start)
    return tuple(
        [
            t
            for i, t in enumerate(tokens[start:end])
            if not (
                (t.kind == WORD and t.word in _ARTICLES and (t.text == t.word or i == 0))
                or (t.kind == PUNCT and t.text == ",")
            )
        ]
    )


def _open(tokens: list[Token], end: int, start: int = 0) -> int:
    """Index of the first token that isn't an opener; never eats a whole intent."""
    while start < end:
        token = tokens[start]
        if (
            token.kind == PUNCT
            and start + 1 < end
            and token.text in (",", ":", "-", "!", ".", "\u2013", "…", "...")
        ):
            start += 1
            continue
        step = 0
        for option in _OPENERS.get(token.word, ()) if token.kind == WORD else ():
            if start + len(option) < end and all(
                tokens[start + k].kind == WORD and tokens[start + k].word == w for k, w in enumerate(option)
            ):
                step = len(option)
                break
        if not step:
            break
        following = tokens[start + step]
        # "next" and "so" open a sentence only before a word or a mark, never as its subject ("next is …").
        if following.kind == WORD and following.word in ("is", "are", "was", "of", "in", "'s"):
            break
        start += step
    return start


def _closer(tokens: list[Token], start: int, end: int) -> int:
    if end - 1 <= start or tokens[end - 1].kind != WORD:
        return 0
    for option in _CLOSERS_BY_END.get(tokens[end - 1].word, ()):
        first = end - len(option)
        if first > start and all(
            tokens[first + k].kind == WORD and tokens[first + k].word == w for k, w in enumerate(option)
        ):
            return len(option)
    return 0
