"""`riggs serve`: the read-only MCP server."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import click

from lackpy.cli.options import find_workspace, workspace_option


@click.command()
@workspace_option()
def serve(workspace: Path | None) -> None:
    """Serve briefing, candidates, trust, convergence and templates over MCP on stdio; write nothing."""
    from lackpy.config import load  # noqa: PLC0415  # the SDK takes 0.6 s to import, only this command pays
    from lackpy.mcp.transport import serve_stdio  # noqa: PLC0415
    from riggs.mcp.server import RiggsServer  # noqa: PLC0415

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="riggs: %(message)s")
    sys.dont_write_bytecode = True  # a kit's own modules lie in the workspace
    root = find_workspace(workspace)
    load(root)
    serve_stdio(RiggsServer(root))
