"""Other people's clients: the MCP Inspector's command line and the fastmcp client. Set up and run by `make interop`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.interop

FOLDER = Path(os.environ.get("LACKPY_INTEROP", Path(__file__).parents[2] / ".interop"))
INSPECTOR = FOLDER / "node_modules" / ".bin" / "mcp-inspector"
FASTMCP = FOLDER / "venv" / "bin" / "python"
SERVE = [sys.executable, "-c", "from lackpy.cli import main; main()", "serve"]
CALLS = """
import asyncio, json, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
async def work():
    async with Client(StdioTransport(sys.argv[1], json.loads(sys.argv[2]))) as client:
        names = [t.name for t in await client.list_tools()]
        result = await client.call_tool("delegate", {"intent": "count callers of validate_token"})
        failed = await client.call_tool("delegate", {"intent": "frob the wug"}, raise_on_error=False)
        print(json.dumps([names, result.structured_content["output"], failed.is_error]))
asyncio.run(work())
"""


def inspect(workspace: Path, *options: str) -> dict:
    done = subprocess.run(
        [str(INSPECTOR), "--cli", *SERVE, "--workspace", str(workspace), *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stdout)


def test_inspector_lists_and_calls(workspace):
    tools = inspect(workspace, "--method", "tools/list")["tools"]
    assert [t["name"] for t in tools][:2] == ["delegate", "run_program"]
    result = inspect(
        workspace,
        "--method",
        "tools/call",
        "--tool-name",
        "delegate",
        "--tool-arg",
        "intent=count callers of validate_token",
    )
    assert result["structuredContent"]["output"] == 3


def test_inspector_sees_an_error_result(workspace):
    result = inspect(
        workspace, "--method", "tools/call", "--tool-name", "delegate", "--tool-arg", "intent=frob the wug"
    )
    assert result["isError"] is True


def test_fastmcp_client_lists_and_calls(workspace):
    done = subprocess.run(
        [str(FASTMCP), "-c", CALLS, SERVE[0], json.dumps([*SERVE[1:], "--workspace", str(workspace)])],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    names, output, failed = json.loads(done.stdout)
    assert (names[0], output, failed) == ("delegate", 3, True)
