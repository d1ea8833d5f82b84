"""What a model's tokens cost, from `data/prices.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache

from lackpy import resources


@cache
def _table() -> Mapping[str, Mapping[str, float]]:
    models: Mapping[str, Mapping[str, float]] = tomllib.loads(resources.text("data/prices.toml"))["models"]
    return models


def cost_usd(model: str, tokens_in: int | None, tokens_out: int | None) -> float | None:
    """Return a call's dollars; `None` when price or tokens are unknown.

    >>> cost_usd("claude-haiku-4-5-20251001", 1_000_000, 1_000_000)
    6.0
    """
    known = [name for name in _table() if model.startswith(name)]
    if not known or tokens_in is None or tokens_out is None:
        return None
    price = _table()[max(known, key=len)]
    return (tokens_in * price["input"] + tokens_out * price["output"]) / 1e6
