"""Values a model copied from a shown example: conditions on them go, what is left is refused."""

from __future__ import annotations

import pytest

from lackpy.infer.copied import problems, without_copies
from lackpy.infer.model import Asker, Completion, Settings
from lackpy.infer.protocol import Request
from lackpy.infer.retrieve import Example, Picked, Retriever
from lackpy.lang import Grade, Param, RowType, Signature

ROW = RowType("Row", (("name", "str"), ("file", "str"), ("line", "int"), ("text", "str")))
TOOLS = {
    "find_callers": Signature(
        "find_callers", (Param("name", "str"),), "list[Row]", (ROW,), Grade(0, 0), "Find calls."
    )
}
SHOWN = Picked(
    Example(
        "a",
        ("calls of open_ledger inside billing/report.py, name and file",),
        '[c["name"] for c in find_callers("open_ledger") if c["file"] == "billing/report.py"]',
    ),
    "calls of open_ledger inside billing/report.py, name and file",
    1.0,
)


@pytest.mark.parametrize(
    ("program", "left"),
    [
        # what a 1.5B model wrote for "show me every place term_len gets invoked"
        (
            '[c for c in find_callers("term_len") if c["file"] == "billing/report.py"]',
            "[c for c in find_callers('term_len')]",
        ),
        (
            '[c for c in find_callers("term_len") if c["line"] > 3 and c["file"] == "billing/report.py"]',
            "[c for c in find_callers('term_len') if c['line'] > 3]",
        ),
        (
            'n = 0\nfor c in find_callers("term_len"):\n    if c["file"] == "billing/report.py":\n        n += 1\nn',
            "n = 0\nfor c in find_callers('term_len'):\n    n += 1\nn",
        ),
    ],
)
def test_a_condition_on_a_copied_value_goes(program, left):
    assert without_copies(program, "show me every place term_len gets invoked", [SHOWN]) == (left, True)


@pytest.mark.parametrize(
    "intent",
    ["calls of term_len in the report", "term_len in billing/report.py", "which billing code calls it"],
)
def test_a_value_that_the_intent_has_a_word_of_stays(intent):
    program = '[c for c in find_callers("term_len") if c["file"] == "billing/report.py"]'
    assert without_copies(program, intent, [SHOWN]) == (program, False)


def test_row_keys_are_nobodys_values():
    program = '[c["name"] for c in find_callers("term_len")]'
    assert without_copies(program, "who calls term_len", [SHOWN]) == (program, False)
    assert problems(program, "who calls term_len", [SHOWN]) == ()


def test_what_is_left_is_refused_with_where():
    (said,) = problems('x = 1\nfind_callers("open_ledger")', "who calls term_len", [SHOWN])
    assert (said.rule, said.line, said.message) == ("copied-value", 2, "'open_ledger' isn't in the request")


def test_text_that_is_no_program_is_left_alone():
    assert without_copies("for for", "x", [SHOWN]) == ("for for", False)
    assert problems("for for", "x", [SHOWN]) == ()


class Says:
    model = "double"

    def __init__(self, text):
        self.text = text

    def room(self):
        return None

    def complete(self, messages, request, settings):
        return Completion(self.text)


def _proposal(text, **changes):
    asker = Asker(Says(text), Retriever([SHOWN.example]), Settings(**changes))
    return asker.propose(Request("every call of term_len", "debug", TOOLS))


def test_the_asker_drops_refuses_and_records():
    dropped = _proposal('[c for c in find_callers("term_len") if c["file"] == "billing/report.py"]')
    assert dropped.repairs == ("copied-condition",)
    assert not dropped.problems
    left = '"billing/report.py" in [c["file"] for c in find_callers("term_len")]'
    assert [v.rule for v in _proposal(left).problems] == ["copied-value"]
    assert not _proposal(left, grounding=False).problems


def test_an_answer_from_memory_is_refused():
    # a 1.5B model, asked for the methods of a class
    made_up = _proposal('[["write", 1], ["write_usage", 2], ["write_option", 3]]')
    assert [v.rule for v in made_up.problems] == ["no-call"]
    assert not _proposal('len(find_callers("term_len"))').problems


@pytest.mark.parametrize(
    ("intent", "left"),
    [
        # what a 1.5B model wrote for the first intent
        (
            "all the things named <something>_option, wherever they are",
            "[d for d in find_definitions('*_option')]",
        ),
        ("classes named <something>_option", None),
        ("exceptions named <something>_option", None),
    ],
)
def test_a_kind_of_definition_nobody_asked_for_goes(intent, left):
    shown = Picked(
        Example("b", ("Base classes",), '[d for d in find_definitions("Base*") if d["type"] == "class"]'),
        "",
        1.0,
    )
    program = '[d for d in find_definitions("*_option") if d["type"] == "class"]'
    assert without_copies(program, intent, [shown]) == (left or program, left is not None)
