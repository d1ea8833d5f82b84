"""`riggs brief` and `riggs trust`: what they say, from stores filled by hand."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lackpy.traces.journal import Journal
from lackpy.traces.record import Trace
from lackpy.traces.store import Store as TraceStore
from riggs.brief import project_brief, render, session_brief
from riggs.ingest.sink import write_batch
from riggs.ingest.source import Batch, Outcome, Turn
from riggs.store import Store
from riggs.trust import Advice, Recommendation, Windows
from riggs.trust_apply import apply, next_mode, write_note
from riggs.trust_plot import plot

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
OFF = "[templates]\nstarter = false\n"


@pytest.fixture
def store(workspace: Path) -> Store:
    (workspace / ".lackpy").mkdir()
    (workspace / ".lackpy" / "config.toml").write_text(OFF, encoding="utf-8")
    return Store(workspace)


def trace(store: Store, number: int, tier: str | None, at: datetime, **fields) -> None:
    values = {
        "trace_id": f"t{number}",
        "ts": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "project": "ws",
        "session_id": "s1",
        "intent": f"intent {number}",
        "kit": "debug",
        "tier": tier,
        "program": "1" if tier else None,
        "valid": tier is not None,
        "success": tier is not None,
        "gen_ms": 2000.0 if tier == "2" else 0.1,
        "cost_usd": 0.002 if tier == "2" else None,
        **fields,
    }
    Journal(store.state_dir / "journal").append(Trace(**values))


def turns(
    store: Store, *outcomes: Outcome, tool: str = "Bash", start: datetime = NOW - timedelta(hours=3)
) -> None:
    made = tuple(
        Turn(f"x:{tool}:{n}", "kibitzer", "s2", start + timedelta(seconds=n), "ws", "call", tool, outcome)
        for n, outcome in enumerate(outcomes)
    )
    with store.write() as con:
        write_batch(con, "kibitzer", Batch("x", made, {}))


def test_an_empty_project_says_so(store: Store) -> None:
    text = render(project_brief(store, NOW))
    assert text == (
        "ws: project brief\n"
        "since 2026-05-25 12:00 UTC\n\n"
        "calls      none\n"
        "saved      nothing, without a call\n"
        "trust      no scored event yet\n"
        "waiting    no candidate\n"
        "templates  0 out of service, 0 moved"
    )
    assert session_brief(store, NOW) is None


def test_a_project_brief_counts_since_the_last_one(store: Store) -> None:
    hour = timedelta(hours=1)
    for number, tier in enumerate(["2", "2", "0", "0", "1", "caller", None]):
        template = {"template": "a"} if tier == "0" else {}
        trace(store, number, tier, NOW - hour, **template)
    trace(store, 8, "0", NOW - hour, template="a", success=False)
    turns(store, *[Outcome.SUCCESS] * 3, Outcome.FAILURE, Outcome.DENIED, Outcome.UNKNOWN)
    store.sync()
    lines = render(project_brief(store, NOW)).splitlines()
    assert lines[3:6] == [
        "calls      8, 6 good: 3 by template, 1 by rule, 2 by model, 1 by the caller's program, 1 unserved; "
        "1 bad serve",
        "saved      4.0 s of model time and $0.0040; spent 4.0 s and $0.0040",
        "seen       kibitzer: 6 turns, 3 good, 1 failed, 1 denied",
    ]
    again = project_brief(store, NOW + hour)
    assert again.span == "since the last brief, 2026-06-01 12:00 UTC"
    assert again.calls_line == "none"
    wide = project_brief(store, NOW + hour, since=NOW - 2 * hour, keep_mark=True)
    assert wide.calls_line.startswith("8, 6 good")
    assert project_brief(store, NOW + 2 * hour).span == "since the last brief, 2026-06-01 13:00 UTC"


def test_low_tools_are_named_and_lists_are_cut(store: Store) -> None:
    for tool in "ABCDEFG":
        turns(store, *[Outcome.DENIED] * 25, tool=tool)
    turns(store, *[Outcome.SUCCESS] * 60, tool="fine")
    brief = project_brief(store, NOW)
    assert len(brief.tool_lines) == 6
    assert brief.tool_lines[0] == "A 0.06 ↓"
    assert brief.tool_lines[-1] == "… and 2 more: riggs trust --tool"


def test_a_session_brief_covers_the_session(store: Store) -> None:
    turns(store, *[Outcome.SUCCESS] * 4, start=NOW - timedelta(days=90))
    trace(store, 1, "0", NOW - timedelta(days=91), template="a")
    store.sync()
    brief = session_brief(store, NOW)
    assert brief is not None
    assert brief.title == "ws: session s2"
    assert brief.seen_lines == ("kibitzer: 4 turns, 4 good",)
    assert brief.calls_line == "none"
    assert session_brief(store, NOW, "s1").calls_line == "1, 1 good: 1 by template"


def test_markdown_and_text_say_the_same(store: Store) -> None:
    turns(store, *[Outcome.SUCCESS] * 4)
    brief = project_brief(store, NOW)
    markdown = render(brief, markdown=True)
    assert markdown.startswith("# ws: project brief\n\nsince ")
    assert f"- **trust:** {brief.trust_line}" in markdown
    assert json.dumps(brief.data)


def test_the_brief_fits_one_screen(store: Store) -> None:
    for tool in "ABCDEFGH":
        turns(store, *[Outcome.DENIED] * 25, tool=tool)
    text = render(project_brief(store, NOW))
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 160


def test_the_commands(cli, store: Store, workspace: Path) -> None:
    turns(store, *[Outcome.FAILURE] * 30)
    shown = cli("riggs", "brief", "--peek", "--since", "2026-05-01")
    assert shown.returncode == 0, shown.stderr
    assert "tighten" in shown.stdout
    session = cli("riggs", "brief", "--session", "--json")
    assert json.loads(session.stdout)["session"] == "s2"
    assert cli("riggs", "brief", "--session=s2", "--project").returncode == 2
    (workspace / ".kibitzer").mkdir()
    trust = cli("riggs", "trust", "--plot")
    assert trust.returncode == 0, trust.stderr
    head, row, *chart = trust.stdout.splitlines()
    assert head.split("\t") == [
        "project", "trust", "", "immediate", "session", "baseline", "events", "recommended", "why",
    ]  # fmt: skip
    assert row.split("\t")[:4] == ["ws", "0.32", "↓", "0.30"]
    assert chart[0] == " 1.0 ┤"
    note = (workspace / ".kibitzer" / "riggs-trust.md").read_text(encoding="utf-8")
    assert "# riggs recommends: tighten" in note
    rows = json.loads(cli("riggs", "trust", "--tool", "--json").stdout)["rows"]
    assert [(r["name"], r["events"], r["advice"]) for r in rows] == [("Bash", 30, "tighten")]
    assert cli("riggs", "trust", "--tool", "--session").returncode == 2
    assert cli("riggs", "trust", "--tool", "--apply").returncode == 2
    assert cli("riggs", "trust", "--tool=Nope").stderr == (
        "riggs: no scored event of tool 'Nope'; 'riggs trust --tool' lists them\n"
    )
    missing = cli("riggs", "trust", "--apply", "--kibitzer", "no-such-kibitzer")
    assert missing.returncode == 2
    assert "'no-such-kibitzer' is not installed or not on PATH" in missing.stderr
    macros = cli("riggs", "macros")
    assert macros.stdout.startswith("no sequence of calls in 3 sessions yet")


def test_a_wrong_setting_stops_the_command_with_one_sentence(cli, store: Store, workspace: Path) -> None:
    (workspace / ".lackpy" / "config.toml").write_text("[trust]\nprior = 3\n", encoding="utf-8")
    done = cli("riggs", "trust")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("[trust] prior must be a number from 0 to 1 (got 3)")
    assert TraceStore(workspace).path.parent.name == ".lackpy"


@pytest.mark.parametrize(
    ("mode", "advice", "after"),
    [
        ("free", Advice.TIGHTEN, "implement"),
        ("implement", Advice.TIGHTEN, "explore"),
        ("test", Advice.TIGHTEN, "explore"),
        ("explore", Advice.TIGHTEN, "explore"),
        ("explore", Advice.LOOSEN, "implement"),
        ("review", Advice.LOOSEN, "implement"),
        ("implement", Advice.LOOSEN, "free"),
        ("free", Advice.LOOSEN, "free"),
        ("own-mode", Advice.TIGHTEN, "own-mode"),
        ("free", Advice.HOLD, "free"),
    ],
)
def test_one_step_at_a_time(mode: str, advice: Advice, after: str) -> None:
    assert next_mode(mode, advice) == after


KIBITZER = """#!/bin/sh
if [ "$1" = prompt ]; then printf '{"mode": "%s"}' "$(cat mode)"; exit 0; fi
if [ "$2" = forbidden ]; then echo "Error: Unknown mode" >&2; exit 1; fi
[ -e stuck ] || printf '%s' "$2" > mode
"""


@pytest.fixture
def kibitzer(workspace: Path) -> str:
    """A stand-in for kibitzer's command, for answers that the real one gives only when it is broken."""
    (workspace / ".kibitzer").mkdir()
    (workspace / "mode").write_text("free", encoding="utf-8")
    path = workspace / "kibitzer"
    path.write_text(KIBITZER, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


TIGHTEN = Recommendation(Advice.TIGHTEN, "low", 3)


def test_the_same_advice_waits_for_new_events(workspace: Path, kibitzer: str) -> None:
    at = Windows(0.2, 0.2, 0.4, 100)
    assert apply(workspace, TIGHTEN, at, command=kibitzer).after == "implement"
    assert apply(workspace, TIGHTEN, at, command=kibitzer).after == "implement"
    later = Windows(0.2, 0.2, 0.4, 120)
    assert apply(workspace, TIGHTEN, later, command=kibitzer).after == "explore"
    loosen = Recommendation(Advice.LOOSEN, "high", 3)
    assert apply(workspace, loosen, later, command=kibitzer).after == "implement"
    assert apply(workspace, Recommendation(Advice.HOLD, "so so"), later, command=kibitzer).sentence == (
        "hold: kibitzer stays in mode implement"
    )


def test_a_mode_that_did_not_take_is_an_error(workspace: Path, kibitzer: str) -> None:
    (workspace / "stuck").touch()
    with pytest.raises(Exception, match="kibitzer took 'mode implement' but says it is in mode 'free'"):
        apply(workspace, TIGHTEN, Windows(0, 0, 0, 50), command=kibitzer)


def test_no_kibitzer_folder_no_note(workspace: Path) -> None:
    assert write_note(workspace, "ws", Windows(0, 0, 0, 50), TIGHTEN, NOW) is None
    with pytest.raises(Exception, match=r"^no \.kibitzer/ in "):
        apply(workspace, TIGHTEN, Windows(0, 0, 0, 50))


def test_a_chart_samples_long_histories() -> None:
    points = [(NOW + timedelta(minutes=n), Windows(n / 999, n / 999, 0.5, n)) for n in range(1000)]
    chart = plot(points, width=40).splitlines()
    assert chart[0].endswith("█")
    assert chart[-3] == "     └" + "─" * 40
    assert plot([]) == ""
    assert "no time" in plot([(None, Windows(0, 0, 0, 1))])
