"""Groups are counted right: at each threshold, with bad feedback, incrementally as in one go."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lackpy.traces.ids import new_id
from lackpy.traces.journal import Journal
from lackpy.traces.record import Feedback, Trace
from riggs.store import Store
from riggs.thresholds import Thresholds

PROGRAM = 'find_callers("{0}")'


def trace(
    i: int,
    *,
    session: str = "s",
    name: str = "alpha",
    success: bool = True,
    tier: str = "caller",
    kind: str | None = None,
) -> Trace:
    return Trace(
        trace_id=new_id(),
        ts="2026-01-01T00:00:00.000000Z",
        project="p",
        session_id=session,
        intent=f"find callers of {name}",
        kit="debug",
        tier=tier,
        program=PROGRAM.format(name),
        valid=True,
        success=success,
        error_kind=kind,
        gen_ms=float(i),
    )


def write(workspace: Path, records: list[Trace | Feedback]) -> Store:
    journal = Journal(workspace / ".lackpy" / "journal")
    for record in records:
        journal.append(record)
    journal.close()
    store = Store(workspace)
    store.sync()
    return store


def passing(store: Store, **thresholds: float) -> list[tuple[int, int, int]]:
    """Return (successes, failures, sessions) of passing groups, and insist that both ways of counting agree."""
    wanted = Thresholds(**thresholds)
    groups = store.groups(wanted)
    assert groups == store.groups(wanted, cold=True)
    return [(g.successes, g.failures, g.sessions) for g in groups]


@pytest.mark.parametrize(
    ("successes", "failures", "sessions", "passes"),
    [
        (4, 0, 3, False),
        (5, 0, 3, True),
        (6, 0, 3, True),
        (5, 0, 2, False),
        (8, 2, 3, True),
        (8, 3, 3, False),
        (5, 5, 3, False),
    ],
)
def test_thresholds(tmp_path, successes, failures, sessions, passes):
    """A group passes at 5 successes, 3 sessions and a rate of 0.8, and not just below."""
    names = ("alpha", "beta", "gamma_x", "delta_y", "eps_1")
    good = [trace(i, session=f"s{i % sessions}", name=names[i % 5]) for i in range(successes)]
    bad = [trace(i, session="f", name=names[i % 5], success=False, kind="runtime") for i in range(failures)]
    store = write(tmp_path, [*good, *bad])
    assert passing(store) == ([(successes, failures, sessions)] if passes else [])


def test_bad_feedback_is_a_failure_even_later(tmp_path):
    """Successes marked bad after they were counted stop being successes."""
    traces = [trace(i, session=f"s{i}") for i in range(6)]
    store = write(tmp_path, list(traces))
    assert passing(store) == [(6, 0, 6)]
    marks = [Feedback(t.trace_id, "2026-01-02T00:00:00.000000Z", "bad") for t in traces[:2]]
    store = write(tmp_path, list(marks))
    assert passing(store) == []
    assert passing(store, success_rate=0.6, frequency=4) == [(4, 2, 4)]


def test_served_and_cancelled_calls_are_no_evidence(tmp_path):
    good = [trace(i, session=f"s{i}") for i in range(5)]
    served = [trace(i, session=f"t{i}", tier="0") for i in range(9)]
    cancelled = [trace(i, success=False, kind="cancelled") for i in range(9)]
    assert passing(write(tmp_path, [*good, *served, *cancelled])) == [(5, 0, 5)]


def test_second_sync_does_no_work(tmp_path):
    store = write(tmp_path, [trace(i, session=f"s{i}") for i in range(5)])
    again = store.sync()
    assert (again.drained, again.normalised, again.counted) == (0, 0, 0)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["alpha", "beta_x"]), st.booleans(), st.booleans()),
        min_size=1,
        max_size=25,
    ),
    st.integers(1, 5),
)
def test_incremental_equals_whole(tmp_path_factory, calls, parts):
    """Counting batch by batch, feedback arriving at the end of each, equals one count of everything."""
    records = []
    for i, (session, name, success, is_bad) in enumerate(calls):
        one = trace(i, session=session, name=name, success=success)
        records.append(one)
        if is_bad:
            records.append(Feedback(one.trace_id, f"2026-01-02T00:00:{i:02d}.000000Z", "bad"))
    whole = write(tmp_path_factory.mktemp("whole"), records)
    folder = tmp_path_factory.mktemp("parts")
    step = max(1, len(records) // parts)
    for start in range(0, len(records), step):
        stepwise = write(folder, records[start : start + step])
    wanted = Thresholds(frequency=1, sessions=1, success_rate=0.0)
    assert stepwise.groups(wanted) == whole.groups(wanted) == whole.groups(wanted, cold=True)
