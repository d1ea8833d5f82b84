"""The server over real stdio, with the SDK's client: calls, errors, cancelling, load, and clients that vanish."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

SERVE = [sys.executable, "-c", "from lackpy.cli import main; main()", "serve"]
TOOLS = '''
import subprocess, sys, time
from lackpy import Grade, tool

@tool(grade=0)
def loud() -> int:
    """Print a megabyte."""
    print("x" * 1_000_000)
    subprocess.run([sys.executable, "-c", "print('y' * 1000); import sys; sys.stdin.read()"])
    return 7

@tool(grade=0)
def slow(seconds: float) -> float:
    """Wait."""
    time.sleep(seconds)
    return seconds

@tool(grade=0)
def broken() -> int:
    """Fail."""
    raise RuntimeError("the disk is on fire")
'''
KIT = 'name = "odd"\ndescription = "Misbehaves."\ntools = ["odd_tools:loud", "odd_tools:slow", "odd_tools:broken"]\n'


@pytest.fixture
def served(workspace: Path) -> Path:
    """Return a workspace with a kit of misbehaving tools."""
    (workspace / ".lackpy/kits").mkdir(parents=True)
    (workspace / ".lackpy/kits/odd.toml").write_text(KIT)
    (workspace / "odd_tools.py").write_text(TOOLS)
    (workspace / "big.txt").write_text("line of text\n" * 400_000)
    return workspace


@asynccontextmanager
async def connect(root: Path, **extra: str):
    parameters = StdioServerParameters(
        command=SERVE[0],
        args=[*SERVE[1:], "--workspace", str(root)],
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{Path(__file__).parents[2]}", **extra},
    )
    with Path(os.devnull).open("w") as quiet:  # noqa: ASYNC230  # opening /dev/null blocks nobody
        async with Client(stdio_client(parameters, errlog=quiet)) as client:
            yield client


def in_loop(work):
    anyio.run(work)


def text(result) -> str:
    return result.content[0].text


def test_lists_tools_with_schemas_and_annotations(served):
    async def work():
        async with connect(served) as client:
            tools = {t.name: t for t in (await client.list_tools()).tools}
            assert list(tools)[:2] == ["delegate", "run_program"]
            for tool in tools.values():
                jsonschema.Draft202012Validator.check_schema(tool.input_schema)
                jsonschema.Draft202012Validator.check_schema(tool.output_schema)
            assert tools["validate"].annotations.read_only_hint is True
            assert tools["delegate"].annotations.destructive_hint is False

    in_loop(work)


def test_delegate_answers_and_its_content_fits_the_schema(served):
    async def work():
        async with connect(served) as client:
            schema = next(t for t in (await client.list_tools()).tools if t.name == "delegate").output_schema
            result = await client.call_tool("delegate", {"intent": "count callers of validate_token"})
            assert result.structured_content["output"] == 3
            assert result.structured_content["tier"] == "0"
            jsonschema.validate(result.structured_content, schema)
            for program in ("None", "[1, 2]", "'größe → 数据 ✓'", "3.5", "{'a': [None]}"):
                result = await client.call_tool("run_program", {"program": program})
                jsonschema.validate(result.structured_content, schema)

    in_loop(work)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("delegate", {}, "'intent' is required"),
        ("delegate", None, "'intent' is required"),
        ("delegate", {"intent": "x", "kitt": "debug"}, "'kitt' was unexpected"),
        ("delegate", {"intent": 5}, "'intent': 5 is not of type 'string'"),
        ("delegate", {"intent": "callers of x", "kit": "nope"}, "nope"),
        ("run_program", {"program": "import os"}, "import is not in the language"),
        ("run_program", {"program": "broken()", "kit": "odd"}, "the disk is on fire"),
        ("result", {"trace_id": "../../etc/passwd"}, "is no trace id"),
        ("nothing", {}, "no tool 'nothing'"),
    ],
)
def test_a_bad_call_is_an_error_result(served, name, arguments, said):
    """The reply is an error result with the reason, and the server goes on."""

    async def work():
        async with connect(served) as client:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert said in text(result)
            assert (await client.call_tool("run_program", {"program": "1"})).structured_content["output"] == 1

    in_loop(work)


def test_unreadable_config_is_one_sentence(served):
    (served / ".lackpy/config.toml").write_text("[run\n")
    done = subprocess.run(
        [*SERVE, "--workspace", str(served)], input=b"", capture_output=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert b"not valid TOML" in done.stderr
    assert done.stdout == b""


def test_a_tool_that_prints_a_megabyte_keeps_the_stream_clean(served):
    """Prints of a tool and of its child go to stderr; the child reads an empty stdin and eats no request."""

    async def work():
        async with connect(served) as client:
            result = await client.call_tool("run_program", {"program": "loud()", "kit": "odd"})
            assert result.structured_content["output"] == 7
            assert (await client.call_tool("run_program", {"program": "2"})).structured_content["output"] == 2

    in_loop(work)


def test_large_output_is_a_preview_that_pages_out(served):
    """5 MB come back cut, within 60 kB for both forms together, and page out exactly."""

    async def work():
        async with connect(served) as client:
            result = await client.call_tool("run_program", {"program": "read('big.txt')"})
            body = result.structured_content
            assert body["truncated"] is True
            assert len(text(result)) + len(json.dumps(body)) < 60_000
            whole, offset = "", 0
            page = (
                await client.call_tool("result", {"trace_id": body["trace_id"], "offset": 5_199_000})
            ).structured_content
            assert page["total"] == 5_200_000
            while offset is not None and offset < 100_000:
                page = (
                    await client.call_tool("result", {"trace_id": body["trace_id"], "offset": offset})
                ).structured_content
                whole += page["text"]
                offset = page["next_offset"]
            assert ("line of text\n" * 400_000).startswith(whole)
            assert len(whole) >= 100_000

    in_loop(work)


def test_eight_at_once_and_two_hundred_in_a_row(served):
    async def work():
        async with connect(served) as client:
            outputs = {}

            async def one(n):
                result = await client.call_tool("run_program", {"program": f"slow(0.2) + {n}", "kit": "odd"})
                outputs[n] = result.structured_content["output"]

            async with anyio.create_task_group() as group:
                for n in range(8):
                    group.start_soon(one, n)
            assert outputs == {n: 0.2 + n for n in range(8)}
            for n in range(200):
                result = await client.call_tool("run_program", {"program": f"{n} + 1"})
                assert result.structured_content["output"] == n + 1

    in_loop(work)


def test_a_slow_call_blocks_nobody(served):
    """While one call sleeps, listing and another call answer first."""

    async def work():
        async with connect(served) as client:
            order = []

            async def slow():
                await client.call_tool("run_program", {"program": "slow(2.0)", "kit": "odd"})
                order.append("slow")

            async with anyio.create_task_group() as group:
                group.start_soon(slow)
                await anyio.sleep(0.2)
                await client.list_tools()
                await client.call_tool("run_program", {"program": "1"})
                order.append("quick")
            assert order == ["quick", "slow"]

    in_loop(work)


def test_cancel_stops_the_program_and_is_recorded(served):
    async def work():
        async with connect(served) as client:
            with anyio.move_on_after(0.5):
                await client.call_tool(
                    "run_program", {"program": "slow(30.0)", "kit": "odd", "intent": "wait a while"}
                )
            result = await client.call_tool("run_program", {"program": "1"})
            assert result.structured_content["output"] == 1
            with anyio.fail_after(10):
                while True:
                    listed = await anyio.run_process(
                        [
                            sys.executable,
                            "-c",
                            "from lackpy.cli import main; main()",
                            "trace",
                            "list",
                            "--json",
                            "-w",
                            str(served),
                        ]
                    )
                    kinds = [row["error_kind"] for row in json.loads(listed.stdout)]
                    if "cancelled" in kinds:
                        break

    in_loop(work)


def test_template_of_another_process_is_served_on_the_next_call(served, cli):
    async def work():
        async with connect(served) as client:
            assert (await client.call_tool("delegate", {"intent": "wug 5 fribbles"})).is_error
            made = cli("lackpy", "create", "{n} * 2", "--name", "wug", "--pattern", "wug {n} fribbles")
            assert made.returncode == 0, made.stderr
            result = await client.call_tool("delegate", {"intent": "wug 5 fribbles"})
            assert result.structured_content["output"] == 10

    in_loop(work)


def test_session_is_named_by_the_environment(served, cli):
    async def work():
        async with connect(served, LACKPY_SESSION="outer-7") as client:
            await client.call_tool("run_program", {"program": "1"})

    in_loop(work)
    assert json.loads(cli("lackpy", "trace", "list", "--json").stdout)[0]["session_id"] == "outer-7"


def children_of(pid: int) -> set[int]:
    """Return every descendant of a process, from /proc."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    found, frontier = set(), {pid}
    while frontier:
        frontier = {child for child, parent in parents.items() if parent in frontier} - found
        found |= frontier
    return found


CLIENT = """
import json, subprocess, sys, time
server = subprocess.Popen({serve!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def send(message):
    server.stdin.write((json.dumps(message) + "\\n").encode()); server.stdin.flush()
send({{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {{
      "protocolVersion": "2025-06-18", "capabilities": {{}},
      "clientInfo": {{"name": "t", "version": "1"}}}}}})
server.stdout.readline()
send({{"jsonrpc": "2.0", "method": "notifications/initialized"}})
send({{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {{"name": "run_program",
      "arguments": {{"program": "slow(60.0)", "kit": "odd"}}}}}})
print(server.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killed_client_leaves_no_process(served):
    """`kill -9` of the client in mid-call: the server and its workers are gone within seconds."""
    serve = [*SERVE, "--workspace", str(served)]
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT.format(serve=serve)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": f"{served}{os.pathsep}{Path(__file__).parents[2]}"},
    )
    server = int(client.stdout.readline())
    deadline = time.monotonic() + 20
    while not children_of(server) and time.monotonic() < deadline:
        time.sleep(0.05)
    family = {server} | children_of(server)
    client.send_signal(signal.SIGKILL)
    client.wait()
    client.stdout.close()
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in family) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [pid for pid in family if Path(f"/proc/{pid}").exists()] == []


def test_empty_stdin_ends_the_server(served):
    done = subprocess.run(
        [*SERVE, "--workspace", str(served)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == b""


def test_progress_is_sent_while_a_model_tier_is_asked(served):
    """A client that asks for progress hears which tier is being asked."""
    (served / ".lackpy/config.toml").write_text('[ollama]\nhost = "http://127.0.0.1:9"\n')

    async def work():
        heard = []

        async def progress(_done, _total, message):
            heard.append(message)

        async with connect(served) as client:
            result = await client.call_tool(
                "delegate", {"intent": "frob the wug"}, progress_callback=progress
            )
            assert result.is_error
            assert "no Ollama server" in text(result)
        assert "asking ollama" in heard

    in_loop(work)
