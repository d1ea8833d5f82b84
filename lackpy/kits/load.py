"""`kit=` as callers write it → a `Kit`: a kit's name, a list of tool names, or a mapping name → tool."""

from __future__ import annotations

import difflib
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lackpy.kits import files
from lackpy.kits.builtin import builtins
from lackpy.kits.define import spec_of
from lackpy.kits.errors import KitError
from lackpy.kits.files import KitFile, ToolEntry, is_mcp
from lackpy.kits.imports import from_entry_point, imported, registered
from lackpy.kits.kit import Kit
from lackpy.kits.spec import ToolSpec

KitLike = str | list[str] | tuple[str, ...] | Mapping[str, Callable[..., Any] | ToolSpec]

_known: dict[tuple[str, str], tuple[tuple[object, ...], Kit]] = {}
_lock = threading.Lock()


def load_kit(which: KitLike, workspace: str | Path) -> Kit:
    """Return a kit with its tools bound to `workspace`.

    A kit read from a file is kept until the file changes; one that holds tools of MCP servers is made anew each time.

    Args:
        which: Name of a kit, list of tool names, or mapping name → callable or ToolSpec.
        workspace: Folder that builtin tools are confined to.

    Raises:
        KitError: No such kit or tool, or its file or a tool can't be used.
    """
    root = Path(workspace)
    if isinstance(which, str):
        return _named(which, root)
    if isinstance(which, Mapping):
        tools = {name: spec_of(fn, name=name) for name, fn in which.items()}
        return Kit(_joined(tools), "Tools given by the caller.", MappingProxyType(tools))
    if isinstance(which, list | tuple):
        if not which:
            raise KitError("'kit' is an empty list; name at least one tool")
        for name in which:
            if not isinstance(name, str):
                raise KitError(f"'kit' must list tool names (got {name!r})")
        tools = _tools((ToolEntry(name) for name in which), root)
        return Kit(_joined(tools), "Tools named by the caller.", MappingProxyType(tools))
    raise KitError(f"'kit' must be a name, a list of tool names or a mapping (got {type(which).__name__})")


def list_kits(workspace: str | Path) -> list[Kit]:
    """Return every usable kit by name, shipped ones and the workspace's; one with a broken file is left out."""
    root = Path(workspace)
    kits = []
    for name in files.names(root):
        try:
            kits.append(_named(name, root))
        except KitError:
            continue
    return kits


def broken_kits(workspace: str | Path) -> list[str]:
    """Return one sentence for every kit file that can't be used."""
    root = Path(workspace)
    reasons = []
    for name in files.names(root):
        try:
            _named(name, root)
        except KitError as exc:
            reasons.append(str(exc))
    return reasons


def toolbox(workspace: str | Path) -> Mapping[str, ToolSpec]:
    """Return name → tool of everything a kit can name without asking an MCP server: builtin and registered tools."""
    found = dict(builtins(Path(workspace)))
    for name in sorted(registered()):
        if name not in found:
            try:
                found[name] = from_entry_point(name)
            except KitError:
                continue
    return MappingProxyType(found)


def create_kit(workspace: str | Path, name: str, tools: Iterable[str], description: str = "") -> Path:
    """Write `.lackpy/kits/NAME.toml` and return its path; it is there in full or not at all.

    Raises:
        KitError: The name is taken or malformed, no tool is named, or one doesn't exist.
    """
    root = Path(workspace)
    wanted = list(tools)
    files.checked_name(name)
    if not wanted:
        raise KitError(f"kit {name!r} needs at least one tool")
    _tools((ToolEntry(tool) for tool in wanted), root)
    return files.save(root, name, wanted, description)


def _named(name: str, root: Path) -> Kit:
    path = files.find(files.checked_name(name), root)
    if path is None:
        known = files.names(root)
        close = difflib.get_close_matches(name, known, n=1)
        tip = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
        raise KitError(f"no kit {name!r}; {tip}")
    key = (os.path.realpath(root), name)
    facts = path.stat()
    stamp = (path, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino)
    with _lock:
        known_kit = _known.get(key)
    if known_kit is not None and known_kit[0] == stamp:
        return known_kit[1]
    read = files.load(path)
    kit = _built(read, root)
    if not any(is_mcp(entry.source) for entry in read.tools):
        with _lock:
            if len(_known) > 256:
                _known.clear()
            _known[key] = (stamp, kit)
    return kit


def _built(read: KitFile, root: Path) -> Kit:
    tools = _tools(read.tools, root)
    return Kit(read.name, read.description, MappingProxyType(tools), read.max_grade, read.rules)


def _tools(entries: Iterable[ToolEntry], root: Path) -> dict[str, ToolSpec]:
    tools: dict[str, ToolSpec] = {}
    for entry in entries:
        try:
            found = _resolve(entry, root)
        except KitError as exc:
            if not entry.where:
                raise
            raise KitError(f"{entry.where}: {exc}") from exc
        for spec in found:
            if spec.name in tools and tools[spec.name] != spec:
                prefix = f"{entry.where}: " if entry.where else ""
                raise KitError(f"{prefix}two tools are named {spec.name!r}; give one another name")
            tools[spec.name] = spec
    return tools


def _resolve(entry: ToolEntry, root: Path) -> list[ToolSpec]:
    """Return the tools that one entry stands for."""
    source = entry.source
    shipped = builtins(root)
    if source in shipped:
        found = [shipped[source]]
    elif is_mcp(source):
        from lackpy.kits.mcp_tools import mcp_specs  # noqa: PLC0415  # asyncio is loaded only for MCP tools

        found = mcp_specs(source, root)
    elif ":" in source:
        return [_timed(imported(source, name=entry.name, grade=entry.grade), entry.timeout_s)]
    elif source in registered():
        found = [from_entry_point(source)]
    else:
        found = _by_server(source, root)
    if entry.name and len(found) > 1:
        raise KitError(f"{source!r} is several tools; it can't have the one name {entry.name!r}")
    return [_timed(spec_of(spec, name=entry.name, grade=entry.grade), entry.timeout_s) for spec in found]


def _by_server(name: str, root: Path) -> list[ToolSpec]:
    """Return the MCP tool whose full name is `server_tool`.

    Raises:
        KitError: There is none.
    """
    from lackpy.kits.mcp_tools import mcp_servers, mcp_specs  # noqa: PLC0415  # see above

    for server in mcp_servers(root):
        if name.startswith(f"{server.prefix}_"):
            found = [spec for spec in mcp_specs(f"mcp:{server.name}", root) if spec.name == name]
            if found:
                return found
    known = list(toolbox(root))
    close = difflib.get_close_matches(name, known, n=1)
    tip = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}, or 'module:function'"
    raise KitError(f"no tool {name!r}; {tip}")


def _timed(spec: ToolSpec, timeout_s: float | None) -> ToolSpec:
    return spec if timeout_s is None else replace(spec, timeout_s=float(timeout_s))


def _joined(tools: Mapping[str, ToolSpec]) -> str:
    """Return a name that says which tools these are, the same for every order."""
    text = "+".join(sorted(tools)) or "none"
    return (
        text
        if len(text) <= 120
        else f"{len(tools)}-tools-{blake2b(text.encode(), digest_size=6).hexdigest()}"
    )
