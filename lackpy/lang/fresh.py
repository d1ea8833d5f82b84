"""Names that lowering makes up: never one the program's text holds, never one twice."""

from __future__ import annotations

import unicodedata


class Fresh:
    """A source of new names for one program.

    Args:
        source: The program as given; look-alike letters are folded as Python folds identifiers.
    """

    __slots__ = ("_source", "_text", "_used")

    def __init__(self, source: str) -> None:
        self._source = source
        self._text: str | None = None
        self._used: set[str] = set()

    def name(self, stem: str) -> str:
        """Return `stem`, or `stem` with the first number that makes it new."""
        if self._text is None:
            self._text = (
                self._source if self._source.isascii() else unicodedata.normalize("NFKC", self._source)
            )
        candidate, number = stem, 0
        while candidate in self._used or candidate in self._text:
            number += 1
            candidate = f"{stem}{number}"
        self._used.add(candidate)
        return candidate
