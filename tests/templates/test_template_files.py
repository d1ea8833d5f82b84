"""Template files on disk: portable distinct names, whole-or-nothing writes."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from lackpy.templates.files import MAX_NAME_BYTES, find_template, slug, write_atomic, write_template
from lackpy.templates.format import Template, TemplateError, dump, parse

ONE = Template("find callers", "callers of {name}", 'find_callers("{name}")', {"name": "identifier"})
AWKWARD = [
    "find callers of {name}",
    "find callers: {name}!",
    "Find callers of {NAME}",
    "CON",
    "con",
    "nul.py",
    "x" * 300,
    "x" * 301,
    "?!",
    "...",
    "../x",
    "a/b",
    "a\\b",
    ".hidden",
    "🙂",
    "\ufb01le",
    "file",
    "\u00e9",
    "e\u0301",
    "Find",
    "find",
    "line\nbreak",
    "COM1",
    "lpt9.tmpl",
]


def test_awkward_names_get_distinct_portable_files(tmp_path: Path) -> None:
    paths = [write_template(tmp_path / "t", replace(ONE, name=name)) for name in AWKWARD]
    assert len({p.name.lower() for p in paths}) == len(AWKWARD)
    for path, name in zip(paths, AWKWARD, strict=True):
        assert path.parent == tmp_path / "t"
        assert len(path.name.encode()) <= MAX_NAME_BYTES
        assert set(path.stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert path.stem not in {"con", "nul", "com1", "lpt9"}
        assert parse(path.read_text(encoding="utf-8")).name == name


def test_a_taken_name_is_refused_and_the_file_kept(tmp_path: Path) -> None:
    path = write_template(tmp_path, ONE)
    with pytest.raises(TemplateError, match="a template named 'find callers' exists"):
        write_template(tmp_path, replace(ONE, program="1"))
    assert parse(path.read_text()).program == ONE.program
    assert write_template(tmp_path, replace(ONE, program="1"), replace=True) == path
    assert parse(path.read_text()).program == "1"


def test_the_front_matter_names_a_template_not_its_file(tmp_path: Path) -> None:
    path = write_template(tmp_path, ONE).rename(tmp_path / "other.tmpl")
    assert find_template(tmp_path, "find callers") == path
    assert find_template(tmp_path / "missing", "x") is None


def test_slug_is_stable() -> None:
    assert slug("Callers of {name} (in tests)") == "callers-of-name-in-tests"


def test_mode_and_link_survive_a_rewrite(tmp_path: Path) -> None:
    real = tmp_path / "real.tmpl"
    real.write_text(dump(ONE))
    real.chmod(0o640)
    link = tmp_path / "t" / "link.tmpl"
    link.parent.mkdir()
    link.symlink_to(real)
    write_atomic(link, dump(replace(ONE, program="1")))
    assert link.is_symlink()
    assert parse(real.read_text()).program == "1"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


@pytest.mark.parametrize("step", ["fsync", "write"])
def test_a_full_disk_leaves_the_old_file_and_no_rest(tmp_path: Path, monkeypatch, step: str) -> None:
    path = write_template(tmp_path, ONE)
    before = path.read_text()

    def full(*_args: object, **_kwargs: object) -> int:
        raise OSError(28, "No space left on device")

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(Path, "open", full)
    with pytest.raises(TemplateError, match="No space left on device"):
        write_atomic(path, "new")
    with pytest.raises(TemplateError, match="No space left on device"):
        write_template(tmp_path, replace(ONE, name="another"))
    monkeypatch.undo()
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_kill_between_write_and_rename_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    path = write_template(tmp_path, ONE)
    before = path.read_text()

    def killed(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, "new")
    assert path.read_text() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(TemplateError, match="can't be created"):
        write_template(tmp_path / "file" / "t", ONE)
