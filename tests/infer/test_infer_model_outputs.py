"""Every way an answer is held to its request, with a real answer of a small model to a real intent and its examples.

The answers are Qwen2.5-Coder 1.5B's and 0.5B's, raw text untouched: 217 kept answers whose request is known,
and for answers without a usable text all 584. Of the examples a request showed, the one it followed is given.
"""

from __future__ import annotations

import ast
import inspect

import pytest

from lackpy.infer import copied, ground, model
from lackpy.infer.model import Asker, Completion, Settings
from lackpy.infer.protocol import Request
from lackpy.infer.retrieve import Example, Retriever
from lackpy.kits import load_kit

# kind, intent, shown example (wording, program), answer, program or None
ROWS = [
    ("no_program", "where's want_bytes defined", None, "where's want_bytes defined", None),
    (
        "no_program",  # the engine has no flag for a refusal
        "get_signature is implemented in several places, show me all of them",
        None,
        "I'm sorry, but I can't assist with that.",
        None,
    ),
    (
        "truncated",
        'search_code("TODO")',
        None,
        'To search the code for the phrase "TODO" in the workspace, you can use the `grep` function with a pattern '
        'that matches "TODO". Here\'s how you can do it:\n\n```python\nfind_definitions(name="',
        None,
    ),
    (
        "no-call",
        "how many of the things defined in src/click/shell_completion.py have a name with a leading underscore, "
        "dunder methods not included",
        None,
        "1",
        "1",
    ),
    (
        "no-call",
        "True or False: each of force_result, force_exception and get_result has at least one caller under testing/",
        None,
        "True",
        "True",
    ),
    (
        "intent-folder",
        "True or False: each of force_result, force_exception and get_result has at least one caller under testing/",
        (
            "check that save, restore and wipe each get called at least once from tests/",
            'all([len([c for c in find_callers(n) if c["file"].startswith("tests/")]) > 0 '
            'for n in ["save", "restore", "wipe"]])',
        ),
        'all([len([c for c in find_callers(n) if c["file"].startswith("tests/")]) > 0 '
        'for n in ["force_result", "force_exception", "get_result"]])',
        'all([len([c for c in find_callers(n) if c["file"].startswith("testing/")]) > 0 '
        'for n in ["force_result", "force_exception", "get_result"]])',
    ),
    (
        "copied-condition",
        "show me every place term_len gets invoked",
        (
            "show every place inside billing/report.py that calls open_ledger",
            '[c for c in find_callers("open_ledger") if c["file"] == "billing/report.py"]',
        ),
        '[c for c in find_callers("term_len") if c["file"] == "billing/report.py"]',
        "[c for c in find_callers('term_len')]",
    ),
    (
        "copied-value",
        "methods of TagTracerSub?",
        (
            "number of methods that lib/session.py has",
            'len([d for d in outline("lib/session.py") if d["type"] == "method"])',
        ),
        '[d["name"] for d in outline("lib/session.py") if d["type"] == "method" '
        'and d["name"].startswith("TagTracerSub")]',
        '[d["name"] for d in outline("lib/session.py") if d["type"] == "method" '
        'and d["name"].startswith("TagTracerSub")]',
    ),
    (
        "unused-file",
        "method names that are defined both in src/itsdangerous/signer.py and in src/itsdangerous/timed.py",
        None,
        "```python\ngrep(r'(?P<name>\\w+)\\s*=\\s*def\\s*\\w+\\(', glob='src/itsdangerous/**/*.py')\n```",
        "grep(r'(?P<name>\\w+)\\s*=\\s*def\\s*\\w+\\(', glob='src/itsdangerous/**/*.py')",
    ),
    (
        "answer-form",
        "does anything under src touch os.environ? true/false",
        ("where do we touch os.environ in the python code", 'grep("os\\\\.environ", "**/*.py")'),
        'grep("os\\\\.environ", "src/**/*.py")',
        "len(grep('os\\\\.environ', 'src/**/*.py')) > 0",
    ),
]
NOT_SEEN = {
    "empty": "neither model answered with nothing in 584 answers; covered below by a written answer",
    "refused": "a flag of hosted APIs; the local engine has none, and its 'I can't assist' is `no_program`",
    "intent-name": "not produced by either model in 217 answers; covered by test_ground.py",
    "intent-spelling": "seen twice, both on a text that was no misspelt value; covered by test_ground.py",
}
"""Kinds that have no real answer, each with the reason."""


class Says:
    """A client that gives one answer."""

    model = "double"

    def __init__(self, completion):
        self.completion = completion

    def room(self):
        return None

    def complete(self, messages, request, settings):
        return self.completion


def _proposal(root, intent, completion, example=None):
    shown = [Example("shown", (example[0],), example[1])] if example else []
    request = Request(intent, "debug", load_kit("debug", root).signatures)
    return Asker(Says(completion), Retriever(shown), Settings()).propose(request)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_models_answer_is_held_to_its_request(row, tmp_path):
    """The proposal has the row's program and shows the row's kind once."""
    kind, intent, example, answer, program = row
    made = _proposal(tmp_path, intent, Completion(answer, truncated=kind == "truncated"), example)
    assert made.program == program
    assert made.raw == answer
    assert kind in (made.error_kind, *made.repairs, *(v.rule for v in made.problems))


@pytest.mark.parametrize(
    ("completion", "kind"), [(Completion(" \n"), "empty"), (Completion("No.", refused=True), "refused")]
)
def test_an_answer_without_text_and_a_refusal_have_kinds_of_their_own(completion, kind, tmp_path):
    """What neither local model did is told apart all the same."""
    made = _proposal(tmp_path, "who calls parse", completion)
    assert (made.program, made.error_kind) == (None, kind)


def _calls():
    modules = (copied, ground, model)
    trees = [ast.parse(inspect.getsource(m)) for m in modules]
    return [n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Call)]


def test_every_kind_has_a_real_answer_or_a_reason():
    """A new kind needs a row, or a line in NOT_SEEN that says why there is none."""
    fixes = [n.value for n in ast.walk(ast.parse(inspect.getsource(ground))) if isinstance(n, ast.Return)]
    every = {f"intent-{r.elts[0].value}" for r in fixes if isinstance(r, ast.Tuple) and len(r.elts) == 3}
    added = [
        n
        for n in ast.walk(ast.parse(inspect.getsource(Asker._read).lstrip()))
        if isinstance(n, ast.AugAssign)
    ]
    every |= {n.value.body.elts[0].value for n in added if isinstance(n.value, ast.IfExp)}
    for call in _calls():
        named = {k.arg: k.value for k in call.keywords}
        if isinstance(named.get("error_kind"), ast.Constant):
            every.add(named["error_kind"].value)
        if isinstance(call.func, ast.Name) and call.func.id == "Violation":
            every.add(call.args[0].value)
    assert {row[0] for row in ROWS} | set(NOT_SEEN) == every
