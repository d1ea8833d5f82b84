"""Rewrites the shipped library's concept file after a change to its patterns, the lexicon or the clean-up.

Run `python -m lackpy.templates.shipped`; a test says when it is due.
"""

from __future__ import annotations

from pathlib import Path

from lackpy.intent import concepts
from lackpy.resources import folder
from lackpy.templates.files import SUFFIX, write_atomic
from lackpy.templates.format import parse
from lackpy.templates.loader import CONCEPTS


def concept_text(library: Path) -> str:
    """Return the concept file's text for every template of a folder."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(library.glob(f"*{SUFFIX}"))]
    return concepts.dump((t.pattern, t.slots) for t in map(parse, texts))


if __name__ == "__main__":
    library = folder("data") / "templates"
    write_atomic(library / CONCEPTS, concept_text(library))
