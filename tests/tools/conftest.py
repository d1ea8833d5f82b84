"""Workspaces that the tools' tests work on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from lackpy.kits import toolbox


class Tools:
    """A workspace folder with its builtin tools as attributes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._specs = toolbox(root)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self._specs[name].fn

    def put(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    root = tmp_path / "ws"
    root.mkdir()
    return Tools(root)
