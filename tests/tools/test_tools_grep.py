"""`grep`: what matches, how rows look, and what is said of patterns that can't be used."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lackpy.kits import toolbox
from lackpy.tools import grep as grep_module
from lackpy.tools import limits
from lackpy.tools.errors import ToolError

FILES = {
    "src/a.py": "import os\n\ndef f(x):\n    return x  # TODO\n",
    "src/b.py": "import sys\r\nimport os\r\n",
    "docs/a.md": "# TODO list\nimport os\n",
    "weird {name}.txt": "import os\n",
    "README": "no final newline import os",
}


@pytest.fixture
def tree(tools):
    tools.put(FILES)
    return tools


def test_rows_hold_file_line_and_stripped_text(tree):
    assert tree.grep("TODO") == [
        {"file": "docs/a.md", "line": 1, "text": "# TODO list"},
        {"file": "src/a.py", "line": 4, "text": "return x  # TODO"},
    ]


@pytest.mark.parametrize(
    ("glob", "files"),
    [
        ("**/*", ["README", "docs/a.md", "src/a.py", "src/b.py", "weird {name}.txt"]),
        ("**/*.py", ["src/a.py", "src/b.py"]),
        ("src", ["src/a.py", "src/b.py"]),
        ("src/", ["src/a.py", "src/b.py"]),
        ("./src", ["src/a.py", "src/b.py"]),
        (".", ["README", "docs/a.md", "src/a.py", "src/b.py", "weird {name}.txt"]),
        ("src/a.py", ["src/a.py"]),
        ("weird {name}.txt", ["weird {name}.txt"]),
        ("*.{md,py}", []),
        ("**/*.{md,py}", ["docs/a.md", "src/a.py", "src/b.py"]),
        ("nope", []),
    ],
)
def test_glob_is_a_pattern_a_file_or_a_folder(glob, files, tree):
    assert [row["file"] for row in tree.grep("^(no final newline )?import os$", glob)] == files


def test_a_named_file_is_searched_even_when_git_ignores_it(tools):
    tools.put({".gitignore": "*.log\n", "x.log": "needle\n", ".env": "needle\n"})
    assert tools.grep("needle") == []
    assert [row["file"] for row in tools.grep("needle", "x.log")] == ["x.log"]
    assert [row["file"] for row in tools.grep("needle", ".env")] == [".env"]


@pytest.mark.parametrize("glob", ["../x", "/etc", "~/x"])
def test_glob_outside_is_refused(glob, tree):
    with pytest.raises(ToolError, match="points outside the workspace"):
        tree.grep("x", glob)


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("", "'pattern' is empty"),
        (None, "'pattern' must be text (got NoneType)"),
        (
            "foo(",
            "'foo(' isn't a regular expression (missing ) at position 3); to find that text itself write "
            "r'foo\\('",
        ),
        (
            "*.py",
            "'*.py' isn't a regular expression (no argument for repetition operator at position 0); it looks "
            "like a file pattern: list files with glob('*.py'), or pass it as grep(pattern, '*.py')",
        ),
        (
            "\bfoo\b",
            "the pattern holds a backspace character, which '\\b' means in a plain string; write "
            "r'\\bfoo\\b'",
        ),
        (
            "a{2,1}",
            "'a{2,1}' isn't a regular expression (invalid repetition size at position 2); to find that text "
            "itself write r'a\\{2,1\\}'",
        ),
        (
            "(?<!x)a",
            "'(?<!x)a' uses a look-behind at position 0, which is not supported (the engine takes linear "
            "time); match more and drop rows with an `if` on row['text']",
        ),
        (
            r"(a)\1",
            "'(a)\\\\1' uses a back-reference at position 3, which is not supported (the engine takes linear "
            "time); match more and drop rows with an `if` on row['text']",
        ),
        ("\ud800", "'pattern' holds a lone surrogate, which no file name or text contains"),
    ],
)
def test_unusable_pattern(pattern, sentence, tree):
    with pytest.raises(ToolError) as caught:
        tree.grep(pattern)
    assert str(caught.value) == sentence


def test_classes_of_posix_and_python_spellings(tools):
    tools.put({"a": "abc 12\n\u00e9\nend"})
    assert [row["line"] for row in tools.grep("[[:alpha:]]+")] == [1, 3]
    assert [row["line"] for row in tools.grep(r"\u00e9")] == [2]
    assert [row["line"] for row in tools.grep(r"\Aend\Z")] == [3]
    assert [row["line"] for row in tools.grep(r"(?i)ABC")] == [1]
    assert [row["line"] for row in tools.grep(r"^$")] == []


@pytest.mark.parametrize("pattern", ["(a+)+$", "(x|xx)*y", r"^(\w+\s?)*$", "(a|a)*b"])
def test_nested_repetition_takes_linear_time(pattern, tools):
    """A 2 MB line that makes a backtracking engine run for ever is searched and its row is short."""
    tools.put({"a.txt": "a" * 40 + "!\n" + "a" * 2_000_000 + "!\n" + "x" * 1000 + "!\n"})
    for row in tools.grep(pattern):
        assert len(row["text"]) <= limits.TEXT_CHARS + 2


def test_long_line_is_cut_around_the_hit(tools):
    tools.put({"a.min.js": "x" * 3_000_000 + "needle" + "y" * 3_000_000})
    (row,) = tools.grep("needle")
    assert row["line"] == 1
    assert "needle" in row["text"]
    assert len(row["text"]) <= limits.TEXT_CHARS + 2
    assert row["text"].startswith("…x")
    assert row["text"].endswith("y…")


def test_file_larger_than_read_takes_is_searched_in_blocks(tools):
    """Lines that straddle blocks keep their numbers; a sparse file counts as binary."""
    line = b"filler " * 14 + b"\n"
    count = 9 * 1024 * 1024 // len(line)
    tools.put({"big.log": line * count + b"needle\n" + line * count + b"needle again"})
    assert tools.grep("needle") == [
        {"file": "big.log", "line": count + 1, "text": "needle"},
        {"file": "big.log", "line": 2 * count + 2, "text": "needle again"},
    ]
    with (tools.root / "sparse.bin").open("wb") as file:
        file.truncate(4 * 1024**3)
    assert len(tools.grep("needle")) == 2


def test_too_many_rows_is_an_error_that_says_how_to_narrow(tools, monkeypatch):
    monkeypatch.setattr(grep_module, "ROWS", 5)
    tools.put({"a": "x\n" * 6})
    with pytest.raises(ToolError, match=r"^'x' matches more than 5 lines; write a narrower pattern or glob$"):
        tools.grep("x")


def test_scan_gives_up_at_its_deadline(tools, monkeypatch):
    tools.put({"a": "x"})
    now = time.monotonic()
    steps = iter(range(0, 100_000, 20))
    monkeypatch.setattr(limits.time, "monotonic", lambda: now + next(steps))
    with pytest.raises(ToolError, match=r"^gave up after 25 s; ask for fewer files$"):
        tools.grep("x")


LINES = st.text(alphabet="ab x\r\té.", max_size=12)
PIECES = st.sampled_from(["a", "b", ".", "a*", "[^a]", r"\s", r"\S+", "(a|b)+", "x?", "é", r"\.", " "])
PATTERNS = st.builds(
    lambda start, body, end: start + "".join(body) + end,
    st.sampled_from(["", "^", r"\b"]),
    st.lists(PIECES, min_size=1, max_size=4),
    st.sampled_from(["", "$"]),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINES, max_size=8), pattern=PATTERNS, final=st.booleans())
def test_matches_the_lines_that_re_matches(tmp_path_factory, lines, pattern, final):
    root = tmp_path_factory.mktemp("same")
    text = "\n".join(lines) + ("\n" if final else "")
    (root / "f").write_bytes(text.encode())
    split = text.split("\n")
    if split[-1] == "":
        split.pop()
    split = [line.removesuffix("\r") for line in split]
    compiled = re.compile(pattern, re.ASCII)
    expected = [(n, line.strip()) for n, line in enumerate(split, 1) if compiled.search(line)]
    found = [(row["line"], row["text"]) for row in toolbox(root)["grep"].fn(pattern)]
    assert found == expected
