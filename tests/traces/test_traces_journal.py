"""The journal: an append that returned is on disk, one strict JSON line, in a segment of its own."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces_support import make_trace

from lackpy.traces.clean import clean_data, to_line
from lackpy.traces.ids import id_time, new_id, parse_time, utc_now
from lackpy.traces.journal import MAX_LINE_BYTES, Journal, JournalError, bounded_line, lock_segment
from lackpy.traces.record import Feedback

LINE_BREAKERS = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\rh\ni\0j\ud83dk"


def lines_of(journal: Journal) -> list[bytes]:
    data = b"".join(p.read_bytes() for p in sorted(journal.folder.glob("*.jsonl")))
    assert data.endswith(b"\n")
    return data.split(b"\n")[:-1]


def test_append_writes_one_line_of_ascii_json(state) -> None:
    journal = Journal(state / "journal")
    journal.append(make_trace(intent=LINE_BREAKERS))
    journal.append({"trace_id": "t", "verdict": "bad", "ts": utc_now()})
    first, second = lines_of(journal)
    assert first.isascii()
    assert len(first.decode().splitlines()) == 1
    assert json.loads(first)["intent"] == LINE_BREAKERS.replace("\0", "\ufffd").replace("\ud83d", "\ufffd")
    assert json.loads(first)["kind"] == "trace"
    assert json.loads(second)["kind"] == "feedback"
    assert len(json.loads(second)["feedback_id"]) == 36


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "NaN"),
        ([1e308 * 10], ["Infinity"]),
        ({"a": float("-inf")}, {"a": "-Infinity"}),
        (2**70, 2**70),
        (-0.0, -0.0),
        ({1: "a", None: "b", (1, 2): "c"}, {"1": "a", "None": "b", "(1, 2)": "c"}),
        ({3, 1, 2}, [1, 2, 3]),
        (b"ab\xff", "ab\ufffd"),
        ([10**5000], ["[cut: integer of too many digits]"]),
        ("\U0001f600 \ud83d", "\U0001f600 \ufffd"),
        ({"a\0b": 1}, {"a\ufffdb": 1}),
    ],
)
def test_what_json_cannot_hold_follows_one_rule(value, expected) -> None:
    line = to_line({"v": value, "nan": float("nan")})
    found = json.loads(line, parse_constant=lambda name: pytest.fail(f"bare {name}"))
    assert found == {"v": expected, "nan": "NaN"}
    assert clean_data(value) == expected


def test_deep_nesting_is_cut() -> None:
    value: list = []
    for _ in range(10_000):
        value = [value]
    assert b"[cut: nested too deep]" in to_line({"v": value})


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.integers() | st.binary(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner)))  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_any_value_becomes_one_strict_line(value) -> None:
    line = to_line({"v": value})
    assert line.isascii()
    assert line.count(b"\n") == 1
    json.loads(line, parse_constant=lambda name: pytest.fail(f"bare {name}"))


@pytest.mark.parametrize(
    "changes",
    [
        {"output_preview": "x" * 5_000_000},
        {"calls": tuple({"step": i, "tool": "read", "args": {"path": "p" * 300}} for i in range(20_000))},
        {"slots": {"k" * 10_000 + str(i): "v" * 1_000 for i in range(2_000)}},
        {"program": "\u2028" * 2_000_000, "intent": "\U0001f600" * 500_000},
        {
            "slots": {
                str(i): {str(j): {str(k): "v" * 40 for k in range(30)} for j in range(30)} for i in range(30)
            }
        },
    ],
)
def test_oversize_record_is_cut_and_says_so(changes) -> None:
    trace = make_trace(**changes)
    line = bounded_line(trace)
    assert len(line) <= MAX_LINE_BYTES
    found = json.loads(line)
    assert found["cut"] is True
    assert found["trace_id"] == trace.trace_id
    assert found["session_id"] == "s1"


def test_cut_text_names_what_is_missing() -> None:
    found = json.loads(bounded_line(make_trace(output_preview="x" * 5_000_000)))
    assert found["output_preview"].endswith("…[cut 4900000 characters]")
    assert found["program"] == 'find_callers("validate_token")'


def test_append_after_a_torn_tail_starts_on_a_fresh_line(state) -> None:
    journal = Journal(state / "journal")
    journal.append(make_trace())
    with journal.path.open("ab") as file:
        file.write(b'{"kind":"trace","tr')
    journal.append(make_trace(intent="after"))
    assert json.loads(lines_of(journal)[-1])["intent"] == "after"
    assert lines_of(journal)[1] == b'{"kind":"trace","tr'


def test_record_that_fails_half_way_is_taken_back(state, monkeypatch) -> None:
    """A full disk refuses the record with a reason; the next record is whole again."""
    journal = Journal(state / "journal")
    journal.append(make_trace())
    real = os.write
    left = [100]

    def until_full(fd, data):
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(fd, bytes(data)[: left[0]])
        left[0] -= written
        return written

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", until_full)
        with pytest.raises(JournalError, match=r"^disk full \(.*journal\)$"):
            journal.append(make_trace())
    journal.append(make_trace(intent="later"))
    assert [json.loads(line)["intent"] for line in lines_of(journal)] == [
        "find callers of validate_token",
        "later",
    ]


def test_failed_fsync_is_no_acknowledgement(state, monkeypatch) -> None:
    def refuse(_fd):
        raise OSError(errno.EIO, "Input/output error")

    journal = Journal(state / "journal")
    journal.append(make_trace())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(JournalError, match="Input/output error"):
            journal.append(make_trace())
    assert len(lines_of(journal)) == 1


def test_file_size_limit_reached_mid_record(state) -> None:
    """A real short write by the kernel leaves no fragment behind."""
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from lackpy.traces.journal import Journal, JournalError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "journal.append({'trace_id': 'a', 'intent': 'x' * 1000})\n"
        "try:\n"
        "    journal.append({'trace_id': 'b', 'intent': 'x' * 9000})\n"
        "except JournalError as exc:\n"
        "    print(exc)\n"
        "journal.append({'trace_id': 'c', 'intent': 'small'})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(state / "journal")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith("file size limit reached (")
    assert [json.loads(line)["trace_id"] for line in lines_of(Journal(state / "journal"))] == ["a", "c"]


def test_folder_that_cannot_be_made_is_one_sentence(tmp_path) -> None:
    (tmp_path / "journal").write_text("a file")
    with pytest.raises(JournalError, match=r"^File exists \("):
        Journal(tmp_path / "journal").append(make_trace())


def test_segment_is_rotated_by_size(state) -> None:
    journal = Journal(state / "journal", segment_bytes=2_000)
    for _ in range(10):
        journal.append(make_trace())
    assert len(list(journal.folder.glob("*.jsonl"))) > 2
    assert len(lines_of(journal)) == 10


def test_segment_is_locked_while_its_owner_may_write(state) -> None:
    journal = Journal(state / "journal")
    journal.append(make_trace())
    with journal.path.open("rb") as file:
        assert not lock_segment(file.fileno())
        journal.close()
        assert lock_segment(file.fileno())
    assert list(journal.folder.glob("*.new")) == []


def test_append_after_close_begins_a_new_segment(state) -> None:
    journal = Journal(state / "journal")
    journal.append(make_trace())
    journal.close()
    journal.append(make_trace())
    assert len(list(journal.folder.glob("*.jsonl"))) == 2


def test_threads_share_a_journal(state) -> None:
    journal = Journal(state / "journal", sync=False)
    threads = [
        threading.Thread(target=lambda: [journal.append(make_trace()) for _ in range(50)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [json.loads(line)["trace_id"] for line in lines_of(journal)]
    assert len(set(ids)) == 400


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forked_child_writes_its_own_segment(state) -> None:
    """A child never writes into its parent's segment, even when the fork happened inside an append."""
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from lackpy.traces.journal import Journal\n"
        "from lackpy.traces.ids import new_id\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "journal.append({'trace_id': new_id()})\n"
        "journal._lock.acquire()\n"
        "pid = os.fork()\n"
        "if pid: journal._lock.release()\n"
        "for _ in range(5): journal.append({'trace_id': new_id(), 'session_id': 'child' if pid == 0 else 'parent'})\n"
        "if pid: assert os.waitpid(pid, 0)[1] == 0\n"
        "else: os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(state / "journal")], check=True, timeout=60)
    per_file = [
        {json.loads(line).get("session_id") for line in path.read_bytes().split(b"\n")[:-1]}
        for path in sorted((state / "journal").glob("*.jsonl"))
    ]
    assert sorted(per_file, key=str) == sorted([{None, "parent"}, {"child"}], key=str)
    ids = [json.loads(line)["trace_id"] for line in lines_of(Journal(state / "journal"))]
    assert len(set(ids)) == 11


def test_feedback_record_keeps_its_fields(state) -> None:
    journal = Journal(state / "journal")
    journal.append(Feedback("t1", "2025-01-01T00:00:00Z", "good", "fine"))
    found = json.loads(lines_of(journal)[0])
    assert (found["trace_id"], found["verdict"], found["note"]) == ("t1", "good", "fine")


def test_ids_ascend_within_a_process() -> None:
    ids = [new_id() for _ in range(20_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


def test_id_carries_its_time() -> None:
    assert id_time("not an id") is None
    assert id_time("3f2504e0-4f89-41d3-9a0c-0305e82c3301") is None
    moment, now = id_time(new_id()), parse_time(utc_now())
    assert abs((now - moment).total_seconds()) < 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-03-30T02:30:00Z", "2025-03-30T02:30:00+00:00"),
        ("2025-03-30T02:30:00.123", "2025-03-30T02:30:00.123000+00:00"),
        ("2025-10-26T02:30:00+02:00", "2025-10-26T00:30:00+00:00"),
        ("yesterday", None),
        (17, None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_times_become_utc(text, expected) -> None:
    moment = parse_time(text)
    assert (moment and moment.isoformat()) == expected


def test_descriptor_limit_is_reported(state) -> None:
    """A process out of descriptors gets a reason, not a crash."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
    try:
        with contextlib.suppress(OSError):
            while True:
                held.append(os.open(os.devnull, os.O_RDONLY))
        with pytest.raises(JournalError, match="Too many open files"):
            Journal(state / "journal").append(make_trace())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for fd in held:
            os.close(fd)
