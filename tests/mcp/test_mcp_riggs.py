"""`riggs serve` over real stdio: the right answers, no byte of the workspace changed, errors that are one sentence."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import duckdb
import jsonschema
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from lackpy.traces.ids import new_id
from lackpy.traces.journal import Journal
from lackpy.traces.record import Trace
from riggs.mcp.server import fitted
from riggs.mcp.view import View

SERVE = [sys.executable, "-c", "from riggs.cli import main; main()", "serve"]
NAMES = ["briefing", "candidates", "trust", "convergence", "templates"]


def write_traces(root: Path, *, count: int = 6, tier: str = "caller", **more: str) -> None:
    journal = Journal(root / ".lackpy" / "journal")
    for n in range(count):
        journal.append(
            Trace(
                trace_id=new_id(),
                ts=f"2026-01-0{n % 5 + 1}T00:00:00.000000Z",
                project="p",
                session_id=f"s{n % 3}",
                intent=f"which tests cover handler_{n}",
                kit="debug",
                tier=tier,
                program=f'find_callers("handler_{n}")',
                valid=True,
                success=True,
                **more,
            )
        )
    journal.close()


def prints(root: Path) -> dict[str, str]:
    """Return path → digest of every file of a workspace, and its folders."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "/"
        for path in sorted(root.rglob("*"))
    }


@asynccontextmanager
async def connect(root: Path):
    parameters = StdioServerParameters(
        command=SERVE[0],
        args=[*SERVE[1:], "--workspace", str(root)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    with Path(os.devnull).open("w") as quiet:  # noqa: ASYNC230  # opening /dev/null blocks nobody
        async with Client(stdio_client(parameters, errlog=quiet)) as client:
            yield client


async def ask_all(root: Path) -> dict[str, dict]:
    """Ask every tool and read every resource; insist that both say the same and keep the schema."""
    answers = {}
    async with connect(root) as client:
        tools = (await client.list_tools()).tools
        assert [t.name for t in tools] == NAMES
        uris = [str(r.uri) for r in (await client.list_resources()).resources]
        assert uris == [f"riggs://{name}" for name in NAMES]
        for tool in tools:
            assert tool.annotations.read_only_hint is True
            assert tool.annotations.destructive_hint is False
            result = await client.call_tool(tool.name, {})
            assert not result.is_error, result.content
            jsonschema.validate(result.structured_content, tool.output_schema)
            read = await client.read_resource(f"riggs://{tool.name}")
            assert json.loads(read.contents[0].text) == result.structured_content
            answers[tool.name] = result.structured_content
    return answers


def test_answers_come_from_journal_and_store_and_change_no_byte(workspace: Path, cli) -> None:
    """What is drained and what isn't are both counted; the workspace's files are as they were."""
    write_traces(workspace)
    assert cli("riggs", "ingest").returncode == 0
    write_traces(workspace, count=2, tier="0", template="callers")
    template = workspace / ".lackpy/templates/mine.tmpl"
    assert (
        cli("lackpy", "create", "find_callers('{n}')", "--name", "mine", "--pattern", "wug {n}").returncode
        == 0
    )
    before = prints(workspace)
    answers = anyio.run(ask_all, workspace)
    assert prints(workspace) == before
    assert template.exists()
    found = answers["candidates"]["candidates"]
    assert [(one["successes"], one["sessions"], one["status"]) for one in found] == [(6, 3, "ready")]
    assert answers["convergence"]["calls"] == 8
    assert answers["trust"]["subjects"][0]["key"] == "p"
    assert answers["trust"]["subjects"][0]["events"] == 8
    assert answers["trust"]["subjects"][0]["advice"] == "hold"
    assert answers["briefing"]["ready"] == 1
    assert found[0]["id"] in answers["briefing"]["text"]
    assert "mine" in [one["name"] for one in answers["templates"]["templates"]]


def test_workspace_without_traces_is_explained_and_stays_untouched(workspace: Path) -> None:
    before = prints(workspace)
    answers = anyio.run(ask_all, workspace)
    assert prints(workspace) == before
    for name in ("briefing", "candidates", "trust", "convergence"):
        assert answers[name]["note"].startswith("no traces yet")


def test_new_traces_and_templates_count_on_the_next_call(workspace: Path, cli) -> None:
    async def work():
        async with connect(workspace) as client:
            assert (await client.call_tool("convergence", {})).structured_content["calls"] == 0
            write_traces(workspace, count=3)
            assert (await client.call_tool("convergence", {})).structured_content["calls"] == 3
            made = cli("lackpy", "create", "{n} * 2", "--name", "twice", "--pattern", "wug {n} fribbles")
            assert made.returncode == 0, made.stderr
            listed = (await client.call_tool("templates", {})).structured_content["templates"]
            assert "twice" in [one["name"] for one in listed]

    anyio.run(work)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nothing", {}, "no tool 'nothing'"),
        ("trust", {"scope": "planet"}, "'scope': 'planet' is not one of"),
        ("candidates", {"limit": 0}, "'limit': 0 is less than the minimum"),
        ("briefing", {"x": 1}, "'x' was unexpected"),
    ],
)
def test_a_bad_call_is_an_error_result(workspace: Path, name, arguments, said) -> None:
    async def work():
        async with connect(workspace) as client:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert said in result.content[0].text
            with pytest.raises(MCPError, match="no resource 'riggs://moon'"):
                await client.read_resource("riggs://moon")
            assert not (await client.call_tool("convergence", {})).is_error

    anyio.run(work)


def test_locked_store_is_one_sentence_and_the_server_goes_on(workspace: Path, cli) -> None:
    write_traces(workspace)
    assert cli("riggs", "ingest").returncode == 0

    async def work():
        async with connect(workspace) as client:
            with duckdb.connect(str(workspace / ".lackpy/traces.duckdb")):
                result = await client.call_tool("briefing", {})
                assert result.is_error
                assert "traces.duckdb is open in" in result.content[0].text
                with pytest.raises(MCPError, match="is open in"):
                    await client.read_resource("riggs://trust")
            assert (await client.call_tool("convergence", {})).structured_content["calls"] == 6

    anyio.run(work)


def test_file_that_is_no_store_is_one_sentence(workspace: Path) -> None:
    (workspace / ".lackpy").mkdir()
    (workspace / ".lackpy/traces.duckdb").write_bytes(b"not a database at all")

    async def work():
        async with connect(workspace) as client:
            result = await client.call_tool("trust", {})
            assert result.is_error
            assert "is no DuckDB file" in result.content[0].text

    anyio.run(work)
    assert (workspace / ".lackpy/traces.duckdb").read_bytes() == b"not a database at all"


def test_closed_stdin_ends_the_server(workspace: Path) -> None:
    done = subprocess.run(
        [*SERVE, "--workspace", str(workspace)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_copy_is_reused_until_something_changes(workspace: Path) -> None:
    write_traces(workspace)
    view = View(workspace)
    with view.store() as first:
        pass
    with view.store() as second:
        pass
    assert second is first
    write_traces(workspace)
    with view.store() as third:
        assert third.rows("select count(*) as n from traces") == [{"n": 12}]
    assert third is not first
    folder = third.state_dir
    view.close()
    assert not folder.exists()


def test_rows_are_dropped_to_fit_and_it_is_said() -> None:
    body = fitted({"rows": [{"text": "x" * 100}] * 50, "total": 50, "note": ""}, budget=1_000)
    assert 0 < len(body["rows"]) < 50
    assert len(json.dumps(body)) < 1_200
    assert body["note"].startswith(f"{50 - len(body['rows'])} rows left out")
