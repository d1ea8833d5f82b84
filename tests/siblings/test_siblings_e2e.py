"""The real kibitzer, blq and jetsam, each in its own environment, make files; riggs reads them and advises kibitzer.

The environment is `$LACKPY_SIBLINGS_VENV` or `.venv-siblings` in the checkout, which `make siblings` creates.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VENV = Path(os.environ.get("LACKPY_SIBLINGS_VENV") or ROOT / ".venv-siblings")
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")

pytestmark = pytest.mark.siblings


class Project:
    """A small git project in which the sibling tools are set up, with a home folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root / "app"
        self.root.mkdir()
        home = root / "home"
        home.mkdir()
        keep = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "GIT_", "CLAUDE_", "LACKPY_"))
        }
        self.env = {
            **keep,
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "PATH": f"{BIN}{os.pathsep}{keep['PATH']}",
            "NO_COLOR": "1",
        }
        (self.root / "test_green.py").write_text(
            "def test_green():\n    assert 1 + 1 == 2\n", encoding="utf-8"
        )
        (self.root / "test_red.py").write_text("def test_red():\n    assert 1 + 1 == 3\n", encoding="utf-8")
        self.run("git", "init", "-q")
        self.run("git", "config", "user.email", "dev@example.org")
        self.run("git", "config", "user.name", "Dev")

    def run(self, *argv: str, stdin: str = "", ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            argv,
            cwd=self.root,
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert not ok or done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done

    def tool(
        self, name: str, *argv: str, stdin: str = "", ok: bool = True
    ) -> subprocess.CompletedProcess[str]:
        return self.run(str(BIN / name), *argv, stdin=stdin, ok=ok)

    def hook(
        self, name: str, tool: str, given: dict, result: dict | None = None, session: str = "cc-1"
    ) -> str:
        payload = {"session_id": session, "tool_name": tool, "tool_input": given, "tool_result": result}
        return self.tool("python", "-m", f"kibitzer.hooks.{name}", stdin=json.dumps(payload)).stdout

    def riggs(self, *argv: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
        env = {**self.env, "PYTHONPATH": str(ROOT), "RIGGS_KIBITZER": str(BIN / "kibitzer")}
        done = subprocess.run(
            [sys.executable, "-c", "from riggs.cli import main; main()", *argv],
            cwd=self.root,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert not ok or done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done

    def ingest(self) -> dict[str, dict]:
        return {r["source"]: r for r in json.loads(self.riggs("ingest", "--json").stdout)["sources"]}

    def turns(self, source: str) -> list[tuple]:
        from lackpy.traces.store import Store

        query = "select kind, tool, outcome, category, provenance from turns_v where source = ? order by ts, turn_id"
        with Store(self.root).read() as con:
            return con.execute(query, [source]).fetchall()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    if not (BIN / "kibitzer").exists():
        pytest.fail(f"no sibling tools in {VENV}; run 'make siblings', or set LACKPY_SIBLINGS_VENV")
    return Project(tmp_path)


def test_blq_runs_are_read_with_their_exit_codes(project: Project) -> None:
    """One green and one red test run, then one that is only found at the next reading."""
    project.tool("blq", "init")
    pytest_run = ("exec", "--", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    project.tool("blq", *pytest_run, "test_green.py")
    project.tool("blq", *pytest_run, "test_red.py", ok=False)
    assert project.ingest()["blq"]["turns"] == 2
    assert [t[2:] for t in project.turns("blq")] == [
        ("success", "tests-success", "observed"),
        ("failure", "tests-failure", "observed"),
    ]
    assert project.ingest()["blq"]["read"] == 0
    project.tool("blq", "exec", "--", "true")
    assert project.ingest()["blq"]["turns"] == 1
    assert project.turns("blq")[-1] == ("call", "blq.exec", "success", "call-success", "observed")


def test_a_database_that_blq_has_open_is_left_for_the_next_time(project: Project) -> None:
    project.tool("blq", "init")
    project.tool("blq", "exec", "--", "true")
    holder = """import duckdb, sys
con = duckdb.connect('.bird/blq.duckdb')
print('open', flush=True)
sys.stdin.readline()"""
    with subprocess.Popen(
        [str(BIN / "python"), "-c", holder],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "open\n"
        report = project.ingest()["blq"]
        process.communicate("\n")
    assert report["turns"] == 0
    assert report["error"].endswith("is open in another program; its runs are read next time")
    assert project.ingest()["blq"]["turns"] == 1


def test_kibitzer_calls_denials_and_state_are_read_once(project: Project) -> None:
    project.tool("kibitzer", "init", "--no-hooks")
    config = project.root / ".kibitzer" / "config.toml"
    observing = config.read_text(encoding="utf-8").replace('mode = "suggest"', 'mode = "observe"')
    config.write_text(observing, encoding="utf-8")
    project.tool("kibitzer", "mode", "implement")
    denied = project.hook("pre_tool_use", "Write", {"file_path": "docs/a.md", "content": "x"})
    assert '"deny"' in denied
    blocked = project.hook("pre_tool_use", "Write", {"file_path": "/etc/passwd", "content": "x"})
    assert "safety-floor" in blocked
    project.hook("pre_tool_use", "Bash", {"command": "pytest -q"})
    project.hook("post_tool_use", "Bash", {"command": "pytest -q"}, {"exitCode": 1, "stderr": "boom"})
    project.hook("post_tool_use", "Edit", {"file_path": "src/a.py"}, {"ok": True})
    report = project.ingest()["kibitzer"]
    assert (report["problems"], report["error"]) == (0, "")
    events = [t for t in project.turns("kibitzer") if t[0] not in ("mode", "state", "intercept")]
    assert sorted(events) == [
        ("call", "Edit", "success", "call-success", "observed"),
        ("call", "Write", "denied", "denied", "observed"),
        ("call", "Write", "denied", "floor-block", "observed"),
        ("tests", "Bash", "failure", "tests-failure", "observed"),
    ]
    assert ("intercept", "Bash", "unknown", "intercepted", "observed") in project.turns("kibitzer")
    again = project.ingest()["kibitzer"]
    assert (again["read"], again["turns"]) == (0, 0)
    project.hook("post_tool_use", "Edit", {"file_path": "src/a.py"}, {"error": "no such text"})
    project.ingest()
    assert ("call", "Edit", "failure", "call-failure", "observed") in project.turns("kibitzer")


SAVE = """
import sys
from jetsam.core.plans import PlanStore, generate_plan_id
from jetsam.core.planner import plan_save
from jetsam.core.state import build_state
from jetsam.core.executor import execute_plan
store, state = PlanStore(), build_state()
plan = plan_save(state, plan_id=generate_plan_id(), message=sys.argv[1], files=["test_green.py"])
plan.repo_root = state.repo_root
store.save(plan)
print(plan.plan_id, flush=True)
if sys.stdin.readline().strip() == "confirm":
    result = execute_plan(store.load(plan.plan_id), cwd=plan.repo_root)
    store.delete(plan.plan_id)
    print(result.status, flush=True)
"""


def test_a_jetsam_plan_ends_with_the_commit_that_git_saw(project: Project) -> None:
    """Plan, read, confirm, read: as jetsam's own server does it; then a save that left no plan behind."""
    project.tool("jetsam", "init", ok=False)
    with subprocess.Popen(
        [str(BIN / "python"), "-c", SAVE, "add the green test"],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        plan_id = process.stdout.readline().strip()
        assert project.ingest()["jetsam"]["turns"] == 1
        assert project.turns("jetsam") == [("commit", "jetsam.save", "unknown", "commit-unknown", "observed")]
        out, _ = process.communicate("confirm\n")
    assert out.strip() == "ok", plan_id
    assert project.ingest()["jetsam"]["endings"] == 1
    assert project.turns("jetsam")[0] == ("commit", "jetsam.save", "success", "commit-success", "observed")
    (project.root / "test_green.py").write_text("def test_green():\n    pass\n", encoding="utf-8")
    saved = json.loads(
        project.tool("jetsam", "--json", "save", "-m", "simplify", "--execute", "test_green.py").stdout
    )
    assert saved["status"] == "ok"
    project.ingest()
    assert ("commit", "git.commit", "success", "commit-success", "observed") in project.turns("jetsam")
    assert project.ingest()["jetsam"]["read"] == 0


FAIL = """
from kibitzer.session import KibitzerSession
for _ in range(25):
    with KibitzerSession(session_id="cc-1") as session:
        session.after_call("Bash", {"command": "ls /nowhere"}, tool_result={"exitCode": 2, "stderr": "no"})
"""


def test_trust_tightens_kibitzer_through_its_own_command(project: Project) -> None:
    """After failures `--apply` moves the mode one step, once, and kibitzer then denies what it let through."""
    project.tool("kibitzer", "init", "--no-hooks")
    project.tool("kibitzer", "mode", "implement")
    project.tool("python", "-c", FAIL)
    assert project.hook("pre_tool_use", "Write", {"file_path": "src/a.py", "content": "x"}) == ""
    project.tool("kibitzer", "mode", "implement")
    project.ingest()
    rows = json.loads(project.riggs("trust", "--json").stdout)["rows"]
    assert [(r["name"], r["advice"]) for r in rows] == [("app", "tighten")]
    note = (project.root / ".kibitzer" / "riggs-trust.md").read_text(encoding="utf-8")
    assert note.startswith("# riggs recommends: tighten\n")
    assert project.tool("kibitzer", "mode").stdout.startswith("implement")
    applied = project.riggs("trust", "--apply").stdout
    assert "tighten: kibitzer's mode implement → explore" in applied
    assert project.tool("kibitzer", "mode").stdout.startswith("explore")
    assert '"deny"' in project.hook("pre_tool_use", "Write", {"file_path": "src/a.py", "content": "x"})
    assert "tighten was applied" in project.riggs("trust", "--apply").stdout
    assert project.tool("kibitzer", "mode").stdout.startswith("explore")


def test_fledgling_is_installed_beside_them(project: Project) -> None:
    """It writes no file that riggs reads; its presence shows that the pinned versions install together."""
    done = project.tool("python", "-c", "import importlib.metadata as m; print(m.version('fledgling-mcp'))")
    assert done.stdout.strip()
