"""Tools of other MCP servers: healthy ones work, each bad one is one sentence and one tool error."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lackpy.kits import KitError, load_kit, mcp_servers
from lackpy.kits.mcp_tools import close_servers, server_status
from lackpy.lang.signature import Grade
from lackpy.tools.errors import ToolError

pytestmark = pytest.mark.slow

DOUBLE = Path(__file__).with_name("mcp_double.py")


@pytest.fixture
def root(tmp_path):
    yield tmp_path
    close_servers()


@pytest.fixture
def configure(root):
    def write(modes, **extra):
        servers = {
            name: {"command": sys.executable, "args": [str(DOUBLE), mode, str(root / f"{name}.log")], **extra}
            if mode != "not found"
            else {"command": "no-such-command-anywhere"}
            for name, mode in modes.items()
        }
        (root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))

    return write


def starts(root, name):
    return (root / f"{name}.log").read_text().count("start")


def children(marker):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if str(marker).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_tools_of_a_server(root, configure):
    configure({"my-db": "healthy"})
    kit = load_kit(["read", "mcp:my-db"], root)
    assert list(kit.tools) == [
        "read",
        "my_db_add",
        "my_db_append_row",
        "my_db_drop",
        "my_db_fail",
        "my_db_environment",
    ]
    add = kit.tools["my_db_add"]
    assert add.signature.text() == "my_db_add(a: int, b: int = 1) -> Any"
    assert add.signature.doc == "Add two numbers."
    assert add.provider == "mcp:my-db"
    assert kit.tools["my_db_append_row"].signature.text() == (
        "my_db_append_row(kind: Literal['x', 'y'] = ..., row: dict[str, Any] = ..., tags: list[str] = ...) -> Any"
    )
    grades = [spec.signature.grade for spec in kit.tools.values()][1:4]
    assert grades == [Grade(1, 1), Grade(3, 2), Grade(3, 3)]
    assert add.fn(2, 3) == 5
    assert add.fn(a=2) == 3
    assert kit.tools["my_db_append_row"].fn("x", row={"a": 1}) == {"kind": "x", "row": {"a": 1}}
    assert kit.tools["my_db_drop"].fn() == "gone"
    with pytest.raises(ToolError, match=r"^the disk is full$"):
        kit.tools["my_db_fail"].fn()
    assert [(s.name, s.state, s.tools, s.reason) for s in server_status(root)] == [("my-db", "ready", 5, "")]
    assert starts(root, "my-db") == 1


def test_one_tool_by_source_or_by_its_full_name(root, configure):
    configure({"db": "healthy"})
    assert list(load_kit(["mcp:db/add"], root).tools) == ["db_add"]
    assert list(load_kit(["db_add"], root).tools) == ["db_add"]
    with pytest.raises(KitError, match="MCP server 'db' has no tool 'nope'; it has: add, append-row"):
        load_kit(["mcp:db/nope"], root)
    with pytest.raises(KitError, match=r"no MCP server 'other' in \.mcp\.json; it names: db"):
        load_kit(["mcp:other"], root)


def test_environment_variables_and_folder(root, configure, monkeypatch):
    monkeypatch.setenv("WHO_IS_IT", "Ada")
    configure({"db": "healthy"}, env={"GREETING": "hello ${WHO_IS_IT} ${NOT_SET_ANYWHERE:-friend}"})
    (tool,) = load_kit(["mcp:db/environment"], root).tools.values()
    assert tool.fn() == f"hello Ada friend|{root.name}"


def test_bad_servers_beside_a_healthy_one(root, configure, monkeypatch):
    monkeypatch.setattr(mcp_servers, "CONNECT_S", 5.0)
    configure({"ok": "healthy", "gone": "not found", "exits": "exits", "sleeps": "sleeps"})
    kit = load_kit(["mcp:ok/add", "mcp:gone/x", "mcp:exits/x", "mcp:sleeps/x", "mcp:exits"], root)
    assert kit.tools["ok_add"].fn(1) == 2
    reasons = {status.name: (status.state, status.reason) for status in server_status(root)}
    assert reasons["ok"] == ("ready", "")
    assert reasons["gone"] == ("failed", "MCP server 'gone': command 'no-such-command-anywhere' not found")
    assert reasons["exits"][0] == "failed"
    assert reasons["exits"][1].startswith("MCP server 'exits' can't be reached")
    assert reasons["sleeps"] == ("failed", "MCP server 'sleeps' did not answer within 5 s of its start")
    for name in ("gone", "exits"):
        with pytest.raises(ToolError, match=f"^MCP server '{name}'"):
            kit.tools[f"{name}_x"].fn("anything", key=1)
    assert kit.tools["ok_add"].fn(2) == 3
    assert children(root / "sleeps.log") == []


def test_garbage_on_stdout_does_not_stop_a_server(root, configure):
    configure({"noisy": "garbage"})
    assert load_kit(["mcp:noisy/add"], root).tools["noisy_add"].fn(1) == 2


def test_server_that_dies_after_a_call_is_started_again(root, configure):
    configure({"frail": "dies-after-call"})
    (add,) = load_kit(["mcp:frail/add"], root).tools.values()
    results = []
    for _ in range(4):
        try:
            results.append(add.fn(1))
        except ToolError as exc:
            assert str(exc) == "MCP server 'frail' ended during 'add'; it is started again on next use"
    assert results.count(2) >= 2
    assert starts(root, "frail") >= 2


def test_children_are_gone_after_close(root, configure):
    configure({"db": "healthy"})
    load_kit(["mcp:db"], root)
    assert len(children(root / "db.log")) == 1
    close_servers()
    assert children(root / "db.log") == []
    assert load_kit(["mcp:db/add"], root).tools["db_add"].fn(1) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "must hold an object"),
        ('{"mcpServers": {"x": {}}}', "server 'x' needs either a 'command' or a 'url'"),
        ('{"mcpServers": {"x": {"command": "a", "args": "b"}}}', "server 'x': 'args' must be a list"),
        ('{"mcpServers": {"x": 5}}', "server 'x' must be an object"),
    ],
)
def test_broken_configuration(text, reason, root):
    (root / ".mcp.json").write_text(text)
    with pytest.raises(KitError) as caught:
        server_status(root)
    assert reason in str(caught.value)
    assert str(root / ".mcp.json") in str(caught.value)


def test_missing_variable_is_said(root):
    entry = {"command": "${NO_SUCH_VARIABLE_HERE}"}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": entry}}))
    load_kit(["mcp:x/y"], root)
    assert (
        server_status(root)[0].reason
        == "MCP server 'x': environment variable NO_SUCH_VARIABLE_HERE is not set"
    )
