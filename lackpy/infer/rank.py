"""Ranks examples by how close their wording and values are to an intent, and by what the closest of them agree on.

Words are compared by BM25 in three views: concept and shape tokens, pairs of neighbouring tokens (both phrasing by
phrasing and, for tokens, all phrasings of an example together) and pieces of words, which forgive a typo. An example
that needs kinds of values the intent doesn't state is set back. The first place goes to the example whose program is
most like what the closest examples have in common; the others follow by wording alone.

Weights are those that find the most similar program for phrasings of the bank that are held out, and for requests
whose whole example is held out (`benchmarks/bench_retrieval.py`).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from lackpy.infer.words import KINDS, plain_words, tokens

_K1, _B = 1.2, 0.75
_PAIRS, _UNION, _PIECES = 0.5, 2.0, 0.25
"""Weights of a view against the tokens of the best single phrasing."""
_LETTER = 4.0
"""Weight of the share of words that a phrasing has in common with the intent to the letter."""
_LENGTH = 0.008
"""What a character of program costs: of two as close, the simpler one."""
_MISSING, _SPARE = 1.5, 0.75
"""What each value costs that the phrasing has and the intent hasn't, and the other way round."""
_VOTERS = 20
"""How many of the closest examples vote on the form of the program."""
_VOTE = 0.5
"""Weight of that vote against the closest example's score."""
_PIECE_CHARS = 4
_KEPT_TEXTS = frozenset(("name", "type", "file", "line", "text", "class", "function", "method"))


class Index:
    """Ranks the examples of one prompt source. Immutable after it is built.

    Args:
        phrasings: Each example's ways to say it.
        programs: Each example's program, in the same order.
    """

    def __init__(self, phrasings: Sequence[Sequence[str]], programs: Sequence[str]) -> None:
        """Count words; numpy and bm25s load here, when a model tier is first asked."""
        import numpy as np  # noqa: PLC0415  # comes with bm25s

        self._np = np
        self._said = [p for group in phrasings for p in group]
        self._first = np.cumsum([0, *(len(group) for group in phrasings)][:-1])
        self._groups = phrasings
        self._tokens = _Bm25([tokens(p) for p in self._said])
        self._pairs = _Bm25([_pairs(p) for p in self._said])
        self._union = _Bm25([[t for p in group for t in tokens(p)] for group in phrasings])
        self._pieces = _Bm25([[t for p in group for t in _pieces(p)] for group in phrasings])
        self._words = [plain_words(p) for p in self._said]
        self._kinds = np.array([_kinds(p) for p in self._said], dtype=float).reshape(-1, len(KINDS))
        self._lengths = np.array([len(p) for p in programs], dtype=float)
        self._features = self._matrix(programs)

    def rank(self, intent: str, limit: int) -> list[tuple[int, str, float]]:
        """Return up to `limit` (example, its closest phrasing, closeness), closest first.

        An example that shares no word isn't returned.
        """
        np = self._np
        if not self._groups:
            return []
        query = tokens(intent)
        told = self._tokens.of(query)
        said = (
            told
            + _PAIRS * self._pairs.of(_pairs(intent))
            + _LETTER * self._shared(intent)
            - self._costs(intent)
        )
        best = np.maximum.reduceat(said, self._first)
        union = self._union.of(query)
        total = best + _UNION * union + _PIECES * self._pieces.of(_pieces(intent)) - _LENGTH * self._lengths
        total[union <= 0] = -np.inf
        order = [int(e) for e in np.argsort(-total, kind="stable")[: limit + 1] if total[e] > -np.inf]
        if not order:
            return []
        elected = self._elected(total)
        order = [elected, *(e for e in order if e != elected)][:limit]
        return [(e, self._closest(said, e), float(total[e])) for e in order]

    def _elected(self, total: Any) -> int:
        """Return the example that the closest ones agree on."""
        np = self._np
        voters = np.argsort(-total, kind="stable")[:_VOTERS]
        votes = np.maximum(total[voters], 0.0)
        top = votes.max()
        if top <= 0:
            return int(voters[0])
        wanted = (votes / top) ** 2 @ self._features[voters]
        likeness = self._features @ (wanted / (np.linalg.norm(wanted) or 1.0))
        return int(np.argmax(total + _VOTE * top * likeness))

    def _shared(self, intent: str) -> Any:
        words = plain_words(intent)
        return self._np.array([len(words & own) / (len(words | own) or 1) for own in self._words])

    def _costs(self, intent: str) -> Any:
        apart = self._kinds - self._np.array(_kinds(intent), dtype=float)
        return _MISSING * apart.clip(min=0).sum(axis=1) + _SPARE * (-apart).clip(min=0).sum(axis=1)

    def _closest(self, said: Any, example: int) -> str:
        start = int(self._first[example])
        scores = said[start : start + len(self._groups[example])]
        return self._said[start + int(scores.argmax())]

    def _matrix(self, programs: Sequence[str]) -> Any:
        """Return one unit row a program: its features, the rarer the heavier."""
        np = self._np
        features = [_features(p) for p in programs]
        counts = Counter(f for own in features for f in own)
        column = {f: n for n, f in enumerate(f for f, count in counts.items() if count > 1)}
        matrix = np.zeros((len(programs), max(1, len(column))))
        for row, own in enumerate(features):
            for feature in own:
                if feature in column:
                    matrix[row, column[feature]] = np.log(len(programs) / counts[feature])
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        return matrix / np.where(norms > 0, norms, 1.0)


class _Bm25:
    """BM25 of short token lists, through bm25s (its `lucene` variant)."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        import numpy as np  # noqa: PLC0415  # comes with bm25s

        self._nothing = np.zeros(len(documents))
        self._model: Any = None
        if any(documents):
            from bm25s import BM25  # noqa: PLC0415  # loads only when a model tier is asked

            self._model = BM25(method="lucene", k1=_K1, b=_B)
            self._model.index([list(dict.fromkeys(d)) or ["\x00"] for d in documents], show_progress=False)

    def of(self, query: Sequence[str]) -> Any:
        if self._model is None or not query:
            return self._nothing
        return self._model.get_scores(sorted(set(query)))


def _pairs(text: str) -> list[str]:
    found = ["^", *tokens(text), "$"]
    return [f"{a} {b}" for a, b in pairwise(found)]


def _pieces(text: str) -> list[str]:
    marked = [f"<{w}>" for w in sorted(plain_words(text)) if len(w) >= _PIECE_CHARS]
    return [w[i : i + _PIECE_CHARS] for w in marked for i in range(len(w) - _PIECE_CHARS + 1)]


def _kinds(text: str) -> list[int]:
    counts = Counter(tokens(text))
    return [counts[kind] for kind in KINDS]


def form_words(program: str) -> list[str]:
    """Return what a program's form is made of, in order: its words, without its values and variable names."""
    tree = ast.parse(program)
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, f"v{len(names)}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in _KEPT_TEXTS:
            node.value = "S"
        elif isinstance(node, ast.Constant) and type(node.value) is int and node.value > 2:
            node.value = 9
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return re.findall(r"\w+|[^\w\s]", ast.unparse(tree))


def _features(program: str) -> set[str]:
    words = form_words(program)
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}
