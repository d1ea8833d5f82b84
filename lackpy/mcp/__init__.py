"""The MCP server: the outer agent's one call. Imported by `lackpy serve` only (the SDK takes 0.6 s to import)."""
