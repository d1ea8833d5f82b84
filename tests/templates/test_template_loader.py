"""Hot reload: whatever changed on disk before a call is in force in that call."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path

import pytest

from lackpy.intent.clean import clean
from lackpy.templates import loader
from lackpy.templates.files import write_atomic, write_template
from lackpy.templates.format import Origin, State, Template, dump
from lackpy.templates.loader import TemplateLibrary

ONE = Template("one", "callers of {name}", 'find_callers("{name}")', {"name": "identifier"})


@pytest.fixture(params=["watched", "scanned"])
def library(request, tmp_path: Path, monkeypatch):
    """Yield a library over a folder, with the kernel's watch and without."""
    if request.param == "scanned":
        monkeypatch.setattr(loader.FolderWatch, "start", lambda _self, _folder: False)
    made = TemplateLibrary(tmp_path / "t", starter=False)
    yield made
    made.close()


def served(library: TemplateLibrary, intent: str = "callers of foo") -> list[str]:
    return [one.template.program for one, _ in library.current().hits(clean(intent))]


def text(program: str) -> str:
    return dump(replace(ONE, program=program))


def settle(library: TemplateLibrary) -> None:
    """Make the library trust what it has seen: two quiet looks."""
    library.current()
    library.current()


def test_missing_folder_is_empty_and_seen_once_made(library: TemplateLibrary) -> None:
    assert served(library) == []
    settle(library)
    write_template(library.folder, ONE)
    assert served(library) == [ONE.program]


def test_save_by_rename_twice(library: TemplateLibrary) -> None:
    path = write_template(library.folder, ONE)
    settle(library)
    for program in ("1", "2"):
        path.rename(path.with_suffix(".bak"))
        new = path.with_suffix(".new")
        new.write_text(text(program))
        new.rename(path)
        assert served(library) == [program]
    assert library.current().problems == ()


def test_atomic_replace_twice(library: TemplateLibrary) -> None:
    path = write_template(library.folder, ONE)
    settle(library)
    for program in ("1", "2"):
        write_atomic(path, text(program))
        assert served(library) == [program]


def test_write_in_place_many_times_in_one_tick(library: TemplateLibrary) -> None:
    path = write_template(library.folder, ONE)
    settle(library)
    for n in range(20):
        path.write_text(text(f"{n % 10}"))
        assert served(library) == [f"{n % 10}"]


def test_same_size_edit_with_an_old_time_stamp(library: TemplateLibrary) -> None:
    path = write_template(library.folder, ONE)
    os.utime(path, ns=(10**18, 10**18))
    settle(library)
    path.write_text(
        text(ONE.program.replace("name", "eman")).replace("eman", "name").replace("callers(", "CALLERS(")
    )
    os.utime(path, ns=(10**18, 10**18))
    assert served(library) == ['find_CALLERS("{name}")']


def test_delete_and_create(library: TemplateLibrary) -> None:
    path = write_template(library.folder, ONE)
    settle(library)
    path.unlink()
    assert served(library) == []
    path.write_text(text("1"))
    assert served(library) == ["1"]


def test_replaced_folder(library: TemplateLibrary, tmp_path: Path) -> None:
    write_template(library.folder, ONE)
    settle(library)
    for n in ("1", "2"):
        other = tmp_path / f"other{n}"
        other.mkdir()
        (other / "x.tmpl").write_text(text(n))
        library.folder.rename(tmp_path / f"old{n}")
        other.rename(library.folder)
        assert served(library) == [n]


def test_linked_folder_that_changes_its_target(tmp_path: Path) -> None:
    for n in ("1", "2"):
        (tmp_path / n).mkdir()
        (tmp_path / n / "x.tmpl").write_text(text(n))
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "1")
    library = TemplateLibrary(link, starter=False)
    settle(library)
    assert served(library) == ["1"]
    link.unlink()
    link.symlink_to(tmp_path / "2")
    assert served(library) == ["2"]
    (tmp_path / "2" / "x.tmpl").write_text(text("3"))
    assert served(library) == ["3"]
    library.close()


def test_linked_file_whose_target_changes(library: TemplateLibrary, tmp_path: Path) -> None:
    library.folder.mkdir()
    target = tmp_path / "elsewhere.tmpl"
    target.write_text(text("1"))
    (library.folder / "x.tmpl").symlink_to(target)
    settle(library)
    assert served(library) == ["1"]
    for n in ("2", "3"):
        target.write_text(text(n))
        assert served(library) == [n]


def test_state_change_takes_a_template_out_and_back(library: TemplateLibrary) -> None:
    path = write_template(library.folder, ONE)
    settle(library)
    for state in State:
        write_atomic(path, dump(replace(ONE, state=state)))
        assert bool(served(library)) is state.served
        assert library.current().templates["one"].template.state is state


def test_broken_file_keeps_its_last_good_version(library: TemplateLibrary, caplog) -> None:
    path = write_template(library.folder, ONE)
    settle(library)
    caplog.set_level(logging.WARNING)
    whole = path.read_text()
    for broken in (whole[:40], "", "\x00\xff", whole.replace("{name}'", "{nam")):
        path.write_text(broken)
        assert served(library) == [ONE.program]
        assert len(library.current().problems) == 1
    assert "its last good version stays" in caplog.text
    path.write_text(text("1"))
    assert served(library) == ["1"]
    assert library.current().problems == ()


def test_file_broken_from_the_start_is_named(library: TemplateLibrary) -> None:
    library.folder.mkdir()
    (library.folder / "bad.tmpl").write_bytes(b"\xff\xfe")
    (library.folder / "worse.tmpl").write_text("x")
    os.mkfifo(library.folder / "pipe.tmpl")
    (library.folder / "note.txt").write_text("not a template")
    write_template(library.folder, ONE)
    assert served(library) == [ONE.program]
    reasons = {p.name: p.reason for p in library.current().problems}
    assert set(reasons) == {"bad.tmpl", "worse.tmpl", "pipe.tmpl"}
    assert reasons["bad.tmpl"].endswith("bad.tmpl:1: not UTF-8 (byte 0); save it as UTF-8")
    assert reasons["pipe.tmpl"].endswith("not a regular file")


def test_pattern_that_cannot_be_used_is_named(library: TemplateLibrary) -> None:
    write_template(library.folder, replace(ONE, pattern="callers of .* {name}"))
    assert served(library) == []
    assert "pattern" in library.current().problems[0].reason


def test_two_files_with_one_name(library: TemplateLibrary) -> None:
    library.folder.mkdir()
    (library.folder / "a.tmpl").write_text(text("1"))
    (library.folder / "b.tmpl").write_text(text("2"))
    assert served(library) == ["1"]
    assert "name 'one' is taken by" in library.current().problems[0].reason


def test_workspace_version_replaces_a_shipped_one(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped"
    write_template(shipped, ONE)
    library = TemplateLibrary(tmp_path / "t", starter_folder=shipped)
    assert served(library) == [ONE.program]
    assert library.current().templates["one"].template.origin is Origin.STARTER
    path = write_template(tmp_path / "t", replace(ONE, program="1"))
    assert served(library) == ["1"]
    write_atomic(path, dump(replace(ONE, state=State.DISABLED)))
    assert served(library) == []
    path.unlink()
    assert served(library) == [ONE.program]


def test_quiet_folder_is_not_read_again(library: TemplateLibrary, monkeypatch) -> None:
    path = write_template(library.folder, ONE)
    os.utime(path, ns=(10**18, 10**18))
    settle(library)
    monkeypatch.setattr(loader, "RECENT_NS", -(10**18))
    before = library.current()
    assert library.current() is before


def test_many_changes_compile_what_changed(library: TemplateLibrary, monkeypatch) -> None:
    """A change beside a large set leaves the large set alone; many changes make a new one."""
    monkeypatch.setattr(loader, "MAX_DELTA", 3)
    for n in range(5):
        write_template(
            library.folder, replace(ONE, name=f"t{n}", pattern=f"word{n} of {{name}}", program=str(n))
        )
    settle(library)
    base = library._base[0]
    assert len(base) == 5
    for n in range(5, 8):
        write_template(
            library.folder, replace(ONE, name=f"t{n}", pattern=f"word{n} of {{name}}", program=str(n))
        )
        assert served(library, f"word{n} of x") == [str(n)]
        assert library._base[0] is base
    write_template(library.folder, replace(ONE, name="t8", pattern="word8 of {name}", program="8"))
    assert [served(library, f"word{n} of x") for n in range(9)] == [[str(n)] for n in range(9)]
    assert (len(library._base[0]), len(library._delta[0])) == (9, 0)
    assert library._base[0] is not base


def test_forked_child_sees_changes_of_its_own(library: TemplateLibrary) -> None:
    path = write_template(library.folder, ONE)
    settle(library)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            path.write_text(text("1"))
            status = 0 if served(library) == ["1"] else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert served(library) == ["1"]


def test_closed_library_still_answers(library: TemplateLibrary) -> None:
    path = write_template(library.folder, ONE)
    settle(library)
    library.close()
    library.close()
    path.write_text(text("1"))
    assert served(library) == ["1"]
