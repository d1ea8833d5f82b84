"""`lackpy serve`: the MCP server."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import click

from lackpy.cli.options import find_workspace, workspace_option
from lackpy.cli.show import remark


@click.command()
@click.option("--http", default=None, metavar="HOST:PORT", help="Streamable HTTP at /mcp instead of stdio.")
@click.option(
    "--token-env", default="LACKPY_TOKEN", show_default=True, help="Variable that holds the bearer token."
)
@click.option("--session", default=None, envvar="LACKPY_SESSION", help="Session name.")
@workspace_option()
def serve(http: str | None, token_env: str, session: str | None, workspace: Path | None) -> None:
    """Serve this workspace over MCP: stdio, or HTTP on loopback."""
    from lackpy.config import load  # noqa: PLC0415  # the SDK takes 0.6 s to import, only this command pays
    from lackpy.mcp.render import OUTPUT_BYTES  # noqa: PLC0415
    from lackpy.mcp.server import LackpyServer  # noqa: PLC0415
    from lackpy.mcp.transport import serve_http, serve_stdio  # noqa: PLC0415
    from lackpy.service import Lackpy  # noqa: PLC0415

    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="lackpy: %(message)s")
    root = find_workspace(workspace)
    config = load(root)
    limits = replace(config.limits, output_bytes=min(config.limits.output_bytes, OUTPUT_BYTES))
    runtime = Lackpy(root, config=replace(config, limits=limits), session=session)
    server = LackpyServer(runtime)
    if http:
        remark(f"lackpy: serving {root} at http://{http}/mcp")
        serve_http(server, http, os.environ.get(token_env))
    else:
        serve_stdio(server)
    runtime.close()
    _leave()


def _leave() -> NoReturn:
    """End the process now: a tool that ignores its deadline may still sit in a thread, and nobody waits for it."""
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)
