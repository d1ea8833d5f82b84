"""Words of an intent as retrieval compares them: concepts for synonyms, one shape token for each kind of value.

`tokens("who calls parse_row in lib/?")` gives `call`, `NAME`, `DIR`: two requests of one kind look alike whatever names
they hold. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PHRASES: tuple[tuple[str, str], ...] = (
    (r"how (often|many times)|number of|count of|how many|how much|total", " count "),
    (r"true or false|yes or no|is there|are there|does any|do any|whether", " bool "),
    (r"(start|begin)(s|ing)? with|prefix(ed)?", " starts "),
    (r"end(s|ing)? (with|in)|suffix(ed)?", " ends "),
    (r"more than (once|one)|two or more|several|twice|multiple|duplicated?s?|repeated", " repeated "),
    (r"in (both|common)|common to|shared by|also in|exists? in both|as well as", " both "),
    (
        r"each once|no (duplicates|repeats)|without (duplicates|repeats)|only once|once each|distinct|deduplicated",
        " unique ",
    ),
    (r"never called|without (a |any )?callers?|not called|nobody calls|uncalled|unused", " none call "),
    (
        r"(that )?(are|is) not|isn't|aren't|doesn't|don't|do not|does not|has no|have no|lacking|lacks?",
        " none ",
    ),
    (
        r"(derive|inherit)(s|d|ing)?( directly)? from|subclass(es)?|base class(es)?|parent class|extends?",
        " inherit ",
    ),
    (r"line count|lines of code", " count line "),
    (r"file ?names?|base ?names?", " file name "),
    (r"call sites?|usages?|call(s|ed|ing|ers?)?|invo(ke|kes|ked|king|cations?)|uses?|used", " call "),
    (
        (
            r"(?:in|under|below|inside|within|of) (?:the )?"
            r"(?:src|lib|app|pkg|core|docs?|scripts|tools|data|server|examples)(?: folder)?"
        ),
        " DIR ",
    ),
    (r"(?:in|under|below|inside|within|outside) (?:the )?(?:tests|testing)", " DIR test "),
    (r"grouped by|group by|for each|for every|per|by (file|folder|class|name|type)", " per "),
    (r"file:line|path:line", " fileline "),
)
_CONCEPTS = """
define defined defines definition definitions declare declared declares declaration implemented implements \
    implementation implementations locate live lives jump goto
file files module modules page pages
search grep occurrence occurrences contain contains containing mention mentions mentioning match matches matching \
    occur occurs appear appears
call references reference referenced hits hit exercise exercises exercised
dict map mapping dictionary ->
count counts tally
import imports imported importing
unique uniq once
none without not outside ignore ignoring exclude excluded excluding except never missing no lack
test tests testing
most highest top largest biggest longest max maximum
least lowest smallest shortest min minimum fewest
folder folders directory directories dir dirs
function functions def defs
class classes
method methods
line lines
name names named called
outline structure overview contents
private underscore underscores leading
dunder dunders magic
instantiate instantiated instantiates create creates created construct constructed
first earliest head beginning
last final tail end latest newest
decorator decorators decorated @
raise raises raised throw throws
version versions release releases
sort sorted order ordered alphabetical alphabetically
value assigned assign set
code source body
bool exist exists any anywhere anybody
longer more over greater exceeding
doc docs documentation manual
python py
heading headings title titles section sections
"""
_SYNONYMS = {
    word: line.split()[0]
    for line in _CONCEPTS.replace("\\\n", " ").strip().splitlines()
    for word in line.split()
}
_STOP = frozenset(
    """
    the a an of in is are to me please for i it its s just be at by on with this that which what who where whats
    wheres show list give print display tell find get all every from there do does did can you could want need my our
    one project repo repository codebase under below inside within and or only some have has was were thing things
    place places tells gets got gives wherever somewhere bunch
    """.split()  # noqa: SIM905  # prose is easier to read and to add to
)
KINDS = ("NAME", "PATH", "DIR", "GLOB", "NUMBER", "QUOTED")
"""Shape tokens: the kinds of values an intent can state."""
_QUOTES = {0x2019: "'", 0x201C: '"', 0x201D: '"'}
_CODE = "\x02"
_QUOTED = re.compile(r"`([^`\n]*)`|\"([^\"\n]*)\"|(?<!\w)'([^'\n]+)'(?!\w)")
_PIECE = re.compile(r"->|[\w./*@<>\\-]+")
_FILE = re.compile(r"\.[A-Za-z]\w{0,5}$")
_NUMBERS = frozenset(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twenty"]
)
_SUFFIXES = ("ing", "ies", "es", "ed", "s", "e")


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Return the concept and shape tokens of an intent, in order."""
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        if match.group(1) and re.fullmatch(r"[\w.]+", match.group(1)):
            return f" {_CODE} "
        quoted.append(next(g for g in match.groups() if g is not None))
        return " \x00 "

    text = _QUOTED.sub(hide, text.translate(_QUOTES))
    values = iter(quoted)
    found: list[str] = []
    hidden: list[str] = []

    def keep(match: re.Match[str]) -> str:
        hidden.append(match.group())
        return f" \x01{len(hidden) - 1} "

    text = re.sub(r"\S*[/*_@]\S*|\w+\.\w\S*|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*", keep, text)
    text = text.lower()
    for pattern, concept in _PHRASES:
        text = (
            re.sub(rf"(?<![\w/]){pattern}(?!\w)", concept, text)
            if "|" not in pattern
            else re.sub(rf"(?<![\w/])(?:{pattern})(?!\w)", concept, text)
        )
    for piece in re.findall(r"\x00|\x02|\x01\d+|->|[\w.*@]+", text):
        if piece == _CODE:
            found.append("NAME")
        elif piece == "\x00":
            found.append("QUOTED")
            found.extend(_shape(next(values)))
        elif piece[0] == "\x01":
            found.extend(_shape(hidden[int(piece[1:])]))
        else:
            found.extend(_word(piece))
    return tuple(found)


def _shape(value: str) -> list[str]:
    """Name the kind of a value, plus the words in it that tell what it is about."""
    value = value.strip(".,;:?!()[]{}\"'")
    if value.startswith("@"):
        return ["decorator", "NAME"]
    if "*" in value:
        return ["GLOB", *[_SYNONYMS.get(w, w) for w in re.findall(r"[a-z]{2,}", value.lower())]]
    if "/" in value or _FILE.search(value):
        name = value.rsplit("/", 1)[-1]
        kind = "PATH" if _FILE.search(name) else "DIR"
        return [kind, "test"] if "test" in value else [kind]
    if value.isdigit():
        return ["NUMBER"]
    if value.startswith("__") and value.endswith("__"):
        return ["NAME", "dunder"]
    if re.fullmatch(r"[\w.]+", value):
        return ["NAME"]
    return []


def _word(word: str) -> list[str]:
    word = word.strip(".")
    if not word or word in _STOP:
        return []
    if word.isdigit() or word in _NUMBERS:
        return ["NUMBER"]
    known = _SYNONYMS.get(word)
    if known is not None:
        return [known]
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            stem = word[: -len(suffix)]
            return [_SYNONYMS.get(stem, _SYNONYMS.get(stem + "e", stem))]
    return [word]


@lru_cache(maxsize=4096)
def plain_words(text: str) -> frozenset[str]:
    """Return an intent's lower-case words, values aside: what two phrasings share to the letter."""
    return frozenset(w for w in re.findall(r"(?<![\w./*`'\"-])[a-z]+(?![\w./*_-])", text.lower()))
