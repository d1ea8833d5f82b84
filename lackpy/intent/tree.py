"""Find, among many forms, the few whose literal words stand where an intent has them.

A form is cut at blanks into pieces: words, and places for a value. The tree follows an intent's pieces through a
dictionary a level, with one more branch where a form has a value, so the cost grows with the intent's length and not
with the number of forms. What it finds may still differ in what a value holds; the form's own RE2 expression decides.
An RE2 set over 80,000 forms runs out of its memory limit; this index takes a few bytes a form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lackpy.intent.normal import BARE_CLOSE, BARE_OPEN
from lackpy.intent.tokens import CLOSE, OPEN

ANY = ""
"""The piece that stands for a value; no text has an empty piece."""
_END = "\x00"
_BUCKET = 4
_PIECES = re.compile(
    f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}|{BARE_OPEN}[^{BARE_OPEN}{BARE_CLOSE}]*{BARE_CLOSE}|[^ ]+"
)

_Row = tuple[tuple[str, ...], int]
_Node = dict[str, "_Node"] | list[_Row]


def cut(text: str) -> list[str]:
    """Return the lower-case pieces of clean text; a quoted value is one piece, whatever it holds."""
    text = text.lower()
    return _PIECES.findall(text) if OPEN in text or BARE_OPEN in text else text.split(" ")


def form_pieces(text: str, slots: Iterable[str]) -> tuple[str, ...]:
    """Return a form's pieces, those with a slot as `ANY`."""
    holes = [f"{{{name}}}".lower() for name in slots]
    return tuple([ANY if any(hole in piece for hole in holes) else piece for piece in cut(text)])


class PieceTree:
    """Rows of pieces, numbered in order; immutable."""

    __slots__ = ("_root",)

    def __init__(self, rows: Iterable[Sequence[str]]) -> None:
        """Index the rows."""
        self._root = _grown([(tuple(row), number) for number, row in enumerate(rows)], 0)

    def find(self, pieces: Sequence[str]) -> list[int]:
        """Return the numbers of the rows that `pieces` fit, in order."""
        found: list[int] = []
        end = len(pieces)
        todo: list[tuple[_Node, int]] = [(self._root, 0)]
        while todo:
            node, depth = todo.pop()
            if isinstance(node, list):
                found += [number for row, number in node if len(row) == end and _fits(row, pieces, depth)]
            elif depth == end:
                leaf = node.get(_END)
                if leaf is not None:
                    todo.append((leaf, depth))
            else:
                piece = pieces[depth]
                exact = node.get(piece) if piece != _END else None
                if exact is not None:
                    todo.append((exact, depth + 1))
                value = node.get(ANY)
                if value is not None:
                    todo.append((value, depth + 1))
        found.sort()
        return found


def _fits(row: tuple[str, ...], pieces: Sequence[str], depth: int) -> bool:
    for i in range(depth, len(row)):  # noqa: SIM110  # twice as fast as all() over a generator
        if row[i] != pieces[i] and row[i] != ANY:
            return False
    return True


def _grown(rows: list[_Row], depth: int) -> _Node:
    """Return a bucket of few rows, or a branch by the piece at `depth`."""
    if len(rows) <= _BUCKET or all(row == rows[0][0] for row, _ in rows):
        return rows
    branches: dict[str, list[_Row]] = {}
    for row in rows:
        branches.setdefault(row[0][depth] if depth < len(row[0]) else _END, []).append(row)
    return {piece: _grown(group, depth + 1) if piece != _END else group for piece, group in branches.items()}
