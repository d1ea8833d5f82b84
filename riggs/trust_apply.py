"""From a recommendation to kibitzer: a note where its users look and, only when asked, a mode change.

`.kibitzer/riggs-trust.md` says what riggs recommends and why. Applying runs `kibitzer mode NAME`, one step along
explore < implement < free (test and docs stand beside implement), and checks with `kibitzer prompt` that it took.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lackpy.templates.files import write_atomic
from lackpy.templates.format import TemplateError
from riggs.errors import RiggsError
from riggs.trust import Advice, Recommendation, Windows

NOTE = "riggs-trust.md"
RECORD = "riggs-trust.json"
TIMEOUT_S = 30.0
# kibitzer lives in an environment of its own; ours must not shadow what it imports.
_NOT_OURS = ("PYTHONPATH", "PYTHONHOME")

# Mode → the next one in each direction; a mode that isn't named here is the user's own and is left alone.
_TIGHTER: Mapping[str, str] = {
    "free": "implement",
    "implement": "explore",
    "test": "explore",
    "docs": "explore",
}
_LOOSER: Mapping[str, str] = {
    "explore": "implement",
    "review": "implement",
    "test": "implement",
    "docs": "implement",
    "implement": "free",
}


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying came to: kibitzer's mode before and now, and one sentence."""

    before: str
    after: str
    sentence: str


def next_mode(mode: str, advice: Advice) -> str:
    """Return the mode that the advice leads to; the same one at either end and for a mode of the user's own.

    >>> next_mode("free", Advice.TIGHTEN), next_mode("free", Advice.LOOSEN)
    ('implement', 'free')
    """
    ladder = {Advice.TIGHTEN: _TIGHTER, Advice.LOOSEN: _LOOSER}.get(advice, {})
    return ladder.get(mode, mode)


def write_note(
    workspace: Path, project: str, windows: Windows, advice: Recommendation, now: datetime
) -> Path | None:
    """Write the recommendation into `.kibitzer/`; `None` where kibitzer isn't set up or can't be written to."""
    folder = workspace / ".kibitzer"
    if not folder.is_dir():
        return None
    text = (
        f"# riggs recommends: {advice.advice}\n\n"
        f"Project {project}, {now:%Y-%m-%d %H:%M} UTC: {advice.reason}.\n\n"
        f"| window | trust |\n|---|---|\n| immediate | {windows.immediate:.2f} |\n"
        f"| session | {windows.session:.2f} |\n| baseline | {windows.baseline:.2f} |\n\n"
        "A recommendation only. `riggs trust --apply` changes kibitzer's mode by one step; "
        "`kibitzer mode NAME` sets it by hand.\n"
    )
    try:
        return write_atomic(folder / NOTE, text)
    except TemplateError:
        return None


def apply(
    workspace: Path,
    advice: Recommendation,
    windows: Windows,
    *,
    command: str = "kibitzer",
    wait_events: int = 20,
) -> Applied:
    """Change kibitzer's mode by one step as recommended, through its own command.

    Args:
        workspace: Where kibitzer is set up.
        advice: What is recommended.
        windows: The project's windows; their event count tells whether this advice was applied already.
        command: kibitzer's executable.
        wait_events: The same advice again within so many events changes nothing.

    Raises:
        RiggsError: kibitzer isn't installed or set up here, refuses, or the mode didn't take.
    """
    folder = workspace / ".kibitzer"
    if not folder.is_dir():
        raise RiggsError(f"no .kibitzer/ in {workspace}; run 'kibitzer init' there first")
    before = _mode(workspace, command)
    if advice.advice is Advice.HOLD:
        return Applied(before, before, f"hold: kibitzer stays in mode {before}")
    last = _record(folder)
    since = windows.events - int(last.get("events", 0))
    if last.get("advice") == advice.advice.value and 0 <= since < wait_events:
        sentence = (
            f"{advice.advice} was applied {since} events ago; {wait_events - since} more before it is again"
        )
        return Applied(before, before, sentence)
    target = next_mode(before, advice.advice)
    if target == before:
        return Applied(
            before, before, f"kibitzer's mode {before} has no step to {advice.advice}; nothing changed"
        )
    _run(workspace, [command, "mode", target])
    after = _mode(workspace, command)
    if after != target:
        raise RiggsError(f"kibitzer took 'mode {target}' but says it is in mode '{after}'")
    record = {"advice": advice.advice.value, "events": windows.events, "from": before, "to": after}
    write_atomic(folder / RECORD, json.dumps(record, indent=1) + "\n")
    return Applied(before, after, f"{advice.advice}: kibitzer's mode {before} → {after} ({advice.reason})")


def _mode(workspace: Path, command: str) -> str:
    text = _run(workspace, [command, "prompt", "--format", "json"])
    try:
        mode = json.loads(text)["mode"]
    except (ValueError, KeyError, TypeError) as exc:
        raise RiggsError(f"'{command} prompt --format json' answered {text[:80]!r}, not its mode") from exc
    return str(mode)


def _run(workspace: Path, argv: list[str]) -> str:
    program = shutil.which(argv[0])
    if program is None:
        raise RiggsError(
            f"'{argv[0]}' is not installed or not on PATH; pip install kibitzer, or name it with --kibitzer"
        )
    try:
        done = subprocess.run(  # noqa: S603  # a fixed command of kibitzer's, resolved above
            [program, *argv[1:]],
            cwd=workspace,
            env={k: v for k, v in os.environ.items() if k not in _NOT_OURS},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise RiggsError(f"'{' '.join(argv)}' failed: {exc}") from exc
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise RiggsError(f"'{' '.join(argv)}' failed: {said[-1] if said else f'exit code {done.returncode}'}")
    return done.stdout.strip()


def _record(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
