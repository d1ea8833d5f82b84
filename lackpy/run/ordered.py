"""A set that keeps the order its members came in, as the sandbox's sets do.

Python leaves a set's order open, and for text it differs from process to process. Programs run on two
executors and must give one answer, so the inline executor's sets are these: new members go last, `pop` takes
the last, results of set operations keep the order of their first operand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class OrderedSet(set[Any]):
    """A set with insertion order; made and used by the inline executor only."""

    __slots__ = ("_order",)

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._order: dict[Any, None] = dict.fromkeys(items)
        super().__init__(self._order)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._order)

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self._order)) + "}" if self._order else "set()"

    def __sub__(self, other: Any) -> Any:
        return self.difference(other) if isinstance(other, set) else NotImplemented

    def _become(self, items: Iterable[Any]) -> None:
        self._order = dict.fromkeys(items)
        super().clear()
        super().update(self._order)

    def add(self, item: Any) -> None:
        """Add one member, last."""
        self._order.setdefault(item)
        super().add(item)

    def discard(self, item: Any) -> None:
        """Remove a member, if it is one."""
        self._order.pop(item, None)
        super().discard(item)

    def remove(self, item: Any) -> None:
        """Remove a member; raise `KeyError` when it is none."""
        super().remove(item)
        del self._order[item]

    def pop(self) -> Any:
        """Remove and return the last member; raise `KeyError` when there is none."""
        if not self._order:
            raise KeyError("pop from an empty set")
        item, _ = self._order.popitem()
        super().discard(item)
        return item

    def clear(self) -> None:
        """Remove all members."""
        self._become(())

    def copy(self) -> OrderedSet:
        """Return a set with the same members in the same order."""
        return OrderedSet(self._order)

    def update(self, *others: Iterable[Any]) -> None:
        """Add the members of `others`, in turn."""
        for other in others:
            for item in list(other):
                self.add(item)

    def union(self, *others: Iterable[Any]) -> OrderedSet:
        """Return the members of this set, then those of `others`."""
        joined = self.copy()
        joined.update(*others)
        return joined

    def intersection(self, *others: Iterable[Any]) -> OrderedSet:
        """Return the members that all have; the order is the smaller set's, as Python walks that one."""
        result: OrderedSet = self.copy()
        for other in others:
            members = other if isinstance(other, OrderedSet) else OrderedSet(other)
            first, second = (result, members) if len(result) < len(members) else (members, result)
            result = OrderedSet([item for item in first if set.__contains__(second, item)])
        return result

    def difference(self, *others: Iterable[Any]) -> OrderedSet:
        """Return the members that none of `others` has."""
        gone: set[Any] = set().union(*others)
        return OrderedSet([item for item in self if item not in gone])

    def symmetric_difference(self, other: Iterable[Any]) -> OrderedSet:
        """Return the members of one but not both: first this set's, then the other's."""
        members = OrderedSet(other)
        mine = [item for item in self if not set.__contains__(members, item)]
        return OrderedSet(mine + [item for item in members if not set.__contains__(self, item)])

    def intersection_update(self, *others: Iterable[Any]) -> None:
        """Keep the members that all have."""
        kept = set(self.intersection(*others))
        self._become([item for item in self if item in kept])

    def difference_update(self, *others: Iterable[Any]) -> None:
        """Remove the members that any of `others` has."""
        self._become(self.difference(*others))

    def symmetric_difference_update(self, other: Iterable[Any]) -> None:
        """Keep the members of one but not both."""
        self._become(self.symmetric_difference(other))


# Messages of Python's own code name the type; a program knows it as `set`.
OrderedSet.__name__ = OrderedSet.__qualname__ = "set"
