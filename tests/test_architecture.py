"""The tree keeps its shape: imports point down the pipeline, SQL and data stay where one module looks for them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A package may import itself and those it lists; `lang` imports nothing of ours.
ALLOWED = {
    "lackpy.lang": set(),
    "lackpy.kits": {"lackpy.lang", "lackpy.errors", "lackpy.resources", "lackpy.tools"},
    "lackpy.tools": {"lackpy.lang", "lackpy.errors", "lackpy.kits", "lackpy.resources", "lackpy.deadline"},
    "lackpy.run": {"lackpy.lang", "lackpy.kits", "lackpy.errors", "lackpy.deadline"},
    "lackpy.traces": {
        "lackpy.errors",
        "lackpy.resources",
        "lackpy.sqlfiles",
        "lackpy.version",
        "lackpy.lang",
    },
    "lackpy.intent": {"lackpy.errors", "lackpy.resources"},
    "lackpy.templates": {"lackpy.lang", "lackpy.kits", "lackpy.intent", "lackpy.errors", "lackpy.resources"},
    "lackpy.infer": {
        "lackpy.lang",
        "lackpy.kits",
        "lackpy.intent",
        "lackpy.templates",
        "lackpy.traces",
        "lackpy.run",
        "lackpy.errors",
        "lackpy.resources",
        "lackpy.config",
        "lackpy.result",
    },
}


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package.replace(".", "/")).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Return every dotted module a file imports, wherever in the file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
    return found


def part_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_imports_point_down(package: str) -> None:
    for path in modules(package):
        ours = {part_of(m) for m in imports(path) if m.split(".")[0] in ("lackpy", "riggs")}
        extra = ours - ALLOWED[package] - {package, "lackpy"}
        assert not extra, f"{path.relative_to(ROOT)} imports {sorted(extra)}"


def test_lackpy_never_imports_riggs() -> None:
    for path in modules("lackpy"):
        assert not [m for m in imports(path) if m.split(".")[0] == "riggs"], path


def test_init_files_hold_names_only() -> None:
    """`__init__.py` re-exports; it has no functions, classes or loops."""
    logic = (ast.FunctionDef, ast.ClassDef, ast.For, ast.While, ast.With, ast.Try)
    for package in ("lackpy", "riggs"):
        for path in modules(package):
            if path.name == "__init__.py":
                tree = ast.parse(path.read_text(encoding="utf-8"))
                named = [n for n in tree.body if isinstance(n, logic)]
                assert not [n for n in named if getattr(n, "name", "") not in ("__getattr__", "__dir__")], (
                    path
                )


def test_one_exec() -> None:
    """Only the inline executor compiles and executes a program."""
    users = []
    for package in ("lackpy", "riggs"):
        for path in modules(package):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = {
                n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
            }
            if names & {"exec", "eval"}:
                users.append(str(path.relative_to(ROOT)))
    assert users == ["lackpy/run/inline.py"]


def test_sql_stays_in_files() -> None:
    """`read_json` always names its columns."""
    for path in (ROOT / "sql").rglob("*.sql"):
        text = path.read_text(encoding="utf-8").lower()
        for call in ("read_json(", "read_json_auto(", "read_ndjson("):
            start = text.find(call)
            assert start < 0 or "columns" in text[start : start + 4000], path
