"""The lexicon merges what means the same and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lackpy.intent import clean
from lackpy.intent.lexicon import LexiconError, lexicon, parse

HERE = Path(__file__).parent


def chunks(name: str) -> list[list[str]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    out: list[list[str]] = [[]]
    for line in lines:
        if line == "---":
            out.append([])
        elif line and not line.startswith("#"):
            out[-1].append(line)
    return out


@pytest.mark.parametrize("phrasings", chunks("same.txt"), ids=lambda c: c[0])
def test_one_request_has_one_concept_text(phrasings: list[str]) -> None:
    texts = {clean(p).normal.replace("⟦foo_bar⟧", "⟨foo_bar⟩") for p in phrasings}
    assert len(texts) == 1, {p: clean(p).normal for p in phrasings}


@pytest.mark.parametrize("phrasings", chunks("different.txt"), ids=lambda c: c[0])
def test_different_requests_have_different_concept_texts(phrasings: list[str]) -> None:
    texts = Counter(clean(p).normal for p in phrasings)
    assert [t for t, n in texts.items() if n > 1] == []


def test_requests_of_different_chunks_stay_apart() -> None:
    """Over all `same` chunks, a concept text belongs to one chunk only."""
    owner: dict[str, str] = {}
    for chunk in chunks("same.txt"):
        for phrasing in chunk:
            assert owner.setdefault(clean(phrasing).normal, chunk[0]) == chunk[0]


def test_values_that_are_lexicon_words_stay_values() -> None:
    for name in ("call", "invoke", "locate", "run", "usage_of", "style"):
        assert clean(f"who calls {name}?").normal == f"callers of ⟨{name}⟩"


def test_a_concept_never_becomes_a_value() -> None:
    """`callers of usages`: the word the lexicon rewrote isn't captured as a name."""
    assert "⟨" not in clean("callers of usages").normal


def test_two_scopes_keep_their_places() -> None:
    one, other = (
        clean("files in src that call foo_bar in docs"),
        clean("files in docs that call foo_bar in src"),
    )
    assert one.normal != other.normal


def test_tests_may_be_a_folder_or_a_concept() -> None:
    assert clean("callers of foo_bar in tests").normals == (
        "callers of ⟨foo_bar⟩ in tests",
        "callers of ⟨foo_bar⟩ in ⟨tests⟩",
    )
    assert clean("callers of foo_bar in the test suite").normals == ("callers of ⟨foo_bar⟩ in tests",)


def test_every_group_gives_its_reason() -> None:
    assert all(len(why.split()) >= 5 for why in lexicon().reasons.values())


def test_every_rule_can_be_compiled() -> None:
    for rule in lexicon().rules:
        assert rule.regex() is not None, rule.source


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("who calls T", "'=>' is missing"),
        ("(who calls => x", "never closed"),
        ("who) => x", "unbalanced"),
        ("a => T", "'T' has no source"),
        ("@nothing => x", "nothing"),
    ],
)
def test_a_broken_line_is_named(line: str, why: str) -> None:
    source = f'[[group]]\nname = "g"\nwhy = "w"\nrules = """\n{line}\n"""\n'
    with pytest.raises(LexiconError, match="group 'g'") as caught:
        parse(source)
    assert why in str(caught.value)
