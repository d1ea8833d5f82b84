"""What an outer agent's own tools are called here: `Grep` is `grep`, a shell's `cat FILE` is `read`.

Pure. Only calls that read are translated: what to write is known only after reading, so no single call could have
done both. Anything else ends a sequence; bookkeeping calls don't.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

Call = tuple[str, dict[str, str]]
"""Our tool's name, and its arguments in its own parameter names."""

BOOKKEEPING = frozenset({"TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "ExitPlanMode"})
PATH_PARAMS = frozenset({"path", "glob"})
_SHELL = re.compile(r"[|;&<>`$\n]|\*\*")
_RUNNER = re.compile(r"(?:\S*/)?(?:python[\d.]* -m )?pytest\b(?P<rest>.*)")


def translate(tool: str, args: Mapping[str, Any], workspace: str) -> Call | None:
    """Return the same call in our tools, or `None` when there is none.

    >>> translate("Grep", {"pattern": "x", "path": "/w/src"}, "/w")
    ('grep', {'pattern': 'x', 'glob': 'src/**/*'})
    """
    translator = _TRANSLATORS.get(tool.rsplit("__", 1)[-1] if tool.startswith("mcp__fledgling") else tool)
    return translator(args, workspace) if translator else None


def relative(path: str, workspace: str) -> str:
    """Return a path below the workspace relative to it; others as they are."""
    root = workspace.rstrip("/") + "/"
    return "." if path.rstrip("/") + "/" == root else path.removeprefix(root).removeprefix("./") or "."


def _read(args: Mapping[str, Any], workspace: str) -> Call | None:
    path = args.get("file_path")
    if not isinstance(path, str) or args.get("offset") or args.get("limit") or args.get("pages"):
        return None
    return "read", {"path": relative(path, workspace)}


def _grep(args: Mapping[str, Any], workspace: str) -> Call | None:
    pattern, where, names = args.get("pattern"), args.get("path"), args.get("glob")
    if not isinstance(pattern, str) or any(
        args.get(key) for key in ("-i", "multiline", "-A", "-B", "-C", "type")
    ):
        return None
    found = {"pattern": pattern}
    glob = _glob_of(where, names, workspace)
    if glob:
        found["glob"] = glob
    return "grep", found


def _glob_of(where: Any, names: Any, workspace: str) -> str:
    inner = names if isinstance(names, str) and names else ""
    if not isinstance(where, str) or not where or relative(where, workspace) == ".":
        return inner if not inner or "/" in inner else f"**/{inner}"
    base = relative(where, workspace).rstrip("/")
    if PurePosixPath(base).suffix and not inner:
        return base
    return f"{base}/**/{inner or '*'}"


def _glob(args: Mapping[str, Any], workspace: str) -> Call | None:
    pattern, where = args.get("pattern"), args.get("path")
    if not isinstance(pattern, str):
        return None
    base = relative(where, workspace).rstrip("/") if isinstance(where, str) and where else "."
    return "glob", {"pattern": pattern if base == "." else f"{base}/{pattern}"}


def _bash(args: Mapping[str, Any], workspace: str) -> Call | None:
    command = args.get("command")
    if not isinstance(command, str) or _SHELL.search(command):
        return None
    run = _RUNNER.fullmatch(command.strip())
    try:
        words = shlex.split(run["rest"] if run else command)
    except ValueError:
        return None
    paths = [w for w in words if not w.startswith("-")]
    if run:
        return ("run_tests", {"path": paths[0]} if paths else {}) if len(paths) <= 1 else None
    if len(words) == 2 and words[0] == "cat":
        return "read", {"path": relative(words[1], workspace)}
    if (
        len(words) >= 2
        and words[0] in ("grep", "rg")
        and 1 <= len(paths) - 1 <= 2
        and _plain_flags(words[1:])
    ):
        return _grep({"pattern": paths[1], "path": paths[2] if len(paths) == 3 else None}, workspace)
    return None


def _plain_flags(words: list[str]) -> bool:
    """Tell whether every flag only asks for what `grep` does anyway."""
    return all(set(w[1:]) <= set("rnRHE") for w in words if w.startswith("-"))


def _named(ours: str, *keys: str) -> Callable[[Mapping[str, Any], str], Call | None]:
    def made(args: Mapping[str, Any], workspace: str) -> Call | None:
        found = next((args[key] for key in keys if isinstance(args.get(key), str)), None)
        if found is None:
            return None
        value = relative(found, workspace) if ours == "outline" else found
        return ours, {"path" if ours == "outline" else "name": value}

    return made


_TRANSLATORS: Mapping[str, Callable[[Mapping[str, Any], str], Call | None]] = {
    "Read": _read,
    "Grep": _grep,
    "Glob": _glob,
    "Bash": _bash,
    "FindDefinitions": _named("find_definitions", "name_pattern", "name", "pattern"),
    "FindCallers": _named("find_callers", "func_name", "name", "function", "name_pattern"),
    "CodeStructure": _named("outline", "file_pattern", "path", "file_path"),
}
