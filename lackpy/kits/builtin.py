"""The builtin tools with their grades, bound to one workspace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lackpy.kits.define import spec_of
from lackpy.kits.spec import ToolSpec
from lackpy.lang.signature import Grade
from lackpy.tools.code import CodeTools
from lackpy.tools.edit import EditTools
from lackpy.tools.files import FileTools
from lackpy.tools.grep import GrepTools
from lackpy.tools.limits import TESTS_S
from lackpy.tools.listing import Listing
from lackpy.tools.testing import TestTools
from lackpy.tools.workspace import Workspace

# Name → (grade, deadline of one call in seconds). Running tests runs whatever the project's tests do, hence d = 3.
BUILTINS: Mapping[str, tuple[Grade, float | None]] = MappingProxyType(
    {
        "read": (Grade(1, 1), None),
        "glob": (Grade(1, 1), None),
        "grep": (Grade(1, 1), None),
        "find_definitions": (Grade(0, 1), None),
        "find_callers": (Grade(0, 1), None),
        "outline": (Grade(0, 1), None),
        "run_tests": (Grade(2, 3), TESTS_S + 10.0),
        "write": (Grade(3, 3), None),
        "edit": (Grade(3, 3), None),
    }
)


def builtins(workspace: Path) -> Mapping[str, ToolSpec]:
    """Return name → builtin tool of `workspace`; tools of one workspace share their caches."""
    return _bound(os.path.realpath(workspace))


@lru_cache(maxsize=16)
def _bound(root: str) -> Mapping[str, ToolSpec]:
    workspace = Workspace(root)
    files = FileTools(workspace, Listing(workspace))
    grep, code, edit, tests = GrepTools(files), CodeTools(files), EditTools(workspace), TestTools(workspace)
    functions: tuple[Callable[..., Any], ...] = (
        files.read,
        files.glob,
        grep.grep,
        code.find_definitions,
        code.find_callers,
        code.outline,
        tests.run_tests,
        edit.write,
        edit.edit,
    )
    made = {}
    for function in functions:
        grade, timeout_s = BUILTINS[function.__name__]
        spec = spec_of(function, grade=grade, provider="builtin")
        made[spec.name] = ToolSpec(spec.signature, spec.fn, timeout_s, "builtin")
    return MappingProxyType(made)
