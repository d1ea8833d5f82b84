"""Shipped SQL: one statement a file below `sql/`, found by name, described by its header. The only loader of that folder.

Header, before the statement; `params` and `returns` take one line each per entry:

    -- name: candidates/groups
    -- description: what it answers, one sentence
    -- grain: one row per …
    -- reads: traces, feedback
    -- params:
    --   $sessions INTEGER sessions >= 1
    -- returns:
    --   group_id VARCHAR key of the group

Identifiers that must vary are Jinja2 expressions through the `identifier` filter; values are always `$params`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import jinja2

from lackpy import resources
from lackpy.errors import LackpyError

_FIELD = re.compile(r"^--\s*(name|description|grain|reads|params|returns):\s*(.*)$")
_ENTRY = re.compile(r"^--\s{2,}(\S+)\s+(\S+)\s*(.*)$")


@dataclass(frozen=True, slots=True)
class Column:
    """One parameter or result column: name (a parameter with its `$`), SQL type, meaning with unit."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One shipped statement.

    Attributes:
        name: Path below `sql/` without `.sql`.
        description: One sentence.
        grain: `one row per …`.
        reads: Tables and views it reads.
        params: Bound parameters.
        returns: Result columns, in order.
        text: The whole file.
    """

    name: str
    description: str
    grain: str
    reads: tuple[str, ...]
    params: tuple[Column, ...]
    returns: tuple[Column, ...]
    text: str


def names() -> list[str]:
    """Return every shipped statement's name, sorted."""
    root = resources.folder("sql")
    return sorted(p.relative_to(root).with_suffix("").as_posix() for p in root.rglob("*.sql"))


@cache
def load(name: str) -> SqlFile:
    """Return one shipped statement with its parsed header.

    Raises:
        LackpyError: No such file.
    """
    try:
        return parse(name, resources.text(f"sql/{name}.sql"))
    except OSError as exc:
        raise LackpyError(f"no shipped query '{name}'; there are {', '.join(names())}") from exc


def parse(name: str, text: str) -> SqlFile:
    """Read a header; a field that is absent is empty."""
    simple: dict[str, str] = {}
    columns: dict[str, list[Column]] = {"params": [], "returns": []}
    field = ""
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        head = _FIELD.match(line)
        entry = _ENTRY.match(line)
        if head:
            field = head.group(1)
            simple[field] = head.group(2).strip()
        elif entry and field in columns:
            columns[field].append(Column(entry.group(1), entry.group(2), entry.group(3)))
        elif field and field not in columns:
            simple[field] += " " + line.lstrip("- ").strip()
    reads = tuple(part.strip() for part in simple.get("reads", "").split(",") if part.strip())
    return SqlFile(
        simple.get("name", name),
        simple.get("description", ""),
        simple.get("grain", ""),
        reads,
        tuple(columns["params"]),
        tuple(columns["returns"]),
        text,
    )


def identifier(name: str) -> str:
    """Quote a SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701  # SQL, not HTML
    environment.filters["identifier"] = identifier
    return environment


def render(name: str, identifiers: Mapping[str, str] | None = None) -> str:
    """Return a statement's text with its identifiers filled in.

    Raises:
        LackpyError: No such file.
        jinja2.UndefinedError: An identifier it needs is missing.
    """
    text = load(name).text
    return _environment().from_string(text).render(dict(identifiers or {})) if "{{" in text else text
