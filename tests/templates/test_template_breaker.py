"""The circuit breaker counts over processes, opens after three, rests and tries again."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from lackpy.templates.breaker import MAX_REST_S, REST_S, Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def bad(breaker: Breaker, times: int, digest: str = "d") -> None:
    for _ in range(times):
        breaker.report("t", digest, ok=False)


def test_three_in_a_row_open_it(tmp_path: Path) -> None:
    breaker = Breaker(tmp_path / "b.json", Clock())
    bad(breaker, 2)
    assert breaker.why_open("t", "d") is None
    bad(breaker, 1)
    assert (
        breaker.why_open("t", "d")
        == "failed 3 times in a row; it rests for 600 s more, or until its file changes"
    )
    assert breaker.why_open("other", "d") is None


def test_a_success_between_starts_anew(tmp_path: Path) -> None:
    breaker = Breaker(tmp_path / "b.json", Clock())
    bad(breaker, 2)
    breaker.report("t", "d", ok=True)
    bad(breaker, 2)
    assert breaker.why_open("t", "d") is None


def test_each_process_counts_for_all(tmp_path: Path) -> None:
    for _ in range(3):
        bad(Breaker(tmp_path / "s" / "b.json", Clock()), 1)
    watching = Breaker(tmp_path / "s" / "b.json", Clock())
    assert watching.why_open("t", "d") is not None
    Breaker(tmp_path / "s" / "b.json", Clock()).report("t", "d", ok=True)
    assert watching.why_open("t", "d") is None


def test_a_changed_template_starts_anew(tmp_path: Path) -> None:
    breaker = Breaker(tmp_path / "b.json", Clock())
    bad(breaker, 3)
    assert breaker.why_open("t", "changed") is None
    breaker.report("t", "changed", ok=False)
    assert breaker.why_open("t", "changed") is None


def test_rest_ends_with_one_trial_and_doubles(tmp_path: Path) -> None:
    clock = Clock()
    breaker = Breaker(tmp_path / "b.json", clock)
    bad(breaker, 3)
    rest = REST_S
    for _ in range(12):
        clock.now += rest - 1
        assert breaker.why_open("t", "d") is not None
        clock.now += 1
        assert breaker.why_open("t", "d") is None
        bad(breaker, 1)
        rest = min(rest * 2, MAX_REST_S)
    breaker.report("t", "d", ok=True)
    assert breaker.why_open("t", "d") is None


def test_a_clock_set_back_closes_it(tmp_path: Path) -> None:
    clock = Clock()
    breaker = Breaker(tmp_path / "b.json", clock)
    bad(breaker, 3)
    clock.now -= 10
    assert breaker.why_open("t", "d") is None


def test_success_alone_writes_nothing(tmp_path: Path) -> None:
    breaker = Breaker(tmp_path / "s" / "b.json")
    breaker.report("t", "d", ok=True)
    assert list(tmp_path.iterdir()) == []


def test_broken_state_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    for text in ("", "{", "[]", '{"counts": {"t": 3}}', '{"counts": {"t": {"bad": 3, "x": 1}}}', "\x00"):
        path.write_text(text)
        breaker = Breaker(path, Clock())
        assert breaker.why_open("t", "d") is None
        bad(breaker, 3)
        assert breaker.why_open("t", "d") is not None
        assert json.loads(path.read_text())["counts"]["t"]["bad"] == 3


def test_unwritable_state_fails_no_call(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    breaker = Breaker(tmp_path / "file" / "b.json", Clock())
    bad(breaker, 3)
    assert breaker.why_open("t", "d") is not None


def test_threads_lose_no_count(tmp_path: Path) -> None:
    breakers = [Breaker(tmp_path / "b.json", Clock()) for _ in range(4)]
    threads = [threading.Thread(target=bad, args=(b, 5)) for b in breakers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert json.loads((tmp_path / "b.json").read_text())["counts"]["t"]["bad"] == 20
