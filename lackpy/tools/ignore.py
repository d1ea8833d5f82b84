"""Git's ignore rules for one tree: nested `.gitignore` files, `.git/info/exclude`, and those of enclosing folders."""

# ruff: noqa: PTH118, PTH123  # strings and os.path: a scan makes no Path object a file

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from lackpy.tools.ignore_rules import Rules, rules_of

_BYTES = 1_000_000  # an ignore file larger than this is no ignore file


@dataclass(frozen=True, slots=True, eq=False)
class Ignore:
    """Rules that hold in one folder: its own file's and those of the folders above it.

    Attributes:
        parts: (folder the rules stand in, rules), outermost first; a folder is "" or ends in "/", relative to `top`.
        top: Path of the workspace relative to the outermost folder whose rules count; "" or ends in "/".
    """

    parts: tuple[tuple[str, Rules], ...] = ()
    top: str = ""

    def below(self, folder: str, text: str) -> Ignore:
        """Return the rules inside `folder` (relative to the workspace, "" or ending in "/") that holds `text`."""
        return Ignore((*self.parts, (self.top + folder, rules_of(text))), self.top)

    def same(self, other: Ignore) -> bool:
        """Tell whether both hold the very same rules."""
        return len(self.parts) == len(other.parts) and all(
            a[0] == b[0] and a[1] is b[1] for a, b in zip(self.parts, other.parts, strict=True)
        )

    def ignores(self, path: str) -> bool:
        """Tell whether git ignores `path` (relative to the workspace; a folder ends in "/")."""
        is_folder = path.endswith("/")
        full = self.top + path.removesuffix("/")
        for folder, rules in reversed(self.parts):
            if not full.startswith(folder):
                continue
            verdict = rules.verdict(full[len(folder) :], folder=is_folder)
            if verdict is not None:
                return verdict
        return False


def outside(root: str) -> Ignore:
    """Return the rules that hold at the workspace `root` before its own `.gitignore`.

    These are the repository's `info/exclude` and the ignore files between the repository's top and the workspace.
    When they ignore the workspace itself they don't count: the user chose to work there.
    """
    top = _repository(root)
    if top is None:
        return Ignore()
    inner = os.path.relpath(root, top).replace(os.sep, "/")
    steps = [] if inner == "." else inner.split("/")
    found = Ignore((), "/".join(steps) + "/" if steps else "")
    parts = [("", read(os.path.join(top, ".git", "info", "exclude")))]
    parts += [
        ("/".join([*steps[:i], ""]), read(os.path.join(top, *steps[:i], ".gitignore")))
        for i in range(len(steps))
    ]
    rules = Ignore(tuple((folder, rules_of(text)) for folder, text in parts if text), found.top)
    return found if _ignored(rules, steps) else rules


def _ignored(rules: Ignore, steps: list[str]) -> bool:
    """Tell whether the folders `steps` from the top, or one of them, are ignored."""
    at_top = Ignore(rules.parts)
    return any(at_top.ignores("/".join([*steps[: i + 1], ""])) for i in range(len(steps)))


def read(path: str) -> str:
    """Return an ignore file's text with its mark and carriage returns gone; "" when there is none."""
    try:
        with open(path, "rb") as file:
            data = file.read(_BYTES)
    except OSError:
        return ""
    lines = data.decode("utf-8-sig", errors="replace").split("\n")
    return "\n".join(line.removesuffix("\r") for line in lines)


def _repository(root: str) -> str | None:
    here = Path(root)
    for folder in (here, *here.parents):
        if (folder / ".git").exists():
            return str(folder)
    return None
