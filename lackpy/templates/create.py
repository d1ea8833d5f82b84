"""The explicit fast path: one program and one pattern become a template because a person says so."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lackpy.templates.files import find_template, write_atomic, write_template
from lackpy.templates.fill import compile_template
from lackpy.templates.format import State, Template, TemplateError, dump, with_fields
from lackpy.templates.loader import disabled
from lackpy.templates.needs import tool_hashes
from lackpy.templates.pattern import PatternError, compile_pattern, slot_type

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lackpy.kits import Kit
    from lackpy.lang import Signature

FOLDER = ".lackpy/templates"
_TYPED = re.compile(r"\{([A-Za-z_]\w*)(?::\s*([a-z]+))?\}")
# What a slot's name says of its type when the pattern doesn't: `{path}` takes a path.
_BY_NAME = {
    "file": "path",
    "folder": "dir",
    "directory": "dir",
    "n": "number",
    "count": "number",
    "limit": "number",
    "lang": "language",
    "module": "dotted",
    "string": "text",
}
DEFAULT_TYPE = "identifier"


def template_folder(workspace: Path) -> Path:
    """Return where a workspace keeps its templates."""
    return workspace / FOLDER


def typed_pattern(pattern: str) -> tuple[str, dict[str, str]]:
    """Split `{name:type}` into a plain pattern and slot types; an untyped slot's name decides, else identifier.

    Raises:
        TemplateError: A slot has two types, or one that doesn't exist.

    >>> typed_pattern("count {text:text} in {dir}")
    ('count {text} in {dir}', {'text': 'text', 'dir': 'dir'})
    """
    slots: dict[str, str] = {}
    for name, said in _TYPED.findall(pattern):
        kind = said or slots.get(name) or _type_by_name(name)
        if said and slots.get(name, said) != said:
            raise TemplateError(f"slot '{name}' has two types ({slots[name]} and {said}); keep one")
        try:
            slot_type(kind)
        except KeyError as exc:
            raise TemplateError(f"slot '{name}': {exc.args[0]}") from exc
        slots[name] = kind
    return _TYPED.sub(r"{\1}", pattern), slots


def _type_by_name(name: str) -> str:
    if name in _BY_NAME:
        return _BY_NAME[name]
    try:
        return slot_type(name).name
    except KeyError:
        return DEFAULT_TYPE


def build_template(
    signatures: Mapping[str, Signature], *, program: str, name: str, pattern: str, kit: str
) -> Template:
    """Return a checked template; nothing is written.

    Raises:
        TemplateError: The program, name or pattern can't be used with these tools.
    """
    if not name.strip() or len(name) > 200:
        raise TemplateError(f"'name' must be 1 to 200 characters (got {len(name)})")
    plain, slots = typed_pattern(pattern)
    try:
        compile_pattern(plain, slots)
    except PatternError as exc:
        raise TemplateError(str(exc), exc.hint) from exc
    template = Template(name.strip(), plain, program.strip("\n"), slots, kit)
    ready = compile_template(template, signatures)
    return replace(template, tools=tool_hashes(ready.calls, signatures))


def create_template(
    workspace: Path, kit: Kit, *, program: str, name: str, pattern: str, force: bool = False
) -> Path:
    """Write a template of the workspace; the next call serves it.

    Args:
        workspace: The workspace's root.
        kit: Its tools are what the program is checked against.
        program: Program text with `{slots}`.
        name: Its identity.
        pattern: Intent pattern; `{slot}` or `{slot:type}`.
        force: Replace a template of that name.

    Raises:
        TemplateError: Something can't be used, the name is taken, or the file can't be written.
    """
    template = build_template(kit.signatures, program=program, name=name, pattern=pattern, kit=kit.name)
    return write_template(template_folder(workspace), template, replace=force)


def template_text(template: Template) -> str:
    """Return a template's file as text."""
    return dump(template)


def disable_template(workspace: Path, template: Template) -> Path:
    """Take a template out of service; a shipped one by a disabled copy in the workspace.

    Raises:
        TemplateError: It can't be written.
    """
    folder = template_folder(workspace)
    path = find_template(folder, template.name)
    if path is None:
        return write_template(folder, disabled(template))
    text = path.read_text(encoding="utf-8-sig")
    return write_atomic(path, with_fields(text, {"state": State.DISABLED}))
