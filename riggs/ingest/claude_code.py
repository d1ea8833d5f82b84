"""Claude Code's session logs of one workspace: what the person asked, which tools were called, how each call ended.

Reads `~/.claude/projects/SLUG/**/*.jsonl` (`CLAUDE_CONFIG_DIR` moves it), line by line, in memory bounded by one batch.
A `tool_use` block is a turn; the `tool_result` block with its id is how it ended, whichever record, batch or file
holds it. Only what a person typed is an intent: records that the machine wrote in the user's name are not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riggs.ingest import lines, shapes
from riggs.ingest.source import Batch, Cursor, Ending, Outcome, Problem, Turn

if TYPE_CHECKING:
    from datetime import datetime

NAME = "claude_code"
BATCH_ROWS = 5000
"""Turns and endings stored at a time."""
BATCH_LINES = 50_000
"""Lines after which a batch is stored even when few held a turn."""
_PATTERN = "**/*.jsonl"

# A provider's ids are unique everywhere; anything shorter is only taken to be unique within its session.
_GLOBAL_ID = re.compile(r"(?:toolu|srvtoolu|call|tooluse)_\w{16,}")
# Records of type `user` that no person typed start with one of these.
_MACHINE = re.compile(
    r"\s*(?:<(?:command-name|command-message|command-args|local-command-\w+|system-reminder|bash-(?:input|stdout|stderr)|"
    r"user-prompt-submit-hook|task-notification|ide_\w+)|\[Request interrupted|Caveat: The messages below|"
    r"This session is being continued from a previous conversation)"
)
_REJECTED = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|tool use was rejected", re.IGNORECASE
)
_NOT_ALLOWED = re.compile(
    r"haven't granted it|permission to use .{0,80} (?:has been |was )?denied|blocked by (?:hook|permission)|"
    r"PreToolUse:\S* (?:hook|\[)|hook (?:blocked|denied)|operation blocked",
    re.IGNORECASE,
)
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user")


def projects_folder() -> Path:
    """Return the folder that holds one folder of logs a workspace."""
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(configured) if configured else Path.home() / ".claude") / "projects"


def slug(workspace: Path) -> str:
    """Return the folder name for a workspace: its path, each character that is no letter or digit a `-`.

    >>> slug(Path("/home/me/my_app"))
    '-home-me-my-app'
    """
    return re.sub(r"[^A-Za-z0-9]", "-", str(workspace))


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """The logs of one workspace.

    Attributes:
        workspace: Absolute path.
        folder: Folder of its logs; `None` = where Claude Code keeps them.
        max_line_bytes: A longer line is passed over and counted.
    """

    workspace: Path
    folder: Path | None = None
    max_line_bytes: int = lines.MAX_LINE_BYTES

    @property
    def name(self) -> str:
        """Return the source's name."""
        return NAME

    def _folder(self) -> Path:
        return self.folder or projects_folder() / slug(self.workspace)

    def absent(self) -> str | None:
        """Return why there is nothing to read."""
        folder = self._folder()
        if not folder.is_dir():
            return f"no Claude Code logs for this workspace ({folder})"
        return None if next(folder.glob(_PATTERN), None) else f"no *.jsonl in {folder}"

    def read(self, cursors: Mapping[str, Cursor]) -> Iterator[Batch]:
        """Yield what is new in each file, files in the order of their names."""
        folder = self._folder()
        for path in sorted(folder.glob(_PATTERN)):
            if path.is_file():
                stream = path.relative_to(folder).as_posix()
                yield from self._file(path, stream, cursors.get(stream))

    def _file(self, path: Path, stream: str, cursor: Cursor | None) -> Iterator[Batch]:
        offset, note = lines.resume(path, cursor)
        start = offset
        pending = _Pending(stream)
        if note:
            pending.notes.append(note)
        for line in lines.read_lines(path, offset, max_line_bytes=self.max_line_bytes):
            pending.read += 1
            offset = line.end
            if line.record is None:
                pending.problems.append(line.as_problem())
            elif not _elsewhere(line.record, self.workspace):
                reader = _Record(line.record, self.workspace.name, line.start, stream)
                pending.turns += reader.turns()
                pending.endings += reader.endings()
            if len(pending.turns) + len(pending.endings) >= BATCH_ROWS or pending.read >= BATCH_LINES:
                yield pending.batch(lines.cursor_at(path, offset))
                start, pending = offset, _Pending(stream)
        if pending.read or note or offset != start:
            yield pending.batch(lines.cursor_at(path, offset))


class _Pending:
    """What the current batch holds so far."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.turns: list[Turn] = []
        self.endings: list[Ending] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.read = 0

    def batch(self, cursor: Cursor) -> Batch:
        return Batch(
            self.stream,
            tuple(self.turns),
            cursor,
            tuple(self.endings),
            tuple(self.problems),
            self.read,
            tuple(self.notes),
        )


def _elsewhere(record: Mapping[str, Any], workspace: Path) -> bool:
    """Tell whether the record is about another workspace whose path has the same slug."""
    cwd = record.get("cwd")
    if not isinstance(cwd, str) or not cwd:
        return False
    return slug(Path(cwd)) == slug(workspace) and cwd.rstrip("/") != str(workspace)


class _Record:
    """One log record, read leniently: what has another shape than expected yields nothing."""

    def __init__(self, record: Mapping[str, Any], project: str, position: int, stream: str) -> None:
        self._record = record
        self._project = project
        message = record.get("message")
        self._message: Mapping[str, Any] = message if isinstance(message, dict) else {}
        self._ts: datetime | None = shapes.parse_utc(record.get("timestamp"))
        session = record.get("sessionId")
        self._session = session if isinstance(session, str) and session else Path(stream).stem
        self._own_id = _string(record.get("uuid")) or f"{stream}@{position}"
        self._is_side = record.get("isSidechain") is True
        self._parent = (
            _string(record.get("agentId")) or _string(record.get("parentUuid")) if self._is_side else None
        )

    def turns(self) -> list[Turn]:
        kind = self._record.get("type")
        if kind == "assistant":
            return [turn for block in self._blocks() if (turn := self._call(block))]
        if kind == "user":
            prompt = self._prompt()
            return [prompt] if prompt else []
        return []

    def endings(self) -> list[Ending]:
        if self._record.get("type") != "user":
            return []
        return [ending for block in self._blocks() if (ending := self._ending(block))]

    def _blocks(self) -> list[Mapping[str, Any]]:
        content = self._message.get("content")
        return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []

    def _turn_id(self, own: str) -> str:
        return f"{NAME}:{own}" if _GLOBAL_ID.fullmatch(own) else f"{NAME}:{self._session}:{own}"

    def _call(self, block: Mapping[str, Any]) -> Turn | None:
        own, tool = _string(block.get("id")), _string(block.get("name"))
        if block.get("type") not in ("tool_use", "server_tool_use") or not own or not tool:
            return None
        given = block.get("input")
        arguments = given if isinstance(given, dict) else {}
        kind = shapes.call_kind(tool, _string(arguments.get("command")) or "")
        return Turn(
            turn_id=self._turn_id(own),
            source=NAME,
            session_id=self._session,
            ts=self._ts,
            project=self._project,
            kind=kind,
            tool=tool,
            parent_id=self._parent,
            is_sidechain=self._is_side,
            detail={"args": shapes.cut(arguments)},
        )

    def _ending(self, block: Mapping[str, Any]) -> Ending | None:
        own = _string(block.get("tool_use_id"))
        if block.get("type") != "tool_result" or not own:
            return None
        text = _text_of(block.get("content"))
        outcome, category = self._verdict(block, text)
        result: dict[str, Any] = {"chars": len(text), "head": text[: shapes.HEAD_CHARS]}
        return Ending(self._turn_id(own), outcome, category, self._ts, result)

    def _verdict(self, block: Mapping[str, Any], text: str) -> tuple[Outcome, str]:
        head = text[: shapes.HEAD_CHARS]
        details = self._record.get("toolUseResult")
        if _INTERRUPTED.match(head) or (isinstance(details, dict) and details.get("interrupted") is True):
            return Outcome.UNKNOWN, "interrupted"
        if block.get("is_error") is True:
            if _REJECTED.search(head):
                return Outcome.DENIED, "user-rejected"
            if _NOT_ALLOWED.search(head):
                return Outcome.DENIED, "denied"
            return Outcome.FAILURE, ""
        return Outcome.SUCCESS, ""

    def _prompt(self) -> Turn | None:
        text = self._typed()
        if text is None:
            return None
        return Turn(
            turn_id=self._turn_id(f"prompt:{self._own_id}"),
            source=NAME,
            session_id=self._session,
            ts=self._ts,
            project=self._project,
            kind="prompt",
            tool="",
            intent=text[: shapes.INTENT_CHARS],
        )

    def _typed(self) -> str | None:
        """Return what a person typed, or `None` when the machine wrote this record."""
        record = self._record
        flagged = any(record.get(key) is True for key in ("isMeta", "isCompactSummary", "isSidechain"))
        origin = record.get("origin")
        kind = origin.get("kind") if isinstance(origin, dict) else origin
        if flagged or kind not in (None, "", "human", "user") or self._message.get("role", "user") != "user":
            return None
        content = self._message.get("content")
        if isinstance(content, list):
            blocks = self._blocks()
            if any(b.get("type") == "tool_result" for b in blocks):
                return None
            parts = [t for b in blocks if b.get("type") == "text" and (t := _string(b.get("text")))]
            content = "\n".join(p for p in parts if not _MACHINE.match(p))
        if not isinstance(content, str) or not content.strip() or _MACHINE.match(content):
            return None
        return content.strip()


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _text_of(content: Any) -> str:
    """Return a result's text, blocks joined; images count as nothing."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (b.get("text") for b in content if isinstance(b, dict))
        return "\n".join(p for p in parts if isinstance(p, str))
    return ""
