"""Recurring sequences of an outer agent's calls: what joins them, what they amount to, what is left out."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from lackpy.kits import toolbox
from lackpy.lang import check
from riggs.macros import OuterCall, find_macros
from riggs.outer_tools import translate

W = "/home/me/app"
_ids = itertools.count()


def call(session: str, tool: str, head: str = "", *, good: bool = True, **args) -> OuterCall:
    return OuterCall(
        session,
        is_sidechain=False,
        turn_id=f"t{next(_ids)}",
        kind="call",
        tool=tool,
        is_good=good,
        args=args,
        head=head,
    )


def prompt(session: str) -> OuterCall:
    return OuterCall(
        session, is_sidechain=False, turn_id=f"t{next(_ids)}", kind="prompt", tool="", is_good=False
    )


def grep_and_read(session: str, name: str, *files: str) -> list[OuterCall]:
    listed = "".join(f"{W}/{f}:3:def {name}():\n" for f in files)
    reads = [call(session, "Read", "…", file_path=f"{W}/{f}") for f in files]
    return [call(session, "Grep", listed, pattern=f"def {name}"), *reads]


def test_one_search_then_reading_what_it_found() -> None:
    calls = [
        *grep_and_read("s1", "parse", "a/x.py", "b/y.py"),
        *grep_and_read("s2", "render", "c/z.py", "c/w.py", "c/v.py"),
        *grep_and_read("s3", "login", "d/u.py", "d/t.py"),
    ]
    (macro,) = find_macros(calls, W)
    assert macro.steps == ("grep", "read*")
    assert macro.program == (
        "step1 = grep(pattern=pattern)\n"
        'step2 = [read(path=item) for item in sorted({row["file"] for row in step1})]\n'
        '{"1 grep": step1, "2 read": step2}'
    )
    assert (macro.sessions, macro.occurrences, macro.calls, macro.round_trips_saved) == (3, 3, 10, 7)
    assert macro.params == {"pattern": "def login"}


def test_the_first_hit_only() -> None:
    calls = [
        c for s, n in (("s1", "one"), ("s2", "two"), ("s3", "six")) for c in grep_and_read(s, n, f"{n}.py")
    ]
    (macro,) = find_macros(calls, W)
    assert macro.program.split("\n")[1] == 'step2 = read(path=step1[0]["file"])'


def test_a_word_that_two_calls_share_becomes_one_parameter() -> None:
    calls = []
    for session, name in (("s1", "parse_row"), ("s2", "draw"), ("s3", "save")):
        calls += [
            prompt(session),
            call(session, "Grep", "x", pattern=f"def {name}\\b", path=W),
            call(session, "Grep", "y", pattern=f"{name}\\(", glob="tests/**"),
        ]
    (macro,) = find_macros(calls, W)
    assert macro.program.split("\n")[:2] == [
        "step1 = grep(pattern=f'def {pattern}\\\\b')",
        "step2 = grep(glob='tests/**', pattern=f'{pattern}\\\\(')",
    ]
    assert macro.params == {"pattern": "save"}


def test_braces_of_a_regex_are_no_holes() -> None:
    calls = []
    for session, name in (("s1", "abc"), ("s2", "bcd"), ("s3", "cde")):
        calls += [
            call(session, "Grep", "", pattern=f"{name}{{3}}"),
            call(session, "Grep", "", pattern=f"{name}{{0,1}}x"),
        ]
    (macro,) = find_macros(calls, W)
    assert "f'{pattern}{{3}}'" in macro.program
    assert "f'{pattern}{{0,1}}x'" in macro.program


def test_too_few_sessions_are_nothing() -> None:
    calls = [c for s in ("s1", "s2", "s2", "s2") for c in grep_and_read(s, f"n{next(_ids)}", "a.py")]
    assert find_macros(calls, W) == []
    assert find_macros(calls, W, min_sessions=2) != []


@pytest.mark.parametrize(
    "between",
    [
        prompt,
        lambda s: call(s, "Edit", file_path="a", old_string="b", new_string="c"),
        lambda s: call(s, "Bash", command="ls | wc"),
        lambda s: call(s, "Grep", pattern="zzz", good=False),
    ],
)
def test_what_interrupts_a_sequence(between) -> None:
    calls = []
    for session in ("s1", "s2", "s3"):
        first, second = grep_and_read(session, f"name{session}", "a/b.py")
        calls += [first, between(session), second]
    assert find_macros(calls, W) == []


def test_bookkeeping_does_not_interrupt() -> None:
    calls = []
    for session in ("s1", "s2", "s3"):
        first, second = grep_and_read(session, f"name{session}", f"a/{session}.py")
        calls += [first, call(session, "TodoWrite", todos=[]), second]
    assert len(find_macros(calls, W)) == 1


def test_steps_that_share_no_data_are_no_sequence() -> None:
    calls = []
    for session in ("s1", "s2", "s3"):
        calls += [
            call(session, "Read", "", file_path=f"{session}.py"),
            call(session, "Glob", "", pattern="**/*.md"),
        ]
    assert find_macros(calls, W) == []


def test_a_value_out_of_a_text_is_beyond_a_program() -> None:
    """Which name to look up was decided by reading the file."""
    calls = []
    for session in ("s1", "s2", "s3"):
        calls += [
            call(session, "Read", f"import helper_{session}", file_path="main.py"),
            call(session, "Grep", "", pattern=f"helper_{session}"),
        ]
    assert find_macros(calls, W) == []


def test_a_part_of_a_longer_sequence_is_left_out() -> None:
    calls = []
    for session, name in (("s1", "one"), ("s2", "two"), ("s3", "six")):
        calls += [
            call(session, "mcp__fledgling__FindDefinitions", f"{name}.py", name_pattern=name),
            call(session, "Read", "", file_path=f"{W}/{name}.py"),
            call(session, "mcp__fledgling__FindCallers", "", func_name=name),
        ]
    (macro,) = find_macros(calls, W)
    assert macro.steps == ("find_definitions", "read", "find_callers")
    assert macro.params == {"name": next(iter(macro.params.values()))}


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("Read", {"file_path": f"{W}/a.py"}, ("read", {"path": "a.py"})),
        ("Read", {"file_path": f"{W}/a.py", "offset": 10}, None),
        ("Grep", {"pattern": "x", "glob": "*.py"}, ("grep", {"pattern": "x", "glob": "**/*.py"})),
        (
            "Grep",
            {"pattern": "x", "path": f"{W}/src", "glob": "*.py"},
            ("grep", {"pattern": "x", "glob": "src/**/*.py"}),
        ),
        ("Grep", {"pattern": "x", "path": "a.py"}, ("grep", {"pattern": "x", "glob": "a.py"})),
        ("Grep", {"pattern": "x", "-i": True}, None),
        ("Glob", {"pattern": "**/*.ts", "path": f"{W}/web"}, ("glob", {"pattern": "web/**/*.ts"})),
        ("Bash", {"command": "cat ./a.py"}, ("read", {"path": "a.py"})),
        ("Bash", {"command": "grep -rn 'def x' src"}, ("grep", {"pattern": "def x", "glob": "src/**/*"})),
        ("Bash", {"command": "grep -rni x src"}, None),
        ("Bash", {"command": "python -m pytest tests/a.py -q"}, ("run_tests", {"path": "tests/a.py"})),
        ("Bash", {"command": "pytest"}, ("run_tests", {})),
        ("Bash", {"command": "pytest a b"}, None),
        ("Bash", {"command": "cat a; rm b"}, None),
        ("Bash", {"command": "echo 'unclosed"}, None),
        ("Bash", {"command": 5}, None),
        ("Write", {"file_path": "a", "content": "b"}, None),
        ("WebFetch", {"url": "https://example.org"}, None),
    ],
)
def test_translation_of_outer_calls(tool: str, args: dict, expected) -> None:
    assert translate(tool, args, W) == expected


def test_programs_pass_the_language_check(tmp_path: Path) -> None:
    """Every shape of program that sequences amount to is one that the runtime accepts."""
    calls = []
    for session, name in (("s1", "one"), ("s2", "two"), ("s3", "six")):
        calls += grep_and_read(session, name, f"{name}.py", "b.py")
        calls += [
            prompt(session),
            call(session, "Glob", f"src/{name}.py\nsrc/b.py", pattern=f"src/{name}*"),
            call(session, "Read", "", file_path=f"src/{name}.py"),
            prompt(session),
            call(session, "Grep", "q", pattern=f"def {name}{{1}}"),
            call(session, "Grep", "q", pattern=f"class {name}"),
            call(session, "mcp__fledgling__FindCallers", "", func_name=name),
        ]
    signatures = {name: spec.signature for name, spec in toolbox(tmp_path).items()}
    found = find_macros(calls, W)
    assert len(found) == 3
    for macro in found:
        verdict = check(macro.program, signatures, params=macro.params)
        assert verdict.ok, f"{macro.program}\n{verdict.violations}"


def test_ten_thousand_calls_in_one_session_end() -> None:
    """A sequence that repeats all day costs time in proportion to its length."""
    calls = [c for n in range(5000) for c in grep_and_read(f"s{n % 3}", f"name{n}", f"f{n}.py")]
    calls.sort(key=lambda c: c.session_id)
    assert find_macros(calls, W)[0].sessions == 3


def test_bad_argument_is_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^'min_sessions' must be >= 1 \(got 0\)$"):
        find_macros([], W, min_sessions=0)


def test_from_logs_to_programs_by_the_commands(cli, workspace: Path, tmp_path: Path) -> None:
    """Three sessions in which the agent searched and then read what it found."""
    slugged = "".join(c if c.isalnum() else "-" for c in str(workspace))
    folder = tmp_path / "claude" / "projects" / slugged
    folder.mkdir(parents=True)
    for session, name in (("s1", "login"), ("s2", "logout"), ("s3", "refresh")):
        records = []
        for number, (tool, args, head) in enumerate(
            [
                ("Grep", {"pattern": f"def {name}"}, f"{workspace}/app/{name}.py:1:def {name}():"),
                ("Read", {"file_path": f"{workspace}/app/{name}.py"}, f"def {name}():"),
            ]
        ):
            use = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": args}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": head}
            base = {"sessionId": session, "timestamp": f"2026-05-01T10:00:0{number}Z"}
            records.append({"type": "assistant", "message": {"content": [use]}, **base})
            records.append({"type": "user", "message": {"content": [result]}, **base})
        text = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{session}.jsonl").write_text(text, encoding="utf-8")
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}
    ingested = cli("riggs", "ingest", env=env)
    assert "claude_code\t12\t6\t6\t0\t" in ingested.stdout, ingested.stderr
    (row,) = json.loads(cli("riggs", "macros", "--json").stdout)
    assert row["steps"] == ["grep", "read"]
    assert (row["sessions"], row["round_trips_saved"], row["problem"]) == (3, 3, "")
    why = cli("riggs", "macros", "--why", row["id"]).stdout
    assert "one delegate each would have saved 3 round trips" in why
    assert row["program"] in why
    assert cli("riggs", "macros", "--why", "zzz").returncode == 2
