"""Other thresholds over the same past, and the store's unused space."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lackpy.traces.ids import new_id
from lackpy.traces.journal import Journal
from lackpy.traces.record import Trace
from riggs.learn import Observation
from riggs.policy import compare
from riggs.thresholds import Thresholds

NAMES = ("validate_token", "parse_header", "load_user")


def seen(
    intent: str, program: str, *, successes: int = 1, sessions: int = 1, failures: int = 0
) -> Observation:
    ids = frozenset(f"s{n}" for n in range(sessions))
    return Observation(intent, program, "debug", successes, failures, 0, ids)


PAST = [
    *[seen(f"which tests cover {n}", f'find_callers("{n}")', successes=2, sessions=3) for n in NAMES],
    *[seen(f"blame for {n}", f'find_definitions("{n}")', sessions=2) for n in NAMES],
    seen("how large is everything", 'len(find_files("**/*"))'),
]


def test_each_threshold_changes_what_passes() -> None:
    """Six and three successes pass at 5 and 3; a call no template covers stays uncovered."""
    outcomes = compare(
        PAST,
        [
            ("current", Thresholds()),
            ("fewer", Thresholds(frequency=3, sessions=2)),
            ("sessions", Thresholds(frequency=3, sessions=3)),
            ("at", Thresholds(frequency=6)),
            ("above", Thresholds(frequency=7)),
        ],
    )
    assert [(o.name, o.templates, o.covered, o.calls) for o in outcomes] == [
        ("current", 1, 6, 10),
        ("fewer", 2, 9, 10),
        ("sessions", 1, 6, 10),
        ("at", 1, 6, 10),
        ("above", 0, 0, 10),
    ]
    assert [o.wrong for o in outcomes] == [0] * 5
    assert outcomes[1].coverage == pytest.approx(0.9)


def test_success_rate_counts_failures() -> None:
    failing = seen(PAST[0].intent, PAST[0].program, successes=2, sessions=3, failures=2)
    past = [failing, *PAST[1:3]]
    sets = [(str(rate), Thresholds(success_rate=rate)) for rate in (0.75, 0.76)]
    assert [o.templates for o in compare(past, sets)] == [1, 0]


def test_no_set_and_no_past() -> None:
    with pytest.raises(ValueError, match="'sets' is empty"):
        compare(PAST, [])
    assert compare([], [("current", Thresholds())])[0].coverage == 0.0


def test_command_prints_both_rows(workspace: Path, cli) -> None:
    journal = Journal(workspace / ".lackpy" / "journal")
    for n in range(4):
        journal.append(
            Trace(
                trace_id=new_id(),
                ts="2026-01-01T00:00:00.000000Z",
                project="p",
                session_id=f"s{n}",
                intent=f"which tests cover name_{n}",
                kit="debug",
                tier="caller",
                program=f'find_callers("name_{n}")',
                valid=True,
                success=True,
            )
        )
    journal.close()
    done = cli("riggs", "backtest-policy", "--frequency", "4", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [(r["policy"], r["frequency"], r["templates"], r["covered"], r["wrong_serves"]) for r in rows] == [
        ("current", 5, 0, 0, 0),
        ("given", 4, 1, 4, 0),
    ]
    table = cli("riggs", "backtest-policy", "--frequency", "4").stdout
    assert "4 (100%)" in table
    assert cli("riggs", "backtest-policy", "--success-rate", "2").returncode == 2


def test_compact_says_what_it_gave_back(workspace: Path, cli) -> None:
    none = cli("riggs", "compact")
    assert (none.returncode, none.stdout.endswith("there is no store yet\n")) == (0, True)
    assert not (workspace / ".lackpy").exists()
    assert cli("riggs", "ingest").returncode == 0
    body = json.loads(cli("riggs", "compact", "--json").stdout)
    size = (workspace / ".lackpy/traces.duckdb").stat().st_size
    assert body["bytes_after"] == size
    assert body["bytes_before"] > 0
