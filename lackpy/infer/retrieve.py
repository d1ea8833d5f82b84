"""Which example programs a prompt shows: those whose wording is closest to the intent, at most six.

Examples come from the shipped bank (`data/examples/*.txt`), from live templates and from past successes. Ranking is
BM25 over the tokens of `lackpy.infer.words`: the best phrasing of an example counts once, all its phrasings together
count again. Only examples whose program is valid with the request's tools are eligible. Reads shipped files only.
"""

from __future__ import annotations

import ast
import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lackpy import resources
from lackpy.infer.words import plain_words, tokens
from lackpy.lang import Signature, check

MAX_EXAMPLES = 6
MAX_EXTRA = 2_000
"""Most examples taken from one extra source; the newest are kept."""
UNION_WEIGHT = 2.0
"""Weight of all phrasings together against the best single one. Source: leave-one-phrasing-out over the bank,
top-1 0.57 at 0, 0.59 at 1 to 3."""
LETTER_WEIGHT = 4.0
"""Weight of the share of words that a phrasing has in common with the intent to the letter."""
LENGTH_WEIGHT = 0.004
"""What a character of program costs: of two as close, the simpler one."""
LEAST_SHARE = 0.5
"""An example whose closeness is below this share of the best one's isn't shown: it would only mislead."""
_K1, _B = 1.2, 0.75
SEPARATOR = "\n---\n"


@dataclass(frozen=True, slots=True)
class Example:
    """One intent with a program that answers it.

    Attributes:
        id: Stable id kept in traces, e.g. `find:3f2a9c`, `template:find-callers`.
        phrasings: Ways to say it, at least one.
        program: Valid program.
    """

    id: str
    phrasings: tuple[str, ...]
    program: str


@dataclass(frozen=True, slots=True)
class Picked:
    """An example chosen for one intent, with the phrasing to show and its closeness (higher is closer)."""

    example: Example
    phrasing: str
    score: float


Source = Callable[[], Iterable[Example]]
"""Yields examples newest first; asked again on every request, so a source should cache."""


def parse_examples(topic: str, text: str) -> tuple[Example, ...]:
    """Read a bank file: blocks between `---` lines, each `# phrasing` lines then a program.

    Raises:
        ValueError: A block has no phrasing or no program.
    """
    found = []
    for block in text.strip("\n").split(SEPARATOR):
        lines = block.strip("\n").split("\n")
        phrasings = []
        while lines and lines[0].startswith("# "):
            phrasings.append(lines.pop(0)[2:].strip())
        program = "\n".join(lines).strip("\n")
        if not phrasings or not program:
            raise ValueError(
                f"examples '{topic}': a block needs '# phrasing' lines and a program (got {block[:60]!r})"
            )
        digest = hashlib.sha256(program.encode()).hexdigest()[:6]
        found.append(Example(f"{topic}:{digest}", tuple(phrasings), program))
    return tuple(found)


@cache
def bank() -> tuple[Example, ...]:
    """Return the shipped examples, in file order."""
    paths = sorted(resources.folder("data").joinpath("examples").glob("*.txt"))
    return tuple(e for path in paths for e in parse_examples(path.stem, path.read_text(encoding="utf-8")))


@cache
def variable_names() -> frozenset[str]:
    """Return the names that the shipped examples give their variables."""
    nodes = (n for e in bank() for n in ast.walk(ast.parse(e.program)) if isinstance(n, ast.Name))
    return frozenset(n.id for n in nodes if isinstance(n.ctx, ast.Store))


class Retriever:
    """Ranks examples for intents; keeps one index per set of examples. Thread-safe.

    Args:
        examples: The fixed part; `None` uses the shipped bank.
        sources: Further examples, asked on every request.
    """

    def __init__(self, examples: Sequence[Example] | None = None, sources: Sequence[Source] = ()) -> None:
        """Keep the parts; the index is built on the first request."""
        self._fixed = examples
        self._sources = tuple(sources)
        self._indexes: dict[Any, _Index] = {}
        self._lock = threading.Lock()

    def pick(
        self,
        intent: str,
        signatures: Mapping[str, Signature],
        limit: int = MAX_EXAMPLES,
        budget_chars: int | None = None,
    ) -> tuple[Picked, ...]:
        """Return the closest examples, closest last (next to the intent in the prompt).

        Args:
            intent: The caller's words.
            signatures: Tools an example may call.
            limit: Most examples.
            budget_chars: Characters that phrasings and programs may take together; the closest is always kept.
        """
        if limit <= 0:
            return ()
        with self._lock:
            index = self._index(signatures)
        chosen: list[Picked] = []
        left = budget_chars
        for picked in index.rank(intent, limit):
            size = len(picked.phrasing) + len(picked.example.program)
            if left is not None and chosen and size > left:
                continue
            if left is not None:
                left -= size
            chosen.append(picked)
        return tuple(reversed(chosen))

    def _index(self, signatures: Mapping[str, Signature]) -> _Index:
        fixed = bank() if self._fixed is None else tuple(self._fixed)
        extra: list[Example] = []
        for source in self._sources:
            for n, example in enumerate(source()):
                if n >= MAX_EXTRA:
                    break
                extra.append(example)
        key = (tuple(sorted((s.name, s.text()) for s in signatures.values())), tuple(e.id for e in extra))
        index = self._indexes.get(key)
        if index is None:
            if len(self._indexes) > 8:
                self._indexes.clear()
            self._indexes[key] = index = _Index(_eligible((*extra, *fixed), signatures))
        return index


def _eligible(examples: Iterable[Example], signatures: Mapping[str, Signature]) -> list[Example]:
    """Keep examples that validate with these tools, one per program (the first wins)."""
    seen: set[str] = set()
    kept = []
    for example in examples:
        if example.program not in seen and check(example.program, signatures).ok:
            seen.add(example.program)
            kept.append(example)
    return kept


class _Index:
    """BM25 over phrasings and over whole examples."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        self.owners = [(e, p) for e in range(len(examples)) for p in examples[e].phrasings]
        self.single = _Scores([tuple(dict.fromkeys(tokens(p))) for _, p in self.owners])
        self.union = _Scores([tuple({t for p in e.phrasings for t in tokens(p)}) for e in examples])

    def rank(self, intent: str, limit: int) -> list[Picked]:
        """Return up to `limit` examples, closest first; an example that shares nothing isn't returned."""
        query, words = tokens(intent), plain_words(intent)
        singles, unions = self.single.of(query), self.union.of(query)
        best: dict[int, tuple[float, str]] = {}
        for (owner, phrasing), score in zip(self.owners, singles, strict=True):
            if score <= 0:
                continue
            own = plain_words(phrasing)
            total = score + LETTER_WEIGHT * len(words & own) / (len(words | own) or 1)
            if owner not in best or total > best[owner][0]:
                best[owner] = (total, phrasing)
        ranked = sorted(
            (
                (score + UNION_WEIGHT * unions[e] - LENGTH_WEIGHT * len(self.examples[e].program), -e)
                for e, (score, _) in best.items()
            ),
            reverse=True,
        )[:limit]
        least = ranked[0][0] * LEAST_SHARE if ranked else 0.0
        return [Picked(self.examples[-e], best[-e][1], round(s, 3)) for s, e in ranked if s >= least]


class _Scores:
    """BM25 of a few hundred short token lists, through bm25s."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self._size = len(documents)
        self._model: Any = None
        if any(documents):
            from bm25s import BM25  # noqa: PLC0415  # numpy loads only when a model tier is asked

            self._model = BM25(method="lucene", k1=_K1, b=_B)
            self._model.index([list(d) or ["\x00"] for d in documents], show_progress=False)

    def of(self, query: Sequence[str]) -> list[float]:
        if self._model is None or not query:
            return [0.0] * self._size
        return [float(s) for s in self._model.get_scores(sorted(set(query)))]


def from_template(name: str, pattern: str, program: str, slots: Mapping[str, str]) -> Example:
    """Turn a live template into an example: the pattern read as one phrasing, slots shown as sample values.

    Args:
        name: Template name.
        pattern: Its pattern, alternatives and optional parts included.
        program: Its program with `{slot}` holes.
        slots: Slot name → slot type.
    """
    phrasing = _plain(pattern)
    for slot, kind in slots.items():
        value = _SAMPLES.get(kind.split("(")[0].strip(), "some_name")
        phrasing = phrasing.replace("{" + slot + "}", value)
        program = program.replace("{" + slot + "}", value)
    return Example(f"template:{name}", (phrasing,), program)


_SAMPLES = {
    "identifier": "some_name",
    "dotted": "pkg.some_name",
    "path": "lib/some_file.py",
    "dir": "lib",
    "glob": "**/*.py",
    "number": "3",
    "word": "word",
    "text": "some text",
    "quoted": "some text",
}


def _plain(pattern: str) -> str:
    """Read a pattern as one sentence: first alternative of a group, optional parts dropped."""
    out: list[str] = []
    stack: list[int] = []
    skipping = 0
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c == "(":
            stack.append(len(out))
        elif c == "|" and stack:
            skipping = skipping or len(stack)
        elif c == ")" and stack:
            if skipping == len(stack):
                skipping = 0
            start = stack.pop()
            if pattern[i + 1 : i + 2] == "?":
                del out[start:]
                i += 1
        elif c == "?" and out and not skipping:
            out.pop()
        elif not skipping:
            out.append(c)
        i += 1
    return " ".join("".join(out).replace("\\", "").split())
