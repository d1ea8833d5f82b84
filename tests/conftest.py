"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FILES = {
    "app/auth.py": (
        "import jwt\n\n\ndef validate_token(token):\n    # TODO: check expiry\n    return jwt.decode(token)\n\n\n"
        "class Session:\n    def refresh(self):\n        return validate_token(self.token)\n"
    ),
    "app/api.py": (
        "from app.auth import validate_token\n\n\ndef login(request):\n    return validate_token(request.token)\n\n\n"
        "def logout(request):\n    return None\n"
    ),
    "app/__init__.py": "",
    "tests/test_auth.py": (
        "from app.auth import validate_token\n\n\ndef test_validate_token():\n    assert validate_token('x')\n"
    ),
    "web/index.ts": "export function render(name: string) {\n  return name;\n}\nrender('x');\n",
    "README.md": "# Demo\n\nA small tree.\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a small source tree of its own."""
    root = tmp_path / "ws"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def cli(workspace: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs `lackpy` or `riggs` in the workspace as a real process."""

    def run(
        *argv: str, env: dict[str, str] | None = None, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        module, *rest = argv
        return subprocess.run(
            [sys.executable, "-c", f"from {module}.cli import main; main()", *rest],
            cwd=workspace,
            env={**os.environ, "NO_COLOR": "1", **(env or {})},
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run
