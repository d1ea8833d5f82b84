"""Which templates come closest to an intent that none of them serves: rare shared words weigh most. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from lackpy.templates.format import Template

_WORDS = re.compile(r"[^\W\d_]+")
_SLOT = re.compile(r"\{\w+\}")
# Words that nearly every request holds; sharing them says nothing.
_COMMON = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "in",
        "to",
        "for",
        "and",
        "or",
        "is",
        "are",
        "does",
        "do",
        "what",
        "which",
        "where",
        "who",
        "how",
        "with",
        "show",
        "list",
        "find",
        "get",
        "give",
        "me",
        "all",
        "any",
        "it",
    ]  # a block of words
)


@dataclass(frozen=True, slots=True)
class Near:
    """One template that comes close.

    Attributes:
        name: Its name.
        pattern: Its pattern.
        leftover: Words of the intent that its pattern doesn't hold, in order.
        score: Share of the intent's word weight that it covers, 0 to 1.
    """

    name: str
    pattern: str
    leftover: tuple[str, ...]
    score: float


def words(text: str) -> list[str]:
    """Return the telling words of a text, lower case."""
    return [w for w in _WORDS.findall(text.lower()) if w not in _COMMON]


def nearest(intent: str, templates: Iterable[Template], limit: int = 3) -> list[Near]:
    """Return up to `limit` templates that share words with `intent`, closest first.

    The weight of a word falls with the share of templates that hold it (inverse document frequency).
    """
    asked = list(dict.fromkeys(words(intent)))
    rows = [
        (t, frozenset(words(_SLOT.sub(" ", t.pattern) + " " + t.name.replace("-", " ")))) for t in templates
    ]
    counts = Counter(word for _, held in rows for word in held)
    weight = {w: math.log(1 + len(rows) / (1 + counts[w])) for w in asked}
    total = sum(weight.values()) or 1.0
    found = []
    for template, held in rows:
        score = sum(weight[w] for w in asked if w in held) / total
        if score > 0:
            left = tuple(w for w in asked if w not in held)
            found.append(Near(template.name, template.pattern, left, round(score, 3)))
    found.sort(key=lambda n: (-n.score, len(n.pattern), n.name))
    return found[:limit]
