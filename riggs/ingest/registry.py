"""Which sources a workspace has, and the `[sources]` table that configures them.

[sources]
enabled = ["kibitzer", "blq", "jetsam", "claude_code"]
claude_folder = "/home/me/.claude/projects/-home-me-app"
jetsam_plans = "/home/me/.local/state/jetsam/plans"
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riggs.errors import RiggsError
from riggs.ingest import blq, claude_code, jetsam, kibitzer
from riggs.ingest.source import Source

NAMES = (kibitzer.NAME, blq.NAME, jetsam.NAME, claude_code.NAME)
_PATHS = ("claude_folder", "jetsam_plans")


def sources_of(
    workspace: Path, section: Mapping[str, Any] | None = None, where: str = "[sources]"
) -> list[Source]:
    """Return the workspace's enabled sources, absent ones included; they say so themselves.

    Raises:
        RiggsError: An unknown key or source, or a value of the wrong type.
    """
    section = section or {}
    unknown = sorted(set(section) - {"enabled", *_PATHS})
    if unknown:
        raise RiggsError(f"{where}: unknown key '{unknown[0]}'; known: enabled, {', '.join(_PATHS)}")
    enabled = section.get("enabled", list(NAMES))
    if not isinstance(enabled, list) or not all(isinstance(name, str) for name in enabled):
        raise RiggsError(f"{where}: 'enabled' must be a list of source names (got {enabled!r})")
    strange = [name for name in enabled if name not in NAMES]
    if strange:
        raise RiggsError(f"{where}: no source '{strange[0]}'; there are {', '.join(NAMES)}")
    paths = {key: _path(section[key], f"{where}: '{key}'") if key in section else None for key in _PATHS}
    made: dict[str, Source] = {
        kibitzer.NAME: kibitzer.Kibitzer(workspace),
        blq.NAME: blq.Blq(workspace),
        jetsam.NAME: jetsam.Jetsam(workspace, paths["jetsam_plans"]),
        claude_code.NAME: claude_code.ClaudeCode(workspace, paths["claude_folder"]),
    }
    return [made[name] for name in NAMES if name in enabled]


def _path(value: Any, what: str) -> Path:
    if not isinstance(value, str) or not value:
        raise RiggsError(f"{what} must be a folder's path (got {value!r})")
    return Path(value).expanduser()
