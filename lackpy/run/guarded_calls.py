"""The guards of the inline executor, part two: builtins and methods, and the names all guards go by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lackpy.lang import grammar
from lackpy.run import estimates, finish
from lackpy.run.guards import MAX_WIDTH, Guards
from lackpy.run.meter import ITEM_BYTES, LimitError
from lackpy.run.ordered import OrderedSet

if TYPE_CHECKING:
    from collections.abc import Callable

SCAN_CHARS = 200
"""Character comparisons that count as one item of a walk."""
LONG = 10_000
"""Items of a list from which on moving all of them is worth a look at the clock."""


class Calls(Guards):
    """All guarded operations of one run."""

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
        estimate = estimates.TEXT_BYTES.get(name)
        size = len(text)
        if estimate is not None:
            size = estimate(text, [*args, *options.values()])
        self.walk(len(text) >> 3)
        if name in _SCANNING and args and type(args[0]) is str:
            self.walk(len(text) * len(args[0]) // SCAN_CHARS)
        self.ask(size)
        return getattr(text, name)(*args, **options)


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
