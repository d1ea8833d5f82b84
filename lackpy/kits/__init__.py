"""Kits: named sets of tools, and the providers that tools come from. MCP servers: `lackpy.kits.mcp_tools`."""

from lackpy.kits.define import as_grade, spec_of, tool
from lackpy.kits.errors import KitError
from lackpy.kits.kit import Kit
from lackpy.kits.load import KitLike, broken_kits, create_kit, list_kits, load_kit, toolbox
from lackpy.kits.spec import ToolSpec

__all__ = [
    "Kit",
    "KitError",
    "KitLike",
    "ToolSpec",
    "as_grade",
    "broken_kits",
    "create_kit",
    "list_kits",
    "load_kit",
    "spec_of",
    "tool",
    "toolbox",
]
