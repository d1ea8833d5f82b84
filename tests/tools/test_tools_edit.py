"""`write` and `edit` change what was asked for and no other byte."""

from __future__ import annotations

import os
import stat

import pytest

from lackpy.tools.errors import ToolError

CRLF = b"a = 1\r\nb = 2\r\nc = 3\r\n"


def test_write_stores_exactly_what_was_given(tools):
    assert tools.write("new/deep/a.txt", "x\r\ny\rz\n\ufeffé") == {"path": "new/deep/a.txt", "bytes": 12}
    assert (tools.root / "new/deep/a.txt").read_bytes() == "x\r\ny\rz\n\ufeffé".encode()
    assert tools.write("new/deep/a.txt", "") == {"path": "new/deep/a.txt", "bytes": 0}


def test_write_keeps_the_mode_and_follows_links_inside(tools):
    tools.put({"run.sh": "old"})
    (tools.root / "run.sh").chmod(0o754)
    (tools.root / "link").symlink_to("run.sh")
    assert tools.write("link", "new") == {"path": "run.sh", "bytes": 3}
    assert (tools.root / "link").is_symlink()
    assert (tools.root / "run.sh").read_text() == "new"
    assert stat.S_IMODE((tools.root / "run.sh").stat().st_mode) == 0o754
    assert sorted(os.listdir(tools.root)) == ["link", "run.sh"]


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        (CRLF, "b = 2\n", "b = 22\n", b"a = 1\r\nb = 22\r\nc = 3\r\n"),
        (CRLF, "b = 2", "b = 2\nb2 = 2", b"a = 1\r\nb = 2\r\nb2 = 2\r\nc = 3\r\n"),
        (CRLF, "b = 2\r\n", "", b"a = 1\r\nc = 3\r\n"),
        (b"a\nb\r\nc\nd\n", "a\n", "A\n", b"A\nb\r\nc\nd\n"),
        (b"a\nb\r\nc\nd\n", "b\r\n", "B\r\n", b"a\nB\r\nc\nd\n"),
        (b"a\rb\rc", "b\n", "B\n", b"a\rB\rc"),
        (b"x = 1\n\rdata\n", "x = 1", "x = 2", b"x = 2\n\rdata\n"),
        (b"no final newline", "newline", "line", b"no final line"),
        (b"\xef\xbb\xbfa = 1\n", "a = 1", "a = 2", b"\xef\xbb\xbfa = 2\n"),
        ("ä = 1\n".encode(), "ä", "ö", "ö = 1\n".encode()),
    ],
)
def test_edit_changes_only_the_named_bytes(data, old, new, expected, tools):
    tools.put({"f": data})
    assert tools.edit("f", old, new) == {"path": "f", "replaced": 1}
    assert (tools.root / "f").read_bytes() == expected


@pytest.mark.parametrize(
    ("data", "old", "sentence"),
    [
        (b"x\n", "", "'old' is empty; give the text to replace"),
        (b"x\n", "y", "'old' does not occur in 'f'; read the file and copy the text exactly"),
        (b"x\nx\nx\n", "x", "'old' occurs 3 times in 'f'; give more lines around it"),
        (b"aaa", "aa", "'old' occurs 2 times in 'f'; give more lines around it"),
        (b"a\0b", "a", "'f' is binary; only text can be edited"),
        (b"caf\xe9 x\n", "x", "'f' isn't UTF-8; rewrite it with write(path, text)"),
        (b"x", 5, "'old' must be text (got int)"),
        (b"x", "\ud800", "'old' holds a lone surrogate at character 0, which can't be stored"),
    ],
)
def test_edit_that_cannot_be_made_leaves_the_file(data, old, sentence, tools):
    tools.put({"f": data})
    with pytest.raises(ToolError) as caught:
        tools.edit("f", old, "new")
    assert str(caught.value) == sentence
    assert (tools.root / "f").read_bytes() == data


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../x", "path outside the workspace"),
        (".git/hooks/pre-commit", "is inside '.git', which tools don't change"),
        (".GIT/config", "is inside '.GIT', which tools don't change"),
        ("sub/.lackpy/x", "is inside '.lackpy', which tools don't change"),
        (".", "is a folder; name a file"),
        ("pipe", "is no regular file"),
        ("out/x", "path outside the workspace"),
        ("f/x", "can't create the folder"),
    ],
)
def test_write_refuses(path, reason, tools):
    tools.put({"f": "text"})
    os.mkfifo(tools.root / "pipe")
    (tools.root / "out").symlink_to("..")
    with pytest.raises(ToolError, match=reason):
        tools.write(path, "x")


def test_failed_write_leaves_the_old_text_and_no_temporary_file(tools, monkeypatch):
    tools.put({"f": "old"})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolError, match=r"^can't write 'f': No space left on device$"):
        tools.write("f", "new")
    assert (tools.root / "f").read_text() == "old"
    assert os.listdir(tools.root) == ["f"]
