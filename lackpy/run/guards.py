"""The guards of the inline executor: each stands for one operation, counts it, and refuses what would be too large.

Sizes are estimated before the operation, since one call into Python's own code can't be stopped from inside.
Counted are steps, the clock, and bytes asked for; when enough was asked for, the process's real memory is
looked at. A refusal is a `LimitError`, which no program can catch.
"""

from __future__ import annotations

import os
import re
import time
from typing import TYPE_CHECKING, Any

from lackpy.lang import grammar
from lackpy.run import finish
from lackpy.run.ordered import OrderedSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lackpy.run.finish import Printed
    from lackpy.run.record import Limits, RunError

BATCH = 1024
"""Steps between two looks at the clock."""
STEP_BYTES = 96
"""What one loop step is taken to keep: an item in a list and the object it stands for."""
ITEM_BYTES = 8
"""One place in a list."""
LOOK_BYTES = 8 * 1024 * 1024
"""Bytes asked for between two looks at the process's memory."""
MAX_INT_BITS = 1 << 18
"""Largest whole number a program may make, about 79,000 digits."""
BIG_INT_BITS = 1 << 10
"""From here on a number's bytes are counted."""
CLEAR_HASH = 1 << 60
"""From here on numbers can be chosen to collide in a dict or set: the more there are, the more each costs."""
SCAN_CHARS = 200
"""Character comparisons that count as one item of a walk."""
MAX_DEPTH = 400
"""Deepest nesting of a value that is compared, hashed or shown."""
TABLE_ITEMS = 1 << 16
"""Members of a dict or set between two looks at what its next, larger table will take."""
TABLE_BYTES = 64
"""What one member takes in such a table."""
LONG = 10_000
"""Items of a list from which on moving all of them is worth a look at the clock."""
MAX_WIDTH = 1_000_000
"""Largest width or precision in a format."""

_SCALARS = frozenset({str, int, float, bool, type(None)})
_LISTS = frozenset({list, tuple, OrderedSet, set, frozenset})
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_PERCENT = re.compile(r"%(?:\([^)]*\))?[#0\- +]*(\*|\d+)?(?:\.(\*|\d+))?")
_SPEC_NUMBER = re.compile(r"\d{6,}")


class LimitError(Exception):
    """A budget of the run is used up."""

    def __init__(self, error: RunError) -> None:
        super().__init__(error.message)
        self.error = error


class Guards:
    """The operations of one run.

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

    # -- counting --

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
        if kind in _SCALARS:
            return len(value) if kind is str else 1
        items, chars = self._weigh(value, {}, 0)
        self.walk(items)
        return items + chars

    def _weigh(self, value: Any, seen: dict[int, tuple[int, int]], depth: int) -> tuple[int, int]:
        """Return (items, characters) of a container; a part that is shared is walked once and counted each time."""
        kind = type(value)
        if kind is dict:
            parts: Any = [*value, *value.values()]
        elif kind in _LISTS or kind in _VIEWS:
            parts = value
        elif kind is range:
            return min(len_of_range(value), self.limits.steps + 1), 0
        else:
            return 1, 0
        items, chars = len(parts), 0
        kinds = set(map(type, parts))
        if str in kinds:
            chars = sum([len(part) for part in parts if type(part) is str])
        if not kinds <= _SCALARS:
            if depth > MAX_DEPTH:
                raise LimitError(finish.size_limit(f"a value is nested deeper than {MAX_DEPTH} levels"))
            for part in parts:
                if type(part) in _SCALARS:
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
        if kind is dict or kind is str or kind in _LISTS or kind in _VIEWS:
            return len(value)
        return 0

    # -- loops --

    def each(self, items: Any) -> Iterator[Any]:
        """Iterate, counting steps."""
        return self._each(iter(items))

    def _each(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self.batch -= 1
            if self.batch <= 0:
                self.pause()
            yield item

    def each_starred(self, items: Any) -> Iterator[Any]:
        """Iterate over items that a starred target takes apart."""
        return map(self.spread, self._each(iter(items)))

    def spread(self, value: Any) -> Any:
        """Allow `value` to be copied item by item."""
        count = self.length(value)
        self.walk(count)
        self.ask(count * ITEM_BYTES)
        return value

    def grown(self, value: Any) -> Any:
        """Allow a list to take what is stored in a slice of it."""
        return self.spread(value)

    def filled(self, value: Any) -> Any:
        """Allow a dict or set one more member: now and then its whole table is made anew, twice as large."""
        if len(value) % TABLE_ITEMS == TABLE_ITEMS - 1 and isinstance(value, (dict, set)):
            self.ask(len(value) * 2 * TABLE_BYTES)
        return value

    def made(self, value: Any, items: int) -> Any:
        """Count a display of many items."""
        self.step()
        self.ask(items * 2 * ITEM_BYTES)
        return value

    def compared(self, value: Any) -> Any:
        """Allow a value to be compared or hashed."""
        if type(value) not in _SCALARS:
            self.check(value)
        return value

    def same(self, value: Any) -> Any:
        """Return `value`: a step between a literal and what is done with it."""
        return value

    def key(self, value: Any) -> Any:
        """Allow a value to be hashed."""
        kind = type(value)
        if kind is str:
            return value
        if kind in (int, float):
            if not -CLEAR_HASH < value < CLEAR_HASH:
                self._big_key()
            return value
        if kind is tuple:
            self.check(value)
            for part in value:
                self.key(part)
        elif kind not in _SCALARS:
            self.check(value)
        return value

    def _big_key(self) -> None:
        self.big_keys += 1
        self.batch -= self.big_keys >> 3
        while self.batch <= 0:
            batch = self.batch
            self.pause()
            self.batch += batch

    def keys(self, items: Any) -> None:
        """Allow the members of `items` to be hashed."""
        self.compared(items)
        self.ask(self.length(items) * 12 * ITEM_BYTES)
        if type(items) in _LISTS or type(items) in _VIEWS:
            for item in items:
                kind = type(item)
                if kind is tuple or kind is int or kind is float:
                    self.key(item)

    # -- operators --

    def _number(self, value: Any) -> Any:
        if type(value) is int and value.bit_length() > BIG_INT_BITS:
            bits = value.bit_length()
            if bits > MAX_INT_BITS:
                raise LimitError(finish.size_limit(f"a whole number has more than {MAX_INT_BITS:,} bits"))
            self.batch -= bits >> 12
            self.step()
            self.ask(bits >> 3)
        return value

    def add(self, left: Any, right: Any) -> Any:
        """`left + right`."""
        kind = type(left)
        if kind is int:
            return self._number(left + right)
        if kind is str and type(right) is str:
            self.ask(len(left) + len(right))
        elif kind in _LISTS:
            self.spread(left)
            self.spread(right)
        return left + right

    def iadd(self, left: Any, right: Any) -> Any:
        """`left += right`: a list grows in place."""
        if type(left) is list:
            self.spread(right)
            left += right
            return left
        return self.add(left, right)

    def sub(self, left: Any, right: Any) -> Any:
        """`left - right`."""
        if type(left) is OrderedSet:
            self.spread(left)
        return self._number(left - right)

    def isub(self, left: Any, right: Any) -> Any:
        """`left -= right`: a set shrinks in place."""
        if type(left) is OrderedSet and isinstance(right, set):
            left.difference_update(right)
            return left
        return self.sub(left, right)

    def mul(self, left: Any, right: Any) -> Any:
        """`left * right`."""
        kind, other = type(left), type(right)
        if kind is int and other is int:
            bits = left.bit_length() + right.bit_length()
            if bits > MAX_INT_BITS:
                raise LimitError(finish.size_limit(f"a whole number has more than {MAX_INT_BITS:,} bits"))
            return self._number(left * right)
        self._repeat(left, right)
        return left * right

    def imul(self, left: Any, right: Any) -> Any:
        """`left *= right`: a list grows in place."""
        if type(left) is list:
            self._repeat(left, right)
            left *= right
            return left
        return self.mul(left, right)

    def _repeat(self, left: Any, right: Any) -> None:
        items, times = (right, left) if type(left) in (int, bool) else (left, right)
        if type(times) not in (int, bool) or times <= 0:
            return
        if type(items) is str:
            self.ask(len(items) * times * (1 if items.isascii() else 4))
        elif type(items) in (list, tuple):
            self.ask(len(items) * times * ITEM_BYTES)

    def div(self, left: Any, right: Any) -> Any:
        """`left / right`."""
        return left / right

    def floordiv(self, left: Any, right: Any) -> Any:
        """`left // right`."""
        return self._number(left // right)

    def mod(self, left: Any, right: Any) -> Any:
        """`left % right`; on a text, its formatting."""
        if type(left) is str:
            self._percent(left, right)
        return self._number(left % right)

    def _percent(self, text: str, values: Any) -> None:
        size = len(text) + 32 * self.check(values)
        for width, precision in _PERCENT.findall(text):
            for part in (width, precision):
                if part.isdigit():
                    size += self._width(int(part))
                elif part == "*":
                    stars = values if type(values) is tuple else (values,)
                    size += max([self._width(abs(v)) for v in stars if type(v) is int], default=0)
        self.ask(size)

    def _width(self, width: int) -> int:
        if width > MAX_WIDTH:
            raise LimitError(
                finish.size_limit(f"a format asks for {width:,} characters, {MAX_WIDTH:,} are allowed")
            )
        return width

    def neg(self, value: Any) -> Any:
        """`-value`."""
        return self._number(-value)

    def cut(self, value: Any, lower: Any, upper: Any, step: Any) -> Any:
        """`value[lower:upper:step]`."""
        part = slice(lower, upper, step)
        if type(value) is str or type(value) in _LISTS:
            try:
                count = len(range(*part.indices(len(value))))
            except (TypeError, ValueError):
                count = 0
            self.ask(count * (1 if type(value) is str else ITEM_BYTES))
            self.walk(count >> 3)
        return value[part]

    # -- text --

    def format(self, value: Any, conversion: int, spec: str) -> str:
        """One field of an f-string."""
        if spec:
            for number in _SPEC_NUMBER.findall(spec):
                self._width(int(number) if len(number) < 12 else MAX_WIDTH + 1)
        if type(value) is str:
            self.ask(len(value))
        else:
            self.ask(4 * self.check(value))
        if conversion == ord("r"):
            value = repr(value)
        elif conversion == ord("s"):
            value = str(value)
        elif conversion == ord("a"):
            value = ascii(value)
        return format(value, spec)

    def text(self, *parts: str) -> str:
        """Join the pieces of an f-string."""
        self.ask(sum(map(len, parts)))
        return "".join(parts)

    def call_print(self, *values: Any, sep: Any = None, end: Any = None) -> None:
        """`print`, captured."""
        for name, part in (("sep", sep), ("end", end)):
            if part is not None and type(part) is not str:
                raise TypeError(f"{name} must be None or a string, not {type(part).__name__}")
        texts = [self.call_str(value) for value in values]
        self.printed.add((" " if sep is None else sep).join(texts) + ("\n" if end is None else end))

    def call_str(self, *values: Any) -> str:
        """`str(value)`."""
        if len(values) == 1:
            value = values[0]
            if type(value) is str:
                return value
            self.ask(4 * self.check(value))
            return str(value)
        return str(*values)

    # -- builtins --

    def call_range(self, *args: Any) -> range:
        """`range(...)`: cheap by itself; whoever walks it is counted."""
        return range(*args)

    def call_list(self, *args: Any) -> list[Any]:
        """`list(items)`."""
        for arg in args:
            self.spread(arg)
        return list(*args)

    def call_tuple(self, *args: Any) -> tuple[Any, ...]:
        """`tuple(items)`."""
        for arg in args:
            self.spread(arg)
        return tuple(*args)

    def call_set(self, *args: Any) -> OrderedSet:
        """`set(items)` and every set display."""
        for arg in args:
            self.keys(arg)
        if len(args) > 1:
            raise TypeError(f"set expected at most 1 argument, got {len(args)}")
        return OrderedSet(*args)

    def call_dict(self, *args: Any, **items: Any) -> dict[Any, Any]:
        """`dict(pairs, **items)`."""
        for arg in args:
            self.keys(arg)
            if type(arg) is list:
                self.keys([pair[0] for pair in arg if type(pair) in (list, tuple) and pair])
        return dict(*args, **items)

    def call_sorted(self, items: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
        """`sorted(items, key, reverse)`."""
        self.compared(items)
        self.ask(self.length(items) * 2 * ITEM_BYTES)
        return sorted(items, key=self._key(key), reverse=reverse)

    def _key(self, key: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        if key is None:
            return None

        def counted(item: Any) -> Any:
            self.step()
            return self.compared(key(item))

        return counted

    def call_min(self, *values: Any, **options: Any) -> Any:
        """`min(...)`."""
        return self._extreme(min, values, options)

    def call_max(self, *values: Any, **options: Any) -> Any:
        """`max(...)`."""
        return self._extreme(max, values, options)

    def _extreme(self, which: Callable[..., Any], values: tuple[Any, ...], options: dict[str, Any]) -> Any:
        for value in values:
            self.compared(value)
        if "key" in options:
            options["key"] = self._key(options["key"])
        return which(*values, **options)

    def call_sum(self, items: Any, /, start: Any = 0) -> Any:
        """`sum(items, start)`: one addition after another, each counted."""
        if type(start) is str:
            raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
        total = start
        for item in self._each(iter(items)):
            total = self.add(total, item)
        return total

    def call_any(self, items: Any) -> bool:
        """`any(items)`."""
        return any(self.each(items))

    def call_all(self, items: Any) -> bool:
        """`all(items)`."""
        return all(self.each(items))

    def call_enumerate(self, items: Any, start: Any = 0) -> list[tuple[int, Any]]:
        """`enumerate(items, start)`, as a list, as in the sandbox."""
        self.spread(items)
        self.ask(self.length(items) * 10 * ITEM_BYTES)
        return list(enumerate(items, start))

    def call_zip(self, *lists: Any, strict: Any = False) -> list[tuple[Any, ...]]:
        """`zip(a, b, …)`, as a list, as in the sandbox."""
        for items in lists:
            if type(items) is not range:
                self.spread(items)
        return list(self._each(zip(*lists, strict=strict)))

    def call_reversed(self, items: Any) -> list[Any]:
        """`reversed(items)`, as a list, as in the sandbox."""
        self.spread(items)
        return list(reversed(items))

    def call_int(self, *args: Any, **options: Any) -> int:
        """`int(x, base)`."""
        self._bounded_text(args)
        return int(*args, **options)

    def call_float(self, *args: Any) -> float:
        """`float(x)`."""
        self._bounded_text(args)
        return float(*args)

    def _bounded_text(self, args: tuple[Any, ...]) -> None:
        for arg in args:
            if type(arg) is str and len(arg) > MAX_WIDTH:
                raise LimitError(
                    finish.size_limit(f"a number is written with more than {MAX_WIDTH:,} characters")
                )

    def call_abs(self, value: Any) -> Any:
        """`abs(x)`."""
        return self._number(abs(value))

    def call_round(self, value: Any, ndigits: Any = None) -> Any:
        """`round(x, ndigits)`."""
        if type(ndigits) is int and abs(ndigits) > 10_000 and type(value) is int:
            return value if ndigits > 0 else 0
        return self._number(round(value, ndigits))

    # -- methods --

    def method(self, receiver: Any, name: str, /, *args: Any, **options: Any) -> Any:
        """Call a method of the safe-method table on plain data."""
        self.step()
        kind = type(receiver)
        if kind is str:
            for arg in args:
                self.compared(arg)
            return self._text_method(receiver, name, args, options)
        if kind not in _METHODS or name not in _METHODS[kind]:
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
        for arg in args:
            if kind is dict or kind is OrderedSet:
                self.filled(receiver)
                self.key(arg)
                self.keys(arg)
            else:
                self.compared(arg)
                self.ask(self.length(arg) * ITEM_BYTES)
        if name in _WALKING:
            self.compared(receiver)
        if name in _COPYING:
            self.spread(receiver)
        if name in _SHIFTING and len(receiver) > LONG:
            self.look()
        if name == "sort" and "key" in options:
            options["key"] = self._key(options["key"])
        return getattr(receiver, name)(*args, **options)

    def _text_method(self, text: str, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if name not in grammar.SAFE_METHODS["str"]:
            raise AttributeError(f"'str' object has no attribute '{name}'")
        estimate = _TEXT_SIZES.get(name)
        size = len(text)
        if estimate is not None:
            size = estimate(self, text, [*args, *options.values()])
        self.walk(len(text) >> 3)
        if name in _SCANNING and args and type(args[0]) is str:
            self.walk(len(text) * len(args[0]) // SCAN_CHARS)
        self.ask(size)
        return getattr(text, name)(*args, **options)


def _joined(guards: Guards, text: str, args: list[Any]) -> int:
    total = sum(len(part) for arg in args if type(arg) is not str for part in _texts(guards, arg))
    count = sum(guards.length(arg) for arg in args)
    return total + (max(count, 1) - 1) * len(text) + sum(len(arg) for arg in args if type(arg) is str)


def _texts(guards: Guards, items: Any) -> Iterable[str]:
    guards.spread(items)
    if type(items) is dict or type(items) in _LISTS or type(items) in _VIEWS:
        return [item for item in items if type(item) is str]
    return []


def _replaced(_: Guards, text: str, args: list[Any]) -> int:
    if len(args) < 2 or type(args[0]) is not str or type(args[1]) is not str:
        return len(text)
    old, new = args[0], args[1]
    count = text.count(old)
    if len(args) > 2 and type(args[2]) is int and args[2] >= 0:
        count = min(count, args[2])
    return len(text) + count * max(0, len(new) - len(old)) * (1 if new.isascii() else 4)


def _padded(_: Guards, text: str, args: list[Any]) -> int:
    width = args[0] if args and type(args[0]) is int else 0
    wide = len(args) > 1 and type(args[1]) is str and not args[1].isascii()
    return max(len(text), width) * (4 if wide else 1)


def _expanded(_: Guards, text: str, args: list[Any]) -> int:
    width = args[0] if args and type(args[0]) is int else 8
    return len(text) + text.count("\t") * max(0, width)


def _split(_: Guards, text: str, args: list[Any]) -> int:
    separator = args[0] if args and type(args[0]) is str and args[0] else None
    count = text.count(separator) if separator else len(text) // 2
    return 2 * len(text) + count * (64 if separator else 16)


def _lines(_: Guards, text: str, _args: list[Any]) -> int:
    return 2 * len(text) + text.count("\n") * 64


def _cased(_: Guards, text: str, _args: list[Any]) -> int:
    return len(text) * (1 if text.isascii() else 12)


_TEXT_SIZES: dict[str, Callable[[Guards, str, list[Any]], int]] = {
    "join": _joined,
    "replace": _replaced,
    **dict.fromkeys(("center", "ljust", "rjust", "zfill"), _padded),
    "expandtabs": _expanded,
    "split": _split,
    "rsplit": _split,
    "splitlines": _lines,
    **dict.fromkeys(("upper", "lower", "casefold", "title", "capitalize", "swapcase"), _cased),
}
"""Methods whose result can be larger than their receiver, with an estimate of its bytes."""

_METHODS: dict[type, frozenset[str]] = {
    list: grammar.SAFE_METHODS["list"],
    dict: grammar.SAFE_METHODS["dict"],
    tuple: grammar.SAFE_METHODS["tuple"],
    OrderedSet: grammar.SAFE_METHODS["set"],
    range: grammar.SAFE_METHODS["tuple"],
}
_SCANNING = frozenset({"rfind", "rindex", "rpartition", "rsplit", "strip", "lstrip", "rstrip"})
"""Methods whose search may compare every character with every one of their argument's."""
_WALKING = frozenset({"count", "index", "remove", "sort"})
_SHIFTING = frozenset({"insert", "pop", "remove"})
_COPYING = frozenset(
    {"copy", "union", "difference", "intersection", "symmetric_difference", "intersection_update", "reverse"}
)


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

OPERATIONS: dict[str, str] = {
    **{
        f"<{name}>": name
        for name in (
            *(
                "each",
                "spread",
                "grown",
                "made",
                "compared",
                "add",
                "iadd",
                "sub",
                "isub",
                "mul",
                "imul",
                "div",
            ),
            *("floordiv", "mod", "neg", "cut", "format", "text", "method"),
        )
    },
    "<each starred>": "each_starred",
    "<key>": "key",
    "<filled>": "filled",
    "<same>": "same",
    "<set>": "call_set",
}
"""Woven name → method of `Guards`."""
COUNTED_BUILTINS = frozenset(
    {
        *(
            "print",
            "str",
            "range",
            "list",
            "tuple",
            "set",
            "dict",
            "sorted",
            "min",
            "max",
            "sum",
            "any",
            "all",
        ),
        *("enumerate", "zip", "reversed", "int", "float", "abs", "round"),
    }
)
"""Builtins that have a guard of their own."""
PLAIN_BUILTINS: dict[str, Callable[..., Any]] = {"len": len, "bool": bool, "isinstance": isinstance}
"""Builtins that are cheap whatever they are given."""
