"""The clean-up drops what carries no meaning and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lackpy.intent import clean
from lackpy.intent.tokens import MAX_CHARS, scan


@pytest.mark.parametrize(
    ("intent", "light"),
    [
        ("Please find the callers of `foo`, thanks!", "find callers of ⟦foo⟧"),
        ("hey, could you list TODOs in src/ :)", "list TODOs in src/"),
        ("okay, next: callers of validate_token(), thx", "callers of validate_token"),
        ("I need to see who is calling Foo", "see who is calling Foo"),
        ("  who   calls\n Foo ?? ", "who calls Foo"),
        ("find “not in use” in docs", "find ⟦not in use⟧ in docs"),
        ("search for 'don't' in src", "search for ⟦don't⟧ in src"),
        ("Foo's callers", "Foo 's callers"),
        ("what's in exc.py?", "what's in exc.py"),
        ("search (in src/)", "search ( in src/ )"),
        ("can I delete foo?", "can I delete foo"),
    ],
)
def test_light_text(intent: str, light: str) -> None:
    assert clean(intent).light == light


def test_case_of_values_is_kept() -> None:
    assert clean("WHO CALLS getUserById").light.endswith("getUserById")


def test_politeness_alone_is_no_empty_intent() -> None:
    assert clean("please").light == "please"


@pytest.mark.parametrize(
    "text", ["", "   ", "?!", "x" * (MAX_CHARS + 1), "find \ud800", "a\x00b", "⟦x⟧", "\ue000"]
)
def test_unreadable_text_has_no_forms(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.light == ""
    assert set(cleaned.normals) == {""}


@pytest.mark.parametrize(
    "name",
    [
        "sha256sum",
        "utf8_decode",
        "x86",
        "test_9",
        "v2/api.py",
        "3d",
        "a-b-c-1234",
        "2026-01-31",
        "1_000",
        "-5",
        "1e3",
    ],
)
def test_a_value_stays_one_token(name: str) -> None:
    """Digits, dashes and dots inside a value never cut or mask it."""
    tokens = clean(f"find callers of {name} here").tokens
    assert [t.text for t in tokens] == ["find", "callers", "of", name, "here"]


KEPT = re.compile(r"\b(?:not|no|never|without|except|only|and|or|but|\d+)\b")


@given(
    st.lists(
        st.sampled_from(
            "please not no never without except only and or but 5 17 find callers of foo_bar in tests".split()
        ),
        min_size=1,
        max_size=12,
    )
)
def test_negations_qualifiers_and_numbers_survive(words: list[str]) -> None:
    text = " ".join(words)
    assert KEPT.findall(clean(text).light) == KEPT.findall(text)


@given(st.text(max_size=300))
def test_any_text_is_cleaned_without_an_error(text: str) -> None:
    cleaned = clean(text)
    assert isinstance(cleaned.normal, str)
    assert len(cleaned.tokens) <= len(scan(text)) or not cleaned.readable


@given(st.text(alphabet="abc XY_0189 ", max_size=60))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    """Words of light text are stable."""
    light = clean(text).light
    assert clean(light).light == light
