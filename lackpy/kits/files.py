"""Kit files: `.lackpy/kits/NAME.toml` of a workspace and those shipped in `data/kits/`.

```toml
name = "debug"                      # optional, the file's name
description = "Read and search."
tools = ["read", "grep", "mypkg.mod:func", {name = "log", python = "mypkg.git:log", grade = 1}, "mcp:github"]
max_grade = 1                       # optional
rules = ["no-print"]                # optional
```
`tools` may also be a table: `[tools.log]` with `python = "mypkg.git:log"`, `grade = 1`.
"""

from __future__ import annotations

import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lackpy import resources
from lackpy.kits.define import as_grade
from lackpy.kits.errors import KitError
from lackpy.lang.signature import Grade

KITS_DIR = ".lackpy/kits"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_KEYS = ("name", "description", "tools", "max_grade", "rules")
_TOOL_KEYS = ("name", "python", "mcp", "builtin", "grade", "timeout_s")
_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One tool as a kit file names it.

    Attributes:
        source: `read`, `module:function`, `mcp:server`, `mcp:server/tool` or the name of a registered tool.
        name: Name that programs call, `None` = the tool's own.
        grade: Overrides the tool's own.
        timeout_s: Deadline of one call in seconds.
        where: File and line, for errors.
    """

    source: str
    name: str | None = None
    grade: Grade | None = None
    timeout_s: float | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class KitFile:
    """A kit file, read and checked; no tool is looked up yet."""

    name: str
    description: str
    tools: tuple[ToolEntry, ...]
    max_grade: Grade | None
    rules: tuple[str, ...]


def is_mcp(source: str) -> bool:
    """Tell whether a tool entry names tools of an MCP server."""
    return source.startswith("mcp:")


def checked_name(name: object) -> str:
    """Return a kit's name when it can be a file's.

    Raises:
        KitError: It can't.
    """
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    raise KitError(
        f"kit name {name!r} must be letters, digits, '-' and '_', at most 64, starting with a letter or digit"
    )


def find(name: str, workspace: Path) -> Path | None:
    """Return the file of kit `name`: the workspace's, else the shipped one."""
    for folder in _folders(workspace):
        path = folder / f"{name}.toml"
        if path.is_file():
            return path
    return None


def names(workspace: Path) -> list[str]:
    """Return the names of every kit file, sorted."""
    found: set[str] = set()
    for folder in _folders(workspace):
        with suppress(OSError):
            found.update(path.stem for path in folder.glob("*.toml") if _NAME.fullmatch(path.stem))
    return sorted(found)


def _folders(workspace: Path) -> tuple[Path, Path]:
    return workspace / KITS_DIR, resources.folder("data") / "kits"


def load(path: Path) -> KitFile:
    """Read one kit file.

    Raises:
        KitError: It can't be read, isn't TOML, or a key is unknown, missing or of the wrong type.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_BYTES).decode("utf-8-sig")
        data = tomllib.loads(text)
    except OSError as exc:
        raise KitError(f"{path}: can't be read: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise KitError(f"{path}: isn't UTF-8") from exc
    except tomllib.TOMLDecodeError as exc:
        raise KitError(f"{path}: not valid TOML: {exc}") from exc
    return _Reader(path, text).kit(data)


class _Reader:
    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.split("\n")

    def _at(self, *needles: str) -> str:
        """Return `file:line` of the first line that holds the first needle that occurs."""
        for needle in needles:
            for number, line in enumerate(self._lines, 1):
                if needle and needle in line.partition("#")[0]:
                    return f"{self._path}:{number}"
        return f"{self._path}:1"

    def kit(self, data: Mapping[str, Any]) -> KitFile:
        for key in data:
            if key not in _KEYS:
                raise KitError(f"{self._at(key)}: unknown key {key!r}; known: {', '.join(_KEYS)}")
        name = data.get("name", self._path.stem)
        if name != self._path.stem:
            raise KitError(
                f"{self._at('name')}: 'name' is {name!r}, but the file is {self._path.name!r}; make them equal"
            )
        description = data.get("description", "")
        if not isinstance(description, str):
            raise KitError(f"{self._at('description')}: 'description' must be a text (got {description!r})")
        if "tools" not in data:
            raise KitError(f'{self._path}:1: \'tools\' is missing; write tools = ["read", "grep"]')
        rules = data.get("rules", [])
        if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
            raise KitError(f"{self._at('rules')}: 'rules' must be a list of texts (got {rules!r})")
        grade = data.get("max_grade")
        cap = None if grade is None else self._grade(grade, "max_grade")
        return KitFile(name, description, self._tools(data["tools"]), cap, tuple(rules))

    def _grade(self, value: Any, key: str) -> Grade:
        made = value
        if isinstance(value, Mapping) and set(value) <= {"w", "d"}:
            made = Grade(value.get("w", 3), value.get("d", 3))
        elif key == "max_grade" and isinstance(value, int) and not isinstance(value, bool):
            made = Grade(value, 3)
        try:
            return as_grade(made)
        except KitError as exc:
            raise KitError(
                f"{self._at(key)}: '{key}' must be 0, 1, 2 or 3, or {{w = 1, d = 3}} (got {value!r})"
            ) from exc

    def _tools(self, value: Any) -> tuple[ToolEntry, ...]:
        if isinstance(value, list):
            entries = [self._entry(item, None) for item in value]
        elif isinstance(value, Mapping):
            entries = [self._entry(item, key) for key, item in value.items()]
        else:
            raise KitError(f"{self._at('tools')}: 'tools' must be a list or a table (got {value!r})")
        if not entries:
            raise KitError(f"{self._at('tools')}: 'tools' is empty; name at least one tool")
        return tuple(entries)

    def _entry(self, item: Any, key: str | None) -> ToolEntry:
        if isinstance(item, str):
            return ToolEntry(item, key, where=self._at(f'"{item}"', item))
        if not isinstance(item, Mapping):
            raise KitError(f"{self._at('tools')}: a tool must be a text or a table (got {item!r})")
        where = self._at(f"tools.{key}" if key else str(item.get("name", "tools")), str(key))
        for name in item:
            if name not in _TOOL_KEYS:
                raise KitError(f"{where}: unknown key {name!r} of a tool; known: {', '.join(_TOOL_KEYS)}")
        sources = [(kind, item[kind]) for kind in ("python", "mcp", "builtin") if kind in item]
        if len(sources) > 1 or not all(isinstance(source, str) for _, source in sources):
            raise KitError(
                f'{where}: a tool needs one of python = "module:function", mcp = "server/tool", builtin = "read"'
            )
        called = item.get("name", key)
        if not sources:
            sources = [("builtin", called)]
        kind, source = sources[0]
        timeout_s = item.get("timeout_s")
        if timeout_s is not None and (
            isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or timeout_s <= 0
        ):
            raise KitError(f"{where}: 'timeout_s' must be > 0 seconds (got {timeout_s!r})")
        if not isinstance(source, str):
            raise KitError(f"{where}: a tool needs a 'name', or python = \"module:function\"")
        grade = self._grade(item["grade"], "grade") if "grade" in item else None
        return ToolEntry(f"mcp:{source}" if kind == "mcp" else source, called, grade, timeout_s, where)


def save(workspace: Path, name: str, tools: list[str], description: str) -> Path:
    """Write `.lackpy/kits/NAME.toml` in one step and return its path.

    Raises:
        KitError: It exists already or can't be written.
    """
    folder = workspace / KITS_DIR
    path = folder / f"{name}.toml"
    lines = [f"name = {_quoted(name)}", f"description = {_quoted(description)}", "tools = ["]
    text = "\n".join([*lines, *(f"    {_quoted(tool)}," for tool in tools), "]", ""])
    temporary = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(prefix=f".{name}-", suffix=".tmp", dir=folder)
        with os.fdopen(fd, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        os.link(temporary, path)  # fails when the kit exists, whoever made it in the meantime
    except FileExistsError as exc:
        raise KitError(f"kit {name!r} exists already: {path}; edit that file or choose another name") from exc
    except OSError as exc:
        raise KitError(f"{path}: can't be written: {exc.strerror or exc}") from exc
    finally:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108  # a string from mkstemp
    return path


def _quoted(text: str) -> str:
    """Return a TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'
