"""Claude Code's logs: what counts as a turn, an ending and an intent, and that every record is read exactly once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from lackpy.traces.store import Store
from riggs.ingest.claude_code import ClaudeCode, slug
from riggs.ingest.sink import collect
from riggs.ingest.source import Outcome

AT = "2026-05-01T10:00:00.000Z"


def record(kind: str, content, **fields) -> dict:
    message = {"role": kind, "content": content}
    return {"type": kind, "sessionId": "s1", "timestamp": AT, "uuid": "u", "message": message, **fields}


def call(number: int, tool: str = "Bash", session: str = "s1", **given) -> dict:
    block = {"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": given or {"command": "ls"}}
    return record("assistant", [{"type": "text", "text": "…"}, block], sessionId=session, uuid=f"a{number}")


def done(number: int, text: str = "ok", session: str = "s1", *, error: bool | None = None, **fields) -> dict:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text}
    if error is not None:
        block["is_error"] = error
    return record("user", [block], sessionId=session, uuid=f"r{number}", **fields)


class Logs:
    """A workspace's log folder and store."""

    def __init__(self, root: Path) -> None:
        self.workspace = root / "ws"
        self.folder = root / "logs"
        self.workspace.mkdir()
        self.folder.mkdir()
        self.file = self.folder / "s1.jsonl"
        self.store = Store(root / "store.duckdb")

    def write(self, *records: dict | bytes, end: bytes = b"\n") -> None:
        parts = [
            r if isinstance(r, bytes) else json.dumps(r, ensure_ascii=False).encode() + end for r in records
        ]
        with self.file.open("ab") as file:
            file.write(b"".join(parts))

    def read(self, **options):
        (report,) = collect(self.store, [ClaudeCode(self.workspace, self.folder, **options)])
        assert not report.error
        return report

    def rows(self, what: str) -> list[tuple]:
        with self.store.read() as con:
            return con.execute(f"select {what} from turns_v order by turn_id").fetchall()

    def dump(self) -> dict[str, list[tuple]]:
        tables = ("turns", "turn_endings", "source_cursors", "source_problems")
        with self.store.read() as con:
            return {t: sorted(con.execute(f"select * from {t}").fetchall(), key=repr) for t in tables}


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def test_a_result_is_paired_with_its_call(logs: Logs) -> None:
    logs.write(call(1), call(2), done(2, "boom", error=True), done(1), call(3))
    assert (logs.read().turns, logs.read().turns) == (3, 0)
    assert logs.rows("turn_id, outcome, category") == [
        ("claude_code:s1:toolu_1", "success", "call-success"),
        ("claude_code:s1:toolu_2", "failure", "call-failure"),
        ("claude_code:s1:toolu_3", "unknown", "call-unknown"),
    ]


@pytest.mark.parametrize(
    ("text", "error", "extra", "outcome", "category"),
    [
        ("fine", None, {}, "success", "tests-success"),
        ("fine", False, {}, "success", "tests-success"),
        ("Exit code 1\n1 failed", True, {}, "failure", "tests-failure"),
        ("The user doesn't want to proceed with this tool use.", True, {}, "denied", "user-rejected"),
        (
            "Claude requested permissions to use Bash, but you haven't granted it yet.",
            True,
            {},
            "denied",
            "denied",
        ),
        ("PreToolUse:Bash hook error: not in this mode", True, {}, "denied", "denied"),
        ("[Request interrupted by user for tool use]", True, {}, "unknown", "interrupted"),
        ("", None, {"toolUseResult": {"interrupted": True}}, "unknown", "interrupted"),
    ],
)
def test_an_outcome_is_what_the_record_says(logs: Logs, text, error, extra, outcome, category) -> None:
    logs.write(call(1, command="cd x && python -m pytest -q"), done(1, text, error=error, **extra))
    logs.read()
    assert logs.rows("outcome, category") == [(outcome, category)]


def test_only_what_a_person_typed_is_an_intent(logs: Logs) -> None:
    """CCL-02: machine-written user records contribute none; a side chain carries its parent."""
    logs.write(
        record("user", "find callers of parse", uuid="1"),
        record("user", "loaded", isMeta=True, uuid="2"),
        record("user", "summary of before", isCompactSummary=True, uuid="3"),
        record("user", "look around", isSidechain=True, uuid="4"),
        record("user", "from a hook", origin={"kind": "hook"}, uuid="5"),
        record("user", "<command-name>/clear</command-name>", uuid="6"),
        record("user", "<system-reminder>be good</system-reminder>", uuid="7"),
        record("user", [{"type": "text", "text": "[Request interrupted by user]"}], uuid="8"),
        record("user", "This session is being continued from a previous conversation that ran out", uuid="9"),
        record("user", "<local-command-stdout>x</local-command-stdout>", uuid="10"),
        done(1),
        {"type": "summary", "summary": "Find callers", "leafUuid": "1"},
        {"type": "system", "subtype": "compact_boundary", "content": "x", "sessionId": "s1"},
    )
    logs.write({**call(7, "Read", file_path="a.py"), "isSidechain": True, "agentId": "agent-1"})
    logs.read()
    assert logs.rows("intent, is_sidechain, parent_id, kind") == [
        ("find callers of parse", False, None, "prompt"),
        (None, True, "agent-1", "call"),
    ]


def test_a_half_written_line_is_read_once_it_ends(logs: Logs) -> None:
    """CCL-04: cut inside a multibyte character, then completed."""
    line = json.dumps(call(1, command="echo ünï"), ensure_ascii=False).encode() + b"\n"
    cut = line.index("ü".encode()) + 1
    logs.write(line[:cut])
    assert logs.read().turns == 0
    logs.write(line[cut:])
    report = logs.read()
    assert (report.turns, report.problems) == (1, 0)
    assert json.loads(logs.rows("detail")[0][0]) == {"args": {"command": "echo ünï"}}


def test_a_whole_last_line_without_a_newline_is_read_once(logs: Logs) -> None:
    logs.write(call(1), end=b"")
    assert [logs.read().turns, logs.read().turns] == [1, 0]
    logs.write(b"\n", call(2))
    assert [logs.read().turns, logs.read().turns] == [1, 0]
    assert len(logs.rows("turn_id")) == 2


@pytest.mark.parametrize("rewrite", ["shorter", "same size", "longer"])
def test_a_rewritten_file_is_read_again_and_nothing_is_doubled(logs: Logs, rewrite: str) -> None:
    logs.write(call(1), call(2))
    logs.read()
    new = {
        "shorter": [call(3)],
        "same size": [call(1), call(4)],
        "longer": [call(3), call(4), call(5)],
    }[rewrite]
    logs.file.unlink()
    logs.write(*new)
    report = logs.read()
    assert report.turns == len([r for r in new if r["uuid"] not in ("a1", "a2")])
    assert report.notes[0].endswith("read again from the start")
    assert logs.read().notes == ()


def test_odd_lines_are_counted_and_the_rest_is_read(logs: Logs) -> None:
    """CCL-05, DDB-06: corruption in the middle is reported with its place; CRLF, blanks and NUL tails aren't fatal."""
    logs.write(
        call(1),
        b'{"type": "assistant", "mess\n',
        b"[1, 2]\n",
        b"\x00\x00\x00\x00\n",
        b"\r\n\n",
        b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n",
        b'{"n": ' + b"9" * 5000 + b"}\n",
        b"\x00\x00" + json.dumps(call(2)).encode() + b"\r\n",
        b'{"type": "assistant", "pad": "' + b"x" * 3000 + b'"}\n',
        call(3),
        b"\x00\x00\x00",
    )
    report = logs.read(max_line_bytes=450_000)
    assert report.turns == 3
    with logs.store.read() as con:
        reasons = [
            r for (r,) in con.execute("select reason from source_problems order by position").fetchall()
        ]
    assert reasons[:3] == [
        "not JSON (JSONDecodeError)",
        "not a JSON object",
        "only NUL bytes, as a power loss leaves them",
    ]
    assert len(reasons) == 5
    assert logs.read(max_line_bytes=450_000).problems == 0


def test_a_line_too_long_is_passed_over(logs: Logs) -> None:
    image = done(1, "i" * 5_000_000)
    logs.write(call(1), image, call(2), done(2))
    report = logs.read(max_line_bytes=1_000_000)
    assert (report.turns, report.endings, report.problems) == (2, 1, 1)


def test_line_separators_inside_strings_cut_nothing(logs: Logs) -> None:
    """JSL-01: only a newline byte ends a line."""
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\rh"
    logs.write(call(1, command=text), done(1, text))
    assert logs.read().problems == 0
    detail, result = logs.rows("detail, result")[0]
    assert json.loads(detail)["args"]["command"] == text
    assert json.loads(result)["head"] == text


def test_odd_text_and_secrets_are_cleaned_at_the_door(logs: Logs) -> None:
    """DDB-13, SEC-01: lone surrogates, NUL, bad UTF-8."""
    logs.write(
        b'{"type":"assistant","sessionId":"s1","message":{"content":[{"type":"tool_use","id":"t","name":"Bash",'
        b'"input":{"command":"a\\ud83d\\u0000b \xff","k\\u0000":"password=hunter2hunter2"}}]}}\n'
    )
    logs.read()
    args = json.loads(logs.rows("detail")[0][0])["args"]
    assert args["command"].startswith("a�")
    assert "hunter2" not in json.dumps(args)


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"type": "assistant"},
        {"type": "assistant", "message": None},
        {"type": "assistant", "message": {"content": "text"}},
        {"type": "assistant", "message": {"content": [None, 1, "x", {"type": "tool_use"}]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": 5, "name": "X"}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result"}]}},
        {
            "type": "user",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "z", "content": [7]}]},
        },
        {"type": "user", "message": {"content": {"odd": 1}}, "timestamp": 12, "sessionId": 9, "origin": "x"},
        {"type": 3, "timestamp": "9999-99-99"},
    ],
)
def test_unexpected_shapes_yield_nothing(logs: Logs, shape: dict) -> None:
    logs.write(shape, call(1))
    report = logs.read()
    assert (report.turns, report.problems) == (1, 0)


def test_a_resumed_session_copies_its_history_without_doubling_it(logs: Logs) -> None:
    unique = "toolu_01AbCdEfGhIjKlMnOpQrSt"
    first = call(1)
    first["message"]["content"][1]["id"] = unique
    logs.write(first)
    copy = {**first, "sessionId": "s2"}
    (logs.folder / "s2.jsonl").write_text(json.dumps(copy) + "\n", encoding="utf-8")
    assert logs.read().turns == 1


def test_short_ids_count_once_a_session(logs: Logs) -> None:
    logs.write(call(1), call(1, session="s2"))
    assert logs.read().turns == 2


def test_subagents_logs_below_the_folder_are_read(logs: Logs) -> None:
    below = logs.folder / "s1" / "subagents"
    below.mkdir(parents=True)
    (below / "agent-1.jsonl").write_text(json.dumps(call(1)) + "\n", encoding="utf-8")
    assert logs.read().turns == 1


def test_another_workspace_with_the_same_slug_is_left_out(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    other = str(logs.workspace).replace("/ws", "-ws")
    assert slug(Path(other)) == slug(logs.workspace)
    logs.write(
        {**call(1), "cwd": other}, {**call(2), "cwd": str(logs.workspace)}, {**call(3), "cwd": "/elsewhere"}
    )
    assert logs.read().turns == 2


def test_absent_logs_say_so(tmp_path: Path) -> None:
    source = ClaudeCode(tmp_path, tmp_path / "none")
    assert source.absent() == f"no Claude Code logs for this workspace ({tmp_path / 'none'})"


def test_odd_times_are_kept_and_the_cursor_is_no_time(logs: Logs) -> None:
    """TIM-03: 2099, 1970, the same instant over two readings, and a back-filled record are each read once."""
    for number, at in enumerate(
        ["2099-01-01T00:00:00Z", "1970-01-01T00:00:00Z", AT, AT, "2020-01-01T00:00:00+02:00"]
    ):
        logs.write({**call(number), "timestamp": at})
        assert logs.read().turns == 1
    times = [str(ts) for (ts,) in logs.rows("ts")]
    assert times[0] == "2099-01-01 00:00:00"
    assert times[4] == "2019-12-31 22:00:00"


def many(logs: Logs, lines: int) -> None:
    with logs.file.open("wb") as file:
        for number in range(lines):
            file.write(json.dumps(call(number, session=f"s{number % 7}")).encode() + b"\n")
            if number % 3:
                file.write(
                    json.dumps(done(number, "x" * 200, f"s{number % 7}", error=number % 5 == 0)).encode()
                    + b"\n"
                )
            if number % 50 == 0:
                file.write(b"torn {\n")


READER = """
    import os, sys
    from pathlib import Path
    from lackpy.traces.store import Store
    from riggs.ingest import claude_code, sink
    claude_code.BATCH_ROWS = 300
    stop, seen, inner = int(sys.argv[2]), 0, sink.write_batch
    def counted(con, source, batch):
        global seen
        seen += 1
        if seen == stop:
            con.execute("begin")
            sink._add(con, "ingest/add_turns", sink._turn_columns(batch.turns))
            print("now", flush=True)
            sys.stdin.readline()
        return inner(con, source, batch)
    sink.write_batch = counted
    root = Path(sys.argv[1])
    sink.collect(Store(root / "store.duckdb"), [claude_code.ClaudeCode(root / "ws", root / "logs")])
    print("done", flush=True)
"""


@pytest.mark.parametrize("stop", [1, 3, 7])
def test_killed_midway_and_run_again_equals_one_clean_run(tmp_path: Path, stop: int) -> None:
    """A real process is killed by SIGKILL inside a transaction; the next run leaves the store of a clean one."""
    clean = Logs(tmp_path / "clean") if (tmp_path / "clean").mkdir() is None else None
    killed = Logs(tmp_path / "killed") if (tmp_path / "killed").mkdir() is None else None
    for one in (clean, killed):
        many(one, 1500)
    clean.read()
    script = textwrap.dedent(READER)
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "killed"), str(stop)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "now\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdin.close()
    killed.read()
    assert killed.dump() == clean.dump()
    before = killed.dump()
    killed.read()
    assert killed.dump() == before


def test_outcome_values_are_stable() -> None:
    assert [o.value for o in Outcome] == ["success", "failure", "denied", "unknown"]
