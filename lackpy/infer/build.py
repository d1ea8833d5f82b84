"""Builds the dispatcher that a workspace's configuration asks for. Model clients are imported only when configured."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy.infer.dispatch import Dispatcher
from lackpy.infer.protocol import Provider, Tier
from lackpy.infer.templates import TemplateProvider
from lackpy.templates.breaker import Breaker
from lackpy.templates.loader import TemplateLibrary

if TYPE_CHECKING:
    from lackpy.config import Config
    from lackpy.infer.retrieve import Retriever

_TIERS = {
    "templates": Tier.TEMPLATES,
    "rules": Tier.RULES,
    "ollama": Tier.LOCAL,
    "llamacpp": Tier.LOCAL,
    "anthropic": Tier.API,
}


def build_dispatcher(workspace: Path, config: Config, extra: Iterable[Provider] = ()) -> Dispatcher:
    """Return the tiers of `[tiers] order`; one that isn't set up is listed with what to do, and never asked.

    Args:
        workspace: Where the workspace's templates are.
        config: What is on.
        extra: Asked after them.
    """
    typecheck = _typecheck if config.run.type_check else None
    providers: list[Provider] = []
    missing: list[tuple[Tier, str, str]] = []
    library: TemplateLibrary | None = None
    breaker = Breaker(workspace / ".lackpy" / "breaker.json")
    for name in config.tiers.order:
        if name == "templates":
            library = TemplateLibrary(workspace / ".lackpy" / "templates", starter=config.templates.starter)
            providers.append(TemplateProvider(library, breaker, typecheck))
        elif name == "rules":
            if config.rules.enabled:
                providers.append(_rules(breaker))
            else:
                missing.append((Tier.RULES, name, "off: [rules] enabled = false"))
        elif name in config.configured:
            providers.append(_MODELS[name](config, _retriever(workspace, library)))
        else:
            missing.append(
                (_TIERS[name], name, f"not set up: add [{name}] to .lackpy/config.toml or run `lackpy init`")
            )
    return Dispatcher([*providers, *extra], typecheck=typecheck, retry=config.tiers.retry, missing=missing)


def _typecheck(*arguments: Any) -> Any:
    from lackpy.run import typecheck  # noqa: PLC0415  # starts a worker; only programs that need it pay

    return typecheck(*arguments)


def _rules(breaker: Breaker) -> Provider:
    from lackpy.infer.rules import RuleProvider  # noqa: PLC0415  # reads its data file

    return RuleProvider(breaker=breaker)


def _retriever(workspace: Path, library: TemplateLibrary | None) -> Retriever:
    from lackpy.infer.retrieve import Retriever  # noqa: PLC0415  # only a model tier shows examples
    from lackpy.infer.sources import live_templates, past_successes  # noqa: PLC0415

    sources = [past_successes(workspace)]
    return Retriever(sources=[live_templates(library), *sources] if library is not None else sources)


def _ollama(config: Config, retriever: Retriever) -> Provider:
    from lackpy.infer.ollama import OllamaProvider  # noqa: PLC0415  # optional client

    own = config.ollama
    return OllamaProvider(
        model=own.model,
        host=own.host,
        keep_alive=own.keep_alive,
        timeout_s=own.timeout_s,
        num_ctx=own.num_ctx,
        retriever=retriever,
    )


def _llamacpp(config: Config, retriever: Retriever) -> Provider:
    from lackpy.infer.llamacpp import LlamaCppProvider  # noqa: PLC0415  # optional engine

    own = config.llamacpp
    return LlamaCppProvider(
        model_path=own.model_path or os.environ.get("LACKPY_GGUF"),
        n_ctx=own.n_ctx,
        threads=own.threads,
        timeout_s=own.timeout_s,
        grammar=own.grammar,
        retriever=retriever,
    )


def _anthropic(config: Config, retriever: Retriever) -> Provider:
    from lackpy.infer.anthropic import AnthropicProvider  # noqa: PLC0415  # optional client

    own = config.anthropic
    return AnthropicProvider(
        model=own.model,
        max_tokens=own.max_tokens,
        timeout_s=own.timeout_s,
        api_key_env=own.api_key_env,
        base_url=own.base_url,
        retriever=retriever,
    )


_MODELS: dict[str, Callable[[Config, Retriever], Provider]] = {
    "ollama": _ollama,
    "llamacpp": _llamacpp,
    "anthropic": _anthropic,
}
