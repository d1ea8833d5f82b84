"""Documentation that can't rot: the reference is generated, README's commands, targets and files exist."""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

from lackpy.cli.group import COMMANDS
from riggs.cli.group import TABLE

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reference_is_current():
    """`python docs/generate.py` would change nothing."""
    assert generator().TARGET.read_text(encoding="utf-8") == generator().reference()


def test_readme_names_only_commands_that_exist():
    for program, command in re.findall(r"\b(lackpy|riggs) ([a-z][a-z-]+)\b(?=[^\w])", README):
        known = COMMANDS if program == "lackpy" else TABLE
        if f"`{program} {command}" in README or f"$ {program} {command}" in README:
            assert command in known, f"{program} {command}"


def test_readme_names_only_make_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"\bmake ([a-z][a-z-]+)\b", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_readme_names_only_files_that_exist():
    for path in re.findall(r"`((?:benchmarks|docs|sql|data|notebooks|tests)/[\w./-]+)`", README):
        assert (ROOT / path).exists(), path


def test_mcp_lines_start_a_real_command():
    for line in re.findall(r"`claude mcp add ([^`]+)`", README):
        words = shlex.split(line)
        assert words[words.index("--") + 1 : words.index("--") + 3] == ["lackpy", "serve"]
        assert "serve" in COMMANDS
