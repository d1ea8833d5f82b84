"""Patterns cover what they say: whole intents, typed slots, no leftover clause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lackpy.intent import Entry, PatternError, PatternSet, compile_pattern, expand, slot_type

CALLERS = Entry("callers", "find (all )?(callers|usages|references) of {name}", {"name": "identifier"})


def matched(entry: Entry, intent: str) -> dict[str, str | int] | None:
    hit = PatternSet([entry]).match(intent).hit
    return None if hit is None else hit.slots


@pytest.mark.parametrize(
    "intent",
    [
        "find callers of X",
        "Find all usages of X.",
        "please find references of `X`?",
        'find callers of "X"',
        "who calls X",
        "X: who calls it?",
        "find the callers of X()",
    ],
)
def test_a_pattern_serves_its_phrasings_and_their_synonyms(intent: str) -> None:
    assert matched(CALLERS, intent) == {"name": "X"}


@pytest.mark.parametrize(
    "intent",
    [
        "find callers of X but not tests",
        "don't find callers of X",
        "find functions that X calls",
        "find callers of X and delete them",
        "find callers of X and Y",
        "find callers of X in src only",
        "find the 5 biggest callers of X",
        "find callers of --max-cost",
        "find callers of it",
        "find callers of everything",
        "find callers of functions",
        "find callers of a.b",
        "find callers of X Y",
        "find callers of",
        "find callers of X; write('a','b')",
        "count callers of X",
        "find no callers of X",
        "callers of usages",
    ],
)
def test_anything_beyond_the_pattern_is_a_miss(intent: str) -> None:
    assert matched(CALLERS, intent) is None


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (
            "identifier",
            ["foo", "_x", "Prompt", "HTTPClient", "`file`", "ß"],
            ["a.b", "it", "file", "9x", "a-b", "Makefile"],
        ),
        ("dotted", ["os.path", "click", "urllib.parse"], ["setup.py", "it", "a..b", "a/b"]),
        (
            "path",
            ["setup.py", "a/b.ts", "LICENSE", "./x/y.c", "Makefile"],
            ["src", "a*.py", "-x.py", "http://a/b.html"],
        ),
        (
            "dir",
            ["src", "src/", "tests", "a/b", ".github"],
            ["src/a.py", "order", "total", "python", "it", "..", "7"],
        ),
        ("glob", ["*.py", "src/**/*.ts"], ["src", "a.py"]),
        ("number", ["7", "five", "120"], ["-5", "1_000", "one", "3.5", "0x1"]),
        ("language", ["Python", "C++", ".py", "*.ts", "golang"], ["klingon", "src"]),
        ("text", ['"a b"', "'x'", "`it`"], ["x", '""']),
        ("word", ["a-b", "x.y", "foo"], ["it", "all"]),
    ],
)
def test_slot_types(kind: str, good: list[str], bad: list[str]) -> None:
    entry = Entry("k", "frobnicate {x} soon", {"x": kind})
    for said in good:
        assert matched(entry, f"frobnicate {said} soon") is not None, said
    for said in bad:
        assert matched(entry, f"frobnicate {said} soon") is None, said


def test_values_reach_the_program_as_the_slot_says() -> None:
    entry = Entry(
        "k", "list {n} {language} files in {dir}", {"n": "number", "language": "language", "dir": "dir"}
    )
    assert matched(entry, "list five TypeScript files in ./src/") == {"n": 5, "language": "ts", "dir": "src"}


def test_quoted_values_keep_every_character() -> None:
    entry = Entry("k", 'search for "{text}" in {path}', {"text": "text", "path": "path"})
    for value in ("{0}", "$& \\1", "a'b", ") or write(1) #", "x\ty", " lead", "it"):
        assert matched(entry, f'search for "{value}" in a.py') == {"text": value, "path": "a.py"}


def test_a_slot_said_twice_must_agree() -> None:
    entry = Entry("k", "compare {name} against {name}", {"name": "identifier"})
    assert matched(entry, "compare foo_x against foo_x") == {"name": "foo_x"}
    assert matched(entry, "compare foo_x against bar_x") is None


def test_a_literal_name_keeps_its_case() -> None:
    entry = Entry("k", "callers of Prompt", {})
    assert matched(entry, "Callers of Prompt") == {}
    assert matched(entry, "callers of prompt") is None


def test_quotes_in_a_pattern_are_required() -> None:
    entry = Entry("k", 'zap "{name}" now', {"name": "identifier"})
    assert matched(entry, "zap `foo` now") == {"name": "foo"}
    assert matched(entry, "zap foo now") is None


def test_the_more_specific_pattern_wins() -> None:
    both = PatternSet(
        [
            Entry("wide", "callers of {name} in {dir}", {"name": "identifier", "dir": "dir"}),
            Entry("narrow", "callers of {name} in tests", {"name": "identifier"}),
        ]
    )
    assert both.match("callers of foo in tests").hit.key == "narrow"
    assert both.match("callers of foo in src").hit.key == "wide"


def test_a_true_tie_is_no_hit_and_is_reported() -> None:
    both = PatternSet([Entry(k, "zap {name}", {"name": "identifier"}) for k in "ab"])
    found = both.match("zap foo")
    assert found.hit is None
    assert [h.key for h in found.tied] == ["a", "b"]


def test_a_refused_value_is_explained() -> None:
    found = PatternSet([CALLERS]).match("find callers of it")
    assert found.refused == (("callers", "{name} takes a identifier, not 'it'"),)


@pytest.mark.parametrize(
    ("pattern", "slots", "why"),
    [
        ("find .+ of {name}", {"name": "identifier"}, "regular-expression syntax"),
        ("find {name}", {}, "has no type"),
        ("find {name}", {"name": "thing"}, "slot type 'thing' is unknown"),
        ("{name}", {"name": "identifier"}, "no word of its own"),
        ("find (a|b of {name}", {"name": "identifier"}, "never closed"),
        ("find a) of {name}", {"name": "identifier"}, "without '('"),
        ("find {name}|find it", {"name": "identifier"}, "missing from the alternative"),
        ("(a |b )?" * 9 + "x {name}", {"name": "identifier"}, "more than 256 phrasings"),
    ],
)
def test_a_bad_pattern_says_what_to_change(pattern: str, slots: dict[str, str], why: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern, slots)
    assert why in str(caught.value)


def test_expansion_is_finite_and_ordered() -> None:
    assert expand("(show )?(a|b) of {x}") == ["show a of {x}", "show b of {x}", "a of {x}", "b of {x}"]
    assert expand("callers? of {x}") == ["callers of {x}", "caller of {x}"]
    assert expand("who calls {x}?") == ["who calls {x}?"]


def test_unknown_slot_type_lists_the_known_ones() -> None:
    with pytest.raises(KeyError, match="identifier"):
        slot_type("nope")


@given(st.text(max_size=200))
def test_matching_never_raises(text: str) -> None:
    PatternSet([CALLERS]).match(text)


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{3,12}", fullmatch=True))
def test_a_captured_name_is_the_name_said(name: str) -> None:
    for intent in (f"find callers of {name}", f"who calls `{name}`"):
        found = matched(CALLERS, intent)
        assert found in (None, {"name": name})
        if "_" in name:
            assert found == {"name": name}
