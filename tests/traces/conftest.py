"""Fixtures of the traces' tests."""

from __future__ import annotations

import pytest


@pytest.fixture
def state(tmp_path):
    """Return an empty workspace's state folder."""
    folder = tmp_path / ".lackpy"
    folder.mkdir()
    return folder
