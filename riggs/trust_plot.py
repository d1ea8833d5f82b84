"""A chart of trust windows in plain text, for a terminal or a Markdown block."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from riggs.trust import Windows

HEIGHT = 11
# Drawn in this order; a later one covers an earlier one.
_LINES = (("baseline", "·"), ("immediate", "░"), ("session", "█"))


def plot(points: Sequence[tuple[datetime | None, Windows]], width: int = 72) -> str:
    """Return the chart of the last `width` columns' worth of events, newest at the right; "" without events."""
    if not points:
        return ""
    picked = _sample(points, width)
    rows = [[" "] * len(picked) for _ in range(HEIGHT)]
    for name, mark in _LINES:
        for column, (_, windows) in enumerate(picked):
            level = round(getattr(windows, name) * (HEIGHT - 1))
            rows[HEIGHT - 1 - level][column] = mark
    lines = [f"{1 - n / (HEIGHT - 1):4.1f} ┤{''.join(row)}".rstrip() for n, row in enumerate(rows)]
    lines.append("     └" + "─" * len(picked))
    first, last = (f"{at:%Y-%m-%d %H:%M}" if at else "no time" for at in (picked[0][0], picked[-1][0]))
    gap = max(1, len(picked) - len(first) - len(last))
    lines.append(f"      {first}{' ' * gap}{last}")
    lines.append("      " + "   ".join(f"{mark} {name}" for name, mark in reversed(_LINES)))
    return "\n".join(lines)


def _sample(
    points: Sequence[tuple[datetime | None, Windows]], width: int
) -> list[tuple[datetime | None, Windows]]:
    """Return at most `width` points, evenly spread, the newest one among them."""
    if len(points) <= width:
        return list(points)
    step = len(points) / width
    return [points[min(len(points) - 1, round((n + 1) * step) - 1)] for n in range(width)]
