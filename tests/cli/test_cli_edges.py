"""The edges of the process: exit codes, closed pipes, encodings, bad arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys

LACKPY = [sys.executable, "-c", "from lackpy.cli import main; main()"]


def test_help_lists_every_command(cli):
    done = cli("lackpy", "--help")
    assert done.returncode == 0
    for name in ("delegate", "run", "template", "trace", "doctor", "serve"):
        assert f"\n  {name} " in done.stdout


def test_help_imports_nothing_heavy():
    """`--help` stays within its cold-start budget by importing neither DuckDB, polars, monty nor the MCP SDK."""
    code = (
        "import sys\nfrom lackpy.cli.group import cli\ncli.main(['--help'], standalone_mode=False)\n"
        "print([m for m in ('duckdb', 'polars', 'pydantic_monty', 'mcp', 'rich', 'ast_grep_py') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_unknown_command_is_usage(cli):
    done = cli("lackpy", "delegat", "x")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_missing_workspace_is_one_sentence(cli):
    done = cli("lackpy", "delegate", "x", "--workspace", "nowhere")
    assert done.returncode == 2
    assert "'nowhere' is not a folder" in done.stderr
    assert done.stdout == ""


def test_empty_intent_is_usage(cli):
    done = cli("lackpy", "delegate", "  ")
    assert done.returncode == 2
    assert "'intent' is empty" in done.stderr


def test_bad_config_names_file_and_key(cli, workspace):
    (workspace / ".lackpy").mkdir()
    (workspace / ".lackpy/config.toml").write_text("[run]\nexecutr = 'monty'\n")
    done = cli("lackpy", "delegate", "find callers of x")
    assert done.returncode == 2
    assert "unknown key 'run.executr'; did you mean 'executor'?" in done.stderr
    assert "config.toml" in done.stderr


def test_reader_that_goes_away_is_quiet(workspace):
    """`lackpy spec | head -1` ends without a traceback."""
    process = subprocess.Popen(
        [*LACKPY, "spec"],
        cwd=workspace,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    process.stdout.readline()
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    assert process.wait(30) in (0, 141)
    assert b"Traceback" not in stderr


def test_full_disk_on_stdout_is_one_line(workspace):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*LACKPY, "spec"], cwd=workspace, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_odd_locale_prints_replacements(cli):
    done = cli("lackpy", "run", "'größe → 数据'", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    done = cli("lackpy", "run", "'größe → 数据'", "--json", env={"PYTHONIOENCODING": "ascii"})
    assert json.loads(done.stdout)["output"] == "größe → 数据"


def test_undecodable_argument_is_no_traceback(workspace):
    done = subprocess.run(
        [*LACKPY, "delegate", b"find \xff"], cwd=workspace, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr


def test_what_a_tool_prints_goes_to_stderr(cli, workspace):
    """`--json` prints one document, whatever a tool says."""
    (workspace / "noisy.py").write_text(
        "from lackpy import tool\n\n@tool(grade=0)\ndef noisy() -> int:\n"
        '    """Say something."""\n    print("hello")\n    return 1\n'
    )
    (workspace / ".lackpy/kits").mkdir(parents=True)
    (workspace / ".lackpy/kits/loud.toml").write_text(
        'name = "loud"\ndescription = "x"\ntools = ["noisy:noisy"]\n'
    )
    root = os.pathsep.join([str(workspace), *sys.path])
    done = cli("lackpy", "run", "noisy()", "--kit", "loud", "--json", env={"PYTHONPATH": root})
    assert json.loads(done.stdout)["output"] == 1
    assert "hello" in done.stderr
