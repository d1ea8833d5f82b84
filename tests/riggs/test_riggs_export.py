"""Training pairs: only what ran, no template on two sides, no duplicate, no secret, in the shapes trainers read."""

from __future__ import annotations

import json

import pytest

from lackpy.lang import canonical
from lackpy.traces.ids import new_id
from lackpy.traces.journal import Journal
from lackpy.traces.record import Feedback, Trace
from riggs.errors import RiggsError
from riggs.export import export, split_of
from riggs.store import Store

KEYS = {
    "chat": {"messages"},
    "completion": {"prompt", "completion"},
    "preference": {"prompt", "chosen", "rejected"},
}


@pytest.fixture
def store(tmp_path):
    journal = Journal(tmp_path / ".lackpy" / "journal")

    def add(intent, program, *, success=True, verdict=None):
        one = Trace(
            trace_id=new_id(),
            ts="2026-01-01T00:00:00.000000Z",
            project="p",
            session_id="s",
            intent=intent,
            kit="debug",
            tier="2",
            program=program,
            valid=True,
            success=success,
        )
        journal.append(one)
        if verdict:
            journal.append(Feedback(one.trace_id, one.ts, verdict))

    for name in ("alpha_x", "beta_x", "gamma_x"):
        add(f"callers of {name}", f'find_callers("{name}")')
        add(f"Callers  of {name}", f"x = find_callers('{name}')\nx")
        add(f"where is {name} defined", f'find_definitions("{name}")')
    for n in range(30):
        add(f"the first {n + 2} files", f'glob("**/*")[:{n + 2}][::{n + 1}]')
    add("bad one", 'read("a.py")', verdict="bad")
    add("failed one", 'read("b.py")', success=False)
    add("callers of alpha_x", 'find_definitions("alpha_x")', success=False)
    add('grep for "api_key = sk-ant-a1b2c3d4e5f6g7h8i9j0"', 'grep("sk-ant-a1b2c3d4e5f6g7h8i9j0")')
    journal.close()
    store = Store(tmp_path)
    store.sync()
    return store


def load(folder):
    return {
        name: [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().split("\n") if line]
        for name in ("train", "validation", "test")
    }


@pytest.mark.parametrize("kind", ["chat", "completion", "preference"])
def test_rows_have_the_conventional_keys(store, tmp_path, kind):
    export(store, tmp_path / "out", kind)
    rows = [row for split in load(tmp_path / "out").values() for row in split]
    assert rows
    assert all(set(row) == KEYS[kind] for row in rows)
    text = json.dumps(rows)
    assert "sk-ant-a1b2" not in text
    if kind == "chat":
        said = [row["messages"][1]["content"] for row in rows]
        assert "bad one" not in said
        assert "failed one" not in said
        assert sum(s.casefold() == "callers of alpha_x" for s in said) == 1
        assert all([m["role"] for m in row["messages"]] == ["system", "user", "assistant"] for row in rows)
    if kind == "preference":
        assert len(rows) == 1
        assert canonical(rows[0]["chosen"][0]["content"]) == canonical('find_callers("alpha_x")')
        assert rows[0]["rejected"][0]["content"].replace("'", '"') == 'find_definitions("alpha_x")'


def test_no_template_is_in_two_splits(store, tmp_path):
    """Every program of one shape is on one side, whatever its values."""
    export(store, tmp_path / "out")
    sides: dict[str, set[str]] = {}
    for split, rows in load(tmp_path / "out").items():
        for row in rows:
            program = row["messages"][2]["content"]
            for tool in ("find_callers", "find_definitions"):
                if program.startswith(tool):
                    sides.setdefault(tool, set()).add(split)
    assert {len(found) for found in sides.values()} == {1}


def test_split_shares_hold_over_many_templates():
    counts = {"train": 0, "validation": 0, "test": 0}
    for n in range(5000):
        counts[split_of(f"group-{n}", (0.8, 0.1, 0.1))] += 1
    assert 3850 < counts["train"] < 4150
    assert 400 < counts["validation"] < 600


def test_data_card_counts_what_was_written(store, tmp_path):
    done = export(store, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    for name, rows in load(tmp_path / "out").items():
        assert len(rows) == done.rows[name]
        assert f"| {name} | {len(rows)} |" in card


@pytest.mark.parametrize("shares", [(0.8, 0.1), (0.8, 0.1, 0.2), (1.2, -0.1, -0.1)])
def test_wrong_shares_are_refused(store, tmp_path, shares):
    with pytest.raises(RiggsError, match="'shares' must be three numbers"):
        export(store, tmp_path / "out", shares=shares)
