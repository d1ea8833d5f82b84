"""Tier 2 through a local Ollama server, with its official client.

The context is always stated and always long enough: a prompt that doesn't fit loses examples first, and an answer
whose prompt the server cut is never used. Thinking is off. Nothing is pulled; a missing model is one sentence with
the command.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lackpy.infer.model import LOCAL_SETTINGS, Asker, Completion, ModelError, Settings
from lackpy.infer.prompt import estimate_tokens
from lackpy.infer.protocol import Proposal, Request, Tier

if TYPE_CHECKING:
    from lackpy.infer.prompt import Message
    from lackpy.infer.retrieve import Retriever

DEFAULT_PORT = 11434
MAX_TOKENS = 512
STATUS_TIMEOUT_S = 2.0
CONNECT_TIMEOUT_S = 0.8
CUT_SHARE = 0.5
"""A prompt counted at less than this share of its estimate was cut; the estimate errs high by at most a third."""
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_INSTALL = "pip install 'lackpy-riggs[ollama]'"


def server_url(host: str | None) -> str:
    """Return the URL to call for a host as `OLLAMA_HOST` may hold it: a listen address, a bare name, a URL.

    Raises:
        ValueError: It can't be read as a host.
    """
    text = (host or "").strip().rstrip("/")
    if not text:
        return f"http://127.0.0.1:{DEFAULT_PORT}"
    if text.startswith(":"):
        text = f"127.0.0.1{text}"
    has_scheme = "://" in text
    parts = urlsplit(text if has_scheme else f"http://{text}")
    name = parts.hostname
    if not name or parts.scheme not in ("http", "https"):
        raise ValueError(f"'{host}' is not a host; write http://HOST:PORT")
    if name in ("0.0.0.0", "::"):  # noqa: S104  # a listen address, replaced by one that can be called
        name = "127.0.0.1" if name == "0.0.0.0" else "::1"  # noqa: S104
    port = parts.port
    if port is None:
        port = DEFAULT_PORT if not has_scheme else (443 if parts.scheme == "https" else 80)
    shown = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{shown}:{port}{parts.path}"


class OllamaProvider:
    """Asks a model of a local Ollama server.

    Args:
        model: Model name with tag.
        host: Server; `None` reads `OLLAMA_HOST`.
        keep_alive: How long the server keeps the model loaded.
        timeout_s: Longest answer in seconds.
        num_ctx: Context in tokens.
        seed: Sampling seed.
        retriever: Finds examples; a new one when absent.
        settings: How the model is asked.
    """

    name = "ollama"
    tier = Tier.LOCAL

    def __init__(
        self,
        *,
        model: str = "qwen2.5-coder:3b",
        host: str | None = None,
        keep_alive: str = "10m",
        timeout_s: float = 60.0,
        num_ctx: int = 8192,
        seed: int = 1,
        retriever: Retriever | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Keep the settings; nothing is contacted."""
        self.model = model
        self._host = host if host is not None else os.environ.get("OLLAMA_HOST")
        self._keep_alive = keep_alive
        self._timeout_s = timeout_s
        self._num_ctx = num_ctx
        self._seed = seed
        self.asker = Asker(self, retriever, settings or LOCAL_SETTINGS)

    def propose(self, request: Request) -> Proposal:
        """Answer with a program, or pass with a reason."""
        return self.asker.propose(request)

    def room(self) -> int:
        """Return the prompt tokens that leave space for an answer."""
        return self._num_ctx - MAX_TOKENS

    def status(self) -> str:
        """Say whether the server answers and has the model."""
        try:
            names = self.models()
        except ModelError as exc:
            return str(exc)
        if self.model in names or f"{self.model}:latest" in names:
            return f"ready: {self.model} at {server_url(self._host)}"
        return self._not_pulled()

    def models(self) -> tuple[str, ...]:
        """Return the models that the server has.

        Raises:
            ModelError: No client, or no server.
        """
        client = self._client(STATUS_TIMEOUT_S)
        answer = self._guarded(lambda: client.list(), STATUS_TIMEOUT_S)  # noqa: PLW0108  # named in the guard
        return tuple(m.model for m in answer.models if m.model)

    def complete(self, messages: Sequence[Message], request: Request, settings: Settings) -> Completion:
        """Chat once, without streaming.

        Raises:
            ModelError: No client, server, model or answer in time, or the server cut the prompt.
        """
        del settings
        seconds = max(0.1, min(self._timeout_s, request.timeout_s))
        client = self._client(seconds)
        answer = self._guarded(
            lambda: client.chat(
                model=self.model,
                messages=[dict(m) for m in messages],
                think=False if _thinks(self.model) else None,
                stream=False,
                keep_alive=self._keep_alive,
                options={
                    "temperature": 0,
                    "seed": self._seed,
                    "num_ctx": self._num_ctx,
                    "num_predict": MAX_TOKENS,
                },
            ),
            seconds,
        )
        estimate = estimate_tokens(messages)
        counted = answer.prompt_eval_count
        cut = counted is not None and estimate > 1000 and counted < estimate * CUT_SHARE
        if cut:
            message = (
                f"{self.model} saw {counted} of about {estimate} prompt tokens; raise num_ctx in [ollama]"
            )
            raise ModelError("truncated", message)
        return Completion(
            text=answer.message.content or "",
            truncated=answer.done_reason == "length",
            tokens_in=counted,
            tokens_out=answer.eval_count,
            cost_usd=0.0,
        )

    def _client(self, seconds: float) -> Any:
        if find_spec("ollama") is None:
            raise ModelError("not_set_up", f"the ollama client isn't installed; run: {_INSTALL}")
        try:
            url = server_url(self._host)
        except ValueError as exc:
            raise ModelError("not_set_up", f"[ollama] host: {exc}") from exc
        import httpx  # noqa: PLC0415  # optional, comes with the client
        import ollama  # noqa: PLC0415  # optional

        # A proxy from the environment can't reach this machine's own loopback.
        local = urlsplit(url).hostname in _LOOPBACK
        timeout = httpx.Timeout(seconds, connect=min(CONNECT_TIMEOUT_S if local else 5.0, seconds))
        return ollama.Client(host=url, timeout=timeout, trust_env=not local)

    def _guarded(self, call: Any, seconds: float) -> Any:
        """Run one client call; every failure becomes a sentence with a stable kind."""
        import httpx  # noqa: PLC0415  # optional, comes with the client
        import ollama  # noqa: PLC0415  # optional

        try:
            return call()
        except ollama.ResponseError as exc:
            if exc.status_code == 404:
                raise ModelError("no_model", self._not_pulled()) from exc
            said = " ".join(str(exc.error).split())[:200]
            raise ModelError("server", f"Ollama at {self._url()} answered {exc.status_code}: {said}") from exc
        except (httpx.ConnectError, httpx.ConnectTimeout, ConnectionError) as exc:
            message = (
                f"no Ollama server at {self._url()}; start it with `ollama serve`, or set host in [ollama]"
            )
            raise ModelError("unreachable", message) from exc
        except httpx.TimeoutException as exc:
            raise ModelError("timeout", f"{self.model} gave no answer within {seconds:g} s") from exc
        except (httpx.HTTPError, ValueError) as exc:
            raise ModelError("server", f"Ollama at {self._url()} gave an unreadable answer: {exc}") from exc

    def _url(self) -> str:
        return server_url(self._host)

    def _not_pulled(self) -> str:
        return f"model '{self.model}' isn't on {self._url()}; run: ollama pull {self.model}"


def _thinks(model: str) -> bool:
    """Tell whether a model family takes the `think` switch; others refuse it."""
    name = model.lower()
    return any(family in name for family in ("qwen3", "deepseek-r1", "gpt-oss", "magistral", "deepseek-v3"))
