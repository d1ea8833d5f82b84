"""Stored outputs: whole or absent, paged by characters, bounded in number."""

from __future__ import annotations

import json

import pytest

from lackpy.errors import LackpyError
from lackpy.traces.ids import new_id
from lackpy.traces.results import load_result, store_result


@pytest.mark.parametrize(
    "output",
    [
        "plain text\r\nwith é and \U0001f600 " * 50,
        [{"file": "a.py", "line": i} for i in range(100)],
        {"a": None},
        "",
        "\u2028\x85",
    ],
)
def test_pages_join_to_the_exact_output(state, output) -> None:
    key = new_id()
    store_result(state, key, output, keep=5)
    expected = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    parts, at = [], 0
    while at is not None:
        page = load_result(state, key, offset=at, limit=7)
        parts.append(page.text)
        assert page.total == len(expected)
        at = page.next_offset
    assert "".join(parts) == expected
    assert load_result(state, key).text == expected


def test_only_the_newest_are_kept(state) -> None:
    keys = [new_id() for _ in range(6)]
    for key in keys:
        store_result(state, key, "x", keep=3)
    assert sorted(p.stem for p in (state / "results").iterdir()) == keys[3:]
    store_result(state, new_id(), "x", keep=0)
    assert list((state / "results").iterdir()) == []


def test_secrets_are_masked_in_place(state) -> None:
    text = "user=app\npassword: hunter2\nend"
    key = new_id()
    store_result(state, key, text, keep=3)
    assert load_result(state, key).text == "user=app\npassword: *******\nend"
    store_result(state, key, text, keep=3, mask=False)
    assert load_result(state, key, offset=19, limit=7).text == "hunter2"


def test_lone_surrogate_keeps_its_place(state) -> None:
    key = new_id()
    store_result(state, key, "a\ud83db", keep=1)
    assert load_result(state, key).text == "a?b"


@pytest.mark.parametrize(
    ("trace_id", "offset", "limit", "message"),
    [
        ("../../etc/passwd", 0, None, "is no trace id"),
        ("", 0, None, "is no trace id"),
        ("01890a5d-ac96-774b-bcce-b302099a8057", 0, None, "no stored output for trace 01890a5d"),
        ("KEY", 99, None, r"'offset' must be 0 to 5 \(got 99\)"),
        ("KEY", -1, None, r"'offset' must be 0 to 5 \(got -1\)"),
        ("KEY", 0, 0, r"'limit' must be >= 1 \(got 0\)"),
    ],
)
def test_wrong_request_is_one_sentence(state, trace_id, offset, limit, message) -> None:
    key = new_id()
    store_result(state, key, "12345", keep=1)
    with pytest.raises(LackpyError, match=message):
        load_result(state, key if trace_id == "KEY" else trace_id, offset=offset, limit=limit)


def test_failed_write_leaves_nothing_behind(state, monkeypatch) -> None:
    def refuse(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(OSError, match="No space left"):
        store_result(state, new_id(), "x", keep=1)
    assert list((state / "results").iterdir()) == []
