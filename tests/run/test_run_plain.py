"""The border copy: exact plain types, budgets, and strict JSON."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import json
import pathlib
import uuid
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lackpy.run import Limits
from lackpy.run.plain import (
    KEY_NOTE,
    NONFINITE_NOTE,
    SET_NOTE,
    BudgetError,
    PlainError,
    copy_plain,
    json_safe,
    sort_set,
)

LIMITS = Limits()


class Colour(enum.Enum):
    RED = "red"


class RanError(Exception):
    """A subclass's own code ran."""


class Loud(str):
    __slots__ = ()

    def lower(self) -> str:
        raise RanError

    encode = __len__ = __iter__ = lower


class LoudDict(dict[str, int]):
    def items(self) -> Any:
        raise RanError

    __iter__ = __getitem__ = keys = items


@dataclass
class Place:
    file: str
    line: int


class Point(NamedTuple):
    x: int
    y: int


class Opaque:
    secret = "hidden"


@pytest.mark.parametrize(
    ("given_value", "want"),
    [
        (Loud("abc"), "abc"),
        (LoudDict(a=1), {"a": 1}),
        (True, True),
        (collections.OrderedDict(b=1), {"b": 1}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.deque([1, 2]), [1, 2]),
        (Colour.RED, "red"),
        (Place("a.py", 3), {"file": "a.py", "line": 3}),
        (Point(1, 2), {"x": 1, "y": 2}),
        (pathlib.PurePosixPath("a/b.py"), "a/b.py"),
        (pathlib.PureWindowsPath("a\\b.py"), "a/b.py"),
        (dt.datetime(2024, 1, 2, 3, 4, tzinfo=dt.UTC), "2024-01-02T03:04:00+00:00"),
        (dt.date(2024, 1, 2), "2024-01-02"),
        (dt.timedelta(seconds=90), "0:01:30"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("1.10"), "1.10"),
        (b"caf\xc3\xa9 \xff", "café \\xff"),
        (bytearray(b"x"), "x"),
        (range(3), [0, 1, 2]),
        ({"a": 1}.keys(), ["a"]),
        ("\ud800x", "\ufffdx"),
        (frozenset([1]), frozenset([1])),
        ({(1, 2): {3}}, {(1, 2): {3}}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_has_one_rule(given_value: Any, want: Any) -> None:
    """The copy is of exact plain types, and code of a subclass never runs."""
    copied = copy_plain(given_value, LIMITS)
    assert copied == want
    assert type(copied) is type(want)


@pytest.mark.parametrize(
    "value", [Opaque(), len, Opaque, (i for i in [1]), object(), 1j, pathlib.Path("/etc/x")]
)
def test_what_is_no_plain_data_is_refused(value: Any) -> None:
    """The refusal names the type, never the value."""
    with pytest.raises(PlainError) as caught:
        copy_plain([value], LIMITS)
    assert "0x" not in str(caught.value)
    assert "/etc" not in str(caught.value)


def test_a_budget_counts_exactly() -> None:
    """At the budget passes, one more does not: items, characters, depth, digits."""
    limits = replace(LIMITS, nodes=4, chars=3, depth=2, digits=3)
    assert copy_plain([1, "ab", "c"], limits) == [1, "ab", "c"]
    assert copy_plain(999, limits) == 999
    for value, said in [
        ([1, 2, 3, 4], "more than 4 items"),
        (["ab", "cd"], "more than 3 characters"),
        ([[[[1]]]], "deeper than 2 levels"),
        (10**5, "more than 3 digits"),
    ]:
        with pytest.raises(BudgetError, match=said):
            copy_plain(value, limits)


def test_a_value_that_is_small_in_memory_and_huge_when_walked_is_refused_at_once() -> None:
    """Shared parts count each time they are reached, and are walked once."""
    value: Any = []
    for _ in range(60):
        value = [value, value]
    with pytest.raises(BudgetError, match="items"):
        copy_plain(value, LIMITS)
    with pytest.raises(BudgetError, match="items"):
        copy_plain(range(10**15), LIMITS)


def test_a_value_that_contains_itself_is_refused() -> None:
    """The depth budget ends it."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(BudgetError, match="nested deeper"):
        copy_plain(value, LIMITS)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(plain)
def test_a_copy_of_plain_data_is_equal_and_shares_no_container(value: Any) -> None:
    """Lone surrogates aside, which JSON text can't carry."""
    copied = copy_plain(value, LIMITS)
    assert copied == value
    if type(value) in (list, dict):
        assert copied is not value


@given(plain | st.sets(st.text() | st.integers()) | st.floats())
def test_json_safe_gives_what_strict_json_takes_and_gives_back(value: Any) -> None:
    """`allow_nan=False` accepts it and reading it back changes nothing; clashing keys are refused instead."""
    try:
        safe = json_safe(copy_plain(value, LIMITS)).value
    except PlainError:
        return
    assert json.loads(json.dumps(safe, allow_nan=False)) == safe


def test_conversions_to_json_follow_the_stated_rules_and_are_noted() -> None:
    """Non-finite floats become text, sets sorted lists, other keys their JSON text; whole numbers stay exact."""
    value = {
        "n": [float("nan"), float("inf"), float("-inf"), -0.0, 2**70],
        "s": {3, 1, "b", None},
        2: {None: 1, True: 2, (1, 2): 3},
    }
    converted = json_safe(value)
    assert converted.value == {
        "n": ["NaN", "Infinity", "-Infinity", -0.0, 2**70],
        "s": [None, 1, 3, "b"],
        "2": {"null": 1, "true": 2, "(1, 2)": 3},
    }
    assert converted.notes == (NONFINITE_NOTE, SET_NOTE, KEY_NOTE)
    assert json_safe({"a": [1, "x"]}).notes == ()
    with pytest.raises(PlainError, match="both become the text '1'"):
        json_safe({1: "a", "1": "b"})


@given(st.sets(st.text() | st.integers() | st.floats(allow_nan=False) | st.tuples(st.integers(), st.text())))
def test_the_order_of_a_set_does_not_depend_on_hashing(items: set[Any]) -> None:
    """Any insertion order sorts alike."""
    assert sort_set(items) == sort_set(reversed(sort_set(items)))
