"""What git ignores, the tools don't list; checked against git itself."""

from __future__ import annotations

import os
import subprocess

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lackpy.kits import toolbox

TREE = {
    ".gitignore": "*.log\n!keep.log\n/build\ndoc/*.txt\nfoo/**/bar\ntrail   \n\\#x\n# comment\nnode_modules/\n**/gen/\n",  # noqa: E501  # sample source
    "a.log": "",
    "keep.log": "",
    "build/out.o": "",
    "sub/build/out.o": "",
    "doc/a.txt": "",
    "doc/deep/a.txt": "",
    "foo/bar": "",
    "foo/x/y/bar": "",
    "foo/x/bar/inner": "",
    "trail": "",
    "#x": "",
    "node_modules/m/index.js": "",
    "pkg/node_modules/m/index.js": "",
    "pkg/gen/made.py": "",
    "gen/made.py": "",
    "sub/.gitignore": "\ufeff!a.log\r\nlocal\r\n/anchored\r\n",
    "sub/a.log": "",
    "sub/local": "",
    "sub/deep/local": "",
    "sub/anchored": "",
    "sub/deep/anchored": "",
    "sub/deep/.gitignore": "!local\n*.tmp\n",
    "sub/deep/x.tmp": "",
    "other/x.tmp": "",
    "excluded/by.info": "",
    "space name/a b.txt": "",
    "brackets/[x].txt": "",
    "only/.gitignore": "*\n!*/\n!*.py\n",
    "only/a.py": "",
    "only/deep/b.py": "",
    "only/deep/b.txt": "",
    "sets/.gitignore": (
        "[a-c]1\n[!a-c]2\n[[:digit:]]3\n[\\]]4\n[]5]\nx[\ny\\\nfoo**bar\nq\\*q\n[z-a]6\nend\\ \n/**/deep2/*.o\nin/**\n"
    ),
    "sets/a1": "",
    "sets/d1": "",
    "sets/a2": "",
    "sets/d2": "",
    "sets/73": "",
    "sets/]4": "",
    "sets/]": "",
    "sets/5": "",
    "sets/x[": "",
    "sets/y\\": "",
    "sets/foo_bar": "",
    "sets/q*q": "",
    "sets/qxq": "",
    "sets/m6": "",
    "sets/end ": "",
    "sets/end": "",
    "sets/p/deep2/x.o": "",
    "sets/deep2/x.o": "",
    "sets/in/x/y": "",
    "ünï/çödé.txt": "",
}


def _git(root, *argv):
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(root),
    }
    done = subprocess.run(["git", *argv], cwd=root, env=environment, capture_output=True, check=True)
    return done.stdout.decode()


def _listed_by_git(root):
    found = _git(root, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    visible = (path for path in found if path and not any(part.startswith(".") for part in path.split("/")))
    return sorted(path for path in visible if os.path.isfile(os.path.join(root, path)))


def test_same_files_as_git(tools):
    """Nested files, negation, anchors, folders only, escapes, CRLF, byte order mark and info/exclude."""
    tools.put(TREE)
    _git(tools.root, "init", "-q")
    (tools.root / ".git/info/exclude").write_text("excluded/\n")
    (tools.root / "linked").mkdir()
    (tools.root / "linked/node_modules").symlink_to("../build")
    assert tools.glob("**/*") == _listed_by_git(tools.root)


NAMES = st.sampled_from(["a", "b", "a.py", "b.log", "x", "doc"])
PATTERN = st.lists(
    st.sampled_from(
        ["a", "b", "*.py", "*.log", "*", "**", "x", "doc", "?", "[ab]", "[!a]*", "a**", "\\a", "*.*", "d*c"]
    ),
    min_size=1,
    max_size=3,
).map("/".join)
LINE = st.builds(
    lambda negated, anchored, body, folder: (
        ("!" if negated else "") + ("/" if anchored else "") + body + folder
    ),
    st.booleans(),
    st.booleans(),
    PATTERN,
    st.sampled_from(["", "/"]),
)
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths=PATHS, top=st.lists(LINE, max_size=4), nested=st.lists(LINE, max_size=3))
def test_same_files_as_git_on_generated_trees(tmp_path_factory, paths, top, nested):
    root = tmp_path_factory.mktemp("generated")
    for path in paths:
        target = root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
    (root / ".gitignore").write_text("\n".join(top) + "\n")
    if (root / "a").is_dir():
        (root / "a/.gitignore").write_text("\n".join(nested) + "\n")
    _git(root, "init", "-q")
    assert list(toolbox(root)["glob"].fn("**/*")) == _listed_by_git(root)


def test_workspace_below_a_repository_keeps_its_rules(tools):
    tools.put({".gitignore": "/app/dist\n*.tmp\n", "app/dist/x.js": "", "app/src.js": "", "app/y.tmp": ""})
    _git(tools.root, "init", "-q")
    assert list(toolbox(tools.root / "app")["glob"].fn("**/*")) == ["src.js"]


def test_workspace_that_is_itself_ignored_is_listed(tools):
    tools.put({".gitignore": "scratch/\n", "scratch/a.py": ""})
    _git(tools.root, "init", "-q")
    assert list(toolbox(tools.root / "scratch")["glob"].fn("**/*")) == ["a.py"]


def test_rules_hold_without_a_repository(tools):
    tools.put({".gitignore": "dist/\n", "dist/x.js": "", "src/x.js": ""})
    assert tools.glob("**/*.js") == ["src/x.js"]


def test_a_changed_tree_is_seen_at_once(tools):
    """New, removed and newly ignored files show in the next call."""
    tools.put({"a.py": "", "b.py": ""})
    assert tools.glob("*.py") == ["a.py", "b.py"]
    tools.put({"c.py": ""})
    (tools.root / "a.py").unlink()
    assert tools.glob("*.py") == ["b.py", "c.py"]
    old = 1_600_000_000
    os.utime(tools.root, (old, old))
    assert tools.glob("*.py") == ["b.py", "c.py"]
    tools.put({".gitignore": "b.py\n"})
    assert tools.glob("*.py") == ["c.py"]
    os.utime(tools.root, (old, old))
    assert tools.glob("*.py") == ["c.py"]
    (tools.root / ".gitignore").write_text("c.py\n")
    assert tools.glob("*.py") == ["b.py"]
