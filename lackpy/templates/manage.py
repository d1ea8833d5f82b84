"""Writing templates on purpose: create one from a program, take one out of service, show its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lackpy import resources
from lackpy.intent import PatternError, compile_pattern
from lackpy.intent import TYPES as SLOT_TYPES
from lackpy.templates.files import find_template, write_atomic, write_template
from lackpy.templates.fill import compile_template, instantiate, sample_values, slot_names
from lackpy.templates.format import SUFFIX, State, Template, TemplateError, parse, with_fields
from lackpy.templates.needs import tool_hashes

if TYPE_CHECKING:
    from lackpy.kits import Kit

# What a slot of this name takes when nobody says its type.
_USUAL_TYPES = {
    "name": "identifier",
    "function": "identifier",
    "class": "identifier",
    "symbol": "identifier",
    "module": "dotted",
    "path": "path",
    "file": "path",
    "dir": "dir",
    "folder": "dir",
    "glob": "glob",
    "n": "number",
    "count": "number",
    "number": "number",
    "text": "text",
    "language": "language",
    "word": "word",
}


def create_template(
    workspace: Path,
    kit: Kit,
    *,
    program: str,
    name: str,
    pattern: str,
    slots: Mapping[str, str] | None = None,
    force: bool = False,
) -> Path:
    """Check a program and pattern and write them as an active template.

    Args:
        workspace: Where `.lackpy/templates` is or will be.
        kit: Kit the program is checked against.
        program: With `{slot}` inside its strings, or `{slot}` alone for a number.
        name: Template name.
        pattern: Intent pattern with the same slots.
        slots: Slot types; a slot that isn't listed gets the usual type of its name, else `word`.
        force: Replace a template of that name.

    Raises:
        TemplateError: Something of it can't be used.
    """
    if not name.strip():
        raise TemplateError("'name' is empty; give the template a name")
    if not pattern.strip():
        raise TemplateError("'pattern' is empty; write an intent with {slots}, e.g. 'callers of {name}'")
    types = {slot: (slots or {}).get(slot) or _usual_type(slot) for slot in slot_names(pattern)}
    try:
        compile_pattern(pattern, types)
    except PatternError as exc:
        raise TemplateError(f"pattern: {exc}") from exc
    template = Template(name=name.strip(), pattern=pattern, program=program.strip("\n"), slots=types, kit=kit.name)
    compile_template(template, kit.signatures)
    calls = instantiate(template, sample_values(template), kit.signatures).calls
    template = replace(template, tools=tool_hashes(calls, kit.signatures))
    return write_template(workspace / ".lackpy" / "templates", template, replace=force)


def _usual_type(slot: str) -> str:
    stem = slot.rstrip("0123456789").rstrip("_")
    return _USUAL_TYPES.get(stem, stem if stem in SLOT_TYPES else "word")


def template_file(workspace: Path, name: str) -> Path:
    """Return the file of a workspace or shipped template.

    Raises:
        TemplateError: No template has that name.
    """
    for folder in (workspace / ".lackpy" / "templates", resources.folder("data") / "templates"):
        path = find_template(folder, name)
        if path is not None:
            return path
    raise TemplateError(f"no template '{name}'; see `lackpy template list --all`")


def set_state(workspace: Path, name: str, state: State) -> Path:
    """Change a template's state in its file; a shipped one gets a copy of its own in the workspace first.

    Raises:
        TemplateError: No such template, or its file can't be written.
    """
    path = template_file(workspace, name)
    text = path.read_text(encoding="utf-8-sig")
    own = workspace / ".lackpy" / "templates"
    if path.parent.resolve() != own.resolve():
        return write_template(own, replace(parse(text, str(path)), state=state))
    return write_atomic(path, with_fields(text, {"state": state}))


__all__ = ["SUFFIX", "create_template", "set_state", "template_file"]
