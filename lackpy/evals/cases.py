"""Evaluation cases: an intent, the workspace it is about and what its output must be; and the scorer that decides.

A case is one JSON line with at least `intent`; `id`, `workspace` (a folder below `--workspaces`), `check` and
`expected` are optional. A scorer is any Python file with `check(case, output) -> bool`.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lackpy.errors import LackpyError

Scorer = Callable[[Mapping[str, Any], Any], bool]


class EvalError(LackpyError):
    """A case file, scorer or model can't be used; the sentence says which and why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One intent to try.

    Attributes:
        id: Its id, or its line number.
        intent: The words.
        workspace: Folder its tools work in.
        group: What results are grouped by (`difficulty`), "" for none.
        row: The whole line, for the scorer.
    """

    id: str
    intent: str
    workspace: Path
    group: str
    row: Mapping[str, Any]


def load_cases(path: Path, workspaces: Path) -> tuple[Case, ...]:
    """Read a case file.

    Raises:
        EvalError: It can't be read, a line is no case, or a workspace folder is missing.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise EvalError(f"{path}: can't be read ({exc})") from exc
    cases = tuple(_case(path, n, line, workspaces) for n, line in enumerate(lines, 1) if line.strip())
    if not cases:
        raise EvalError(f"{path}: holds no case")
    return cases


def _case(path: Path, number: int, line: str, workspaces: Path) -> Case:
    try:
        row = json.loads(line)
    except ValueError as exc:
        raise EvalError(f"{path}:{number}: not JSON ({exc})") from exc
    if not isinstance(row, dict) or not isinstance(row.get("intent"), str):
        raise EvalError(f"{path}:{number}: a case is an object with an 'intent'")
    folder = workspaces / str(row["workspace"]) if row.get("workspace") else workspaces
    if not folder.is_dir():
        raise EvalError(f"{path}:{number}: workspace '{folder}' is not a folder; pass --workspaces")
    return Case(str(row.get("id", number)), row["intent"], folder, str(row.get("difficulty", "")), row)


def load_scorer(path: Path | None) -> Scorer:
    """Return a scorer file's `check`, or the built-in one.

    Raises:
        EvalError: The file can't be imported or has no `check`.
    """
    if path is None:
        return builtin_scorer
    spec = importlib.util.spec_from_file_location("lackpy_eval_scorer", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise EvalError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (ImportError, SyntaxError, ValueError, NameError) as exc:
        raise EvalError(f"{path}: can't be imported ({exc})") from exc
    check = getattr(module, "check", None)
    if not callable(check):
        raise EvalError(f"{path}: has no check(case, output)")
    return lambda case, output: bool(check(dict(case), output))


def builtin_scorer(case: Mapping[str, Any], output: Any) -> bool:
    """Compare with `expected`: the same value, or the same items in any order where `check` is `set`.

    Raises:
        EvalError: The case has no `expected`.
    """
    if "expected" not in case:
        raise EvalError(
            f"case {case.get('id', '?')}: no 'expected'; pass --scorer FILE.py with check(case, output)"
        )
    expected = case["expected"]
    if case.get("check") == "set" and isinstance(expected, list) and isinstance(output, list):
        return sorted(map(_key, expected)) == sorted({_key(o): 1 for o in output})
    return _key(expected) == _key(output)


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
