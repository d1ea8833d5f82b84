"""The recorder keeps the journal from piling up, and a store in use never fails a call."""

from __future__ import annotations

import threading

import pytest

from lackpy.config import Config, from_mapping, trace_store
from lackpy.recorder import Recorder
from lackpy.traces import drain as drain_module
from lackpy.traces.drain import pending_segments
from lackpy.traces.ids import new_id
from lackpy.traces.store import Store


@pytest.fixture(autouse=True)
def _early(monkeypatch):
    monkeypatch.setattr(drain_module, "DUE_SEGMENTS", 3)


def record_one(workspace, config) -> None:
    recorder = Recorder(workspace, config, "s")
    recorder.feedback(new_id(), "good", "")
    recorder.close()


def test_close_drains_a_journal_that_has_grown(state) -> None:
    left = []
    for _ in range(4):
        record_one(state.parent, Config())
        left.append(len(pending_segments(state / "journal")))
    assert left == [1, 2, 0, 1]
    with Store(state).read() as connection:
        assert connection.execute("select count(*) from feedback").fetchone() == (3,)


def test_store_in_use_delays_the_drain(state) -> None:
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with Store(state).write():
            taken.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    for _ in range(3):
        record_one(state.parent, Config())
    assert len(pending_segments(state / "journal")) == 3
    done.set()
    holder.join()
    record_one(state.parent, Config())
    assert pending_segments(state / "journal") == []


def test_foreign_store_file_never_fails_a_call(state) -> None:
    (state / "traces.duckdb").write_text("not a store")
    for _ in range(4):
        record_one(state.parent, Config())
    assert len(pending_segments(state / "journal")) == 4


def test_configured_address_is_drained_to(state) -> None:
    (state / "config.toml").write_text('[traces]\nstore = "duckdb:team.duckdb"\n')
    config = from_mapping({"traces": {"store": "duckdb:team.duckdb"}})
    for _ in range(3):
        record_one(state.parent, config)
    assert trace_store(state.parent).path == state / "team.duckdb"
    assert not (state / "traces.duckdb").exists()
    with trace_store(state.parent).read() as connection:
        assert connection.execute("select count(*) from feedback").fetchone() == (3,)
