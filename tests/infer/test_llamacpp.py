"""Tier 2 in this process: a stand-in engine for what goes in and out, the real 0.5B model where the file is present."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lackpy.infer.llamacpp import LlamaCppProvider
from lackpy.infer.model import Asker, Completion, Settings
from lackpy.infer.protocol import Feedback, Request
from lackpy.kits import load_kit
from lackpy.lang import Grade, Param, Signature, check

GGUF = Path(
    os.environ.get("LACKPY_TEST_GGUF", "~/.cache/lackpy/models/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf")
).expanduser()
TOOLS = {"read": Signature("read", (Param("path", "str"),), "str", (), Grade(1, 1), "Read a file.")}
REQUEST = Request("show a.py", "debug", TOOLS)


class Engine:
    """Answers from a queue."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.bodies = []

    def handle_chat_completions(self, body):
        self.bodies.append(body)
        return self.answers.pop(0)


def _answer(text, finish="stop"):
    return {
        "choices": [{"finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 6},
    }


@pytest.fixture
def provider(tmp_path, monkeypatch):
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    made = LlamaCppProvider(model_path=file)
    monkeypatch.setattr(made, "_problem", lambda: None)
    return made


def test_decoding_is_greedy_seeded_and_bounded(provider):
    provider._server = engine = Engine(_answer('read("a.py")'))
    made = provider.propose(REQUEST)
    body = engine.bodies[0]
    assert (body["temperature"], body["seed"], body["max_tokens"], body["cache_prompt"]) == (0, 1, 320, True)
    assert "grammar" not in body
    assert (made.program, made.tokens_in, made.tokens_out, made.cost_usd) == ('read("a.py")', 50, 6, 0.0)


def test_a_retry_is_constrained_by_the_grammar(provider):
    provider._server = engine = Engine(_answer('read("a.py")'))
    wrong = check("open_it()", TOOLS)
    provider.propose(Request("show a.py", "debug", TOOLS, feedback=Feedback("open_it()", wrong.violations)))
    assert engine.bodies[0]["grammar"].startswith("root ::= ")
    assert engine.bodies[0]["max_tokens"] == 160


def test_an_answer_at_the_limit_is_truncated_not_a_program(provider):
    provider._server = Engine(_answer('x = ["a", "a", "a"', finish="length"))
    assert provider.propose(REQUEST).error_kind == "truncated"


def test_an_engine_error_is_a_reason(provider):
    provider._server = Engine({"error": {"message": "failed to parse grammar"}})
    made = provider.propose(REQUEST)
    assert (made.error_kind, made.reason) == (
        "engine",
        "the local model refused the request: failed to parse grammar",
    )


def test_without_a_file_it_passes_with_what_to_do():
    assert LlamaCppProvider(model_path=None).propose(REQUEST).error_kind == "not_set_up"
    missing = LlamaCppProvider(model_path="/nowhere/m.gguf")
    assert missing.status().startswith("no model file at /nowhere/m.gguf; set model_path")


class Answers:
    """A client that answers from a queue."""

    model = "double"

    def __init__(self, *texts):
        self.texts = list(texts)
        self.seen = []

    def room(self):
        return None

    def complete(self, messages, request, settings):
        self.seen.append(messages[-1]["content"])
        return Completion(self.texts.pop(0), tokens_in=10, tokens_out=2)


def test_staged_mode_asks_for_the_refused_line_alone():
    client = Answers("rows = red_all('a')\nlen(rows)", "rows = read('a')")
    made = Asker(client, settings=Settings(staged=True)).propose(REQUEST)
    assert made.program == "rows = read('a')\nlen(rows)"
    assert made.repairs == ("revised-line",)
    assert (made.tokens_in, made.tokens_out) == (20, 4)
    assert "Write only the new line 1." in client.seen[1]


def test_a_conversation_retry_repeats_the_answer_and_its_errors():
    client = Answers("read('a')")
    wrong = check("red_all('a')", TOOLS)
    request = Request("show a", "debug", TOOLS, feedback=Feedback("red_all('a')", wrong.violations))
    assert Asker(client, settings=Settings(chat_retry=True)).propose(request).program == "read('a')"
    assert client.seen[0].startswith("That has errors:\nL1:1 ")


def test_nothing_is_repaired_when_repair_is_off():
    made = Asker(Answers("```\nread('a')\n```"), settings=Settings(repair=False)).propose(REQUEST)
    assert made.program == "```\nread('a')\n```"


needs_model = pytest.mark.skipif(not GGUF.is_file(), reason=f"no model file at {GGUF}")


@pytest.mark.model
@needs_model
def test_the_real_model_writes_a_program_quietly(workspace):
    code = (
        "import sys\nfrom pathlib import Path\nfrom lackpy.infer.llamacpp import LlamaCppProvider\n"
        "from lackpy.infer.protocol import Request\nfrom lackpy.kits import load_kit\n"
        "kit = load_kit('debug', Path(sys.argv[1]))\nprovider = LlamaCppProvider(model_path=sys.argv[2], n_ctx=2048)\n"
        "made = provider.propose(Request('who calls validate_token', 'debug', kit.signatures, timeout_s=300))\n"
        "provider.close()\nPath(sys.argv[3]).write_text(str(made.program))\n"
    )
    result = workspace / "made.txt"
    ran = subprocess.run(
        [sys.executable, "-c", code, str(workspace), str(GGUF), str(result)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert result.read_text() == 'find_callers("validate_token")'


@pytest.mark.model
@needs_model
def test_the_real_engine_takes_the_grammar_and_stops_at_the_limit(workspace):
    kit = load_kit("debug", workspace)
    provider = LlamaCppProvider(
        model_path=GGUF, n_ctx=2048, max_tokens=24, settings=Settings(examples=2, grammar="always")
    )
    try:
        first = provider.propose(Request("who calls validate_token", "debug", kit.signatures, timeout_s=300))
        second = provider.propose(
            Request("list the numbers from 1 to 500", "debug", kit.signatures, timeout_s=300)
        )
    finally:
        provider.close()
    assert check(first.program or "", kit.signatures).ok
    assert second.error_kind == "truncated" or check(second.program or "", kit.signatures).violations == ()
