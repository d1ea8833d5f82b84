"""`find_definitions`, `find_callers` and `outline`, on every language of `languages.py`.

Files are read as `read` reads them and searched for the name's text before anything is parsed. Matching is by syntax:
a name is a name wherever it stands. A qualified name narrows: `A.run` is `run` of class `A`, `m.get` is `get` on `m`.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator

from lackpy.tools.decode import decode, utf8
from lackpy.tools.errors import ToolError
from lackpy.tools.files import FileTools
from lackpy.tools.languages import Language, language_of
from lackpy.tools.limits import ROWS, Clock, cut, text_argument
from lackpy.tools.parse import Call, Definition, FactCache, Facts
from lackpy.tools.rows import CallerRow, DefinitionRow, OutlineRow

Hints = Callable[[Language], str]
_SPLIT = re.compile(r"::|\.|(?<=\w)#")
_SELF = frozenset({"self", "cls", "this", "super()", "super", "$this", "Self", "static"})


class CodeTools:
    """Searches the definitions and calls of one workspace."""

    def __init__(self, files: FileTools) -> None:
        """Search the files that `files` lists."""
        self._files = files
        self._cache = FactCache()

    def find_definitions(self, name: str) -> list[DefinitionRow]:
        """Find functions, classes and methods by name; `*` matches any text, `A.run` narrows to class or module `A`.

        Raises:
            ToolError: `name` is no text or empty, or too many definitions match.
        """
        wanted = _Wanted(name)
        rows: list[DefinitionRow] = []
        for path, facts, lines in self._scan(wanted, lambda one: one.definition_hint, Clock()):
            rows += [
                {"name": d.name, "type": d.type, "file": path, "line": d.line, "text": lines(d.line)}
                for d in facts.defined(wanted.matches)
                if wanted.defined_in(d, path)
            ]
            wanted.bounded(rows)
        return rows

    def find_callers(self, name: str) -> list[CallerRow]:
        """Find call sites of a function or method by name, as written in the source; `m.get` narrows to calls on `m`.

        Raises:
            ToolError: `name` is no text or empty, or too many calls match.
        """
        wanted = _Wanted(name)
        rows: list[CallerRow] = []
        for path, facts, lines in self._scan(wanted, lambda one: one.call_hint, Clock()):
            rows += [
                {"name": c.within, "file": path, "line": c.line, "text": lines(c.line)}
                for c in facts.called(wanted.matches)
                if wanted.called_on(c)
            ]
            wanted.bounded(rows)
        return rows

    def outline(self, path: str) -> list[OutlineRow]:
        """List the definitions of one file in line order; an unknown language gives an empty list.

        Raises:
            ToolError: As `read`.
        """
        text = decode(self._files.workspace.load(path))
        if text is None:
            raise ToolError(f"binary file: {path!r}; only source text has an outline")
        language = language_of(path)
        if language is None:
            return []
        facts = self._cache.facts(text.encode(), language)
        return [{"name": name, "type": kind, "line": line} for name, kind, line, _ in facts.definitions]

    def _scan(
        self, wanted: _Wanted, hints: Hints, clock: Clock
    ) -> Iterator[tuple[str, Facts, Callable[[int], str]]]:
        """Yield (path, facts, line number → text) of every file whose text may hold what is wanted."""
        workspace, needle = self._files.workspace, wanted.needle
        for path in self._files.listing.files(clock):
            language = language_of(path)
            if language is None:
                continue
            clock.check()
            data = workspace.load_listed(path)
            if data is None or (needle not in data and b"\0" not in data):
                continue
            source = utf8(data)
            if source is None or needle not in source:
                continue
            hint = hints(language)
            if hint and wanted.hinted(hint).search(source) is None:
                continue
            yield path, self._cache.facts(source, language), _lines(source)


def _lines(source: bytes) -> Callable[[int], str]:
    split: list[bytes] = []

    def line(number: int) -> str:
        if not split:
            split.extend(source.split(b"\n"))
        return cut(split[number - 1].decode()) if number <= len(split) else ""

    return line


class _Wanted:
    """A name as asked for: its last part, what qualifies it, and the bytes a matching file must hold."""

    def __init__(self, name: object) -> None:
        given = text_argument(name, "'name'", 500).strip().removesuffix("()")
        parts = [part.strip() for part in _SPLIT.split(given)]
        self._given = given
        self.name = parts[-1] or given
        self.qualifier = ".".join(part for part in parts[:-1] if part)
        pieces = self.name.split("*")
        self._wild = len(pieces) > 1
        self.needle = max(pieces, key=len).lstrip("~").encode()
        self._hinted: dict[str, re.Pattern[bytes]] = {}

    def hinted(self, hint: str) -> re.Pattern[bytes]:
        """Return a language's hint with the name filled in."""
        if hint not in self._hinted:
            name = r"[^\s(:]*".join(re.escape(piece) for piece in self.name.split("*"))
            self._hinted[hint] = re.compile(hint.replace("NAME", name).encode())
        return self._hinted[hint]

    def matches(self, name: str) -> bool:
        return fnmatch.fnmatchcase(name, self.name) if self._wild else name == self.name

    def defined_in(self, found: Definition, path: str) -> bool:
        if not self.qualifier:
            return True
        module = path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
        full = f".{module}.{found.owner}" if found.owner else f".{module}"
        return full.endswith(f".{self.qualifier}")

    def called_on(self, found: Call) -> bool:
        if not self.qualifier:
            return True
        last = self.qualifier.rpartition(".")[2]
        if found.receiver in _SELF:
            return found.owner == last
        receiver = found.receiver.replace("::", ".").replace("->", ".")
        on = receiver.rpartition(".")[2]
        return (
            on == last
            or receiver == self.qualifier
            or (receiver.startswith(f"{last}(") and receiver.endswith(")"))
        )

    def bounded(self, rows: list[DefinitionRow] | list[CallerRow]) -> None:
        if len(rows) > ROWS:
            raise ToolError(f"{self._given!r} matches more than {ROWS:,} places; give a longer name")
