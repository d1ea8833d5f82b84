"""What one inline run has used: steps, time, bytes asked for, and how much a value weighs when walked.

Sizes are counted before an operation, since one call into Python's own code can't be stopped from inside.
When enough was asked for, the process's real memory is looked at. Going over is a `LimitError`, which
no program can catch.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from lackpy.run import finish
from lackpy.run.ordered import OrderedSet

if TYPE_CHECKING:
    from lackpy.run.finish import Printed
    from lackpy.run.record import Limits, RunError

BATCH = 1024
"""Steps between two looks at the clock."""
STEP_BYTES = 96
"""What one loop step is taken to keep: an item in a list and the object it stands for."""
ITEM_BYTES = 8
"""One place in a list."""
BATCH_BYTES = 4096
"""Bytes that take about as long as one step."""
LOOK_BYTES = 8 * 1024 * 1024
"""Bytes asked for between two looks at the process's memory."""
MAX_DEPTH = 400
"""Deepest nesting of a value that is compared, hashed or shown."""

SCALARS = frozenset({str, int, float, bool, type(None)})
LISTS = frozenset({list, tuple, OrderedSet, set, frozenset})
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


class LimitError(Exception):
    """A budget of the run is used up."""

    def __init__(self, error: RunError) -> None:
        super().__init__(error.message)
        self.error = error


class Meter:
    """Counters of one run.

    Args:
        limits: Budgets of the run.
        deadline: When it must be over, on the monotonic clock in seconds.
        printed: Where printed text goes.
    """

    def __init__(self, limits: Limits, deadline: float, printed: Printed) -> None:
        self.limits = limits
        self.deadline = deadline
        self.printed = printed
        self.cancelled = False
        self.steps = limits.steps
        self.batch = BATCH
        self.asked = 0
        self.weight = limits.nodes * 4
        self.baseline = memory_in_use()
        self.big_keys = 0

    def pause(self) -> None:
        """Look at the clock, the flag and the step budget, once a batch of steps."""
        self.steps -= BATCH
        self.batch = BATCH
        if self.cancelled:
            raise LimitError(finish.cancelled())
        if self.steps < 0:
            raise LimitError(finish.step_limit(self.limits))
        self.look()
        self.ask(BATCH * STEP_BYTES)

    def look(self) -> None:
        """Look at the clock now."""
        if time.monotonic() >= self.deadline:
            raise LimitError(finish.time_limit(self.limits))

    def step(self) -> None:
        """Count one step."""
        self.batch -= 1
        if self.batch <= 0:
            self.pause()

    def walk(self, items: int) -> None:
        """Count a walk over `items` items that Python's own code makes at once, a tenth of a step each."""
        if items < 64:
            return
        if items > self.limits.steps:
            raise LimitError(finish.step_limit(self.limits))
        self.batch -= items // 10
        while self.batch <= 0:
            batch = self.batch
            self.pause()
            self.batch += batch

    def ask(self, size: int) -> None:
        """Count `size` bytes about to be taken; refuse when that is more than is left.

        Source: resident pages from `/proc/self/statm`; where there is none, every byte asked for counts.
        """
        self.asked += size
        if size > BATCH_BYTES:
            self.batch -= size // BATCH_BYTES
        if self.asked < LOOK_BYTES:
            return
        if self.asked > self.limits.memory_bytes and self.asked == size:
            raise LimitError(finish.memory_limit(self.limits))
        in_use = memory_in_use()
        if in_use is None or self.baseline is None:
            if self.asked > self.limits.memory_bytes:
                raise LimitError(finish.memory_limit(self.limits))
            return
        # An eighth is kept back: what is asked for is an estimate, and looked at in portions.
        if in_use - self.baseline + size > self.limits.memory_bytes * 7 // 8:
            raise LimitError(finish.memory_limit(self.limits))
        self.asked = 0

    def check(self, value: Any) -> int:
        """Return how many items and characters a value holds when walked; refuse what is too much to walk."""
        kind = type(value)
        if kind in SCALARS:
            return len(value) if kind is str else 1
        items, chars = self._weigh(value, {}, 0)
        self.walk(items)
        return items + chars

    def _weigh(self, value: Any, seen: dict[int, tuple[int, int]], depth: int) -> tuple[int, int]:
        """Return (items, characters) of a container; a part that is shared is walked once and counted each time."""
        kind = type(value)
        if kind is dict:
            parts: Any = [*value, *value.values()]
        elif kind in LISTS or kind in VIEWS:
            parts = value
        elif kind is range:
            return min(len_of_range(value), self.limits.steps + 1), 0
        else:
            return 1, 0
        items, chars = len(parts), 0
        kinds = set(map(type, parts))
        if str in kinds:
            chars = sum([len(part) for part in parts if type(part) is str])
        if not kinds <= SCALARS:
            if depth > MAX_DEPTH:
                raise LimitError(finish.size_limit(f"a value is nested deeper than {MAX_DEPTH} levels"))
            for part in parts:
                if type(part) in SCALARS:
                    continue
                found = seen.get(id(part))
                if found is None:
                    found = seen[id(part)] = self._weigh(part, seen, depth + 1)
                items += found[0]
                chars += found[1]
        if items > self.weight:
            raise LimitError(finish.size_limit(f"a value holds more than {self.weight:,} items when walked"))
        if chars > 4 * self.limits.chars:
            raise LimitError(
                finish.size_limit(f"a value holds more than {4 * self.limits.chars:,} characters")
            )
        return items, chars

    def length(self, value: Any) -> int:
        """Return how many items an iteration over `value` gives; 0 where it isn't iterable."""
        kind = type(value)
        if kind is range:
            return len_of_range(value)
        if kind is dict or kind is str or kind in LISTS or kind in VIEWS:
            return len(value)
        return 0


def len_of_range(value: range) -> int:
    """Return the length of a range, however large: `len` stops at 2**63."""
    try:
        return len(value)
    except OverflowError:
        return max(0, (value.stop - value.start) // value.step)


def memory_in_use() -> int | None:
    """Return this process's resident bytes, or `None` where the system doesn't tell."""
    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:  # noqa: PTH123  # 10 us, on every 8 MiB
            return int(file.read(128).split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return None


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
