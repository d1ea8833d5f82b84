"""The answer's form: rows become the count or the truth that the intent asks for outright."""

from __future__ import annotations

import pytest

from lackpy.infer.form import in_wanted_form, wanted_form
from lackpy.lang import Grade, Param, RowType, Signature

ROW = RowType("Row", (("file", "str"), ("line", "int"), ("text", "str")))
TOOLS = {"grep": Signature("grep", (Param("pattern", "str"),), "list[Row]", (ROW,), Grade(0, 0), "")}


@pytest.mark.parametrize(
    ("intent", "form"),
    [
        ("does anything under src touch os.environ? true/false", "bool"),
        ("is x called anywhere, yes or no", "bool"),
        ("true or false: does anybody call run", "bool"),
        ("is run called outside tests? answer with a boolean", "bool"),
        ("functions with a bool parameter", None),
        ("which functions return a boolean", None),
        ("lines that say true or false in conf.ini", None),
        ("for each file true or false: does it import x", None),
        ("how many calls of run are there", "count"),
        ("please tell me how many TODOs are left", "count"),
        ("number of lines with TODO", "count"),
        ("how many calls per file", None),
        ("how many calls are there, and which", None),
        ("functions and how many lines they have", None),
        ("are there any .txt files? which ones", None),
        ("show the TODOs", None),
    ],
)
def test_only_an_outright_wish_counts(intent, form):
    assert wanted_form(intent) == form


@pytest.mark.parametrize(
    ("program", "intent", "made"),
    [
        # what a 1.5B model wrote for this intent
        (
            'grep("os\\\\.environ")',
            "does anything touch os.environ? true/false",
            "len(grep('os\\\\.environ')) > 0",
        ),
        ("rows = grep('TODO')\nrows", "how many TODOs are left", "rows = grep('TODO')\nlen(rows)"),
        ("{r['file'] for r in grep('x')}", "number of files with x", "len({r['file'] for r in grep('x')})"),
    ],
)
def test_rows_become_the_form(program, intent, made):
    assert in_wanted_form(program, intent, TOOLS, {}) == (made, True)


@pytest.mark.parametrize(
    "program",
    ["len(grep('x'))", "grep('x')[0]['line']", "counts = {}\ncounts", "f(1)", "for for", "", "x = grep('x')"],
)
def test_anything_else_stays(program):
    assert in_wanted_form(program, "how many x are there", TOOLS, {}) == (program, False)
