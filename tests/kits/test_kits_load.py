"""Kits by name, by list, by mapping; kit files and what is said of broken ones."""

from __future__ import annotations

import os
import sys
import threading
from importlib.metadata import EntryPoint

import pytest

from lackpy.kits import KitError, broken_kits, create_kit, imports, list_kits, load_kit, toolbox
from lackpy.lang.signature import Grade

SIX = ["read", "glob", "grep", "find_definitions", "find_callers", "outline"]


@pytest.fixture
def root(tmp_path):
    (tmp_path / ".lackpy/kits").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def kit_file(root):
    def write(text, name="mine"):
        path = root / f".lackpy/kits/{name}.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of the user's own on the path."""
    folder = tmp_path / "lib"
    folder.mkdir()
    (folder / "mytools_for_kits.py").write_text(
        "from lackpy.kits import tool\n"
        "@tool(grade=1)\n"
        "def log(n: int = 5) -> list[str]:\n"
        "    'Show the log.'\n"
        "    return ['x'] * n\n"
        "class Box:\n"
        "    @staticmethod\n"
        "    def inner(x: str) -> str:\n"
        "        return x\n"
        "number = 5\n"
    )
    (folder / "broken_for_kits.py").write_text("raise RuntimeError('no database')\n")
    monkeypatch.syspath_prepend(str(folder))
    yield "mytools_for_kits"
    for name in ("mytools_for_kits", "broken_for_kits"):
        sys.modules.pop(name, None)


def test_shipped_kits(root):
    debug, implement = load_kit("debug", root), load_kit("implement", root)
    assert list(debug.tools) == [*SIX, "run_tests"]
    assert list(implement.tools) == [*SIX, "run_tests", "write", "edit"]
    assert debug.description
    assert {name: spec.signature.grade.w for name, spec in implement.tools.items()} == {
        "read": 1,
        "glob": 1,
        "grep": 1,
        "find_definitions": 0,
        "find_callers": 0,
        "outline": 0,
        "run_tests": 2,
        "write": 3,
        "edit": 3,
    }


def test_builtin_signatures(root):
    texts = [spec.signature.text() for spec in toolbox(root).values()]
    assert texts == [
        "read(path: str) -> str",
        "glob(pattern: str) -> list[str]",
        "grep(pattern: str, glob: str = '**/*') -> list[GrepRow]",
        "find_definitions(name: str) -> list[DefinitionRow]",
        "find_callers(name: str) -> list[CallerRow]",
        "outline(path: str) -> list[OutlineRow]",
        "run_tests(path: str = '') -> TestReport",
        "write(path: str, text: str) -> Written",
        "edit(path: str, old: str, new: str) -> Edited",
    ]
    assert all(spec.signature.doc.endswith(".") for spec in toolbox(root).values())


def test_kit_by_list_and_by_mapping(root):
    kit = load_kit(["grep", "read"], root)
    assert list(kit.tools) == ["grep", "read"]
    assert kit.name == load_kit(["read", "grep"], root).name == "grep+read"
    kit = load_kit({"double": lambda x: 2 * x, "see": toolbox(root)["read"]}, root)
    assert kit.tools["double"].fn(4) == 8
    assert kit.tools["see"].name == "see"
    assert kit.tools["double"].signature.grade == Grade(3, 3)


def test_kit_is_read_once_until_its_file_changes(root, kit_file):
    path = kit_file('tools = ["read"]\n')
    first = load_kit("mine", root)
    assert load_kit("mine", root) is first
    path.write_text('tools = ["grep"]\n')
    assert list(load_kit("mine", root).tools) == ["grep"]
    path.unlink()
    with pytest.raises(KitError, match="no kit 'mine'"):
        load_kit("mine", root)


def test_workspace_kit_hides_the_shipped_one(root, kit_file):
    kit_file('description = "Ours."\ntools = ["read"]\n', "debug")
    assert load_kit("debug", root).description == "Ours."


def test_kit_file_with_everything(root, kit_file, module):
    kit_file(
        'name = "mine"\ndescription = "Mine."\nmax_grade = 1\nrules = ["no-print"]\n'
        f'tools = ["read", "{module}:log", {{name = "say", python = "{module}:Box.inner", grade = 0, timeout_s = 2}}]\n'
    )
    kit = load_kit("mine", root)
    assert list(kit.tools) == ["read", "log", "say"]
    assert (kit.max_grade, kit.rules) == (Grade(1, 3), ("no-print",))
    assert kit.tools["log"].provider == "python"
    assert kit.tools["log"].signature.text() == "log(n: int = 5) -> list[str]"
    assert kit.tools["log"].signature.grade == Grade(1, 1)
    assert kit.tools["say"].signature.grade == Grade(0, 0)
    assert kit.tools["say"].timeout_s == 2
    assert kit.tools["say"].fn("x") == "x"


def test_tools_as_a_table(root, kit_file, module):
    kit_file(f'[tools.read]\n[tools.history]\npython = "{module}:log"\ngrade = 2\n')
    kit = load_kit("mine", root)
    assert list(kit.tools) == ["read", "history"]
    assert kit.tools["history"].signature.grade == Grade(2, 2)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("tools = [\n", None, "not valid TOML"),
        ('description = "x"\n', 1, "'tools' is missing"),
        ("tools = []\n", 1, "'tools' is empty; name at least one tool"),
        ('tools = "read"\n', 1, "'tools' must be a list or a table (got 'read')"),
        (
            '\ntools = ["read"]\nextra = 1\n',
            3,
            "unknown key 'extra'; known: name, description, tools, max_grade, rules",
        ),
        (
            'tools = ["read"]\nmax_grade = 7\n',
            2,
            "'max_grade' must be 0, 1, 2 or 3, or {w = 1, d = 3} (got 7)",
        ),
        ('tools = ["read"]\nrules = "x"\n', 2, "'rules' must be a list of texts (got 'x')"),
        (
            'name = "other"\ntools = ["read"]\n',
            1,
            "'name' is 'other', but the file is 'mine.toml'; make them equal",
        ),
        ('tools = [\n  "read",\n  "raed",\n]\n', 3, "no tool 'raed'; did you mean 'read'?"),
        ('tools = ["read", "read:x:y"]\n', 1, "python tool 'read:x:y' must be written 'module:function'"),
        (
            'tools = [\n  "nowhere_at_all:f",\n]\n',
            2,
            "python tool 'nowhere_at_all:f': can't import 'nowhere_at_all'",
        ),
        (
            'tools = ["broken_for_kits:f"]\n',
            1,
            "importing 'broken_for_kits' failed (RuntimeError: no database)",
        ),
        ('tools = ["mytools_for_kits:gone"]\n', 1, "'mytools_for_kits' has no 'gone'"),
        ('tools = ["mytools_for_kits:number"]\n', 1, "must be a function or a ToolSpec (got int)"),
        ('tools = ["mcp:github"]\n', 1, "no MCP server 'github' in .mcp.json; it names: none"),
        ('tools = [{name = "x", python = "a:b", mcp = "c/d"}]\n', 1, "a tool needs one of python"),
        ('tools = [{name = "x", pyhton = "a:b"}]\n', 1, "unknown key 'pyhton' of a tool"),
        (
            'tools = ["read", {name = "read", python = "mytools_for_kits:log"}]\n',
            1,
            "two tools are named 'read'",
        ),
    ],
)
@pytest.mark.usefixtures("module")
def test_broken_kit_file_names_file_and_line(text, line, reason, root, kit_file):
    path = kit_file(text)
    with pytest.raises(KitError) as caught:
        load_kit("mine", root)
    sentence = str(caught.value)
    assert reason in sentence
    assert sentence.startswith(f"{path}:{line}: " if line else f"{path}: ")
    assert "\n" not in sentence
    assert [kit.name for kit in list_kits(root)] == ["debug", "implement"]
    assert broken_kits(root) == [sentence]


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        ("dbug", "no kit 'dbug'; did you mean 'debug'?"),
        ("zzz", "no kit 'zzz'; known: debug, implement"),
        (["raed"], "no tool 'raed'; did you mean 'read'?"),
        ([], "'kit' is an empty list; name at least one tool"),
        ([5], "'kit' must list tool names (got 5)"),
        (5, "'kit' must be a name, a list of tool names or a mapping (got int)"),
    ],
)
def test_unknown_kits_and_tools(which, sentence, root):
    with pytest.raises(KitError) as caught:
        load_kit(which, root)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["../debug", "a/b", "", ".hidden", "x" * 65, "a\nb"])
def test_kit_names_are_file_names(name, root):
    for use in (lambda: load_kit(name, root), lambda: create_kit(root, name, ["read"])):
        with pytest.raises(KitError, match="must be letters, digits"):
            use()


def test_create_kit(root):
    path = create_kit(root, "mine", ["read", "grep"], 'Says "hi"\n\\ \x01')
    assert path == root / ".lackpy/kits/mine.toml"
    kit = load_kit("mine", root)
    assert (kit.description, list(kit.tools)) == ('Says "hi"\n\\ \x01', ["read", "grep"])
    with pytest.raises(KitError, match="kit 'mine' exists already"):
        create_kit(root, "mine", ["read"])
    with pytest.raises(KitError, match="no tool 'nope'"):
        create_kit(root, "other", ["nope"])
    with pytest.raises(KitError, match="kit 'empty' needs at least one tool"):
        create_kit(root, "empty", [])
    assert sorted(os.listdir(path.parent)) == ["mine.toml"]


def test_of_many_creators_one_wins(root):
    outcomes = []

    def create(number):
        try:
            create_kit(root, "race", ["read"], str(number))
        except KitError as exc:
            outcomes.append(str(exc).split(":")[0])
        else:
            outcomes.append("made")

    threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["kit 'race' exists already"] * 7 + ["made"]
    assert os.listdir(root / ".lackpy/kits") == ["race.toml"]


def test_registered_tools(root, module, monkeypatch):
    points = {
        "history": EntryPoint("history", f"{module}:log", imports.GROUP),
        "rotten": EntryPoint("rotten", "nowhere_at_all:f", imports.GROUP),
    }
    monkeypatch.setattr("lackpy.kits.load.registered", lambda: points)
    monkeypatch.setattr("lackpy.kits.imports.registered", lambda: points)
    assert load_kit(["history"], root).tools["history"].signature.grade == Grade(1, 1)
    assert "history" in toolbox(root)
    assert "rotten" not in toolbox(root)
    with pytest.raises(KitError, match="can't import 'nowhere_at_all'"):
        load_kit(["rotten"], root)
