"""Loads the shipped SQL files by name: one statement a file, its contract in the header.

A file `sql/TOPIC/NAME.sql` starts with these comment lines, in this order; each entry of a list stands on a line of
its own, indented by two spaces or more; an empty list is the word `none` on the key's line:

    -- name: candidates/ranked
    -- description: Groups that recur often enough to become a template.
    -- grain: one row per (intent_normalized, program_template, kit)
    -- reads: lackpy_traces, templates
    -- params:
    --   $sessions INTEGER distinct sessions, >= 1
    --   $success_rate DOUBLE share of successes, 0..1
    -- returns:
    --   candidate_id VARCHAR stable id
    --   wilson_low DOUBLE lower bound of the success rate, 0..1

`description`, `grain` and any entry may go on over further lines indented by four spaces or more. A statement that
changes data returns `none`, or `Count BIGINT`.
The first word of an entry is the parameter's or column's name, the second its DuckDB type
(no blanks inside a type: `DECIMAL(18,3)`, `VARCHAR[]`).

Values are bound: `$sessions` in the text, `con.execute(load("candidates/ranked").text, {"sessions": 3})`.
Identifiers (a schema, a table's name) may be rendered: `from {{ source | identifier }}`, `load(…).render(source="t")`;
a file that needs it says so between `reads` and `params`: `-- identifiers:` with entries `source = lackpy_traces` (the
value that `statement(name)` and the tests use).

`sql/schema/NNN_name.sql` are migrations: several statements, header `name` and `description` only, never edited once
released. The only module that reads `sql/`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from lackpy import resources
from lackpy.errors import LackpyError

SCHEMA = "schema"
_KEYS = ("name", "description", "grain", "reads", "identifiers", "params", "returns")
_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")


class SqlFileError(LackpyError):
    """A shipped SQL file is missing, or its header or rendering is wrong."""


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter or result column: name without `$`, DuckDB type, meaning with its unit."""

    name: str
    type: str
    meaning: str


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One shipped statement with its contract.

    Attributes:
        name: `topic/name`, the path below `sql/` without `.sql`.
        text: The statement as shipped, header included; ready to execute when `identifiers` is empty.
        description: What it answers.
        grain: `one row per …`.
        reads: Tables and views it reads.
        params: Bound parameters.
        returns: Result columns in order; empty for a statement that changes data.
        identifiers: Identifier name → value used by tests and by hand.
    """

    name: str
    text: str
    description: str
    grain: str
    reads: tuple[str, ...]
    params: tuple[Field, ...]
    returns: tuple[Field, ...]
    identifiers: Mapping[str, str]

    def render(self, **identifiers: str) -> str:
        """Return the text with identifiers filled in; those not given take the header's value.

        Raises:
            SqlFileError: An identifier that the header doesn't declare, or one the text uses and nobody gave.
        """
        unknown = sorted(set(identifiers) - set(self.identifiers))
        if unknown:
            raise SqlFileError(
                f"sql/{self.name}.sql has no identifier '{unknown[0]}'; its header declares "
                f"{', '.join(self.identifiers) or 'none'}"
            )
        return _render(self.name, self.text, {**self.identifiers, **identifiers})


@dataclass(frozen=True, slots=True)
class Migration:
    """One schema change: `name` such as `001_traces`, its SQL and the text's SHA-256."""

    name: str
    text: str
    digest: str


def quote_identifier(name: str) -> str:
    """Quote an identifier for DuckDB; dots separate catalogue, schema and table.

    >>> print(quote_identifier("main.odd name"))
    "main"."odd name"

    Raises:
        SqlFileError: An empty part, or a NUL.
    """
    parts = name.split(".")
    if not all(parts) or "\0" in name:
        raise SqlFileError(f"'{name}' is no usable identifier")
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


@cache
def load(name: str) -> SqlFile:
    """Return the shipped file `sql/NAME.sql`, e.g. `load("store/traces_newest")`.

    Raises:
        SqlFileError: No such file, or a header that breaks the form above.
    """
    if not _NAME.fullmatch(name):
        raise SqlFileError(f"'{name}' is no SQL file's name; write topic/name")
    return parse(name, _read(name))


def statement(name: str) -> str:
    """Return the executable text of a shipped file with its header's default identifiers."""
    found = load(name)
    return found.render() if found.identifiers else found.text


def names(topic: str = "") -> tuple[str, ...]:
    """Return the names of every shipped statement (migrations excluded), sorted; `topic` narrows to one folder."""
    base = resources.folder("sql")
    found = (path.relative_to(base).with_suffix("").as_posix() for path in base.rglob("*.sql"))
    return tuple(
        sorted(n for n in found if not n.startswith(f"{SCHEMA}/") and n.startswith(topic and f"{topic}/"))
    )


@cache
def migrations(folder: Path | None = None) -> tuple[Migration, ...]:
    """Return every schema change in order of name; `folder` replaces `sql/schema` in tests."""
    base = folder or resources.folder("sql") / SCHEMA
    changes = []
    for path in sorted(base.glob("*.sql")):
        text = path.read_text(encoding="utf-8")
        changes.append(Migration(path.stem, text, hashlib.sha256(text.encode()).hexdigest()))
    return tuple(changes)


def parse(name: str, text: str) -> SqlFile:
    """Read a file's header.

    Raises:
        SqlFileError: A key is missing, unknown or out of order, or the name isn't the path's.
    """
    header = _header(name, text)
    missing = [key for key in _KEYS if key not in header and key != "identifiers"]
    if missing:
        raise SqlFileError(f"sql/{name}.sql: the header lacks '-- {missing[0]}:'")
    if header["name"] != [name]:
        raise SqlFileError(
            f"sql/{name}.sql: the header's name is '{' '.join(header['name'])}', the path's is '{name}'"
        )
    return SqlFile(
        name=name,
        text=text,
        description=" ".join(header["description"]),
        grain=" ".join(header["grain"]),
        reads=tuple(
            part for line in header["reads"] for part in re.split(r"[,\s]+", line) if part and part != "none"
        ),
        params=_fields(name, header["params"], "$"),
        returns=_fields(name, header["returns"], ""),
        identifiers=MappingProxyType(_pairs(name, header.get("identifiers", []))),
    )


def _read(name: str) -> str:
    try:
        return resources.text(f"sql/{name}.sql")
    except FileNotFoundError as exc:
        raise SqlFileError(f"sql/{name}.sql is missing; known: {', '.join(names()) or 'none'}") from exc


def _header(name: str, text: str) -> dict[str, list[str]]:
    """Return key → its lines; an entry's continuation lines are joined to it."""
    found: dict[str, list[str]] = {}
    key = ""
    for line in text.split("\n"):
        if not line.startswith("--"):
            break
        body = line[2:]
        start = re.match(r" ([a-z]+):(?: (.*))?$", body)
        if start and start[1] in _KEYS:
            key = start[1]
            found[key] = [start[2].strip()] if start[2] and start[2].strip() else []
        elif not key or not body.startswith("  "):
            raise SqlFileError(
                f"sql/{name}.sql: header line '{line}' is neither '-- key: …' nor an indented entry"
            )
        elif body.startswith("    ") and found[key]:
            found[key][-1] += " " + body.strip()
        else:
            found[key].append(body.strip())
    given = [k for k in _KEYS if k in found]
    if list(found) != given:
        raise SqlFileError(f"sql/{name}.sql: header keys must stand in the order {', '.join(_KEYS)}")
    return found


def _fields(name: str, lines: list[str], sigil: str) -> tuple[Field, ...]:
    if lines == ["none"]:
        return ()
    fields = []
    for line in lines:
        parts = line.split(None, 2)
        if len(parts) < 2 or not parts[0].startswith(sigil):
            raise SqlFileError(f"sql/{name}.sql: header entry '{line}' must read '{sigil}name TYPE meaning'")
        fields.append(Field(parts[0].removeprefix(sigil), parts[1], parts[2] if len(parts) > 2 else ""))
    return tuple(fields)


def _pairs(name: str, lines: list[str]) -> dict[str, str]:
    pairs = {}
    for line in lines:
        key, sep, value = (part.strip() for part in line.partition("="))
        if not sep or not key or not value:
            raise SqlFileError(f"sql/{name}.sql: '-- identifiers: {line}' must read 'name = value'")
        pairs[key] = value
    return pairs


def _render(name: str, text: str, identifiers: Mapping[str, str]) -> str:
    import jinja2  # noqa: PLC0415  # 40 ms that most commands don't need

    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False)  # noqa: S701  # SQL, no HTML
    environment.filters["identifier"] = quote_identifier
    try:
        return environment.from_string(text).render(identifiers)
    except jinja2.TemplateError as exc:
        raise SqlFileError(f"sql/{name}.sql can't be rendered: {exc}") from exc
