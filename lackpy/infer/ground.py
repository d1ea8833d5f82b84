"""Puts the intent's own values where a small model copied an example's, or misspelt them; misses a file it left out.

A model that follows an example closely keeps its folder (`tests/` for the asked `spec/`) or name, or drops a letter
of a long name. A text literal is replaced only when it isn't in the intent and exactly one value of the same kind
that the intent states is missing from the program. Pure; each replacement is named, for the trace.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from lackpy.intent.slots import is_file_path
from lackpy.lang.verdict import Violation

NEAR = 0.86
"""Least similarity of a misspelt value; one dropped letter in eight gives 0.93, two unrelated names stay below 0.7."""
_MIN_CHARS = 5
_VALUE = re.compile(r"[`\"']([^`\"'\n]+)[`\"']|(\S+)")
_TRIM = ".,;:?!()[]{}<>`\"'"
_FILE = re.compile(r"\.[A-Za-z]\w{0,5}$")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NOT_A_PATH = re.compile(r"[^\w./-]|/?__\w+__\.\w+$")
"""Not one file of a request: it holds other characters, or every package has one of that name."""
_WORDLIKE = re.compile(r"[a-z]+|[A-Z][a-z]*|[A-Z]+")


def ground(program: str, intent: str, examples: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return the program with the intent's values, and what was done (`folder`, `name`, `spelling`).

    Args:
        program: A program that parses; any other text is returned as it is.
        intent: The caller's words.
        examples: Programs that the prompt showed.
    """
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return program, ()
    literals = _literals(tree)
    stated = _stated(intent)
    missing = [v for v in stated if not any(v.rstrip("/") in text for _, text in literals)]
    if not missing:
        return program, ()
    shown = {text for source in examples for _, text in _literals(_tree(source))}
    edits: list[tuple[ast.Constant, str, str]] = []
    done: list[str] = []
    for node, text in literals:
        found = _replacement(text, intent, missing, shown)
        if found is not None:
            kind, old, new = found
            edits.append((node, old, new))
            done.append(kind)
    edited = _edited(program, edits)
    return edited, tuple(dict.fromkeys(done)) if edited != program else ()


def unused_files(program: str, intent: str) -> tuple[Violation, ...]:
    """Return a violation for each file that the intent names and a program that parses nowhere does."""
    texts = " ".join(text for _, text in _literals(_tree(program)))
    if not texts:
        return ()
    files = [v for v in _stated(intent) if is_file_path(v) and not _NOT_A_PATH.search(v)]
    missed = [f for f in dict.fromkeys(files) if _stem(f) not in texts.replace("\\", "")]
    return tuple(
        Violation("unused-file", 1, 1, f"'{name}' of the request isn't used", f"look in '{name}'")
        for name in missed
    )


def _stem(path: str) -> str:
    """Return a file's name without folder and extension."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0].strip(".") or name


def _replacement(text: str, intent: str, missing: list[str], shown: set[str]) -> tuple[str, str, str] | None:
    """Return (kind, old part, new part) of one literal; a regular expression may escape what the intent says."""
    if text.replace("\\", "") in intent or "{" in text:
        return None
    if len(text) >= _MIN_CHARS and text not in intent:
        near = [v for v in missing if _near(text, v)]
        if len(near) == 1:
            return "spelling", text, near[0]
    top, slash, _ = text.partition("/")
    if slash and _NAME.fullmatch(top) and top.lower() not in intent.lower():
        folders = [v for v in missing if _is_folder(v)]
        if len(folders) == 1 and any(s.startswith(top + "/") for s in shown):
            return "folder", top + "/", folders[0].rstrip("/") + "/"
    if text in shown and _is_name(text) and text not in intent:
        names = [v for v in missing if _is_name(v)]
        if len(names) == 1:
            return "name", text, names[0]
    return None


def _near(text: str, value: str) -> bool:
    if abs(len(text) - len(value)) > 2 or text.lower() == value.lower():
        return text != value and text.lower() == value.lower() and not text.islower()
    return SequenceMatcher(None, text, value).ratio() >= NEAR


def _stated(intent: str) -> list[str]:
    """Return the values an intent states: quoted text, paths, names of code."""
    found = []
    for match in _VALUE.finditer(intent):
        value = (match.group(1) or match.group(2)).strip(_TRIM)
        if match.group(1) or _is_folder(value) or _FILE.search(value) or _is_name(value):
            found.append(value)
    return list(dict.fromkeys(v for v in found if len(v) > 1))


def _is_folder(value: str) -> bool:
    parts = value.rstrip("/").split("/")
    return "/" in value and all(_NAME.fullmatch(p) or p in (".", "..") for p in parts)


def _is_name(value: str) -> bool:
    """Tell whether a word is a name of code rather than English: `parse_row`, `parseRow`, `HTTPError`."""
    return bool(_NAME.fullmatch(value)) and ("_" in value.strip("_") or len(_WORDLIKE.findall(value)) > 1)


def _tree(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _literals(tree: ast.Module) -> list[tuple[ast.Constant, str]]:
    inside = {id(part) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for part in n.values}
    return [
        (n, n.value)
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value and id(n) not in inside
    ]


def _edited(program: str, edits: list[tuple[ast.Constant, str, str]]) -> str:
    """Change literals in the source, last first, so that earlier positions stay right."""
    rows = program.split("\n")
    for node, old, new in sorted(edits, key=lambda e: (e[0].lineno, e[0].col_offset), reverse=True):
        if node.end_lineno != node.lineno or node.end_col_offset is None:
            continue
        row = rows[node.lineno - 1].encode()
        head, text, tail = (
            row[: node.col_offset],
            row[node.col_offset : node.end_col_offset],
            row[node.end_col_offset :],
        )
        if new.isprintable() and not any(c in new for c in "\"'\\{}"):
            rows[node.lineno - 1] = (head + text.decode().replace(old, new, 1).encode() + tail).decode()
    return "\n".join(rows)
