"""`create`: what a person gives becomes a checked template, or one sentence says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from lackpy.kits import load_kit
from lackpy.templates.create import create_template, disable_template, template_folder, typed_pattern
from lackpy.templates.files import find_template
from lackpy.templates.format import State, TemplateError, parse
from lackpy.templates.loader import TemplateLibrary
from lackpy.templates.needs import signature_hash


def create(root: Path, **changes: object) -> Path:
    given = {"program": 'find_callers("{name}")', "name": "callers", "pattern": "callers of {name}"} | changes
    return create_template(root, load_kit("debug", root), **given)


def test_template_is_written_with_types_and_tool_hashes(tmp_path: Path) -> None:
    path = create(tmp_path)
    assert path == tmp_path / ".lackpy" / "templates" / "callers.tmpl"
    template = parse(path.read_text())
    assert dict(template.slots) == {"name": "identifier"}
    signature = load_kit("debug", tmp_path).signatures["find_callers"]
    assert dict(template.tools) == {"find_callers": signature_hash(signature)}
    assert (template.kit, template.state) == ("debug", State.ACTIVE)


def test_slot_names_and_annotations_give_types() -> None:
    assert typed_pattern("{n} lines of {path} in {dir} with {text} {who} {lang}")[1] == {
        "n": "number",
        "path": "path",
        "dir": "dir",
        "text": "text",
        "who": "identifier",
        "lang": "language",
    }
    assert typed_pattern("a {x:glob} b {x}") == ("a {x} b {x}", {"x": "glob"})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"program": "import os"}, "import"),
        ({"program": 'nope("{name}")'}, "unknown-name"),
        ({"program": "1"}, "doesn't use slot 'name'"),
        ({"program": 'write("{name}", "x")'}, "unknown-name"),
        ({"pattern": "{name}"}, "no word of its own"),
        ({"pattern": "callers of {name:word} {name:path}"}, "two types"),
        ({"pattern": "callers of {name:nonsense}"}, "slot type 'nonsense' is unknown"),
        ({"pattern": "callers of .* {name}"}, "pattern"),
        ({"name": " "}, "'name' must be 1 to 200 characters"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(tmp_path: Path, changes: dict[str, str], says: str) -> None:
    with pytest.raises(TemplateError) as caught:
        create(tmp_path, **changes)
    assert says in str(caught.value)
    assert not template_folder(tmp_path).exists()


def test_a_taken_name_needs_force(tmp_path: Path) -> None:
    create(tmp_path)
    with pytest.raises(TemplateError, match="exists"):
        create(tmp_path)
    path = create(tmp_path, program='len(find_callers("{name}"))', force=True)
    assert parse(path.read_text()).program == 'len(find_callers("{name}"))'


def test_disabling_keeps_the_file_and_switches_a_shipped_one_off(tmp_path: Path) -> None:
    library = TemplateLibrary(template_folder(tmp_path))
    shipped = library.current().templates["callers"].template
    path = disable_template(tmp_path, shipped)
    assert path.parent == template_folder(tmp_path)
    assert library.current().templates["callers"].template.state is State.DISABLED
    own = create(tmp_path, name="mine", pattern="whoever touches {name}")
    own.write_text(own.read_text().replace("kit:", "# by hand\nkit:"))
    disable_template(tmp_path, library.current().templates["mine"].template)
    assert "# by hand" in own.read_text()
    assert parse(own.read_text()).state is State.DISABLED
    assert find_template(template_folder(tmp_path), "mine") == own
