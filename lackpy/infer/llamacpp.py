"""Tier 2 in this process: a GGUF file through xllamacpp, constrained by the kit's grammar.

The engine is imported and the file loaded on the first request, once; requests are served one at a time. The engine is
native code: a fault in it ends this process, which a worker of its own would not prevent from losing the request, only
the server. Whoever needs that isolation runs the same file behind `ollama`. It writes nothing to stdout or stderr.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy.infer.model import LOCAL_SETTINGS, Asker, Completion, ModelError, Settings, is_constrained
from lackpy.infer.protocol import Proposal, Request, Tier
from lackpy.infer.retrieve import variable_names

if TYPE_CHECKING:
    from lackpy.infer.prompt import Message
    from lackpy.infer.retrieve import Retriever

MAX_TOKENS = 320
"""Most tokens of one answer; programs are short, and a model that loops is cut here."""
MAX_CONSTRAINED_TOKENS = 160
"""Most tokens of a constrained answer: where the model fights the grammar each token costs a look at every word."""
STOP = ("<|im_end|>", "<|endoftext|>", "\n\n\n", "\n```\n")
_INSTALL = "pip install 'lackpy-riggs[local]'"


class LlamaCppProvider:
    """Asks a local GGUF model.

    Args:
        model_path: GGUF file.
        n_ctx: Context in tokens.
        threads: Threads; 0 for every core.
        timeout_s: Longest a request waits for its turn, in seconds.
        grammar: Constrain a retry by the kit's grammar.
        seed: Sampling seed; sampling is greedy, so it matters only to engines that ignore temperature 0.
        max_tokens: Most tokens of one answer.
        retriever: Finds examples; a new one when absent.
        settings: How the model is asked.
    """

    name = "llamacpp"
    tier = Tier.LOCAL

    def __init__(
        self,
        *,
        model_path: str | Path | None,
        n_ctx: int = 8192,
        threads: int = 0,
        timeout_s: float = 60.0,
        grammar: bool = True,
        seed: int = 1,
        max_tokens: int = MAX_TOKENS,
        retriever: Retriever | None = None,
        settings: Settings | None = None,
    ) -> None:
        """Keep the settings; nothing is loaded."""
        self.path = Path(model_path).expanduser() if model_path else None
        self.model = self.path.stem if self.path else "none"
        self._n_ctx = n_ctx
        self._threads = threads or os.cpu_count() or 1
        self._timeout_s = timeout_s
        self._seed = seed
        self._max_tokens = max_tokens
        self._server: Any = None
        self._lock = threading.Lock()
        self._grammars: dict[Any, str] = {}
        self.asker = Asker(
            self,
            retriever,
            settings or replace(LOCAL_SETTINGS, grammar="retry" if grammar else "off"),
        )

    def propose(self, request: Request) -> Proposal:
        """Answer with a program, or pass with a reason."""
        return self.asker.propose(request)

    def status(self) -> str:
        """Say whether the engine and the file are there."""
        problem = self._problem()
        return problem or f"ready: {self.model}, loaded on first use"

    def close(self) -> None:
        """Free the model."""
        with self._lock:
            self._server = None

    def room(self) -> int:
        """Return the prompt tokens that leave space for an answer."""
        return self._n_ctx - self._max_tokens

    def complete(self, messages: Sequence[Message], request: Request, settings: Settings) -> Completion:
        """Generate greedily.

        Raises:
            ModelError: No engine, no file, no turn in time, or the engine refuses the request.
        """
        problem = self._problem()
        if problem is not None:
            raise ModelError("not_set_up", problem)
        if not self._lock.acquire(timeout=max(0.0, min(self._timeout_s, request.timeout_s))):
            raise ModelError("timeout", "the local model was busy with other requests")
        try:
            body = self._body(messages, request, settings)
            answer = self._loaded().handle_chat_completions(body)
        except (RuntimeError, ValueError, OSError) as exc:
            raise ModelError("engine", f"the local model failed: {exc}") from exc
        finally:
            self._lock.release()
        return self._completion(answer)

    def _body(self, messages: Sequence[Message], request: Request, settings: Settings) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": [dict(m) for m in messages],
            "max_tokens": self._max_tokens,
            "temperature": 0,
            "seed": self._seed,
            "stop": list(STOP),
            "cache_prompt": True,
        }
        if is_constrained(settings, request):
            body["grammar"] = self._grammar(request)
            body["max_tokens"] = min(self._max_tokens, MAX_CONSTRAINED_TOKENS)
        return body

    def _grammar(self, request: Request) -> str:
        key = (tuple(s.text() for s in request.signatures.values()), tuple(sorted(request.params)))
        if key not in self._grammars:
            from lackpy.lang.gbnf import gbnf  # noqa: PLC0415  # only constrained decoding needs it

            self._grammars[key] = gbnf(request.signatures, request.params, variable_names())
        return self._grammars[key]

    def _completion(self, answer: Any) -> Completion:
        if not isinstance(answer, dict) or "choices" not in answer:
            error = answer.get("error", {}) if isinstance(answer, dict) else {}
            raise ModelError("engine", f"the local model refused the request: {error.get('message', answer)}")
        choice = answer["choices"][0]
        usage = answer.get("usage", {})
        return Completion(
            text=choice["message"].get("content") or "",
            truncated=choice.get("finish_reason") == "length",
            tokens_in=usage.get("prompt_tokens"),
            tokens_out=usage.get("completion_tokens"),
            cost_usd=0.0,
        )

    def _problem(self) -> str | None:
        if self.path is None:
            return "no model: set model_path in [llamacpp] of .lackpy/config.toml to a GGUF file"
        if not self.path.is_file():
            return f"no model file at {self.path}; set model_path in [llamacpp] of .lackpy/config.toml"
        if find_spec("xllamacpp") is None:
            return f"xllamacpp isn't installed; run: {_INSTALL}"
        return None

    def _loaded(self) -> Any:
        """Load the file once; the caller holds the lock."""
        if self._server is None:
            import xllamacpp  # noqa: PLC0415  # optional, native, 50 MB

            params = xllamacpp.CommonParams()
            params.model.path = str(self.path)
            params.n_ctx = self._n_ctx
            params.n_parallel = 1
            params.verbosity = -1
            params.cpuparams.n_threads = self._threads
            params.cpuparams_batch.n_threads = self._threads
            self._server = xllamacpp.Server(params)
        return self._server
