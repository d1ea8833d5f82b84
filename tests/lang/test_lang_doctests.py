"""The examples in the language's docstrings are true."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["canonical", "fill", "write"])
def test_examples_in_docstrings(name):
    """Each example runs and gives what it shows."""
    result = doctest.testmod(importlib.import_module(f"lackpy.lang.{name}"))
    assert (result.failed, result.attempted > 0) == (0, True)
