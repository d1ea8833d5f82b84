"""riggs over MCP, read-only. Imported by `riggs serve` only (the SDK takes 0.6 s to import)."""
