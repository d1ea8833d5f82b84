"""Trust windows: batch, incremental and a plain reference agree on any history."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lackpy.traces.store import migrate
from riggs.errors import RiggsError
from riggs.ingest.sink import write_batch
from riggs.ingest.source import Batch, Outcome, Provenance, Turn
from riggs.trust import Advice, Direction, Windows, direction, fold, recommend, tail_length
from riggs.trust_config import DEFAULT, IGNORE, from_section
from riggs.trust_store import compute, refresh, series, states

START = datetime(2026, 3, 1, tzinfo=UTC)
NOW = datetime(2026, 12, 1, tzinfo=UTC)
CATEGORIES = ("", "denied", "timeout", "tests-failure", "user-rejected", "mode-switch")


def turn(number: int, at: datetime | None, outcome: Outcome, **fields) -> Turn:
    values = {"session_id": "s1", "project": "p", "kind": "call", "tool": "Bash", **fields}
    return Turn(turn_id=f"test:{number:05}", source="test", ts=at, outcome=outcome, **values)


def store() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    migrate(con)
    return con


def add(con: duckdb.DuckDBPyConnection, turns: list[Turn]) -> None:
    write_batch(con, "test", Batch("t", tuple(turns), {}))


def reference(turns: list[Turn], config=DEFAULT) -> dict[tuple[str, str], tuple[float, float, float, int]]:
    """Fold turn by turn with three lines of arithmetic, nothing shared with the code under test."""
    found: dict[tuple[str, str], tuple[float, float, float, int]] = {}
    floor = datetime.min.replace(tzinfo=UTC)
    for one in sorted(turns, key=lambda t: (t.ts or floor, t.turn_id)):
        score = config.score(one.category or f"{one.kind}-{one.outcome}", one.outcome)
        if one.outcome is Outcome.UNKNOWN or score is None:
            continue
        for subject in (("project", one.project), ("session", one.session_id), ("tool", one.tool)):
            if not subject[1]:
                continue
            values = found.get(subject, (0.5, 0.5, 0.5, 0))
            moved = []
            for value, alpha in zip(values, (0.4, 0.08, 0.02), strict=False):
                rises = score > value
                self_report = one.provenance is Provenance.SELF_REPORTED
                moved.append(value if rises and self_report else (1 - alpha) * value + alpha * score)
            found[subject] = (*moved, values[3] + 1)
    return found


def close(state, expected) -> bool:
    w = state.windows
    pairs = zip((w.immediate, w.session, w.baseline), expected, strict=False)
    return w.events == expected[3] and all(abs(a - b) < 1e-9 for a, b in pairs)


EVENTS = st.lists(
    st.tuples(
        st.integers(-50_000, 50_000) | st.none(),
        st.sampled_from(Outcome),
        st.sampled_from(CATEGORIES),
        st.sampled_from(Provenance),
        st.sampled_from(["s1", "s2", ""]),
        st.sampled_from(["Bash", "Read", ""]),
        st.integers(0, 3),
    ),
    max_size=60,
)


@given(EVENTS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_batch_and_incremental_equal_a_plain_reference(events) -> None:
    """Random histories in random order, in up to four readings, with late, equal and missing times."""
    turns = [
        turn(
            n,
            None if at is None else START + timedelta(seconds=at),
            outcome,
            category=category,
            provenance=who,
            session_id=session,
            tool=tool,
        )
        for n, (at, outcome, category, who, session, tool, _) in enumerate(events)
    ]
    con = store()
    for part in range(4):
        add(con, [t for t, event in zip(turns, events, strict=True) if event[6] == part])
        refresh(con, DEFAULT, NOW)
    expected = reference(turns)
    kept = {(s.scope, s.key): s for scope in ("project", "session", "tool") for s in states(con, scope)}
    batch = {(s.scope, s.key): s for s in compute(con, DEFAULT, NOW)}
    assert kept.keys() == batch.keys() == expected.keys()
    for subject, values in expected.items():
        assert close(kept[subject], values)
        assert close(batch[subject], values)


def test_new_events_are_folded_and_late_ones_rebuild() -> None:
    con = store()
    add(con, [turn(n, START + timedelta(minutes=n), Outcome.SUCCESS) for n in range(10)])
    assert refresh(con, DEFAULT, NOW).rebuilt == 3
    assert refresh(con, DEFAULT, NOW).kept == 3
    add(con, [turn(10, START + timedelta(minutes=10), Outcome.FAILURE)])
    assert refresh(con, DEFAULT, NOW).folded == 3
    add(con, [turn(11, START - timedelta(days=3), Outcome.FAILURE)])
    assert refresh(con, DEFAULT, NOW).rebuilt == 3
    (project,) = states(con, "project")
    assert project.windows.events == 12


def test_another_score_table_rebuilds() -> None:
    con = store()
    add(con, [turn(n, START, Outcome.DENIED) for n in range(3)])
    refresh(con, DEFAULT, NOW)
    other = from_section({"scores": {"denied": 0.9}})
    assert refresh(con, other, NOW).rebuilt == 3
    assert states(con, "tool")[0].windows.immediate == pytest.approx(0.5 + 0.4 * 0.4 * (1 + 0.6 + 0.36))


def test_an_ignored_category_moves_nothing_and_is_no_data() -> None:
    con = store()
    add(con, [turn(n, START, Outcome.DENIED) for n in range(3)])
    config = from_section({"scores": {"denied": IGNORE, "call-denied": IGNORE}})
    refresh(con, config, NOW)
    assert states(con, "project") == []


def test_events_from_the_future_wait() -> None:
    con = store()
    add(con, [turn(0, START, Outcome.SUCCESS), turn(1, NOW + timedelta(days=27000), Outcome.FAILURE)])
    refresh(con, DEFAULT, NOW)
    assert states(con, "project")[0].windows.events == 1
    refresh(con, DEFAULT, NOW + timedelta(days=27001))
    assert states(con, "project")[0].windows.events == 2


def test_the_same_instant_in_two_readings_counts_once_each() -> None:
    con = store()
    for part in ([3, 1], [2, 0, 4]):
        add(con, [turn(n, START, Outcome.SUCCESS if n % 2 else Outcome.FAILURE) for n in part])
        refresh(con, DEFAULT, NOW)
    assert states(con, "project")[0].windows.events == 5


def test_ten_thousand_events_with_gaps_keep_nine_digits() -> None:
    rng = random.Random(7)
    con = store()
    at, turns = START - timedelta(days=9000), []
    for n in range(10_000):
        at += timedelta(seconds=rng.choice([1, 60, 86_400]))
        turns.append(turn(n, at, rng.choice([Outcome.SUCCESS, Outcome.FAILURE, Outcome.DENIED])))
    add(con, turns)
    expected = reference([t for t in turns if t.ts and t.ts <= NOW])
    for state in compute(con, DEFAULT, NOW):
        assert close(state, expected[state.scope, state.key])
    last = series(con, DEFAULT, NOW, "project", "p", newest=50)
    whole = series(con, DEFAULT, NOW, "project", "p")
    assert len(last) == 50
    assert all(
        abs(getattr(a, w) - getattr(b, w)) < 1e-9
        for a, b in zip(last, whole[-50:], strict=True)
        for w in ("immediate", "session", "baseline")
    )


def test_a_self_report_lowers_but_never_raises() -> None:
    low, high = Windows(0.2, 0.2, 0.2, 9), Windows(0.9, 0.9, 0.9, 9)
    assert low.then(1.0, DEFAULT, is_capped=True) == Windows(0.2, 0.2, 0.2, 10)
    assert low.then(0.3, DEFAULT, is_capped=True).immediate == 0.2
    assert high.then(0.0, DEFAULT, is_capped=True).immediate == pytest.approx(0.54)


def test_the_first_event_does_not_decide() -> None:
    (after,) = fold([(0.0, False)], DEFAULT)
    assert after.session == pytest.approx(0.46)
    assert direction(after, DEFAULT) is Direction.NO_DATA
    assert recommend([after], DEFAULT).advice is Advice.HOLD


def steady(*parts: tuple[int, float]) -> list[Windows]:
    return fold([(score, False) for count, score in parts for _ in range(count)], DEFAULT)


def test_recommendation_needs_a_sustained_change() -> None:
    good = steady((100, 1.0))
    assert recommend(good, DEFAULT).advice is Advice.LOOSEN
    assert recommend(steady((100, 1.0), (2, 0.0)), DEFAULT).advice is Advice.LOOSEN
    falling = recommend(steady((100, 1.0), (12, 0.0)), DEFAULT)
    assert falling.advice is Advice.TIGHTEN
    assert falling.reason.startswith("falling: ")
    assert recommend(steady((60, 0.3)), DEFAULT).advice is Advice.TIGHTEN


def test_recommendation_has_hysteresis() -> None:
    """A session window between the two levels keeps whatever was in force."""
    between = (DEFAULT.tighten_below + DEFAULT.tighten_until) / 2
    level = [Windows(between, between, between, 100 + n) for n in range(20)]
    low = [Windows(0.3, 0.3, 0.3, 50 + n) for n in range(20)]
    fine = [Windows(0.7, 0.7, 0.7, 50 + n) for n in range(20)]
    assert recommend([*low, *level], DEFAULT).advice is Advice.TIGHTEN
    assert recommend([*fine, *level], DEFAULT).advice is Advice.HOLD
    assert recommend([*low, *level, *fine], DEFAULT).advice is Advice.HOLD


def test_tail_length_covers_the_slowest_window() -> None:
    assert (1 - DEFAULT.baseline) ** tail_length(DEFAULT) < 1e-12


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"prior": 2}, "[trust] prior must be a number from 0 to 1 (got 2)"),
        ({"prior": True}, "[trust] prior must be a number from 0 to 1 (got True)"),
        ({"alphas": {"quick": 1}}, "[trust]: 'alphas' must be a table with immediate, session, baseline"),
        ({"alphas": {"session": 0}}, "[trust]: alphas.session must be > 0"),
        ({"scores": {"denied": "no"}}, "[trust] scores.denied must be a number from 0 to 1 (got 'no')"),
        ({"sustain": 0}, "[trust]: 'sustain' must be a whole number >= 1 (got 0)"),
        ({"tighten_below": 0.99}, "[trust]: needs tighten_below <= tighten_until"),
        ({"colour": 1}, "[trust]: unknown key 'colour'"),
        ({"clock_slack_s": float("nan")}, "[trust]: 'clock_slack_s' must be seconds >= 0"),
    ],
)
def test_bad_settings_are_one_sentence(section, message: str) -> None:
    with pytest.raises(RiggsError) as caught:
        from_section(section)
    assert str(caught.value).startswith(message)


def test_state_survives_reopening(tmp_path: Path) -> None:
    path = str(tmp_path / "t.duckdb")
    with duckdb.connect(path) as con:
        migrate(con)
        add(con, [turn(n, START, Outcome.SUCCESS) for n in range(4)])
        refresh(con, DEFAULT, NOW)
    with duckdb.connect(path) as con:
        assert refresh(con, DEFAULT, NOW).kept == 3
