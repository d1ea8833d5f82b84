"""Keeps patterns' concept texts between processes: reading them is 30 times faster than computing them.

A file holds texts for one state of the clean-up, the lexicon and the pattern language; any other state ignores it, so
a stale file costs time and is never wrong.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from lackpy.intent.pattern import REMEMBERED, compile_pattern
from lackpy.resources import text as resource

_CODE = ("tokens.py", "clean.py", "lexicon.py", "normal.py", "slots.py", "pattern.py")


@cache
def fingerprint() -> str:
    """Return a hash of everything that concept texts depend on besides the pattern."""
    digest = hashlib.sha256()
    for name in _CODE:
        digest.update((Path(__file__).parent / name).read_bytes())
    for name in ("data/lexicon.toml", "data/languages.toml"):
        digest.update(resource(name).encode())
    return digest.hexdigest()


def dump(patterns: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    """Return a file's text for (pattern, slot types) pairs that compile."""
    rows = [
        [pattern, dict(sorted(slots.items())), list(compile_pattern(pattern, slots).concepts)]
        for pattern, slots in patterns
    ]
    body = ",\n".join(json.dumps(row) for row in rows)
    return f'{{"fingerprint": "{fingerprint()}",\n"patterns": [\n{body}\n]}}\n'


def load(path: Path) -> bool:
    """Take over a file's concept texts; tell whether it was there, whole and up to date."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["fingerprint"] != fingerprint():
            return False
        found = {
            (pattern, tuple(sorted(slots.items()))): tuple(concepts)
            for pattern, slots, concepts in data["patterns"]
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    REMEMBERED.update(found)
    return True


def is_remembered(pattern: str, slots: Mapping[str, str]) -> bool:
    """Tell whether a pattern's concept texts came from a file."""
    return (pattern, tuple(sorted(slots.items()))) in REMEMBERED
