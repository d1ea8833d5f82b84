"""The template file: front matter, then a program. The only thing both packages share about templates.

Consumes and produces text; touches no file. The front matter is a flat subset of YAML that this module
reads itself, because a general YAML reader turns `no`, `1.0` and dates into something else: here a value is
text, always, except for the two counters. Every refused line is named with its number and what to write.

    ---
    name: find-callers
    pattern: 'find (all )?callers of {name}'
    slots: {name: identifier}
    kit: debug
    state: active
    success_count: 12
    fail_count: 1
    tools: {find_callers: 3f0c9a1b22d4}
    ---
    find_callers("{name}")

`{name}` in the program is a hole where `slots` declares it: inside a plain string, or bare for a number.
A hole inside the pattern argument of `grep` takes its value literally: regex characters are escaped, except
the dots of a dotted name (`lackpy.templates.fill`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from lackpy.errors import LackpyError


class TemplateError(LackpyError):
    """A template file, name or program can't be used; the sentence says where and what to write."""


class State(StrEnum):
    """Where a template stands; written in its file, so values are stable."""

    PROBATION = "probation"
    ACTIVE = "active"
    QUARANTINED = "quarantined"
    RETIRED = "retired"
    DISABLED = "disabled"

    @property
    def served(self) -> bool:
        """Tell whether the dispatcher may serve a template in this state."""
        return self in (State.PROBATION, State.ACTIVE)


class Origin(StrEnum):
    """Whose template it is."""

    STARTER = "starter"
    WORKSPACE = "workspace"


def _nothing() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Template:
    """One template.

    Attributes:
        name: Its identity, whatever the file is called.
        pattern: Intent pattern with `{slots}`.
        program: Program text with the same slots, without a final newline.
        slots: Slot name → slot type.
        kit: Kit it was made for.
        state: Whether it may be served.
        success_count: Served calls that ran to their value.
        fail_count: Served calls that failed.
        tools: Tool name → signature hash the program was checked with; empty = not recorded.
        description: One sentence for people.
        origin: Shipped or the workspace's own.
        path: File it came from, "" for none.
        extra: Front-matter fields this version doesn't know, kept as read.
    """

    name: str
    pattern: str
    program: str
    slots: Mapping[str, str] = field(default_factory=_nothing)
    kit: str = "debug"
    state: State = State.ACTIVE
    success_count: int = 0
    fail_count: int = 0
    tools: Mapping[str, str] = field(default_factory=_nothing)
    description: str = ""
    origin: Origin = Origin.WORKSPACE
    path: str = ""
    extra: Mapping[str, str] = field(default_factory=_nothing)


FENCE = "---"
MAX_FILE_CHARS = 200_000
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MAP_KEY = re.compile(r"[^\W\d]\w*")
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_MAPS = ("slots", "tools")
_SPECIAL = "{}[]*&!%@`|>#,"
_YAML_WORDS = frozenset(("yes", "no", "on", "off", "true", "false", "null", "y", "n"))


def parse(text: str, path: str = "<template>", *, origin: Origin = Origin.WORKSPACE) -> Template:
    r"""Read one template file's text.

    Args:
        text: The file's content; a byte-order mark and CRLF line ends are accepted.
        path: Named in errors and kept in the template.
        origin: Whose template it is.

    Raises:
        TemplateError: The sentence starts with `path:line:` and ends with what to write.

    >>> parse("---\nname: no\npattern: 'show {p}'\nslots: {p: path}\n---\nread(\"{p}\")\n").name
    'no'
    """
    if len(text) > MAX_FILE_CHARS:
        raise TemplateError(
            f"{path}:1: longer than {MAX_FILE_CHARS:,} characters; a template is one short program"
        )
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip(" ") != FENCE:
        raise TemplateError(f"{path}:1: the first line must be '---'; front matter stands before the program")
    close = next((i for i in range(1, len(lines)) if lines[i].rstrip(" ") == FENCE), None)
    if close is None:
        raise TemplateError(
            f"{path}:{len(lines)}: the front matter isn't closed; write '---' on a line before the program"
        )
    fields = _fields(lines[1:close], path)
    program = lines[close + 1 :]
    if program and program[-1] == "":
        program.pop()
    return _template(fields, "\n".join(program), path, origin)


def _fields(lines: list[str], path: str) -> dict[str, tuple[int, str | dict[str, str]]]:
    """Return field → (line, value); a value is text, or a mapping for `slots` and `tools`."""
    found: dict[str, tuple[int, str | dict[str, str]]] = {}
    block: dict[str, str] | None = None
    for number, line in enumerate(lines, 2):
        where = f"{path}:{number}"
        if not line.strip() or line.startswith("#"):
            continue
        if "\t" in line[: len(line) - len(line.lstrip())]:
            raise TemplateError(f"{where}: indented with a tab; use blanks")
        indented = line.startswith(" ")
        key, colon, value = line.strip(" ").partition(":")
        if not colon or (value and value[0] != " "):
            raise TemplateError(f"{where}: not 'key: value'; write a key, a colon, a blank and the value")
        if indented:
            if block is None:
                raise TemplateError(
                    f"{where}: indented, but only 'slots:' and 'tools:' hold lines below them"
                )
            _put(block, key, _text_value(value.strip(" "), where), where)
            continue
        if not _KEY.fullmatch(key):
            raise TemplateError(f"{where}: '{key}' can't be a key; use letters, digits, _ and -")
        if key in found:
            raise TemplateError(f"{where}: '{key}' stands twice (first on line {found[key][0]}); keep one")
        value = value.strip(" ")
        block = {} if key in _MAPS and not value else None
        if block is not None:
            found[key] = (number, block)
        elif key in _MAPS:
            found[key] = (number, _map_value(value, where))
        else:
            found[key] = (number, _text_value(value, where))
    return found


def _put(target: dict[str, str], key: str, value: str, where: str) -> None:
    if not _MAP_KEY.fullmatch(key):
        raise TemplateError(f"{where}: '{key}' can't be a slot or tool name; use a plain identifier")
    if key in target:
        raise TemplateError(f"{where}: '{key}' stands twice; keep one")
    target[key] = value


def _map_value(value: str, where: str) -> dict[str, str]:
    if not (value.startswith("{") and value.endswith("}")):
        raise TemplateError(f"{where}: expected a mapping such as {{name: identifier}}")
    result: dict[str, str] = {}
    inner = value[1:-1].strip(" ")
    for part in inner.split(",") if inner else ():
        key, colon, item = part.partition(":")
        if not colon:
            raise TemplateError(f"{where}: '{part.strip()}' is not 'name: value'")
        _put(result, key.strip(" "), _text_value(item.strip(" "), where), where)
    return result


def _text_value(value: str, where: str) -> str:
    """Read a scalar: single-quoted, double-quoted (JSON escapes), or plain text that no YAML reader would change."""
    if value.startswith("'"):
        body = value[1:-1]
        if len(value) < 2 or not value.endswith("'") or body.replace("''", "").count("'"):
            raise TemplateError(
                f"{where}: the quote isn't closed, or a ' inside isn't doubled; write '' for one '"
            )
        return body.replace("''", "'")
    if value.startswith('"'):
        try:
            read = json.loads(value)
        except ValueError as exc:
            raise TemplateError(
                f"{where}: not a double-quoted text ({exc}); use single quotes, they need no escapes"
            ) from exc
        if not isinstance(read, str):
            raise TemplateError(f"{where}: not a double-quoted text; use single quotes")
        return read
    if value and (value[0] in _SPECIAL or value[:2] in ("- ", "? ")):
        raise TemplateError(f"{where}: a value that starts with '{value[0]}' needs quotes; put it in '…'")
    if ": " in value or value.endswith(":") or " #" in value:
        raise TemplateError(f"{where}: a value with ': ' or ' #' needs quotes; put it in '…'")
    return value


def _template(
    fields: dict[str, tuple[int, str | dict[str, str]]], program: str, path: str, origin: Origin
) -> Template:
    texts = {key: value for key, (_, value) in fields.items() if isinstance(value, str)}
    maps = {key: value for key, (_, value) in fields.items() if isinstance(value, dict)}
    for key in ("name", "pattern"):
        if not texts.get(key, "").strip():
            raise TemplateError(f"{path}:1: '{key}' is missing; every template needs name and pattern")
    if not program.strip():
        raise TemplateError(f"{path}:1: no program after the front matter; write it below the closing '---'")
    state = texts.pop("state", State.ACTIVE.value)
    if state not in State.__members__.values():
        known = ", ".join(State)
        raise TemplateError(f"{path}:{fields['state'][0]}: state '{state}' is unknown; use one of {known}")
    return Template(
        name=texts.pop("name"),
        pattern=texts.pop("pattern"),
        program=program,
        slots=MappingProxyType(maps.get("slots", {})),
        kit=texts.pop("kit", "debug"),
        state=State(state),
        success_count=_counter(texts.pop("success_count", "0"), fields, "success_count", path),
        fail_count=_counter(texts.pop("fail_count", "0"), fields, "fail_count", path),
        tools=MappingProxyType(maps.get("tools", {})),
        description=texts.pop("description", ""),
        origin=origin,
        path=path,
        extra=MappingProxyType(texts),
    )


def _counter(value: str, fields: Mapping[str, tuple[int, object]], key: str, path: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 12):
        raise TemplateError(f"{path}:{fields[key][0]}: '{key}' must be a whole number >= 0 (got {value!r})")
    return int(value)


def dump(template: Template) -> str:
    """Return the file's text; `parse` reads it back to an equal template (path and origin aside).

    Text is always quoted, so that any YAML reader sees the same value. Line ends of the program become LF.
    """
    rows = [
        f"name: {quote(template.name)}",
        f"pattern: {quote(template.pattern)}",
        f"slots: {_flow(template.slots)}",
        f"kit: {quote(template.kit)}",
        f"state: {template.state.value}",
        f"success_count: {template.success_count}",
        f"fail_count: {template.fail_count}",
    ]
    if template.tools:
        rows.append(f"tools: {_flow(template.tools)}")
    if template.description:
        rows.append(f"description: {quote(template.description)}")
    rows += [f"{key}: {quote(value)}" for key, value in template.extra.items()]
    program = template.program.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join([FENCE, *rows, FENCE, program, ""])


def quote(value: str) -> str:
    """Return a quoted scalar: single quotes where every character is printable, else JSON escapes."""
    if value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value)


def _flow(items: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {_flow_value(value)}" for key, value in items.items()) + "}"


def _flow_value(value: str) -> str:
    plain = _BARE.fullmatch(value) is not None and value.lower() not in _YAML_WORDS
    return value if plain else quote(value)


def with_fields(text: str, changes: Mapping[str, str | int | State]) -> str:
    """Return the file's text with single front-matter fields changed and every other line as it was.

    Args:
        text: A file that `parse` accepts.
        changes: Field → new value; a field that isn't there is added at the end of the front matter.

    Raises:
        TemplateError: The text isn't a template.
    """
    parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.replace("\r\n", "\n").split("\n")
    close = next(i for i in range(1, len(lines)) if lines[i].rstrip(" ") == FENCE)
    for key, value in changes.items():
        bare = isinstance(value, int | State)
        row = f"{key}: {value if bare else quote(str(value))}"
        at = next((i for i in range(1, close) if lines[i].startswith(f"{key}:")), None)
        if at is None:
            lines.insert(close, row)
            close += 1
        else:
            lines[at] = row
    return newline.join(lines)
