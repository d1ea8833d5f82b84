"""Where shipped `sql/`, `data/` and `notebooks/` live: inside the wheel, or at the top of a checkout.

The only module that knows these folders' paths.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def folder(name: str) -> Path:
    """Return the folder `name` (`sql`, `data` or `notebooks`).

    Raises:
        FileNotFoundError: The installation lacks it.
    """
    for base in (_PACKAGE / "_resources", _PACKAGE.parent):
        candidate = base / name
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"shipped folder '{name}' is missing beside {_PACKAGE}; reinstall lackpy-riggs")


@cache
def text(path: str) -> str:
    """Return a shipped file's text, e.g. `text("sql/candidates.sql")`."""
    top, _, rest = path.partition("/")
    return (folder(top) / rest).read_text(encoding="utf-8")
