"""No path leads out of the workspace, and nothing but regular files is opened."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
from pathlib import Path

import pytest

from lackpy.kits import toolbox
from lackpy.tools.errors import ToolError

CORPORA = Path(__file__).resolve().parents[1] / "corpora"


def _corpus_module(name: str):
    spec = importlib.util.spec_from_file_location(name, CORPORA / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """The tree with links out, a prefix sibling, a FIFO and a link loop."""
    base = tmp_path_factory.mktemp("adv")
    spec = importlib.util.spec_from_file_location(
        "make_workspace", CORPORA / "workspace" / "make_workspace.py"
    )
    module = importlib.util.module_from_spec(spec)
    before = os.environ.get("ADV_BASE")
    os.environ["ADV_BASE"] = str(base)
    try:
        spec.loader.exec_module(module)
    finally:
        if before is None:
            del os.environ["ADV_BASE"]
        else:
            os.environ["ADV_BASE"] = before
    module.build()
    return base / "ws"


def _path_cases():
    lines = (CORPORA / "adversarial_dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["kind"] == "path"]


@pytest.mark.parametrize("case", _path_cases(), ids=lambda case: case["id"])
def test_hostile_paths_leak_nothing(case, hostile):
    """Each path program ends in an error or in values from inside the workspace."""
    reference = _corpus_module("ref_tools")
    tools = {name: spec.fn for name, spec in toolbox(hostile).items()}
    shown = []

    class Bound:
        def namespace(self):
            return tools

    try:
        shown.append(repr(reference.run_program(case["program"], str(hostile), tools=Bound())))
    except reference.ProgramError as exc:
        shown.append(str(exc))
    except ToolError as exc:
        shown.append(str(exc))
        assert "\n" not in str(exc)
    for secret in case["must_not_contain"]:
        if secret in ("secret.txt", "passwd") and secret in case["program"]:
            continue  # the program names it itself, so the error may quote it
        assert secret not in shown[0]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("", "'path' is empty"),
        ("a\0b", "'path' holds a NUL character"),
        (0, "'path' must be text (got int)"),
        (b"a.py", "'path' must be text (got bytes)"),
        ("x" * 5000, "'path' is 5000 characters long; at most 4096 are allowed"),
        ("\ud800", "'path' holds a lone surrogate, which no file name or text contains"),
        ("/etc/passwd", "path outside the workspace: '/etc/passwd'; paths are relative to the workspace"),
        (
            "../outside/secret.txt",
            "path outside the workspace: '../outside/secret.txt'; paths are relative to the workspace",
        ),
        ("link_out", "path outside the workspace: 'link_out'; paths are relative to the workspace"),
        (
            "linkdir/secret.txt",
            "path outside the workspace: 'linkdir/secret.txt'; paths are relative to the workspace",
        ),
        (".", "'.' is a folder; name a file, or list it with glob('./**/*')"),
        ("pipe.fifo", "'pipe.fifo' is no regular file (a pipe, socket or device)"),
        ("nope.py", "no such file: 'nope.py'; list what is there with glob"),
        ("a.py/x", "no such file: 'a.py/x'; a part of the path is a file, not a folder"),
        ("bin.dat", "binary file: 'bin.dat'; only text can be read"),
        ("~/.ssh/id_rsa", "no such file: '~/.ssh/id_rsa'; list what is there with glob"),
    ],
)
def test_refusals_say_what_and_why(path, sentence, hostile):
    with pytest.raises(ToolError) as caught:
        toolbox(hostile)["read"].fn(path)
    assert str(caught.value) == sentence


def test_absolute_path_inside_is_read(hostile):
    assert toolbox(hostile)["read"].fn(str(hostile / "b.py")).startswith("def helper")


def test_link_loop_and_outside_links_are_not_listed(hostile):
    listed = toolbox(hostile)["glob"].fn("**/*")
    assert "link_out" not in listed
    assert not [path for path in listed if path.startswith(("loop/", "linkdir/"))]
    assert "pipe.fifo" not in listed
    assert "tricky {name}.txt" in listed
    assert listed == sorted(listed)


def test_link_to_a_file_inside_is_listed_and_read(tools):
    tools.put({"real.txt": "text\n"})
    (tools.root / "also.txt").symlink_to("real.txt")
    (tools.root / "dangling.txt").symlink_to("gone.txt")
    assert tools.glob("*.txt") == ["also.txt", "real.txt"]
    assert tools.read("also.txt") == "text\n"
    assert [row["file"] for row in tools.grep("text")] == ["also.txt", "real.txt"]


def test_file_larger_than_the_cap_is_refused_with_its_size(tools):
    with (tools.root / "huge.log").open("wb") as file:
        file.truncate(9 * 1024 * 1024)
    with pytest.raises(ToolError) as caught:
        tools.read("huge.log")
    assert str(caught.value) == (
        "'huge.log' is 9,437,184 bytes, over the limit of 8 MB; search it with grep(pattern, 'huge.log')"
    )


def test_unreadable_file_is_an_error_for_read_and_passed_over_by_grep(tools, monkeypatch):
    tools.put({"secret.txt": "word", "open.txt": "word"})
    real_open = os.open

    def refusing(path, *rest, **named):
        if str(path).endswith("secret.txt"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real_open(path, *rest, **named)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(ToolError, match=r"^can't open 'secret.txt': Permission denied$"):
        tools.read("secret.txt")
    assert [row["file"] for row in tools.grep("word")] == ["open.txt"]


def test_name_that_is_not_utf8_is_left_out(tools):
    tools.put({"fine.txt": "x"})
    with open(os.fsencode(tools.root) + b"/bad\xff.txt", "wb") as file:
        file.write(b"x")
    assert tools.glob("**/*") == ["fine.txt"]
