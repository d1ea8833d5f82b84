"""Tier 3: an API model, through the official client. The only tier that costs money; off unless configured.

Overload and rate limits are retried by the client within the call's time; a wait that doesn't fit is given up at once.
A cut, empty or refused answer is a failed attempt with its reason, never a program.
"""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lackpy import resources
from lackpy.infer.model import Asker, Completion, ModelError, Settings
from lackpy.infer.protocol import Proposal, Request, Tier

if TYPE_CHECKING:
    from lackpy.infer.prompt import Message
    from lackpy.infer.retrieve import Retriever

MAX_ATTEMPTS = 3
FIRST_WAIT_S = 0.5
_INSTALL = "pip install 'lackpy-riggs[anthropic]'"
_OVERLOAD = frozenset({500, 502, 503, 504, 529})


@cache
def prices() -> dict[str, dict[str, float]]:
    """Return model prefix → dollars per million tokens (`input`, `output`), from `data/prices.toml`."""
    found: dict[str, dict[str, float]] = tomllib.loads(resources.text("data/prices.toml"))["models"]
    return found


def cost_usd(model: str, tokens_in: int | None, tokens_out: int | None) -> float | None:
    """Return what a call cost; `None` for a model that the table doesn't hold."""
    price = next((p for name, p in sorted(prices().items(), reverse=True) if model.startswith(name)), None)
    if price is None or tokens_in is None or tokens_out is None:
        return None
    return round((tokens_in * price["input"] + tokens_out * price["output"]) / 1_000_000, 8)


class AnthropicProvider:
    """Asks an Anthropic model.

    Args:
        model: Model id.
        max_tokens: Most tokens of one answer.
        timeout_s: Longest call, retries included, in seconds.
        api_key_env: Environment variable that holds the key.
        base_url: Another endpoint that speaks the same protocol.
        retriever: Finds examples; a new one when absent.
        settings: How the model is asked.
    """

    name = "anthropic"
    tier = Tier.API

    def __init__(
        self,
        *,
        model: str = "claude-haiku-4-5",
        max_tokens: int = 1024,
        timeout_s: float = 30.0,
        api_key_env: str = "ANTHROPIC_API_KEY",
        base_url: str | None = None,
        retriever: Retriever | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Keep the settings; nothing is contacted."""
        self.model = model
        self._max_tokens = max_tokens
        self._timeout_s = timeout_s
        self._key_env = api_key_env
        self._base_url = base_url
        self._client_made: Any = None
        self.asker = Asker(self, retriever, settings or Settings())

    def propose(self, request: Request) -> Proposal:
        """Answer with a program, or pass with a reason."""
        return self.asker.propose(request)

    def room(self) -> None:
        """Return `None`: no prompt of ours comes near the limit."""

    def status(self) -> str:
        """Say whether client and key are there; the key isn't tried, that would cost money."""
        return self._problem() or f"ready: {self.model}, key from {self._key_env}"

    def complete(self, messages: Sequence[Message], request: Request, settings: Settings) -> Completion:
        """Ask once, with bounded retries.

        Raises:
            ModelError: No client, no key, or no answer in time.
        """
        del settings
        problem = self._problem()
        if problem is not None:
            raise ModelError("not_set_up", problem)
        answer = self._asked(messages, time.monotonic() + min(self._timeout_s, request.timeout_s))
        text = "".join(block.text for block in answer.content if block.type == "text")
        usage = answer.usage
        tokens_in = _tokens_in(usage)
        return Completion(
            text=text,
            truncated=answer.stop_reason in ("max_tokens", "model_context_window_exceeded"),
            refused=answer.stop_reason == "refusal",
            tokens_in=tokens_in,
            tokens_out=usage.output_tokens,
            cost_usd=cost_usd(self.model, tokens_in, usage.output_tokens),
        )

    def _asked(self, messages: Sequence[Message], deadline: float) -> Any:
        import anthropic  # noqa: PLC0415  # optional, and 1.5 s to import

        system = "\n\n".join(m["content"] for m in messages if m["role"] == "system")
        turns = [dict(m) for m in messages if m["role"] != "system"]
        wait = FIRST_WAIT_S
        for attempt in range(MAX_ATTEMPTS):
            left = deadline - time.monotonic()
            try:
                if left <= 0:
                    raise ModelError("timeout", f"{self.model} gave no answer in time")
                return self._client().messages.create(
                    model=self.model,
                    max_tokens=self._max_tokens,
                    system=system,
                    messages=turns,
                    timeout=left,
                )
            except anthropic.APIError as exc:
                kind, message, asked = _failure(exc, self.model, self._key_env)
                pause = asked if asked is not None else wait
                fits = pause < deadline - time.monotonic() and attempt + 1 < MAX_ATTEMPTS
                if kind not in ("overload", "rate_limit") or not fits:
                    raise ModelError(kind, message) from exc
                time.sleep(pause)
                wait *= 2
        raise ModelError("overload", f"{self.model} is overloaded")  # pragma: no cover  # the loop ends above

    def _client(self) -> Any:
        if self._client_made is None:
            import anthropic  # noqa: PLC0415  # optional, and 1.5 s to import

            self._client_made = anthropic.Anthropic(
                api_key=os.environ[self._key_env], base_url=self._base_url, max_retries=0
            )
        return self._client_made

    def _problem(self) -> str | None:
        if find_spec("anthropic") is None:
            return f"the anthropic client isn't installed; run: {_INSTALL}"
        if not os.environ.get(self._key_env, "").strip():
            return f"no API key: set {self._key_env} in the environment"
        return None


def _tokens_in(usage: Any) -> int:
    cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
    return int(usage.input_tokens) + int(cached)


def _failure(exc: Any, model: str, key_env: str) -> tuple[str, str, float | None]:
    """Return (kind, sentence, seconds the server asks to wait) of a client error."""
    import anthropic  # noqa: PLC0415  # loaded by the caller

    if isinstance(exc, anthropic.APITimeoutError):
        return "timeout", f"{model} gave no answer in time", None
    if isinstance(exc, anthropic.APIConnectionError):
        return "unreachable", "the API can't be reached; check the network or base_url in [anthropic]", None
    status = getattr(exc, "status_code", None)
    body = exc.body if isinstance(exc.body, dict) else {}
    inner = body.get("error", body)
    said = str(inner.get("type", "")) if isinstance(inner, dict) else ""
    if status == 429 or said == "rate_limit_error":
        asked = _retry_after(exc)
        return "rate_limit", f"{model} is rate limited{_when(asked)}", asked
    if status in _OVERLOAD or said in ("overloaded_error", "api_error"):
        return "overload", f"{model} is overloaded", _retry_after(exc)
    if status in (401, 403):
        return "auth", f"the API refused the key in {key_env}; check it", None
    if status == 404:
        return "no_model", f"the API knows no model '{model}'; set model in [anthropic]", None
    detail = inner.get("message") if isinstance(inner, dict) else None
    return "server", f"the API refused the request: {detail or exc}", None


def _retry_after(exc: Any) -> float | None:
    response = getattr(exc, "response", None)
    try:
        return float(response.headers["retry-after"]) if response is not None else None
    except (KeyError, ValueError):
        return None


def _when(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f", retry in {seconds / 60:.0f} min" if seconds >= 60 else f", retry in {seconds:.0f} s"
