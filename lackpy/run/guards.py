"""The guards of the inline executor, part one: loops, operators and text, each counted before it is done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lackpy.run import finish
from lackpy.run.meter import ITEM_BYTES, LISTS, SCALARS, VIEWS, LimitError, Meter
from lackpy.run.ordered import OrderedSet

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_INT_BITS = 1 << 18
"""Largest whole number a program may make, about 79,000 digits."""
BIG_INT_BITS = 1 << 10
"""From here on a number's bytes are counted."""
CLEAR_HASH = 1 << 60
"""From here on numbers can be chosen to collide in a dict or set: the more there are, the more each costs."""
TABLE_ITEMS = 1 << 16
"""Members of a dict or set between two looks at what its next, larger table will take."""
TABLE_BYTES = 64
"""What one member takes in such a table."""
MAX_WIDTH = 1_000_000
"""Largest width or precision in a format."""

_PERCENT = re.compile(r"%(?:\([^)]*\))?[#0\- +]*(\*|\d+)?(?:\.(\*|\d+))?")
_SPEC_NUMBER = re.compile(r"\d{6,}")


class Guards(Meter):
    """The operations of one run, apart from calls."""

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
        if isinstance(value, (dict, set)) and len(value) % TABLE_ITEMS == TABLE_ITEMS - 1:
            self.ask(len(value) * 2 * TABLE_BYTES)
        return value

    def made(self, value: Any, items: int) -> Any:
        """Count a display of many items."""
        self.step()
        self.ask(items * 2 * ITEM_BYTES)
        return value

    def compared(self, value: Any) -> Any:
        """Allow a value to be compared or hashed."""
        if type(value) not in SCALARS:
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
        elif kind not in SCALARS:
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
        if type(items) in LISTS or type(items) in VIEWS:
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
        elif kind in LISTS:
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
        if type(value) is str or type(value) in LISTS:
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
        if (spec and type(value) not in SCALARS) or value is None:
            return self._format_other(value, spec)
        return format(value, spec)

    def _format_other(self, value: Any, spec: str) -> str:
        """Align what is neither text nor number by its text, as the sandbox does; Python refuses."""
        if spec[-1:].isalpha() or spec[-1:] == "%":
            raise ValueError(f"Unknown format code '{spec[-1]}' for object of type '{type(value).__name__}'")
        return format(str(value), spec)

    def text(self, *parts: str) -> str:
        """Join the pieces of an f-string."""
        self.ask(sum(map(len, parts)))
        return "".join(parts)

    def call_print(self, *values: Any, sep: Any = None, end: Any = None) -> None:
        """`print`, captured."""
        for name, part in (("sep", sep), ("end", end)):
            if part is not None and type(part) is not str:
                raise TypeError(f"{name} must be None or a string, not {type(part).__name__}")
        between = " " if sep is None else sep
        room = self.printed.budget - self.printed.chars
        texts: list[str] = []
        for value in values:
            texts.append(self.call_str(value))
            room -= len(texts[-1]) + len(between)
            if room < 0:
                break
        self.printed.add(between.join(texts) + ("\n" if end is None else end))

    def call_str(self, *values: Any) -> str:
        """`str(value)`."""
        if len(values) == 1:
            value = values[0]
            if type(value) is str:
                return value
            self.ask(4 * self.check(value))
            return str(value)
        return str(*values)
