"""Which templates come closest to an intent that none of them serves: rare shared words weigh most. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from lackpy.intent.clean import clean
from lackpy.templates.format import Template
from lackpy.templates.pattern import PatternError, compile_pattern

_WORDS = re.compile(r"[^\W\d_]+")
_SLOT = re.compile(r"\{\w+\}")
# Words that say little of what is asked for; sharing them brings nothing closer.
_COMMON = frozenset(
    """
    a an the of in to for from by on at and or is are was does do did has have what which where who how that this it its
    them they there with any all me show list find get give see tell
    """.split()  # noqa: SIM905  # a block of words reads better than a list of strings
)


@dataclass(frozen=True, slots=True)
class Near:
    """One template that comes close.

    Attributes:
        name: Its name.
        pattern: Its pattern.
        phrasing: The phrasing of the pattern that comes closest, with `{slots}`.
        leftover: Words of the intent that this phrasing doesn't hold, in order, less one for each slot.
        score: Shared word weight over all word weight of both, 0 to 1.
    """

    name: str
    pattern: str
    phrasing: str
    leftover: tuple[str, ...]
    score: float


def words(text: str) -> list[str]:
    """Return the telling words of a text, lower case."""
    return [w for w in _WORDS.findall(text.lower()) if w not in _COMMON]


def nearest(intent: str, templates: Iterable[Template], limit: int = 3) -> list[Near]:
    """Return up to `limit` templates that share words with `intent`, closest first.

    The weight of a word falls with the share of templates that hold it (inverse document frequency); two texts are as
    close as the weight of their shared words over that of all their words (weighted Jaccard).
    """
    asked = list(dict.fromkeys(words(clean(intent).light)))
    if not asked:
        return []
    wanted = frozenset(asked)
    rows = [(t, _phrasings(t)) for t in templates]
    counts = Counter(word for _, phrasings in rows for word in frozenset().union(*phrasings.values()))
    size = len(rows)
    found = []
    for template, phrasings in rows:
        best = max(
            ((_closeness(wanted, held, counts, size), text) for text, held in phrasings.items()), default=None
        )
        if best is not None and best[0] > 0:
            score, text = best
            left = [w for w in asked if w not in phrasings[text]]
            # As many of them as the phrasing has slots are its values, most likely the first.
            left = left[len(_SLOT.findall(text)) :]
            found.append(Near(template.name, template.pattern, text, tuple(left), round(score, 3)))
    found.sort(key=lambda n: (-n.score, len(n.phrasing), n.name))
    return found[:limit]


def _phrasings(template: Template) -> dict[str, frozenset[str]]:
    """Return each phrasing of a template's pattern with its telling words."""
    try:
        forms = compile_pattern(template.pattern, template.slots).lights
    except PatternError:
        return {}
    return {form.text: frozenset(words(_SLOT.sub(" ", form.text))) for form in forms}


def _closeness(asked: frozenset[str], held: frozenset[str], counts: Counter[str], size: int) -> float:
    def weight(of: frozenset[str]) -> float:
        return sum([math.log(1 + size / (1 + counts[word])) for word in of])

    shared = asked & held
    return weight(shared) / weight(asked | held) if shared else 0.0
