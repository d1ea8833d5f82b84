"""Audits: what is asked about, what counts as agreement, and when a template is stopped for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lackpy.infer.protocol import Proposal, Request, Tier
from lackpy.templates.files import write_template
from lackpy.templates.format import State, Template, parse
from lackpy.traces.ids import new_id
from lackpy.traces.journal import Journal
from lackpy.traces.record import Trace
from riggs.audit import Agreement, AuditPolicy, agreements, audit, policy_from
from riggs.errors import RiggsError
from riggs.store import Store
from riggs.upkeep import upkeep

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PROGRAM = 'find_callers("{0}")'


class Double:
    """A model tier that answers by a function of the intent's last word."""

    name = "double"
    tier = Tier.LOCAL

    def __init__(self, answer: Callable[[str], str | Proposal | None]) -> None:
        self.answer = answer
        self.intents: list[str] = []

    def propose(self, request: Request) -> Proposal:
        self.intents.append(request.intent)
        found = self.answer(request.intent.split()[-1])
        return found if isinstance(found, Proposal) else Proposal(found, model="double-1b")

    def status(self) -> str:
        return "ready"


def agree(name: str) -> str:
    return f"rows = {PROGRAM.format(name)}\nrows"


def differ(name: str) -> str:
    return f'find_definitions("{name}")'


def serve(root: Path, count: int, template: str = "wugs", kit: str = "debug", day: int = 1) -> None:
    """Record calls that a template served."""
    journal = Journal(root / ".lackpy" / "journal")
    for n in range(count):
        journal.append(
            Trace(
                trace_id=new_id(),
                ts=f"2026-02-{day:02d}T00:{n // 60:02d}:{n % 60:02d}.000000Z",
                project="p",
                session_id="s",
                intent=f"{template} of name_{n}",
                kit=kit,
                tier="0",
                template=template,
                program=PROGRAM.format(f"name_{n}"),
                valid=True,
                success=True,
            )
        )
    journal.close()


@pytest.fixture
def store(workspace: Path) -> Store:
    """Return the store of a workspace with one template in probation and one active."""
    folder = workspace / ".lackpy" / "templates"
    for name, state in (("wugs", State.PROBATION), ("blicks", State.ACTIVE)):
        one = Template(
            name, f"{name} of {{name}}", PROGRAM.format("{name}"), {"name": "identifier"}, "debug", state
        )
        write_template(folder, one)
    return Store(workspace)


def state_of(store: Store, name: str) -> State:
    path = next(p for p in (store.state_dir / "templates").glob("*.tmpl") if p.stem == name)
    return parse(path.read_text()).state


def test_all_in_probation_and_a_share_of_the_others_are_asked_about_once(store: Store) -> None:
    serve(store.workspace, 8)
    serve(store.workspace, 200, "blicks")
    serve(store.workspace, 3, "unknown-template")
    store.sync()
    model = Double(agree)
    report = audit(store, [model], policy=AuditPolicy(share=0.1, budget_per_run=1000), now=NOW)
    probation = [i for i in model.intents if i.startswith("wugs")]
    others = [i for i in model.intents if i.startswith("blicks")]
    assert len(probation) == 8
    assert 4 <= len(others) <= 45  # 20 expected; ids are random, the share is by their hash
    assert len(model.intents) == len(probation) + len(others) == report.asked
    again = Double(agree)
    assert audit(store, [again], policy=AuditPolicy(share=0.1), now=NOW).asked == 0
    assert again.intents == []


def test_budget_bounds_a_run_and_probation_goes_first(store: Store) -> None:
    serve(store.workspace, 3)
    serve(store.workspace, 10, "blicks", day=2)
    store.sync()
    model = Double(agree)
    audit(store, [model], policy=AuditPolicy(share=1.0, budget_per_run=5), now=NOW)
    assert [i.split()[0] for i in model.intents] == ["wugs"] * 3 + ["blicks"] * 2
    model = Double(agree)
    audit(store, [model], policy=AuditPolicy(share=0.0), now=NOW)
    assert model.intents == []


def test_another_spelling_agrees_another_program_does_not_and_silence_does_not_count(store: Store) -> None:
    serve(store.workspace, 3)
    store.sync()
    answers = {"name_0": agree("name_0"), "name_1": differ("name_1"), "name_2": "import os"}
    report = audit(store, [Double(answers.get)], policy=AuditPolicy(), now=NOW)
    one = report.agreements[0]
    assert (one.template, one.agrees, one.disagrees, one.silent) == ("wugs", 1, 1, 1)
    rows = store.rows("select agrees, model, program from audits order by served_program")
    assert [row["agrees"] for row in rows] == [True, False, None]
    assert rows[1] == {"agrees": False, "model": "double-1b", "program": "find_definitions('name_1')"}
    wrong = store.rows("select intent from traces where trace_id = ?", [one.example])
    assert wrong == [{"intent": "wugs of name_1"}]


def test_interval_is_wilsons() -> None:
    one = Agreement("t", 8, 2)
    assert (round(one.low, 3), round(one.high, 3)) == (0.057, 0.51)
    assert Agreement("t", 0, 0).to_json()["rate"] is None


def test_past_its_budget_a_template_is_quarantined_and_rests_as_after_bad_serves(store: Store) -> None:
    """Three of three wrong is surely above 20 %; it comes back after a rest, and old audits aren't held against it."""
    serve(store.workspace, 3)
    store.sync()
    dry = audit(store, [Double(differ)], policy=AuditPolicy(), now=NOW, dry_run=True)
    assert dry.over_budget == ("wugs",)
    assert dry.changes == ()
    assert state_of(store, "wugs") is State.PROBATION
    done = audit(store, [Double(agree)], policy=AuditPolicy(), now=NOW)
    assert [c.template for c in done.changes] == ["wugs"]
    assert "3 of 3 audited serves" in done.changes[0].transition.reason
    assert state_of(store, "wugs") is State.QUARANTINED
    assert upkeep(store, now=NOW + timedelta(hours=1)).changes == ()
    assert audit(store, [Double(agree)], policy=AuditPolicy(), now=NOW).over_budget == ()
    back = upkeep(store, now=NOW + timedelta(days=2)).changes
    assert [c.transition.state for c in back] == [State.PROBATION]
    assert agreements(store) == []
    assert audit(store, [Double(agree)], policy=AuditPolicy(), now=NOW).over_budget == ()
    assert state_of(store, "wugs") is State.PROBATION


@pytest.mark.parametrize(("wrong", "stopped"), [(4, False), (5, True)])
def test_threshold_is_the_lower_end(store: Store, wrong: int, stopped: bool) -> None:
    """Of ten, 4 wrong may be 17 % and stay; 5 wrong are at least 24 % and go."""
    serve(store.workspace, 10)
    store.sync()
    bad = {f"name_{n}" for n in range(wrong)}
    model = Double(lambda name: differ(name) if name in bad else agree(name))
    assert (audit(store, [model], policy=AuditPolicy(), now=NOW).over_budget == ("wugs",)) is stopped


def test_tier_that_is_down_ends_the_run_and_the_calls_stay_due(store: Store) -> None:
    serve(store.workspace, 3)
    store.sync()
    down = Double(lambda _: Proposal(None, "can't be reached", error_kind="unreachable"))
    report = audit(store, [down], policy=AuditPolicy(), now=NOW)
    assert (report.asked, report.problem) == (0, "double: can't be reached")
    assert len(down.intents) == 1
    assert audit(store, [Double(agree)], policy=AuditPolicy(), now=NOW).asked == 3


def test_call_of_a_kit_that_is_gone_is_skipped(store: Store) -> None:
    serve(store.workspace, 2, kit="gone")
    store.sync()
    report = audit(store, [Double(agree)], policy=AuditPolicy(), now=NOW)
    assert (report.asked, report.skipped) == (0, 2)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"shares": 1}, "unknown key 'shares'; known: share, budget_per_run, error_budget, timeout_s"),
        ({"share": 2}, "'share' must be a number from 0 to 1"),
        ({"budget_per_run": 1.5}, "'budget_per_run' must be a number"),
        ({"error_budget": True}, "'error_budget' must be a number"),
    ],
)
def test_bad_section_is_refused(section: dict[str, object], said: str) -> None:
    with pytest.raises(RiggsError, match=said):
        policy_from(section)


def test_without_a_model_tier_the_command_says_so_and_ends_well(workspace: Path, cli) -> None:
    done = cli("riggs", "audit", env={"OLLAMA_HOST": "", "LACKPY_GGUF": ""})
    assert done.returncode == 0
    assert done.stderr == (
        "riggs: no model tier is set up, nothing was audited; add [ollama], [llamacpp] or [anthropic] to the "
        "configuration\n"
    )
    assert not (workspace / ".lackpy").exists()


def test_command_reports_a_tier_that_cannot_be_reached(store: Store, cli) -> None:
    serve(store.workspace, 2)
    (store.state_dir / "config.toml").write_text('[ollama]\nhost = "http://127.0.0.1:9"\ntimeout_s = 2\n')
    done = cli("riggs", "audit", "--json")
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert body["asked"] == 0
    assert body["problem"].startswith("ollama: ")
