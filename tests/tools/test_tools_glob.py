"""Glob patterns."""

from __future__ import annotations

import pytest

from lackpy.tools.errors import ToolError

FILES = {
    "a.py": "",
    "b.txt": "",
    "src/c.py": "",
    "src/deep/d.py": "",
    "src/deep/er/e.py": "",
    "src/x.ts": "",
    "src/x.tsx": "",
    ".github/workflows/ci.yml": "",
    "src/.hidden/f.py": "",
    "app/[slug]/page.tsx": "",
    "weird {name}.txt": "",
}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.py", ["a.py"]),
        ("./*.py", ["a.py"]),
        ("**/*.py", ["a.py", "src/c.py", "src/deep/d.py", "src/deep/er/e.py"]),
        ("src/*.py", ["src/c.py"]),
        ("src/**/*.py", ["src/c.py", "src/deep/d.py", "src/deep/er/e.py"]),
        ("src/**/er/*", ["src/deep/er/e.py"]),
        ("src/?.py", ["src/c.py"]),
        ("**/[de].py", ["src/deep/d.py", "src/deep/er/e.py"]),
        ("**/[!de].py", ["a.py", "src/c.py"]),
        ("src/*.{ts,tsx}", ["src/x.ts", "src/x.tsx"]),
        ("{src,app}/**/*.tsx", ["app/[slug]/page.tsx", "src/x.tsx"]),
        (".github/**/*.yml", [".github/workflows/ci.yml"]),
        (".github/*/*", [".github/workflows/ci.yml"]),
        ("**/.hidden/*.py", ["src/.hidden/f.py"]),
        ("weird {name}.txt", ["weird {name}.txt"]),
        ("app/[slug]/page.tsx", ["app/[slug]/page.tsx"]),
        ("nothing/*", []),
        ("src", []),
        ("[", []),
        ("a.py", ["a.py"]),
    ],
)
def test_pattern(pattern, expected, tools):
    tools.put(FILES)
    assert tools.glob(pattern) == expected


def test_private_folders_are_never_listed(tools):
    tools.put({".git/config": "", ".lackpy/config.toml": "", "sub/.git/HEAD": "", "x": ""})
    assert tools.glob("**/*") == ["x"]
    assert tools.glob(".git/*") == []
    assert tools.glob("**/.git/*") == []


@pytest.mark.parametrize("pattern", ["/**", "../*", "a/../../b", "~/*", "**/../../x"])
def test_pattern_that_leaves_the_workspace_is_refused(pattern, tools):
    with pytest.raises(ToolError) as caught:
        tools.glob(pattern)
    assert str(caught.value) == (
        f"glob {pattern!r} points outside the workspace; write it relative, e.g. 'src/**/*.py'"
    )


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [("", "'pattern' is empty"), (5, "'pattern' must be text (got int)")],
)
def test_bad_argument(pattern, sentence, tools):
    with pytest.raises(ToolError) as caught:
        tools.glob(pattern)
    assert str(caught.value) == sentence


def test_too_many_alternatives_are_refused(tools):
    with pytest.raises(ToolError, match=r"has more than 256 alternatives; use a wider pattern$"):
        tools.glob("{a,b}" * 9)


def test_absolute_pattern_below_the_workspace(tools):
    tools.put(FILES)
    assert tools.glob(f"{tools.root}/src/*.py") == ["src/c.py"]


def test_matching_is_linear(tools):
    """Many stars against a name that almost matches end at once."""
    tools.put({"a" * 200 + ".txt": ""})
    assert tools.glob("*a" * 60 + "*.py") == []
