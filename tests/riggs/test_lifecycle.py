"""A template's standing: the state machine, and its effect on real template files and a real dispatcher's library."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lackpy import sqlfiles
from lackpy.templates.create import template_folder
from lackpy.templates.files import find_template, write_atomic, write_template
from lackpy.templates.format import State, Template, parse, with_fields
from lackpy.templates.loader import TemplateLibrary
from lackpy.traces.drain import drain
from lackpy.traces.ids import new_id
from lackpy.traces.journal import Journal
from lackpy.traces.record import Attempt, Feedback, Trace
from lackpy.traces.store import Store
from riggs.errors import RiggsError
from riggs.lifecycle import Policy, Serve, Standing, advance, policy_from, rest_s
from riggs.template_states import apply_lifecycle, record_state

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def serves(text: str, start: datetime = START) -> list[Serve]:
    """`g` and `b`, a minute apart."""
    return [Serve(start + timedelta(minutes=n + 1), c == "g", f"t{n}") for n, c in enumerate(text)]


def states(
    text: str, state: State = State.ACTIVE, quarantines: int = 0, now: datetime = START + DAY / 2
) -> list[str]:
    _, steps = advance(Standing(state, START, quarantines), serves(text), now, Policy())
    return [step.state.value for step in steps]


@pytest.mark.parametrize(
    ("history", "state", "quarantines", "expected"),
    [
        ("bbb", State.ACTIVE, 0, ["quarantined"]),
        ("bbgbb", State.ACTIVE, 0, []),
        ("g" * 30 + "bbb", State.ACTIVE, 0, ["quarantined"]),
        ("b", State.PROBATION, 0, []),
        ("bb", State.PROBATION, 0, ["quarantined"]),
        ("b", State.PROBATION, 1, ["quarantined"]),
        ("g" * 10, State.PROBATION, 0, ["active"]),
        ("b" + "g" * 10, State.PROBATION, 0, ["active"]),
        ("g" * 10, State.PROBATION, 2, ["active"]),
        ("gggggbgggb", State.PROBATION, 0, ["quarantined"]),
        ("g" * 10 + "bbb", State.PROBATION, 0, ["active", "quarantined"]),
        ("gb" * 30, State.ACTIVE, 0, ["quarantined"]),
        ("bg" * 30, State.ACTIVE, 0, ["quarantined"]),
        (("g" * 4 + "b") * 12, State.ACTIVE, 0, ["quarantined"]),
        (("g" * 24 + "b") * 40, State.ACTIVE, 0, []),
        ("bbbbbb", State.DISABLED, 0, []),
        ("bbbbbb", State.RETIRED, 0, []),
        ("bbbbbb", State.QUARANTINED, 1, []),
    ],
)
def test_what_moves_a_template(history: str, state: State, quarantines: int, expected: list[str]) -> None:
    assert states(history, state, quarantines) == expected


def test_rest_leads_to_probation_only_and_doubles() -> None:
    standing = Standing(State.QUARANTINED, START, 1)
    assert advance(standing, [], START + timedelta(hours=23), Policy())[1] == []
    after, (step,) = advance(standing, [], START + DAY, Policy())
    assert after == Standing(State.PROBATION, START + DAY, 1)
    assert step.reason == "rested 24 h; it has to show itself again"
    again, _ = advance(after, serves("b", START + DAY), START + DAY * 1.5, Policy())
    assert again == Standing(State.QUARANTINED, START + DAY * 1.5, 2)
    assert [rest_s(n, Policy()) / 86_400 for n in range(1, 8)] == [1, 2, 4, 8, 16, 30, 30]


def test_four_quarantines_retire() -> None:
    after, steps = advance(Standing(State.PROBATION, START, 3), serves("b"), START + DAY, Policy())
    assert [s.state for s in steps] == [State.QUARANTINED, State.RETIRED]
    assert after.state is State.RETIRED


def test_a_quarantine_begins_when_it_is_judged() -> None:
    """A late judgement must not skip the rest."""
    after, steps = advance(Standing(State.ACTIVE, START), serves("bbbgggg"), START + 9 * DAY, Policy())
    assert after == Standing(State.QUARANTINED, START + 9 * DAY, 1)
    assert steps[0].trace_ids == ("t0", "t1", "t2")
    assert steps[0].reason == "3 bad serves in a row"


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"bad_in_row": 0}, "[lifecycle]: 'bad_in_row' must be a number from 1 to 1e+09 (got 0)"),
        ({"rest_s": -1}, "[lifecycle]: 'rest_s' must be a number from 0"),
        ({"session_floor": 2}, "[lifecycle]: 'session_floor' must be a number from 0 to 1 (got 2)"),
        ({"rests": 1}, "[lifecycle]: unknown key 'rests'; known: bad_in_row"),
    ],
)
def test_bad_policy_is_one_sentence(section, message: str) -> None:
    with pytest.raises(RiggsError) as caught:
        policy_from(section)
    assert str(caught.value).startswith(message)
    assert policy_from({"bad_in_row": 2, "rest_s": 60}) == Policy(bad_in_row=2, rest_s=60.0)


class Bench:
    """A workspace with one template, and calls that it served."""

    def __init__(self, root: Path, state: State = State.ACTIVE) -> None:
        self.root = root
        self.now = START
        self.store = Store(root)
        self.folder = template_folder(root)
        self.path = write_template(
            self.folder,
            Template(
                "callers", "callers of {name}", 'find_callers("{name}")', {"name": "identifier"}, state=state
            ),
        )
        self.journal = Journal(root / ".lackpy" / "journal")

    def serve(self, *, ok: bool, falls_through: bool = False) -> str:
        self.now += timedelta(minutes=1)
        trace_id = new_id()
        attempts = (Attempt("0", "templates", ok=ok, template="callers", program="find_callers('x')"),)
        if falls_through:
            attempts = (*attempts, Attempt("2", "ollama", ok=True, program="find_callers('x')"))
        self.journal.append(
            Trace(
                trace_id=trace_id,
                ts=self.now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                project=self.root.name,
                session_id="s",
                intent="callers of x",
                kit="debug",
                tier="2" if falls_through else "0",
                provider="ollama" if falls_through else "templates",
                template=None if falls_through else "callers",
                program="find_callers('x')",
                attempts=attempts,
                valid=True,
                success=ok or falls_through,
            )
        )
        return trace_id

    def judge(self) -> list[str]:
        drain(self.root / ".lackpy")
        with self.store.write() as con:
            changes = apply_lifecycle(con, self.root, self.now, starter=False)
        assert not [c.problem for c in changes if c.problem]
        return [c.transition.state.value for c in changes]

    def state(self) -> State:
        return parse(self.path.read_text(encoding="utf-8")).state


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_drifting_template_is_out_within_three_bad_serves_and_returns_through_probation(
    bench: Bench,
) -> None:
    """Judged after every call, as a running riggs would: the file's state is what the dispatcher serves by."""
    library = TemplateLibrary(bench.folder, starter=False)
    for _ in range(20):
        bench.serve(ok=True)
        assert bench.judge() == []
    bad = 0
    while library.current().templates["callers"].template.state.served:
        bench.serve(ok=False)
        bad += 1
        bench.judge()
    assert bad == 3
    assert bench.state() is State.QUARANTINED
    text = parse(bench.path.read_text(encoding="utf-8"))
    assert (text.success_count, text.fail_count) == (20, 3)
    bench.now += timedelta(hours=12)
    assert bench.judge() == []
    bench.now += timedelta(hours=12)
    assert bench.judge() == ["probation"]
    assert library.current().templates["callers"].template.state is State.PROBATION
    bench.serve(ok=False)
    assert bench.judge() == ["quarantined"]
    bench.now += 2 * DAY
    assert bench.judge() == ["probation"]
    for _ in range(9):
        bench.serve(ok=True)
        assert bench.judge() == []
    bench.serve(ok=True)
    assert bench.judge() == ["active"]


def test_judging_twice_changes_nothing(bench: Bench) -> None:
    for _ in range(3):
        bench.serve(ok=False)
    assert bench.judge() == ["quarantined"]
    before = bench.path.read_bytes()
    assert bench.judge() == []
    assert bench.path.read_bytes() == before


def test_transitions_stand_in_the_history_of_decisions(bench: Bench) -> None:
    ids = [bench.serve(ok=False) for _ in range(3)]
    bench.judge()
    query = "select action, template, reason, decided_by, evidence from decisions"
    with bench.store.read() as con:
        ((action, template, reason, by, evidence),) = con.execute(query).fetchall()
    assert (action, template, reason, by) == ("quarantined", "callers", "3 bad serves in a row", "riggs")
    assert json.loads(evidence) == {"was": "active", "traces": ids, "good_serves": 0, "bad_serves": 3}


def test_only_templates_that_something_happened_to_are_read(bench: Bench) -> None:
    bench.serve(ok=False)
    assert bench.judge() == []
    with bench.store.read() as con:
        assert con.execute(sqlfiles.load("trust/touched").text).fetchall() == []
    trace_id = bench.serve(ok=True)
    bench.judge()
    bench.journal.append(Feedback(trace_id, bench.now.strftime("%Y-%m-%dT%H:%M:%SZ"), "bad"))
    drain(bench.root / ".lackpy")
    with bench.store.read() as con:
        assert con.execute(sqlfiles.load("trust/touched").text).fetchall() == [("callers",)]


def test_a_program_that_failed_and_fell_through_counts_against_its_template(bench: Bench) -> None:
    for _ in range(3):
        bench.serve(ok=False, falls_through=True)
    assert bench.judge() == ["quarantined"]


def test_feedback_bad_counts_as_a_bad_serve(bench: Bench) -> None:
    for _ in range(3):
        trace_id = bench.serve(ok=True)
        bench.journal.append(Feedback(trace_id, bench.now.strftime("%Y-%m-%dT%H:%M:%SZ"), "bad"))
    assert bench.judge() == ["quarantined"]


def test_a_person_decides_over_the_record(bench: Bench) -> None:
    """A state set by hand stands, and earlier bad serves don't come back."""
    for _ in range(3):
        bench.serve(ok=False)
    bench.judge()
    write_atomic(bench.path, with_fields(bench.path.read_text(encoding="utf-8"), {"state": State.ACTIVE}))
    assert bench.judge() == []
    assert bench.state() is State.ACTIVE


def test_a_promotion_starts_probation_anew(bench: Bench) -> None:
    for _ in range(3):
        bench.serve(ok=False)
    bench.judge()
    write_atomic(bench.path, with_fields(bench.path.read_text(encoding="utf-8"), {"state": State.PROBATION}))
    with bench.store.write() as con:
        template = parse(bench.path.read_text(encoding="utf-8"))
        record_state(con, template, State.PROBATION, "promoted", "me", bench.now)
    bench.serve(ok=False)
    assert bench.judge() == []
    bench.serve(ok=False)
    assert bench.judge() == ["quarantined"]


def test_a_shipped_template_is_stopped_by_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "data" / "templates"
    shipped.mkdir(parents=True)
    bench = Bench(tmp_path / "ws")
    bench.path.rename(shipped / "callers.tmpl")
    original = TemplateLibrary.__init__

    def with_shipped(self, folder, *, starter=True):
        original(self, folder, starter_folder=shipped if starter else None)

    monkeypatch.setattr(TemplateLibrary, "__init__", with_shipped)
    for _ in range(3):
        bench.serve(ok=False)
    drain(bench.root / ".lackpy")
    with bench.store.write() as con:
        (change,) = apply_lifecycle(con, bench.root, bench.now)
    copy = find_template(bench.folder, "callers")
    assert copy is not None
    assert change.path == str(copy)
    assert parse(copy.read_text(encoding="utf-8")).state is State.QUARANTINED
    with bench.store.write() as con:
        (change,) = apply_lifecycle(con, bench.root, bench.now + DAY)
    assert change.transition.state is State.PROBATION
