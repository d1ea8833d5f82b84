"""The `mcp` provider: tools of other MCP servers as plain functions, named `server_tool`, graded by their annotations.

A kit names `mcp:SERVER` (all of its tools) or `mcp:SERVER/TOOL`.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy.kits.define import UNDECLARED
from lackpy.kits.errors import KitError
from lackpy.kits.mcp_servers import Server, ServerEntry, close_servers, mcp_servers, server_of, server_status
from lackpy.kits.spec import ToolSpec
from lackpy.lang.signature import Grade, Param, Signature
from lackpy.tools.errors import ToolError

if TYPE_CHECKING:
    import mcp_types

__all__ = ["close_servers", "mcp_servers", "mcp_specs", "server_status"]

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_ANYTHING = (Param("*args"), Param("**kwargs"))


def mcp_specs(source: str, workspace: Path) -> list[ToolSpec]:
    """Return the tools that `mcp:SERVER` or `mcp:SERVER/TOOL` names.

    A server that can't be reached gives the tools last seen; a tool named by itself is there in any case and fails
    with the reason when it is called.

    Raises:
        KitError: No such server, or it has no such tool.
    """
    name, _, tool = source.removeprefix("mcp:").partition("/")
    entries = {entry.name: entry for entry in mcp_servers(workspace)}
    if name not in entries:
        known = ", ".join(entries) or "none"
        raise KitError(f"no MCP server {name!r} in .mcp.json; it names: {known}")
    entry = entries[name]
    server = server_of(entry)
    listed = server.tools()
    if not tool:
        return [_spec(server, found, called) for found, called in _named(entry, listed)]
    for found, called in _named(entry, listed):
        if found.name == tool:
            return [_spec(server, found, called)]
    if server.status.state == "ready":
        raise KitError(
            f"MCP server {name!r} has no tool {tool!r}; it has: {', '.join(t.name for t in listed) or 'none'}"
        )
    return [_unknown(server, tool)]


def _named(entry: ServerEntry, listed: tuple[mcp_types.Tool, ...]) -> list[tuple[mcp_types.Tool, str]]:
    """Pair each tool with the identifier that programs call, told apart by a number where two would be equal."""
    taken: set[str] = set()
    pairs = []
    for tool in listed:
        base = called = _identifier(entry, tool.name)
        number = 2
        while called in taken:
            called, number = f"{base}_{number}", number + 1
        taken.add(called)
        pairs.append((tool, called))
    return pairs


def _identifier(entry: ServerEntry, tool: str) -> str:
    return f"{entry.prefix}_{re.sub(r'[^0-9A-Za-z_]', '_', tool)}"


def _spec(server: Server, tool: mcp_types.Tool, called: str) -> ToolSpec:
    doc = " ".join((tool.description or tool.title or "").split())
    sentence = doc.partition(". ")[0].rstrip(".") + "." if doc else ""
    params = _params(tool.input_schema)
    signature = Signature(called, params, "Any", (), _grade(tool.annotations), sentence)
    return ToolSpec(signature, _caller(server, tool.name, called, params), None, f"mcp:{server.entry.name}")


def _unknown(server: Server, tool: str) -> ToolSpec:
    called = _identifier(server.entry, tool)
    signature = Signature(called, _ANYTHING, "Any", (), UNDECLARED, server.status.reason)
    return ToolSpec(signature, _caller(server, tool, called, None), None, f"mcp:{server.entry.name}")


def _grade(annotations: mcp_types.ToolAnnotations | None) -> Grade:
    """Read-only is a pinhole read; what only adds has a lower effects ceiling; all else counts as undeclared."""
    if annotations is None:
        return UNDECLARED
    if annotations.read_only_hint:
        return Grade(1, 1)
    return Grade(3, 2) if annotations.destructive_hint is False else UNDECLARED


def _params(schema: Mapping[str, Any]) -> tuple[Param, ...]:
    properties = schema.get("properties") or {}
    required = [name for name in schema.get("required") or [] if name in properties]
    usable = [n for n in (*required, *(n for n in properties if n not in required)) if _is_name(n)]
    return tuple(
        Param(n, _type(properties[n]), None if n in required else _default(properties[n])) for n in usable
    )


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _default(schema: Any) -> str:
    value = schema.get("default", ...) if isinstance(schema, dict) else ...
    return repr(value) if value is None or isinstance(value, str | int | float | bool) else "..."


def _type(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "Any"
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return " | ".join(dict.fromkeys(_type({**schema, "type": kind}) for kind in kinds)) or "Any"
    choices = schema.get("enum")
    if choices and all(isinstance(choice, str) for choice in choices):
        return f"Literal[{', '.join(map(repr, choices))}]"
    if kinds == "array":
        return f"list[{_type(schema.get('items'))}]"
    if kinds == "object":
        return "dict[str, Any]"
    return _TYPES.get(kinds, "Any") if isinstance(kinds, str) else "Any"


def _caller(server: Server, tool: str, called: str, params: tuple[Param, ...] | None) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        given = params
        if given is None:  # the server was down when the kit was read
            listed = next((t for t in server.tools() if t.name == tool), None)
            given = _params(listed.input_schema) if listed is not None else ()
            if args and not given:
                raise ToolError(
                    server.status.reason or f"MCP server {server.entry.name!r} has no tool {tool!r}"
                )
        if len(args) > len(given):
            raise ToolError(f"{called} takes {len(given)} arguments (got {len(args)})")
        arguments = {param.name: value for param, value in zip(given, args, strict=False)} | kwargs
        return _plain(server.call(tool, arguments), called)

    call.__name__ = called
    return call


def _plain(result: mcp_types.CallToolResult, called: str) -> Any:
    """Return a result as plain data: its structured content, else its text, read as JSON where it is an object."""
    texts = [block.text for block in result.content if block.type == "text"]
    if result.is_error:
        raise ToolError("\n".join(texts) or f"{called} failed without a reason")
    structured = result.structured_content
    if structured is not None:
        wrapped = isinstance(structured, dict) and list(structured) == ["result"]
        return structured["result"] if wrapped else structured
    text = "\n".join(texts)
    if len(texts) == 1 and text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text
