"""Which templates are in force right now: the shipped ones and a workspace's files, fresh at every call.

Consumes a folder, produces an immutable `Snapshot`; writes nothing but its own cache of compiled concepts. A file
that was added, changed or removed, by whatever means, counts from the next call on. One that can't be read or parsed
is skipped with a reason and its last good version stays in force. Compiled patterns are kept: a change compiles what
changed, not the rest.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import threading
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lackpy.intent import concepts
from lackpy.resources import folder as shipped
from lackpy.templates.files import SUFFIX, content_hash, read_regular, write_atomic
from lackpy.templates.format import MAX_FILE_CHARS, Origin, State, Template, TemplateError, parse
from lackpy.templates.pattern import Entry, PatternError, PatternSet, compile_pattern
from lackpy.templates.watch import FolderWatch

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from lackpy.intent.clean import Cleaned
    from lackpy.templates.pattern import Hit

RECENT_NS = 3_000_000_000
"""A file written this recently (ns) may change again without a new time stamp: FAT keeps 2 s steps."""
CONCEPTS = "concepts.json"
"""Concept texts of a library's patterns: beside the shipped templates, and in a workspace's state folder."""
MAX_DELTA = 200
"""Changed patterns that are kept beside the big compiled set before all is compiled anew."""
_LOG = logging.getLogger("lackpy.templates")
_Print = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """One template that isn't in force, or one file that isn't in force as it stands now.

    Attributes:
        name: Template name, or the file's name when it has none.
        path: File, "" for none.
        reason: One sentence.
    """

    name: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """One template in force.

    Attributes:
        template: As parsed.
        digest: Short hash of the file's text; another text has another one.
        key: Names this version in compiled pattern sets.
    """

    template: Template
    digest: str
    key: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything in force at one moment.

    Attributes:
        templates: Template name → what is loaded; states that aren't served included.
        problems: What isn't in force, and why.
    """

    templates: Mapping[str, Loaded]
    problems: tuple[Problem, ...]
    _live: Mapping[Hashable, Loaded]
    _sets: tuple[PatternSet, ...]

    def refused(self, cleaned: Cleaned) -> list[tuple[Loaded, str]]:
        """Return templates whose words agree but whose slots refused a value, each with the reason."""
        live = self._live
        return [
            (live[key], why) for one in self._sets for key, why in one.match(cleaned).refused if key in live
        ]

    def hits(self, cleaned: Cleaned) -> list[tuple[Loaded, Hit]]:
        """Return every template whose pattern accounts for the whole intent, most specific first.

        Among equals the workspace's own stands before a shipped one, then names decide the order.
        """
        live = self._live
        found = [(live[h.key], h) for one in self._sets for h in one.as_written(cleaned) if h.key in live]
        if not found and cleaned.light:
            found = [(live[h.key], h) for one in self._sets for h in one.by_concept(cleaned) if h.key in live]
        if len(found) > 1:
            found.sort(key=lambda pair: pair[0].template.name)
            found.sort(key=lambda pair: rank(*pair), reverse=True)
        return found


def rank(loaded: Loaded, hit: Hit) -> tuple[tuple[int, ...], bool]:
    """Return what decides between two hits: the greater wins, equals are a tie."""
    return hit.rank, loaded.template.origin is Origin.WORKSPACE


@dataclass(slots=True)
class _File:
    """What is known of one workspace file: its print when last read, and the last good version."""

    stamp: _Print | None
    read_ns: int
    loaded: Loaded | None = None
    problem: str | None = None


@cache
def _shipped_library(folder: Path) -> tuple[dict[str, Loaded], PatternSet, tuple[Problem, ...]]:
    """Read a shipped library once a process: it is part of the installation and doesn't change."""
    concepts.load(folder / CONCEPTS)
    found: dict[str, Loaded] = {}
    problems = []
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            loaded = _parsed(path.read_bytes(), str(path), Origin.STARTER)
        except (TemplateError, OSError) as exc:
            problems.append(Problem(path.name, str(path), str(exc)))
            continue
        found[loaded.template.name] = loaded
    return found, _compiled(found.values()), tuple(problems)


class TemplateLibrary:
    """The templates of one workspace; thread-safe.

    Args:
        folder: The workspace's template folder; it need not exist. `None` for none.
        starter: Serve the shipped library too.
        starter_folder: Where the shipped library is; the installation's own when absent.
        keeps: Write the cache of compiled concepts; `False` writes nothing at all.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        starter: bool = True,
        starter_folder: Path | None = None,
        keeps: bool = True,
    ) -> None:
        """Read nothing yet."""
        self.folder = folder
        self._starter = (
            (starter_folder or shipped("data") / "templates") if starter or starter_folder else None
        )
        self._lock = threading.RLock()
        self._watch = FolderWatch()
        self._files: dict[str, _File] = {}
        self._linked: set[str] = set()
        self._folder_id: tuple[int, int] | None = None
        self._looks = 0
        self._shipped: dict[str, Loaded] = {}
        self._shipped_set: PatternSet | None = None
        self._shipped_problems: tuple[Problem, ...] = ()
        self._base: tuple[PatternSet, frozenset[str]] = (PatternSet([]), frozenset())
        self._delta: tuple[PatternSet, frozenset[str]] = self._base
        self._snapshot: Snapshot | None = None
        self._has_kept = not keeps

    def current(self) -> Snapshot:
        """Return what is in force now; every change on disk before this call is in it."""
        with self._lock:
            if self._shipped_set is None:
                self._load_shipped()
            if self._refresh() or self._snapshot is None:
                self._snapshot = self._build()
            return self._snapshot

    def close(self) -> None:
        """Give the kernel's watch back; `current` still works afterwards."""
        with self._lock:
            self._watch.close()

    # -- what is on disk -----------------------------------------------------------------------------

    def _load_shipped(self) -> None:
        if self.folder is not None:
            concepts.load(self.folder.parent / CONCEPTS)
        if self._starter is None:
            self._shipped_set = _compiled(())
            return
        self._shipped, self._shipped_set, self._shipped_problems = _shipped_library(self._starter)

    def _refresh(self) -> bool:
        """Bring `_files` up to date; tell whether anything changed."""
        if self.folder is None:
            return False
        try:
            info = os.stat(self.folder)  # noqa: PTH116  # a third of Path.stat's time, once per call
        except OSError:
            info = None
        if info is None or not stat.S_ISDIR(info.st_mode):
            self._watch.close()
            gone, self._files, self._linked, self._folder_id = bool(self._files), {}, set(), None
            return gone
        if self._folder_id == (info.st_dev, info.st_ino):
            names = self._watch.changes()
            if names is not None:
                return self._reread({name for name in names if _is_template(name)}) | self._follow_links()
        else:
            self._watch.close()
        self._folder_id = (info.st_dev, info.st_ino)
        self._looks += 1
        # A process that asks once isn't worth a watch.
        if self._looks > 1:
            self._watch.start(self.folder)
        return self._scan()

    def _scan(self) -> bool:
        """Look at every file; read those whose print changed or is too young to be believed."""
        stamps: dict[str, _Print] = {}
        try:
            with os.scandir(self.folder) as entries:
                names = [entry.name for entry in entries if _is_template(entry.name)]
        except OSError as exc:
            _LOG.warning("templates in %s can't be listed (%s); the last good ones stay", self.folder, exc)
            return False
        for name in names:
            stamp = self._stamp(name)
            if stamp is not None:
                stamps[name] = stamp
        stale = set(self._files) - set(stamps)
        for name, stamp in stamps.items():
            known = self._files.get(name)
            if known is None or known.stamp != stamp or max(stamp[2], stamp[3]) > known.read_ns - RECENT_NS:
                stale.add(name)
        return self._reread(stale)

    def _follow_links(self) -> bool:
        """Look at files that the folder's watch says nothing of: link targets, and files with a second name."""
        if not self._linked:
            return False
        return self._reread(
            {n for n in self._linked if self._stamp(n) != self._files[n].stamp or self._young(n)}
        )

    def _young(self, name: str) -> bool:
        known = self._files[name]
        return known.stamp is not None and max(known.stamp[2], known.stamp[3]) > known.read_ns - RECENT_NS

    def _stamp(self, name: str) -> _Print | None:
        """Return inode, size, times and link count (0 for a symbolic link); `None` when there is no such file."""
        path = os.path.join(self.folder or "", name)  # noqa: PTH118  # once per file and call
        try:
            own = os.lstat(path)
            info = os.stat(path) if stat.S_ISLNK(own.st_mode) else own  # noqa: PTH116
        except OSError:
            return None
        links = 0 if info is not own else info.st_nlink
        return info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, links

    def _reread(self, names: Iterable[str]) -> bool:
        changed = False
        for name in sorted(names):
            changed |= self._read(name)
        return changed

    def _read(self, name: str) -> bool:
        known = self._files.get(name)
        stamp = self._stamp(name)
        self._linked.discard(name)
        if stamp is None:
            return self._files.pop(name, None) is not None
        if stamp[4] != 1:
            self._linked.add(name)
        path = (self.folder or Path()) / name
        now = time.time_ns()
        good = known.loaded if known else None
        try:
            loaded: Loaded | None = _parsed(
                read_regular(path, 4 * MAX_FILE_CHARS + 1), str(path), Origin.WORKSPACE
            )
            problem = None
        except (TemplateError, OSError) as exc:
            loaded, problem = good, str(exc)
        if known is None or known.problem != problem:
            if problem is not None:
                kept = "its last good version stays" if good else "it is skipped"
                _LOG.warning("template file not in force: %s; %s", problem, kept)
            changed = True
        else:
            changed = False
        same = good is not None and loaded is not None and good.digest == loaded.digest
        if same:
            loaded = good
        self._files[name] = _File(stamp, now, loaded, problem)
        return changed or not same

    # -- what follows from it ------------------------------------------------------------------------

    def _build(self) -> Snapshot:
        templates = dict(self._shipped)
        problems = list(self._shipped_problems)
        own: dict[str, Loaded] = {}
        for name, known in sorted(self._files.items()):
            if known.problem is not None:
                problems.append(
                    Problem(known.loaded.template.name if known.loaded else name, name, known.problem)
                )
            if known.loaded is None:
                continue
            template = known.loaded.template
            if template.name in own:
                first = own[template.name].template.path
                problems.append(
                    Problem(
                        template.name,
                        template.path,
                        f"name '{template.name}' is taken by {first}; rename one",
                    )
                )
                continue
            own[template.name] = known.loaded
        templates.update(own)
        self._compile({n: one for n, one in own.items() if one.template.state.served})
        self._keep_concepts([one.template for one in own.values()])
        live: dict[Hashable, Loaded] = {
            one.key: one for one in templates.values() if one.template.state.served
        }
        found = (self._shipped_set, self._base[0], self._delta[0])
        return Snapshot(templates, tuple(problems), live, tuple(s for s in found if s))

    def _compile(self, own: Mapping[str, Loaded]) -> None:
        """Compile patterns that no set holds yet: into the small set, or all anew when that has grown."""
        keys = {one.key: one for one in own.values()}
        base, delta = self._base[1], self._delta[1]
        if keys.keys() <= base | delta:
            return
        missing = keys.keys() - base
        if len(missing) <= MAX_DELTA and len(base - keys.keys()) <= max(MAX_DELTA, len(keys)):
            self._delta = (_compiled(keys[k] for k in sorted(missing)), frozenset(missing))
        else:
            self._base = (_compiled(keys.values()), frozenset(keys))
            self._delta = (PatternSet([]), frozenset())

    def _keep_concepts(self, own: list[Template]) -> None:
        """Save what compiling cost, once a process, so that the next short-lived process needn't pay again."""
        if self._has_kept or not own or self.folder is None:
            return
        self._has_kept = True
        if all(concepts.is_remembered(t.pattern, t.slots) for t in own):
            return
        with contextlib.suppress(TemplateError):
            write_atomic(self.folder.parent / CONCEPTS, concepts.dump((t.pattern, t.slots) for t in own))


def _is_template(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _parsed(data: bytes, path: str, origin: Origin) -> Loaded:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise TemplateError(f"{path}:1: not UTF-8 (byte {exc.start}); save it as UTF-8") from exc
    digest = content_hash(text)
    template = parse(text, path, origin=origin)
    try:
        compile_pattern(template.pattern, template.slots)
    except PatternError as exc:
        raise TemplateError(f"{path}: pattern: {exc}") from exc
    return Loaded(template, digest, f"{origin.value}:{digest}:{template.name}")


def _compiled(loaded: Iterable[Loaded]) -> PatternSet:
    return PatternSet(
        [
            Entry(one.key, one.template.pattern, one.template.slots)
            for one in loaded
            if one.template.state.served
        ]
    )


def disabled(template: Template) -> Template:
    """Return the workspace's copy of a template, out of service."""
    return replace(template, state=State.DISABLED, origin=Origin.WORKSPACE)
