"""Tier 2 over the Ollama wire format, through the official client, against a local server."""

from __future__ import annotations

import socket

import pytest

from lackpy.infer.ollama import MAX_TOKENS, OllamaProvider, server_url
from lackpy.infer.protocol import Request
from lackpy.lang import Grade, Param, Signature

pytest.importorskip("ollama", reason="the optional client isn't installed")

from model_server import ModelServer  # beside this file

TOOLS = {"read": Signature("read", (Param("path", "str"),), "str", (), Grade(1, 1), "Read a file.")}
REQUEST = Request("show a.py", "debug", TOOLS)


def _chat(content: str, **fields: object) -> dict[str, object]:
    return {
        "model": "m:1",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": content},
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 90,
        "eval_count": 7,
        **fields,
    }


@pytest.fixture
def server():
    with ModelServer() as running:
        yield running


def _provider(server, **fields):
    return OllamaProvider(model="m:1", host=server.url, **fields)


def test_a_chat_states_context_length_and_gives_a_program(server):
    server.enqueue(200, _chat('```python\nread("a.py")\n```'))
    made = _provider(server, num_ctx=4096, keep_alive="5m").propose(REQUEST)
    path, sent = server.requests[0]
    assert path == "/api/chat"
    assert sent["options"] == {"temperature": 0, "seed": 1, "num_ctx": 4096, "num_predict": MAX_TOKENS}
    assert (sent["model"], sent["stream"], sent["keep_alive"]) == ("m:1", False, "5m")
    assert "think" not in sent or sent["think"] is None
    assert sent["messages"][0]["role"] == "system"
    assert sent["messages"][-1] == {"role": "user", "content": "show a.py"}
    assert (made.program, made.repairs) == ('read("a.py")', ("fence",))
    assert (made.tokens_in, made.tokens_out, made.cost_usd, made.model) == (90, 7, 0.0, "m:1")
    assert 1 <= len(made.examples) <= 6


def test_thinking_is_switched_off_where_a_model_has_it(server):
    server.enqueue(200, _chat('<think>\n\n</think>\nread("a.py")'))
    provider = OllamaProvider(model="qwen3:1.7b", host=server.url)
    assert provider.propose(REQUEST).program == 'read("a.py")'
    assert server.requests[0][1]["think"] is False


def test_a_prompt_that_the_server_cut_is_never_used(server):
    server.enqueue(200, _chat('read("a.py")', prompt_eval_count=205))
    doc = "What it returns depends on many words of documentation that fill the prompt. " * 3
    tools = {
        f"tool_{n}": Signature(f"tool_{n}", (Param("path", "str"),), "str", (), Grade(1, 1), doc)
        for n in range(40)
    }
    made = _provider(server).propose(Request("show a.py", "big", {**TOOLS, **tools}))
    assert (made.program, made.error_kind) == (None, "truncated")
    assert "raise num_ctx in [ollama]" in made.reason


def test_a_prompt_too_long_for_the_context_loses_examples_then_passes(server):
    server.enqueue(200, _chat('read("a.py")'))
    assert len(_provider(server, num_ctx=MAX_TOKENS + 160).propose(REQUEST).examples) < 6
    made = _provider(server, num_ctx=MAX_TOKENS + 10).propose(REQUEST)
    assert made.error_kind == "prompt_too_long"
    assert len(server.requests) == 1


def test_an_answer_at_the_length_limit_is_truncated(server):
    server.enqueue(200, _chat('read("a.py")', done_reason="length"))
    assert _provider(server).propose(REQUEST).error_kind == "truncated"


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"error": "model 'm:1' not found, try pulling it first"}, {}),
        ("", {}),
        ("<html>404</html>", {"content_type": "text/html"}),
    ],
)
def test_a_model_that_is_not_pulled_is_one_sentence_with_the_command(server, body, headers):
    server.enqueue(404, body, **headers)
    made = _provider(server).propose(REQUEST)
    assert made.reason == f"model 'm:1' isn't on {server.url}; run: ollama pull m:1"
    assert made.error_kind == "no_model"
    assert len(server.requests) == 1


def test_a_server_error_is_reported_once(server):
    server.enqueue(500, {"error": "out of memory"})
    made = _provider(server).propose(REQUEST)
    assert (made.error_kind, made.reason) == ("server", f"Ollama at {server.url} answered 500: out of memory")


def test_status_says_ready_or_what_to_pull(server):
    server.enqueue(200, {"models": [{"model": "m:1"}]})
    assert _provider(server).status() == f"ready: m:1 at {server.url}"
    assert OllamaProvider(model="other:3b", host=server.url).status().endswith("run: ollama pull other:3b")


def test_no_server_is_said_with_the_url_even_behind_a_dead_proxy(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    made = OllamaProvider(host=f"127.0.0.1:{port}").propose(REQUEST)
    assert made.error_kind == "unreachable"
    assert (
        made.reason
        == f"no Ollama server at http://127.0.0.1:{port}; start it with `ollama serve`, or set host in [ollama]"
    )


def test_a_loopback_server_is_reached_past_a_dead_proxy(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    server.enqueue(200, _chat('read("a.py")'))
    assert _provider(server).propose(REQUEST).program == 'read("a.py")'


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:11434", "http://127.0.0.1:11434"),
        (":11434", "http://127.0.0.1:11434"),
        ("localhost", "http://localhost:11434"),
        ("http://h:1/", "http://h:1"),
        ("https://h", "https://h:443"),
        ("[::]:11434", "http://[::1]:11434"),
        ("", "http://127.0.0.1:11434"),
        (None, "http://127.0.0.1:11434"),
    ],
)
def test_a_listen_address_becomes_one_that_can_be_called(host, url):
    assert server_url(host) == url
