"""Tier 3 over the messages wire format, through the official client, against a local server."""

from __future__ import annotations

import pytest

from lackpy.infer import anthropic as tier
from lackpy.infer.anthropic import AnthropicProvider, cost_usd
from lackpy.infer.protocol import Request
from lackpy.lang import Grade, Param, Signature

pytest.importorskip("anthropic", reason="the optional client isn't installed")

from model_server import ModelServer  # beside this file

TOOLS = {"read": Signature("read", (Param("path", "str"),), "str", (), Grade(1, 1), "Read a file.")}
REQUEST = Request("show a.py", "debug", TOOLS)
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
LIMITED = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}


def _message(*blocks, stop="end_turn"):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 20},
    }


def _text(text):
    return {"type": "text", "text": text}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    monkeypatch.setattr(tier, "FIRST_WAIT_S", 0.001)
    with ModelServer() as running:
        yield running


def _provider(server, **fields):
    return AnthropicProvider(base_url=server.url, **fields)


def test_a_message_gives_a_program_with_its_cost(server):
    server.enqueue(200, _message(_text('read("a.py")')))
    made = _provider(server).propose(REQUEST)
    path, sent = server.requests[0]
    assert path == "/v1/messages"
    assert (sent["model"], sent["max_tokens"]) == ("claude-haiku-4-5", 1024)
    assert sent["system"].startswith("You write one short Python notebook cell")
    assert sent["messages"][-1] == {"role": "user", "content": "show a.py"}
    assert (made.program, made.tokens_in, made.tokens_out, made.cost_usd) == (
        'read("a.py")',
        1000,
        20,
        0.0011,
    )


def test_two_text_blocks_are_joined_in_order(server):
    server.enqueue(200, _message(_text('x = read("a.py")\n'), _text("x")))
    assert _provider(server).propose(REQUEST).program == 'x = read("a.py")\nx'


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (_message(_text('read("a.py")'), stop="max_tokens"), "truncated"),
        (_message(), "empty"),
        (_message({"type": "thinking", "thinking": "hm", "signature": "s"}), "empty"),
        (_message(_text(""), stop="refusal"), "refused"),
    ],
)
def test_a_cut_empty_or_refused_answer_is_a_failed_attempt(server, answer, kind):
    server.enqueue(200, answer)
    made = _provider(server).propose(REQUEST)
    assert (made.program, made.error_kind) == (None, kind)
    assert made.reason


def test_overload_is_retried_within_bounds(server):
    server.enqueue(529, OVERLOADED)
    server.enqueue(529, OVERLOADED)
    server.enqueue(200, _message(_text('read("a.py")')))
    assert _provider(server).propose(REQUEST).program == 'read("a.py")'
    assert len(server.requests) == 3


def test_lasting_overload_gives_up_after_three_tries(server):
    server.enqueue(529, OVERLOADED)
    made = _provider(server).propose(REQUEST)
    assert (made.error_kind, len(server.requests)) == ("overload", 3)


def test_a_short_rate_limit_is_waited_for(server):
    server.enqueue(429, LIMITED, retry_after="0")
    server.enqueue(200, _message(_text('read("a.py")')))
    assert _provider(server).propose(REQUEST).program == 'read("a.py")'


def test_a_long_rate_limit_is_given_up_at_once(server):
    server.enqueue(429, LIMITED, retry_after="600")
    made = _provider(server).propose(REQUEST)
    assert made.reason == "claude-haiku-4-5 is rate limited, retry in 10 min"
    assert (made.error_kind, len(server.requests)) == ("rate_limit", 1)


@pytest.mark.parametrize(("status", "kind"), [(401, "auth"), (404, "no_model"), (400, "server")])
def test_other_refusals_have_their_own_kind_and_no_retry(server, status, kind):
    server.enqueue(status, {"type": "error", "error": {"type": "x", "message": "no"}})
    assert _provider(server).propose(REQUEST).error_kind == kind
    assert len(server.requests) == 1


def test_without_a_key_nothing_is_sent(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    provider = AnthropicProvider()
    assert provider.status() == "no API key: set ANTHROPIC_API_KEY in the environment"
    made = provider.propose(REQUEST)
    assert (made.error_kind, made.reason) == ("not_set_up", provider.status())


def test_an_unknown_model_has_an_unknown_cost():
    assert cost_usd("claude-haiku-4-5-20251001", 1_000_000, 0) == 1.0
    assert cost_usd("some-model", 10, 10) is None
