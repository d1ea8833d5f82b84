"""The server over real HTTP: the SDK's client, the bearer token, and what browsers must not reach."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from mcp import Client

SERVE = [sys.executable, "-c", "from lackpy.cli import main; main()", "serve"]


@contextmanager
def serving(root: Path, **env: str):
    """Run the server on a free loopback port until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [*SERVE, "--workspace", str(root), "--http", f"127.0.0.1:{port}"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **env},
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        assert process.wait(20) is not None


def test_delegate_over_http(workspace):
    async def work(url: str) -> None:
        async with Client(url) as client:
            result = await client.call_tool("delegate", {"intent": "count callers of validate_token"})
            assert result.structured_content["output"] == 3
            outputs = []

            async def one(n: int) -> None:
                done = await client.call_tool("run_program", {"program": f"{n} * 2"})
                outputs.append(done.structured_content["output"])

            async with anyio.create_task_group() as group:
                for n in range(8):
                    group.start_soon(one, n)
            assert sorted(outputs) == [n * 2 for n in range(8)]

    with serving(workspace) as url:
        anyio.run(work, url)


def test_foreign_host_and_origin_are_refused(workspace):
    """A page that rebinds its name to loopback gets nothing."""
    with serving(workspace) as url, httpx.Client() as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"Accept": "application/json, text/event-stream"}
        foreign = client.post(url, json=body, headers={**accept, "Host": "evil.example"})
        assert foreign.status_code in (403, 421)
        page = client.post(url, json=body, headers={**accept, "Origin": "http://evil.example"})
        assert page.status_code == 403


def test_bearer_token_guards_everything(workspace):
    with serving(workspace, LACKPY_TOKEN="s3cret-token") as url, httpx.Client() as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        assert client.post(url, json=body).status_code == 401
        assert client.post(url, json=body, headers={"Authorization": "Bearer wrong"}).status_code == 401
        accept = {"Accept": "application/json, text/event-stream", "Authorization": "Bearer s3cret-token"}
        assert client.post(url, json=body, headers=accept).status_code != 401


@pytest.mark.parametrize(
    ("address", "said"),
    [("0.0.0.0:8000", "reachable from other machines"), ("nonsense", "is not HOST:PORT")],
)
def test_unsafe_or_wrong_addresses_are_refused(workspace, address, said):
    done = subprocess.run(
        [*SERVE, "--workspace", str(workspace), "--http", address],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
