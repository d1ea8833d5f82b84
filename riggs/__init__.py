"""The ratchet: what recurs in the traces becomes a reviewed template. These names are public.

The functions are bound at once, for modules of this package carry the same names; `Store` loads DuckDB when first used.
"""

from typing import TYPE_CHECKING, Any

from riggs.backtest import Backtest, Past, backtest
from riggs.induce import InductionError, Pattern, induce
from riggs.learn import Learned, learn
from riggs.normalise import NORMALISER_VERSION, Normalised, normalise

if TYPE_CHECKING:
    from riggs.store import Store


def __getattr__(name: str) -> Any:
    """Import `Store` on first use."""
    if name != "Store":
        raise AttributeError(f"module 'riggs' has no attribute '{name}'")
    from riggs.store import Store  # noqa: PLC0415  # loads DuckDB

    return Store


__all__ = [
    "NORMALISER_VERSION",
    "Backtest",
    "InductionError",
    "Learned",
    "Normalised",
    "Past",
    "Pattern",
    "Store",
    "backtest",
    "induce",
    "learn",
    "normalise",
]
