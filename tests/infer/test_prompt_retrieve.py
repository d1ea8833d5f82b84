"""The prompt's words and the examples it shows."""

from __future__ import annotations

import pytest

from lackpy.infer import prompt
from lackpy.infer.protocol import Feedback, Request
from lackpy.infer.retrieve import Example, Retriever, bank, from_template, parse_examples
from lackpy.infer.words import tokens
from lackpy.lang import Grade, Param, RowType, Signature, Violation, check

ROW = RowType("CallerRow", (("name", "str"), ("file", "str")))
TOOLS = {
    "find_callers": Signature(
        "find_callers", (Param("name", "str"),), "list[CallerRow]", (ROW,), Grade(0, 0), "Find call sites."
    ),
    "glob": Signature("glob", (Param("pattern", "str"),), "list[str]", (), Grade(1, 1), "Find files."),
}
GREP = Signature(
    "grep", (Param("pattern", "str"), Param("glob", "str", '"**/*"')), "list[str]", (), Grade(1, 1)
)


def test_the_prompt_shows_row_keys_and_never_lists_what_is_forbidden():
    said = prompt.system(TOOLS, {"limit": "int"})
    assert 'find_callers(name) -> list[{"name", "file"}]  # Find call sites' in said
    assert "limit: int" in said
    for word in ("import", "class", "not allowed", "never", "don't", "must not"):
        assert word not in said


def test_examples_are_earlier_turns_and_the_intent_is_last():
    request = Request("who calls\n\nfoo <|im_end|>", "debug", TOOLS)
    bank = [
        Example(str(n), (f"who calls {w}",), f'find_callers("{w}")') for n, w in enumerate(("a_b", "c_d"))
    ]
    picked = Retriever(bank).pick(request.intent, TOOLS, 2)
    messages = prompt.build(request, picked)
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert messages[-1]["content"] == "who calls foo"
    assert messages[-2]["content"] == picked[-1].example.program


def test_a_retry_is_a_fresh_request_with_the_failed_line_and_one_instruction():
    wrong = Violation("unknown-name", 2, 1, "'rows' is not defined", "did you mean 'row'?")
    request = Request("count it", "debug", TOOLS, feedback=Feedback("row = 1\nrows", (wrong,)))
    said = prompt.build(request, ())[-1]["content"]
    assert said.startswith("count it\n")
    assert "Line 2 `rows`: 'rows' is not defined. Did you mean 'row'?" in said


def test_the_closest_example_comes_last_and_six_are_the_most():
    picked = Retriever().pick("which files call make_user, each once", TOOLS, 99)
    assert picked[-1].example.program == 'sorted({c["file"] for c in find_callers("write_log")})'
    assert [p.score for p in picked] == sorted(p.score for p in picked)
    alike = [Example(str(n), (f"who calls name_{n}",), f'find_callers("name_{n}")') for n in range(9)]
    assert len(Retriever(alike).pick("who calls make_user", TOOLS)) == 6


def test_a_distant_example_is_left_out():
    examples = [
        Example("near", ("search for FeatureFlag everywhere",), 'grep("FeatureFlag")'),
        Example("far", ("which functions of lib/io.py does nobody call anywhere",), 'outline("lib/io.py")'),
    ]
    picked = Retriever(examples).pick("search for LongName everywhere", TOOLS | {"grep": GREP})
    assert [p.example.id for p in picked] == ["near"]


def test_only_examples_that_the_kit_can_run_are_shown():
    tools = {"glob": TOOLS["glob"]}
    picked = Retriever().pick("who calls foo in the python files", tools)
    assert picked
    assert all(check(p.example.program, tools).ok for p in picked)


def test_a_budget_keeps_the_closest_example():
    picked = Retriever().pick("who calls foo", TOOLS, 6, budget_chars=1)
    assert len(picked) == 1
    assert picked[0].example.program == 'find_callers("validate_order")'


def test_an_intent_without_a_known_word_gets_no_example():
    assert Retriever().pick("\u4f60\u597d", TOOLS) == ()


def test_live_templates_and_past_successes_compete_with_the_bank():
    mine = Example("trace:1", ("frobnicate the widgets of foo",), 'find_callers("foo")')
    template = from_template(
        "t", "frobnicate (all )?(the|my) gadgets of {name}", 'find_callers("{name}")', {"name": "identifier"}
    )
    assert template.phrasings == ("frobnicate the gadgets of some_name",)
    assert template.program == 'find_callers("some_name")'
    retriever = Retriever(sources=[lambda: [mine], lambda: [template]])
    assert retriever.pick("frobnicate widgets", TOOLS, 1)[0].example is mine
    assert retriever.pick("frobnicate my gadgets", TOOLS, 1)[0].example.id == "template:t"


@pytest.mark.parametrize("text", ["find_callers('x')", "# only words", ""])
def test_a_bank_block_needs_words_and_a_program(text):
    with pytest.raises(ValueError, match="a block needs"):
        parse_examples("t", text)


def test_the_bank_is_large_and_has_unique_ids():
    ids = [e.id for e in bank()]
    assert len(ids) >= 200
    assert len(set(ids)) == len(ids)


def test_values_become_shapes_and_synonyms_one_concept():
    assert tokens("who calls parse_row in src/a.py?") == ("call", "NAME", "PATH")
    assert tokens("usages of parseRow") == ("call", "NAME")
    assert tokens("how many times is it called") == tokens("number of calls")


def test_the_token_estimate_is_not_too_low():
    text = 'sorted({r["file"] for r in grep("x", "**/*.py")})\n' * 20
    assert prompt.estimate_tokens([{"role": "user", "content": text}]) >= 20 * 20
