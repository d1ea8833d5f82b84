"""Slot types: which captured text may fill a slot, and which program value it becomes.

Types, from narrow to wide: number, language, identifier, dotted, glob, path, dir, word; `text` is a quoted span.
`path` (a file) and `dir` exclude one another, so "in src/a.py" and "in src" never meet.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from lackpy.intent.tokens import CLOSE, OPEN
from lackpy.resources import text as resource

# Words of ordinary English that never name a thing in code when they stand unquoted.
STOP = frozenset(
    """
    i me my mine we us our ours you your yours it its itself they them their theirs he she this that these those
    one ones someone somebody something anyone anybody anything everyone everybody everything nobody nothing none
    who whom whose what which where when why how whether if because since while until than then there here
    all any some each every both either neither no not never nor only just also even still yet again too very
    more most less least few many much several other others another same such own else enough
    and or but plus minus with without within of for to from by at in on into onto over under below above between
    inside outside beneath behind before after through across along around about against except excluding including
    besides beyond per via like as is are was were be been being am do does did done doing has have had having
    can could will would shall should may might must cannot can't don't doesn't isn't aren't wasn't won't
    the a an first last next previous number numbers amount times please thanks
    calls caller callers called calling usage usages definition definitions declaration declarations
    function functions method methods class classes file files filename filenames folder folders directory directories
    dir dirs module modules package packages line lines name names symbol symbols identifier identifiers variable
    variables constant constants code codes test tests testing-suite suite source sources implementation import imports
    importing comment comments todo todos fixme fixmes place places occurrence occurrences matches
    repo repository project codebase workspace everywhere anywhere somewhere
    """.split()  # noqa: SIM905  a block of words reads better than a list of strings
)
# After "in" these read as manner, not as a folder.
_DIR_STOP = frozenset(
    """
    order reverse reversed general detail details full total sum particular parallel use production turn short brief
    summary alphabetical ascending descending upper lower case question half front addition context place practice
    date color colour one-line depth random sorted sync common place time person isolation memory
    """.split()  # noqa: SIM905  as above
)
# Words that are folders as often as they are English; a `dir` slot takes them.
DIR_WORDS = frozenset(
    [
        "test",
        "tests",
        "testing",
        "code",
        "source",
        "sources",
        "package",
        "packages",
        "module",
        "modules",
        "repo",
        "lib",
    ]
)
_TWO_TO_TWENTY = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
NUMBER_WORDS = {word: value for value, word in enumerate(_TWO_TO_TWENTY, 2)}

_FILE_NAMES = frozenset(
    [
        "makefile",
        "dockerfile",
        "license",
        "licence",
        "readme",
        "changelog",
        "changes",
        "contributing",
        "authors",
        "notice",
        "copying",
        "gemfile",
        "rakefile",
        "procfile",
        "jenkinsfile",
        "vagrantfile",
        "justfile",
        "codeowners",
        "pipfile",
    ]
)
_DOT_DIRS = frozenset(
    [
        ".github",
        ".git",
        ".vscode",
        ".idea",
        ".lackpy",
        ".circleci",
        ".gitlab",
        ".config",
        ".venv",
        ".tox",
        ".cache",
        ".husky",
    ]
)
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9_]{0,11}$|\.7z$")
_DIR_SUFFIXES = (".d", ".app", ".framework", ".egg-info", ".dist-info", ".lproj", ".xcodeproj")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_MODULE_LIKE_EXTENSIONS = frozenset(("c", "h", "m", "d", "r", "go", "ex", "cs", "app"))


def is_file_path(text: str) -> bool:
    """Tell whether bare text names a file rather than a folder: by its last segment's extension or known name.

    >>> [is_file_path(p) for p in ("src/a.py", "src/click", "LICENSE", ".github", "docs/v1.2", "setup.py")]
    [True, False, True, False, False, True]
    """
    _, slash, last = text.rpartition("/")
    if not last or last in _DOT_DIRS or last.endswith(_DIR_SUFFIXES):
        return False
    if last.lower() in _FILE_NAMES:
        return True
    found = _EXTENSION.search(last)
    if found is None:
        return False
    return bool(slash) or known_extension(last) or last.startswith(".")


def known_extension(name: str) -> bool:
    """Tell whether a name ends in an extension that files have: `setup.py` does, `os.path` doesn't."""
    extension = name.rpartition(".")[2].lower()
    return "." in name and (extension in extensions() or extension in _PLAIN_EXTENSIONS)


_PLAIN_EXTENSIONS = frozenset(
    [
        "lock",
        "log",
        "in",
        "env",
        "bak",
        "conf",
        "png",
        "jpg",
        "svg",
        "gif",
        "pdf",
        "gz",
        "zip",
        "whl",
        "so",
        "dll",
        "exe",
        "typed",
        "mk",
        "cmake",
        "gradle",
    ]
)


@cache
def languages() -> dict[str, str]:
    """Return said name (lower case) → file extension."""
    table = tomllib.loads(resource("data/languages.toml"))["extensions"]
    return {name: ext for ext, names in table.items() for name in names}


@cache
def extensions() -> dict[str, str]:
    """Return file extension → canonical language name."""
    table = tomllib.loads(resource("data/languages.toml"))["extensions"]
    return {ext: names[0] for ext, names in table.items()}


def language_extension(said: str) -> str | None:
    """Return the extension for a said language (`Python`, `.py`, `*.py`), or `None`."""
    name = said.lower().removeprefix("*")
    if name.startswith("."):
        return name[1:] if name[1:] in extensions() else None
    return languages().get(name)


@dataclass(frozen=True, slots=True)
class SlotType:
    """One kind of hole.

    Attributes:
        name: As written in a template's front matter.
        rank: 1 = widest; a pattern with narrower slots is more specific.
        bare: RE2 source for an unquoted value, or `None` when only a quoted one will do.
        quoted: A quoted value may fill it too.
        convert: Captured text and whether it was quoted → program value, or `None` when it may not fill the slot.
    """

    name: str
    rank: int
    bare: str | None
    quoted: bool
    convert: Callable[[str, bool], str | int | None]

    def regex(self, *, must_quote: bool = False) -> str:
        """Return RE2 source for light text."""
        quoted = f"{OPEN}[^{OPEN}{CLOSE}]+{CLOSE}"
        if self.bare is None or must_quote:
            return quoted
        return f"(?:{self.bare}|{quoted})" if self.quoted else self.bare

    def value(self, captured: str) -> str | int | None:
        """Return the program value for text that `regex` matched; `None` refuses it."""
        quoted = captured.startswith(OPEN)
        return self.convert(captured[1:-1] if quoted else captured, quoted)


def _identifier(text: str, quoted: bool) -> str | None:
    if not text.isidentifier():
        return None
    if quoted or _codeish(text):
        return text
    lower = text.lower()
    return None if lower in STOP or (lower in _FILE_NAMES and text != lower) else text


def _codeish(text: str) -> bool:
    """Tell whether text can only be a name in code, whatever word it resembles."""
    return (
        "_" in text
        or any(c.isdigit() for c in text)
        or (any(c.isupper() for c in text[1:]) and not text.isupper())
    )


def _dotted(text: str, quoted: bool) -> str | None:
    if not _DOTTED.fullmatch(text) or known_extension(text):
        return None
    return text if quoted or text.lower() not in STOP or _codeish(text) else None


def _no_marks(text: str) -> bool:
    return bool(text) and not any(c in '*?"<>|[]{}\\\n\t' or c == "\x00" for c in text) and "://" not in text


def _path(text: str, quoted: bool) -> str | None:
    text = text.removeprefix("./")
    return (
        text
        if _no_marks(text) and not text.startswith("-") and is_file_path(text) and (quoted or " " not in text)
        else None
    )


def _dir(text: str, quoted: bool) -> str | None:
    text = text.removeprefix("./").rstrip("/")
    if not _no_marks(text) or text in (".", "..") or text.startswith("-") or is_file_path(text):
        return None
    if quoted or "/" in text:
        return text
    lower = text.lower()
    stop = (lower in STOP or lower in _DIR_STOP) and lower not in DIR_WORDS
    said = stop or lower in NUMBER_WORDS or text.isdigit()
    return None if said or (lower in languages() and lower not in DIR_WORDS) else text


def _glob(text: str, quoted: bool) -> str | None:
    return (
        text if any(c in text for c in "*?[") and "\n" not in text and (quoted or " " not in text) else None
    )


def _number(text: str, quoted: bool) -> int | None:
    if text.isascii() and text.isdigit():
        return int(text)
    return None if quoted else NUMBER_WORDS.get(text.lower())


def _language(text: str, _quoted: bool) -> str | None:
    return language_extension(text)


def _word_value(text: str, quoted: bool) -> str | None:
    return text if text and (quoted or text.lower() not in STOP) else None


def _text(text: str, quoted: bool) -> str | None:
    return text if quoted and text else None


_IDENT = r"[\pL_][\pL\pN\pM_]*"
_BARE = rf"[^\s{OPEN}{CLOSE}]+"
TYPES: dict[str, SlotType] = {
    t.name: t
    for t in (
        SlotType(
            "number", 9, r"(?:[0-9]{1,9}|" + "|".join(NUMBER_WORDS) + ")", quoted=False, convert=_number
        ),
        SlotType("language", 8, _BARE, quoted=True, convert=_language),
        SlotType("identifier", 7, _IDENT, quoted=True, convert=_identifier),
        SlotType("dotted", 6, rf"{_IDENT}(?:\.{_IDENT})*", quoted=True, convert=_dotted),
        SlotType("path", 5, _BARE, quoted=True, convert=_path),
        SlotType("dir", 5, _BARE, quoted=True, convert=_dir),
        SlotType("glob", 4, _BARE, quoted=True, convert=_glob),
        SlotType("text", 3, None, quoted=True, convert=_text),
        SlotType("word", 2, _BARE, quoted=True, convert=_word_value),
    )
}
ALIASES = {
    "module": "dotted",
    "symbol": "identifier",
    "name": "identifier",
    "file": "path",
    "folder": "dir",
    "directory": "dir",
    "quoted": "text",
    "string": "text",
    "int": "number",
    "integer": "number",
    "lang": "language",
}


def slot_type(name: str) -> SlotType:
    """Return the slot type called `name` (aliases such as `module` or `file` included).

    Raises:
        KeyError: There is none; the message lists them.
    """
    found = TYPES.get(ALIASES.get(name, name))
    if found is None:
        raise KeyError(f"slot type '{name}' is unknown; use one of {', '.join(TYPES)}")
    return found
