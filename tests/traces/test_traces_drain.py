"""The drain: every acknowledged record arrives once, whatever stands between the lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from traces_support import make_trace

from lackpy import sqlfiles
from lackpy.traces.drain import DUE_SEGMENTS, TRACE_COLUMNS, drain, drain_due, read_pending
from lackpy.traces.ids import new_id, utc_now
from lackpy.traces.journal import Journal
from lackpy.traces.query import count_traces, get_trace, list_traces, tail_traces
from lackpy.traces.record import Feedback, Trace
from lackpy.traces.store import Store


def rows(state, query: str, *values) -> list[tuple]:
    with Store(state).read() as connection:
        return connection.execute(query, values).fetchall()


def segment(state, *lines: bytes, name: str = "00000000000000000001-1-aa.jsonl", end: bytes = b"\n") -> None:
    folder = state / "journal"
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"\n".join(lines) + end)


def raw(**fields) -> bytes:
    return json.dumps({"kind": "trace", "trace_id": new_id(), "ts": utc_now(), **fields}).encode()


def audit(state) -> list[tuple]:
    return [row for name in sqlfiles.names("audits") for row in rows(state, sqlfiles.statement(name))]


def test_every_field_arrives_in_its_column(state) -> None:
    trace = make_trace(
        params={"limit": "int"}, model="m", template="t", program_given="x", error_kind=None, grade_w=1, grade_d=0,
        executor="monty", printed_bytes=3, gen_ms=0.5, validate_ms=0.25, run_ms=1.75, tokens_in=10, tokens_out=20,
        cost_usd=0.001, lackpy_version="0.1.0", ts="2025-03-30T01:59:59.123456Z",
    )  # fmt: skip
    journal = Journal(state / "journal")
    journal.append(trace)
    assert drain(state).inserted == 1
    found = get_trace(state.parent, trace.trace_id)
    expected = {name: getattr(trace, name) for name in Trace.__slots__}
    expected |= {"attempts": [], "calls": [dict(c) for c in trace.calls]}
    assert {name: found[name] for name in TRACE_COLUMNS} == expected


def test_drain_is_idempotent(state) -> None:
    journal = Journal(state / "journal")
    for _ in range(5):
        journal.append(make_trace())
    journal.append(Feedback("t", utc_now(), "bad"))
    copy = journal.path.read_bytes()
    assert (drain(state).inserted, drain(state).inserted) == (6, 0)
    journal.close()
    assert drain(state).deleted == 1
    assert rows(state, "select count(*) from journal_segments") == [(0,)]
    journal.path.write_bytes(copy)
    again = drain(state)
    assert (again.inserted, again.known, again.deleted) == (0, 6, 1)
    assert rows(state, "select count(*) from traces") == [(5,)]
    assert rows(state, "select count(*) from feedback") == [(1,)]
    assert audit(state) == []


def test_same_id_twice_counts_once(state) -> None:
    line = raw(intent="first")
    segment(state, line, line, line.replace(b"first", b"other"))
    report = drain(state)
    assert (report.read, report.inserted) == (3, 1)
    assert rows(state, "select intent from traces") == [("first",)]


def test_corrupt_middle_is_reported_and_torn_tail_is_quiet(state) -> None:
    segment(state, raw(), b'{"kind": "trace", "trace_i', raw(), raw(), b'{"torn', end=b"")
    report = drain(state)
    assert (report.inserted, report.skipped, report.torn, report.deleted) == (3, 1, 1, 1)
    assert report.problems == [f"{state}/journal/00000000000000000001-1-aa.jsonl:2: not JSON"]
    assert rows(state, "select segment, line, reason, sample from journal_problems") == [
        ("00000000000000000001-1-aa.jsonl", 2, "not JSON", '{"kind": "trace", "trace_i')
    ]


def test_torn_tail_of_a_living_owner_waits_for_its_rest(state) -> None:
    journal = Journal(state / "journal")
    journal.append(make_trace())
    line = raw(intent="slow")
    with journal.path.open("ab") as file:
        file.write(line[:30])
    assert drain(state).inserted == 1
    with journal.path.open("ab") as file:
        file.write(line[30:] + b"\n")
    report = drain(state)
    assert (report.inserted, report.skipped, report.deleted) == (1, 0, 0)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[1, 2]", "not a JSON object"),
        (b"{}", "no trace_id"),
        (b'{"trace_id": ""}', "no trace_id"),
        (b'{"trace_id": "x"}', "no time"),
        (b'{"trace_id": "x", "ts": "soon"}', "no time"),
        (b'{"trace_id": "x", "ts": "2025-01-01", "kind": "note"}', "unknown kind 'note'"),
        (b'{"trace_id": "x", "ts": "2025-01-01", "verdict": "meh"}', "verdict is neither good nor bad"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"trace_id": "x", "pad": "' + b"y" * 5_000_000 + b'"}', "longer than 4000000 bytes"),
        (b"\xff\xfe\x00", "not JSON"),
    ],
)
def test_line_that_is_no_record_costs_only_itself(state, line, reason) -> None:
    segment(state, raw(), line, raw())
    report = drain(state)
    assert (report.inserted, report.skipped) == (2, 1)
    assert report.problems[0].endswith(f":2: {reason}")


def test_huge_line_among_small_ones_is_skipped(state) -> None:
    segment(state, raw(), b'{"x": "' + b"z" * 40_000_000 + b'"}', raw(), b"", b"\0\0\0", raw())
    report = drain(state)
    assert (report.inserted, report.skipped, report.read) == (3, 1, 6)


def test_odd_unicode_of_an_older_writer_is_cleaned(state) -> None:
    """A NUL, a lone surrogate, invalid UTF-8 and odd keys lose no record."""
    escaped = raw(intent="MARK", slots={"a.b": 1, 'q"': 2}).replace(b"MARK", rb"x\ud83dy\u0000z")
    segment(
        state,
        escaped,
        raw(intent="BYTES").replace(b"BYTES", b"a\xffb\xc3("),
        raw(intent="\u2028\x85\x0b\x0c\x1c\r"),
    )
    assert drain(state).inserted == 3
    intents = [row[0] for row in rows(state, "select intent from traces order by rowid")]
    assert intents == ["x\ufffdy\ufffdz", "a\ufffdb\ufffd(", "\u2028\x85\x0b\x0c\x1c\r"]
    assert rows(state, """select slots ->> '$."a.b"' from traces where slots is not null""") == [("1",)]


def test_late_value_of_an_always_null_column_is_kept(state) -> None:
    """Types never depend on what the first records held."""
    lines = [raw(error=None, params={}) for _ in range(21_000)]
    late = raw(error="timeout", params={"path": "a"}, error_kind="limit", model="m", template="t")
    segment(state, *lines, late, raw(error=7, tokens_in="many", success="yes", gen_ms=[1]))
    assert drain(state).inserted == 21_002
    assert rows(state, "select count(error), max(error) from traces") == [(2, "timeout")]
    assert rows(
        state, "select params ->> 'path', error_kind, model, template from traces where error = 'timeout'"
    ) == [("a", "limit", "m", "t")]
    assert rows(state, "select tokens_in, success, gen_ms from traces where error = '7'") == [
        (None, True, None)
    ]


def test_unknown_fields_of_a_newer_version_are_kept_apart(state) -> None:
    segment(state, raw(), raw(intent="new", weather="fine", **{f"k{i}": i for i in range(40)}))
    assert drain(state).inserted == 2
    extra = json.loads(rows(state, "select extra from traces where extra is not null")[0][0])
    assert extra == {"weather": "fine", **{f"k{i}": i for i in range(40)}}


def test_clock_steps_and_odd_dates_lose_nothing(state) -> None:
    """The cursor is a byte offset: no order of times keeps a record out."""
    same = "2025-06-01T12:00:00Z"
    segment(state, raw(ts="2099-01-01T00:00:00Z"), raw(ts=same), raw(ts=same), raw(ts="1970-01-01T00:00:00Z"))
    assert drain(state).inserted == 4
    segment(
        state, raw(ts=same), raw(ts="2025-06-01T11:00:00Z"), raw(ts="2025-06-01T14:00:00+02:00"), raw(ts="nonsense"),
        name="00000000000000000002-1-aa.jsonl",
    )  # fmt: skip
    assert drain(state).inserted == 4
    assert rows(state, "select count(*) from traces where ts = '2025-06-01 12:00:00'") == [(4,)]
    assert rows(state, "select year(ts) from traces_v where is_future") == [(2099,)]


@pytest.mark.parametrize(
    ("month", "first", "offsets"), [("2025-03", 26, (1, 1, 1, 1, 1, 2)), ("2025-10", 24, (2, 2, 2, 1, 1, 1))]
)
def test_daily_series_over_a_clock_change_has_one_bucket_a_day(state, month, first, offsets) -> None:
    days = [f"{month}-{first + i}T00:30:00+0{offset}:00" for i, offset in enumerate(offsets)]
    segment(state, *(raw(ts=day) for day in days))
    drain(state)
    assert rows(
        state,
        "select count(*), max(n) from (select count(*) as n from traces group by date_trunc('day', ts))",
    ) == [(6, 1)]


def test_verdicts_fold_into_the_view(state) -> None:
    good, bad, redeemed, failed = (
        make_trace(),
        make_trace(),
        make_trace(),
        make_trace(success=False, error_kind="tool"),
    )
    journal = Journal(state / "journal")
    for trace in (good, bad, redeemed, failed):
        journal.append(trace)
    stamp = "2025-01-01T00:00:00Z"
    for trace, verdict in ((bad, "bad"), (redeemed, "bad"), (redeemed, "good"), (failed, "good")):
        journal.append(Feedback(trace.trace_id, stamp, verdict, verdict))
    drain(state)
    found = {r[0]: r[1:] for r in rows(state, "select trace_id, feedback, is_bad, is_success from traces_v")}
    assert found == {
        good.trace_id: (None, False, True),
        bad.trace_id: ("bad", True, False),
        redeemed.trace_id: ("good", False, True),
        failed.trace_id: ("good", False, False),
    }


def test_repeated_drains_do_not_grow_the_file(state) -> None:
    lines = [raw(intent=f"intent {i}", program="x" * 50) for i in range(5_000)]
    segment(state, *lines)
    drain(state)
    once = (state / "traces.duckdb").stat().st_size
    for i in range(10):
        segment(state, *lines, name=f"{i:020d}-2-aa.jsonl")
        assert drain(state).inserted == 0
    assert (state / "traces.duckdb").stat().st_size <= 2 * once


def test_list_show_and_count_read_their_own_writes(state) -> None:
    journal = Journal(state / "journal")
    first, second = make_trace(session_id="a"), make_trace(tier="2", success=False, error_kind="tool")
    journal.append(first)
    assert [r["trace_id"] for r in list_traces(state.parent)] == [first.trace_id]
    journal.append(second)
    journal.append(Feedback(first.trace_id, utc_now(), "bad", "wrong file"))
    assert [r["trace_id"] for r in list_traces(state.parent)] == [second.trace_id, first.trace_id]
    assert [r["trace_id"] for r in list_traces(state.parent, session="a")] == [first.trace_id]
    assert [r["trace_id"] for r in list_traces(state.parent, tier="2")] == [second.trace_id]
    assert [r["trace_id"] for r in list_traces(state.parent, failed=True)] == [second.trace_id]
    assert len(list_traces(state.parent, limit=1)) == 1
    assert get_trace(state.parent, first.trace_id[-12:])["feedback_note"] == "wrong file"
    assert get_trace(state.parent, "0000") is None
    assert count_traces(state.parent) == 2
    assert [r["trace_id"] for r in tail_traces(state.parent, follow=False)] == [
        first.trace_id,
        second.trace_id,
    ]


def test_workspace_without_traces_stays_untouched(tmp_path) -> None:
    assert list_traces(tmp_path) == []
    assert get_trace(tmp_path, "abcdef") is None
    assert count_traces(tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


def test_tail_follows_journal_and_drained_traces(state) -> None:
    """A trace shows once, also when another process drained its segment between two looks."""
    journal = Journal(state / "journal")
    old, live, drained = make_trace(), make_trace(), make_trace()
    journal.append(old)
    followed = tail_traces(state.parent, poll_s=0.0)
    assert next(followed)["trace_id"] == old.trace_id
    journal.append(live)
    assert next(followed)["trace_id"] == live.trace_id
    journal.append(drained)
    journal.close()
    assert drain(state).deleted == 1
    assert next(followed)["trace_id"] == drained.trace_id


def test_locked_store_is_answered_from_the_journal(state, monkeypatch) -> None:
    monkeypatch.setattr("lackpy.traces.query.LOCKED_WAIT_S", 0.0)
    journal = Journal(state / "journal")
    stored, waiting = make_trace(), make_trace(tier="2")
    journal.append(stored)
    journal.close()
    drain(state)
    journal.append(waiting)
    journal.append(Feedback(waiting.trace_id, utc_now(), "bad"))
    said: list[str] = []
    code = "import duckdb, sys\nheld = duckdb.connect(sys.argv[1])\nprint('open', flush=True)\nsys.stdin.read()\n"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(state / "traces.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "open\n"
        found = list_traces(state.parent, on_partial=said.append)
        assert list_traces(state.parent, tier="0") == []
        holder.stdin.close()
    assert [(r["trace_id"], r["feedback"]) for r in found] == [(waiting.trace_id, "bad")]
    assert said[0].startswith("only traces that still wait in the journal are shown: ")
    assert len(list_traces(state.parent)) == 2


def test_read_pending_skips_what_is_no_record(state) -> None:
    segment(state, raw(intent="a"), b"garbage", raw(intent="b"), b'{"torn', end=b"")
    assert [r["intent"] for r in read_pending(state)] == ["a", "b"]


def test_drain_is_due_when_the_journal_has_grown(state) -> None:
    assert not drain_due(state)
    for i in range(DUE_SEGMENTS):
        segment(state, raw(), name=f"{i:020d}-1-aa.jsonl")
    assert drain_due(state)
    drain(state)
    assert not drain_due(state)
    segment(state, *[raw(intent="x" * 1_000)] * 4_000)
    assert drain_due(state)


def test_leftovers_of_a_dead_writer_are_removed(state) -> None:
    folder = state / "journal"
    folder.mkdir()
    for name, age in (("old.new", 1_000_000_000), ("young.new", None)):
        (folder / name).touch()
        if age:
            os.utime(folder / name, (age, age))
    segment(state, raw())
    drain(state)
    assert [p.name for p in folder.iterdir()] == ["young.new"]


def test_failure_in_the_middle_of_a_batch_changes_nothing(state, monkeypatch) -> None:
    segment(state, raw(), raw())
    real = sqlfiles.statement
    with monkeypatch.context() as patch:
        patch.setattr(
            sqlfiles,
            "statement",
            lambda name: (
                "select error('stop'), $segments, $offsets, $lines"
                if name == "store/set_segments"
                else real(name)
            ),
        )
        with pytest.raises(Exception, match="stop"):
            drain(state)
    assert rows(state, "select count(*) from traces") == [(0,)]
    assert drain(state).inserted == 2
