"""What the language's tests share: a small kit, its tools over files in memory, and a plain evaluator."""

from __future__ import annotations

import ast
import contextlib
import fnmatch
import io
import json
from pathlib import Path
from typing import Any

from lackpy.lang import Grade, Param, RowType, Signature, check

CORPORA = Path(__file__).parent.parent / "corpora"

_DEF_ROW = RowType("DefinitionRow", (("name", "str"), ("type", "str"), ("file", "str"), ("line", "int")))
_CALLER_ROW = RowType("CallerRow", (("name", "str"), ("file", "str"), ("line", "int"), ("caller", "str")))

SIGNATURES = {
    "read": Signature(
        "read", (Param("path", "str"),), "str", grade=Grade(1, 1), doc="Return the text of a file."
    ),
    "glob": Signature("glob", (Param("pattern", "str"),), "list[str]", grade=Grade(1, 1)),
    "find_definitions": Signature(
        "find_definitions", (Param("name", "str"),), "list[DefinitionRow]", (_DEF_ROW,), Grade(0, 0)
    ),
    "find_callers": Signature(
        "find_callers", (Param("name", "str"),), "list[CallerRow]", (_CALLER_ROW,), Grade(0, 0)
    ),
}
WITH_WRITE = {
    **SIGNATURES,
    "write": Signature(
        "write",
        (Param("path", "str"), Param("text", "str"), Param("mode", "str", '"w"')),
        "dict",
        grade=Grade(3, 3),
    ),
    "nothing": Signature("nothing"),
}

_FILES = {
    "a.py": "import b\n\ndef validate_0(x):\n    return b.helper(x)\n\nclass Thing:\n    pass\n",
    "b.py": "def helper(x):\n    # TODO: remove\n    return x + 1\n",
    "pkg/__init__.py": "__version__ = '1.2.3'\n",
    "pkg/core.py": "from . import __version__\n\ndef run():\n    return __version__\n",
    "README.md": "# Demo\n\nSome text.\n- item one\n- item two\n",
    "notes.txt": "alpha,1\nbeta,22\ngamma,333\n",
    "quote's.txt": "quote in the name\n",
    "big.txt": ("x" * 99 + "\n") * 50_000,
}
# The scratch workspace of the corpus holds a link `loop` to itself, which its glob follows 40 times.
_LISTED = sorted("loop/" * n + p for p in _FILES for n in range(41))
_DEFS = [
    {"name": "validate_0", "type": "function", "file": "a.py", "line": 3},
    {"name": "Thing", "type": "class", "file": "a.py", "line": 6},
    {"name": "helper", "type": "function", "file": "b.py", "line": 1},
    {"name": "run", "type": "function", "file": "pkg/core.py", "line": 3},
]


class Tools:
    """The kit's tools, with a log of their calls."""

    def __init__(self) -> None:
        self.log: list[tuple[str, Any]] = []

    def read(self, path: str) -> str:
        self.log.append(("read", path))
        return _FILES[path]

    def glob(self, pattern: str) -> list[str]:
        self.log.append(("glob", pattern))
        if "**/" in pattern:
            return [p for p in _LISTED if fnmatch.fnmatch(p.rsplit("/", 1)[-1], pattern.rsplit("/", 1)[-1])]
        return [p for p in _LISTED if p.count("/") == pattern.count("/") and fnmatch.fnmatch(p, pattern)]

    def find_definitions(self, name: str) -> list[dict[str, Any]]:
        self.log.append(("find_definitions", name))
        return [dict(d) for d in _DEFS if name in d["name"]]

    def find_callers(self, name: str) -> list[dict[str, Any]]:
        self.log.append(("find_callers", name))
        return [{"name": name, "file": "a.py", "line": 4, "caller": "validate_0"}]

    def namespace(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in SIGNATURES}


def evaluate(tree: ast.Module, namespace: dict[str, Any]) -> tuple[Any, str]:
    """Return (output, printed) of a lowered tree: the value of its last expression."""
    body, last = tree.body, None
    if body and isinstance(body[-1], ast.Expr):
        body, last = body[:-1], ast.Expression(body[-1].value)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<program>", "exec"), namespace)
        value = eval(compile(last, "<program>", "eval"), namespace) if last is not None else None
    return value, printed.getvalue()


def run(program: str, **params: Any) -> Any:
    """Check a program, run it from its lowered text, and return its output."""
    verdict = check(program, SIGNATURES, params=params)
    assert verdict.ok, [str(v) for v in verdict.violations]
    return evaluate(ast.parse(verdict.program), {**Tools().namespace(), **params})[0]


def rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a corpus file."""
    return [json.loads(line) for line in (CORPORA / name).read_text(encoding="utf-8").splitlines() if line]


def cases(name: str) -> list[str]:
    """Return the chunks of a case file, which `---` lines separate."""
    text = (Path(__file__).parent / "cases" / name).read_text(encoding="utf-8")
    return [chunk.strip("\n") for chunk in text.split("\n---\n") if chunk.strip()]


def as_json(value: Any) -> Any:
    """Return plain data as JSON would give it back."""
    return json.loads(json.dumps(value))
