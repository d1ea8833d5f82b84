"""The ratchet: what recurs in the traces becomes a reviewed template."""

from riggs.backtest import Backtest, Past, backtest
from riggs.induce import InductionError, Pattern, induce
from riggs.learn import Learned, learn
from riggs.normalise import NORMALISER_VERSION, Normalised, normalise

__all__ = [
    "NORMALISER_VERSION",
    "Backtest",
    "InductionError",
    "Learned",
    "Normalised",
    "Past",
    "Pattern",
    "backtest",
    "induce",
    "learn",
    "normalise",
]
