"""Text to tree, with every way a text can fail turned into a violation."""

from __future__ import annotations

import ast
import re
import unicodedata
import warnings
from typing import TYPE_CHECKING

from lackpy.lang import grammar, violations
from lackpy.lang.violations import Place

if TYPE_CHECKING:
    from lackpy.lang.verdict import Violation

_LINE_END = re.compile(r"\r\n|\r|\n")
_SUBSTITUTES = {
    "\u00a0": "a plain space",
    "\u2007": "a plain space",
    "\u202f": "a plain space",
    "\u3000": "a plain space",
    "\u200b": "nothing",
    "\u200c": "nothing",
    "\u200d": "nothing",
    "\u2060": "nothing",
    "\ufeff": "nothing",
    "\u2018": "'",
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u00ab": '"',
    "\u00bb": '"',
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u2026": "...",
    "\u2260": "!=",
    "\u2264": "<=",
    "\u2265": ">=",
}


def source_lines(source: str) -> list[str]:
    """Split as Python's tokenizer does: on CR, LF and CRLF, and on nothing else."""
    return _LINE_END.split(source)


def parse(source: str) -> ast.Module | Violation:
    """Return the tree of `source`, or the one violation that says why there is none; raises on no text."""
    if len(source) > grammar.MAX_SOURCE_CHARS:
        return violations.too_long(Place(), len(source), grammar.MAX_SOURCE_CHARS)
    source = source.removeprefix("\ufeff")
    try:
        if "\\" not in source and "0" not in source:
            return ast.parse(source)
        # An unknown escape or a number glued to a word warns; a warning is no one's answer here.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as exc:
        return _from_syntax_error(source, exc)
    except UnicodeEncodeError as exc:
        return _character(source, exc.start, "remove it")
    except (RecursionError, MemoryError):
        return violations.too_deep(Place(), grammar.MAX_DEPTH)
    except ValueError:  # older Pythons report a null byte so
        at = max(source.find("\x00"), 0)
        return _character(source, at, "remove it")


def _from_syntax_error(source: str, exc: SyntaxError) -> Violation:
    null = source.find("\x00")
    if null >= 0:
        return _character(source, null, "remove it")
    lines = source_lines(source)
    line = min(max(exc.lineno or 1, 1), len(lines))
    text = lines[line - 1]
    column = min(max(exc.offset or 1, 1), len(text) + 1)
    start = sum(len(part) for part in lines[: line - 1])
    if (exc.msg or "").startswith(("invalid non-printable character", "invalid character")) and column <= len(
        text
    ):
        found = text[column - 1]
        return _named(found, Place(line, column, text[:80]))
    odd = next((c for c in text if c in _SUBSTITUTES), None)
    if odd is not None and start >= 0:
        return _named(odd, Place(line, text.index(odd) + 1, text[:80]))
    place = Place(line, column, text.strip()[:80])
    if isinstance(exc, IndentationError):
        place = Place(line, len(text) - len(text.lstrip()) + 1, place.text)
        return violations.syntax(place, exc.msg, "indent every block with four spaces")
    message = (exc.msg or "invalid syntax").split(" - Consider")[0].split("; use sys")[0]
    if ("nested" in message and "too many" in message) or "too many levels" in message:
        return violations.too_deep(place, grammar.MAX_DEPTH)
    return violations.syntax(place, message)


def _character(source: str, index: int, hint: str) -> Violation:
    before = source_lines(source[:index])
    lines = source_lines(source)
    text = lines[len(before) - 1] if len(before) <= len(lines) else ""
    shown = text[:80].encode("utf-8", "backslashreplace").decode()
    place = Place(len(before), len(before[-1]) + 1, shown.replace("\x00", "\\x00"))
    found = source[index] if index < len(source) else "\x00"
    return violations.character(place, f"U+{ord(found):04X}", _name(found), hint)


def _named(found: str, place: Place) -> Violation:
    folded = unicodedata.normalize("NFKC", found)
    instead = _SUBSTITUTES.get(found) or (folded if folded.isascii() and folded.strip() else None)
    hint = "remove it" if instead in {None, "nothing"} else f"write {instead}"
    return violations.character(place, f"U+{ord(found):04X}", _name(found), hint)


def _name(character: str) -> str:
    if character == "\x00":
        return "null"
    if 0xD800 <= ord(character) <= 0xDFFF:
        return "half of a surrogate pair"
    return unicodedata.name(character, "control character").lower()
