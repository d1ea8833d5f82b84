"""Names that lowering makes up: never one the program's text holds, never one twice."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Fresh:
    """A source of new names for one program.

    Args:
        source: The program as given, or what returns its names when they are first needed; look-alike
            letters are folded as Python folds identifiers.
    """

    __slots__ = ("_source", "_text", "_used")

    def __init__(self, source: str | Callable[[], str]) -> None:
        self._source = source
        self._text: str | None = None
        self._used: set[str] = set()

    def name(self, stem: str) -> str:
        """Return `stem`, or `stem` with the first number that makes it new."""
        if self._text is None:
            text = self._source if isinstance(self._source, str) else self._source()
            self._text = text if text.isascii() else unicodedata.normalize("NFKC", text)
        candidate, number = stem, 0
        while candidate in self._used or candidate in self._text:
            number += 1
            candidate = f"{stem}{number}"
        self._used.add(candidate)
        return candidate
