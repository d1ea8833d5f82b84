"""The type check: faults with the program's own lines and hints that say what to write; nothing runs."""

from __future__ import annotations

import pytest
from run_support import TOOLS, tool

from lackpy.lang import check
from lackpy.lang.signature import Param, Signature
from lackpy.run import typecheck

SIGNATURES = {name: spec.signature for name, spec in TOOLS.items()}


def faults(program: str, params: dict[str, str] | None = None) -> list[str]:
    verdict = check(program, SIGNATURES, params=params or {})
    assert verdict.ok, verdict.violations
    return [str(violation) for violation in typecheck(verdict.program, SIGNATURES, params or {})]


@pytest.mark.parametrize(
    ("program", "want"),
    [
        (
            "rows = find('x')\n[r['body'] for r in rows]",
            "L2:4 type: a Row has no key 'body'; use one of its keys: 'name', 'file', 'line'",
        ),
        (
            "read(find('x')[0])",
            "L1:6 type: 'read' wants str, this is Row; pass one of the row's fields, e.g. row['file']",
        ),
        (
            "read(find('x'))",
            "L1:6 type: 'read' wants str, this is list[Row]; call it once for each item: [... for x in items]",
        ),
        ("x = 1\nread(3)", "L2:6 type: 'read' wants str, this is 3; write read(path: str) -> str"),
        (
            "rows = find('x')\nrows['file']",
            "L2:1 type: a list[Row] has no key 'file'; take one row, x[0]['file'], or each: [r['file'] for r in x]",
        ),
    ],
)
def test_common_faults_have_a_fitting_hint(program: str, want: str) -> None:
    """One violation each, at the line and column of the lowered program."""
    assert faults(program) == [want]


def test_all_faults_are_reported_at_once_in_source_order() -> None:
    """Two lines, two violations."""
    found = typecheck("read(1)\nfind(2)", SIGNATURES)
    assert [(v.rule, v.line, v.text) for v in found] == [("type", 1, "1"), ("type", 2, "2")]


@pytest.mark.parametrize(
    "program",
    [
        "x = {}\nfor r in find('a'):\n    x[r['file']] = x.get(r['file'], 0) + 1\nsorted(x, key=lambda k: -x[k])",
        "best = None\nfor r in find('a'):\n    best = r\nbest['file']",
        "'line one\\nline two'",
        "out = []\nfor r in find('a'):\n    if r['line'] > 3:\n        out.append(r['name'])\nout",
        "f\"{len(find('a'))} rows\\n{read('b')}\"",
        "max(find('a'), key=lambda r: r['line'])['file']",
        "",
    ],
)
def test_honest_programs_pass(program: str) -> None:
    """A value that is only sometimes None is not a fault."""
    assert faults(program) == []


def test_parameters_have_their_types() -> None:
    """A parameter of a known type is held to it; one without a type may be anything."""
    assert faults("read(p)", {"p": "str"}) == []
    assert faults("read(p)", {"p": "int"}) == [
        "L1:6 type: 'read' wants str, this is int; write read(path: str) -> str"
    ]
    verdict = check("read(p)", SIGNATURES, params=["p"])
    assert typecheck(verdict.program, SIGNATURES, ["p"]) == ()
    assert faults("read(p['a'])", {"p": "dict[str, Any]"}) == []


def test_nothing_of_the_program_runs() -> None:
    """Not even a loop without end."""
    ran: list[str] = []
    spec = tool("t", {"x": "str"}, ran.append)
    program = "t('a')\nfor i in range(10000000000000):\n    t('b')"
    assert typecheck(program, {"t": spec.signature}) == ()
    assert ran == []


def test_a_type_the_stubs_cannot_name_is_no_fault() -> None:
    """Signatures come from anywhere."""
    odd = Signature("t", (Param("x", "numpy.ndarray"),), "Widget | None")
    assert typecheck("t(1)\nt('a').foo()", {"t": odd}) == ()
