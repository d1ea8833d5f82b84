"""What jetsam planned and what became of it: its plan files, checked against git's own log of this repository.

jetsam keeps a plan only until it is confirmed or expires (`$XDG_STATE_HOME/jetsam/plans/p_*.json`, one folder a user),
and keeps no record of what it did. So a plan's end is not taken from jetsam: a commit with the plan's message that
git logged after the plan was made is a success that git observed; a plan without one stays unknown. Commits that no
plan explains are git's turns, in workspaces where jetsam is set up.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riggs.ingest import lines, shapes
from riggs.ingest.source import Batch, Cursor, Ending, Outcome, Problem, Turn

NAME = "jetsam"
STREAM = "plans"
MAX_PLANS = 200
"""Open and settled plans remembered between readings."""
CLOCK_SLACK_S = 2
"""git logs whole seconds; a commit may seem this much older than its plan."""
_PLAN = re.compile(r"p_[0-9a-f]+")
# OLD NEW Name <mail> SECONDS ZONE\taction: message
_REFLOG = re.compile(
    r"(?P<old>[0-9a-f]{40,64}) (?P<new>[0-9a-f]{40,64}) .*? (?P<at>\d+) [+-]\d{4}\t(?P<what>[^:]*)(?:: (?P<text>.*))?"
)
_COMMITS = ("commit", "commit (initial)", "commit (merge)", "merge")
_UNDONE = ("reset", "revert", "commit (amend)")


@dataclass(frozen=True, slots=True)
class Jetsam:
    """jetsam's plans for one workspace, and the workspace's git log.

    Attributes:
        workspace: Absolute path.
        plans: Folder of plan files; `None` = where jetsam keeps them.
    """

    workspace: Path
    plans: Path | None = None

    @property
    def name(self) -> str:
        """Return the source's name."""
        return NAME

    def absent(self) -> str | None:
        """Return why there is nothing to read."""
        if (self.workspace / ".jetsam").is_dir() or (self.plans or plans_folder()).is_dir():
            return None
        return "no .jetsam/ here and no jetsam plan of this user"

    def read(self, cursors: Mapping[str, Cursor]) -> Iterator[Batch]:
        """Yield new plans and what git logged since, with the plans it settles, in one piece."""
        known = cursors.get(STREAM, {})
        opened: dict[str, dict[str, Any]] = dict(known.get("open", {}))
        turns: list[Turn] = []
        for plan_id, plan in self._plans():
            if plan_id not in opened and plan_id not in known.get("done", []):
                opened[plan_id] = {
                    "at": plan.get("created_at"),
                    "message": _text(plan.get("params"), "message"),
                }
                turns.append(self._plan_turn(plan_id, plan))
        if not (known or turns or (self.workspace / ".jetsam").is_dir()):
            return
        done: list[str] = list(known.get("done", []))
        git = self._git(known.get("git"), opened, done)
        cursor = {"open": _newest(opened), "done": done[-MAX_PLANS:], "git": git.cursor}
        if turns or git.read or git.notes:
            turns += git.turns
            yield Batch(
                STREAM, tuple(turns), cursor, git.endings, git.problems, git.read + len(turns), git.notes
            )

    def _plans(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield this repository's plans; files of other repositories and damaged ones are not ours to report."""
        folder = self.plans or plans_folder()
        for path in sorted(folder.glob("p_*.json")) if folder.is_dir() else ():
            plan = _load(path) if _PLAN.fullmatch(path.stem) else None
            root = plan.get("repo_root") if plan else None
            if plan and isinstance(root, str) and root and _same(Path(root), self.workspace):
                yield path.stem, plan

    def _plan_turn(self, plan_id: str, plan: Mapping[str, Any]) -> Turn:
        steps = [s.get("action") for s in plan.get("steps", []) if isinstance(s, dict)]
        parameters = plan.get("params")
        return Turn(
            turn_id=f"{NAME}:{plan_id}",
            source=NAME,
            session_id="",
            ts=shapes.from_epoch(plan.get("created_at")),
            project=self.workspace.name,
            kind="commit" if "commit" in steps else "plan",
            tool=f"jetsam.{plan.get('verb') or 'plan'}",
            detail=shapes.cut({"args": parameters, "steps": steps, "scope": plan.get("scope")}),
        )

    def _git(self, cursor: Cursor | None, opened: dict[str, dict[str, Any]], done: list[str]) -> Batch:
        """Read what git logged since; a plan that a commit settles moves from `opened` to `done`."""
        path = _reflog(self.workspace)
        if path is None:
            return Batch("git", (), cursor or {})
        offset, note = lines.resume(path, cursor)
        turns: list[Turn] = []
        endings: list[Ending] = []
        problems: list[Problem] = []
        read, end = 0, offset
        for start, after, text in _ended_lines(path, offset):
            read, end = read + 1, after
            entry = _REFLOG.fullmatch(text)
            if entry is None:
                problems.append(Problem(start, "not a line of git's log"))
                continue
            plan_id = _settled(entry, opened)
            if plan_id is None:
                turns.append(self._git_turn(entry))
                continue
            opened.pop(plan_id)
            done.append(plan_id)
            result = {"commit": entry["new"], "message": shapes.cut(entry["text"])}
            endings.append(
                Ending(f"{NAME}:{plan_id}", Outcome.SUCCESS, "", shapes.from_epoch(int(entry["at"])), result)
            )
        where = lines.cursor_at(path, end)
        notes = (note,) if note else ()
        return Batch("git", tuple(turns), where, tuple(endings), tuple(problems), read, notes)

    def _git_turn(self, entry: re.Match[str]) -> Turn:
        what = entry["what"].strip()
        done = shapes.from_epoch(int(entry["at"]))
        kind = "commit" if what in _COMMITS else "undo" if what in _UNDONE else "git"
        return Turn(
            turn_id=f"{NAME}:git:{entry['at']}:{entry['new'][:16]}:{what}",
            source=NAME,
            session_id="",
            ts=done,
            project=self.workspace.name,
            kind=kind,
            tool=f"git.{what.split(' ')[0] or 'update'}",
            outcome=Outcome.SUCCESS if kind == "commit" else Outcome.UNKNOWN,
            category="" if kind == "commit" else kind,
            detail={"message": shapes.cut(entry["text"] or "")},
            result={"commit": entry["new"]},
            ended_at=done,
        )


def plans_folder() -> Path:
    """Return jetsam's plan folder of this user."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "jetsam" / "plans"


def _newest(opened: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    ordered = sorted(opened.items(), key=lambda item: item[1].get("at") or 0)
    return dict(ordered[-MAX_PLANS:])


def _load(path: Path) -> dict[str, Any] | None:
    try:
        plan = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, RecursionError):
        return None
    return plan if isinstance(plan, dict) else None


def _text(mapping: Any, key: str) -> str:
    value = mapping.get(key) if isinstance(mapping, dict) else None
    return value if isinstance(value, str) else ""


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _reflog(workspace: Path) -> Path | None:
    """Return git's log of HEAD; a linked worktree's `.git` is a file that names the real folder."""
    git = workspace / ".git"
    if git.is_file():
        pointer = git.read_text(encoding="utf-8", errors="replace").strip().removeprefix("gitdir:").strip()
        git = (workspace / pointer).resolve()
    path = git / "logs" / "HEAD"
    return path if path.is_file() else None


def _ended_lines(path: Path, offset: int) -> Iterator[tuple[int, int, str]]:
    with path.open("rb") as file:
        file.seek(offset)
        start = offset
        for raw in file:
            if not raw.endswith(b"\n"):
                return
            yield start, start + len(raw), raw[:-1].decode("utf-8", "replace")
            start += len(raw)


def _settled(entry: re.Match[str], opened: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the oldest open plan whose commit this is."""
    if entry["what"].strip() not in _COMMITS:
        return None
    subject = (entry["text"] or "").strip()
    for plan_id, plan in sorted(opened.items(), key=lambda item: item[1].get("at") or 0):
        message = str(plan.get("message") or "").strip().split("\n")[0]
        made = plan.get("at")
        in_time = not isinstance(made, int | float) or int(entry["at"]) + CLOCK_SLACK_S >= made
        if message and message == subject and in_time:
            return plan_id
    return None
