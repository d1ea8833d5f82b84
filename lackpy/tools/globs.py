"""Glob patterns → which paths they match.

`*` and `?` stay inside one path part, `**` is any number of folders (also none), `[…]` a set, `{a,b}` alternatives.
A name that starts with "." matches only a pattern part that does. Matching takes time linear in the path (RE2).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from lackpy.tools.errors import ToolError

_MAGIC = re.compile(r"[*?\[{]")
_ALTERNATIVES = 256  # patterns that one {…} may expand to


@dataclass(frozen=True, slots=True)
class Glob:
    """A compiled pattern.

    Attributes:
        pattern: Without a leading "./".
        hidden: Some part of it names hidden entries.
        plain: It has no special characters.
        matches: Tells whether a relative path matches.
    """

    pattern: str
    hidden: bool
    plain: bool
    matches: Callable[[str], bool]


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> Glob:
    """Return `pattern` compiled.

    Raises:
        ToolError: It points outside the workspace or isn't a glob.
    """
    while pattern.startswith("./"):
        pattern = pattern[2:].lstrip("/")
    if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
        raise ToolError(
            f"glob {pattern!r} points outside the workspace; write it relative, e.g. 'src/**/*.py'"
        )
    plain = _MAGIC.search(pattern) is None
    alternatives = [pattern] if plain else _expand(pattern)
    hidden = any(part.startswith(".") for one in alternatives for part in one.split("/"))
    return Glob(pattern, hidden, plain, _matcher(alternatives, pattern, hidden))


def _matcher(alternatives: list[str], pattern: str, hidden: bool) -> Callable[[str], bool]:
    if alternatives in (["**/*"], ["**"]):
        return lambda _path: True
    if (
        len(alternatives) == 1
        and alternatives[0].startswith("**/*.")
        and _MAGIC.search(alternatives[0], 5) is None
    ):
        ending = alternatives[0][4:]
        if "/" not in ending:
            return lambda path: path.endswith(ending)
    import re2  # noqa: PLC0415  # the two patterns above need no engine

    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    options.never_capture = True
    source = "|".join(f"(?:{_translate(one, hidden)})" for one in alternatives)
    try:
        compiled = re2.compile(source, options)
    except re2.error as exc:
        raise ToolError(
            f"glob {pattern!r} can't be read; special characters are * ** ? [abc] {{a,b}}"
        ) from exc
    return lambda path: compiled.fullmatch(path) is not None


def _translate(pattern: str, hidden: bool) -> str:
    """Return the regular expression of one pattern without braces; `hidden` keeps wildcards off dot names."""
    out: list[str] = []
    i = 0
    while i < len(pattern):
        starts = i == 0 or pattern[i - 1] == "/"
        visible = "[^./]" if hidden and starts else "[^/]"
        if starts and pattern.startswith("**/", i):
            out.append(f"(?:{visible}[^/]*/)*")
            i += 3
        elif pattern.startswith("**", i):
            out.append(f"(?:{visible}[^/]*(?:/{visible}[^/]*)*)?" if hidden and starts else ".*")
            i += 2
        elif pattern[i] == "*":
            whole = starts and (i + 1 == len(pattern) or pattern[i + 1] == "/")
            rest = "[^/]*"
            out.append(visible + rest if whole else f"(?:{visible}{rest})?" if hidden and starts else rest)
            i += 1
        elif pattern[i] == "?":
            out.append(visible)
            i += 1
        elif pattern[i] == "[" and (end := pattern.find("]", i + 2)) > 0:
            body = pattern[i + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            out.append("[^/" + body[1:] + "]" if body[0] in "!^" else f"[{body}]")
            i = end + 1
        else:
            out.append(re.escape(pattern[i]))
            i += 1
    return "".join(out)


def _expand(pattern: str) -> list[str]:
    """Return the patterns that `{a,b}` stands for; braces without a comma are literal."""
    start, pieces, depth, parts = -1, [], 0, [0]
    for i, char in enumerate(pattern):
        if char == "{":
            if depth == 0:
                start, parts = i, [i + 1]
            depth += 1
        elif char == "," and depth == 1:
            parts.append(i + 1)
        elif char == "}" and depth:
            depth -= 1
            if depth == 0 and len(parts) > 1:
                ends = [p - 1 for p in parts[1:]] + [i]
                pieces = [pattern[a:b] for a, b in zip(parts, ends, strict=True)]
                break
    if not pieces:
        return [pattern]
    heads = [pattern[:start]]
    middles = [one for piece in pieces for one in _expand(piece)]
    tails = _expand(pattern[i + 1 :])
    if len(middles) * len(tails) > _ALTERNATIVES:
        raise ToolError(
            f"glob {pattern[:80]!r} has more than {_ALTERNATIVES} alternatives; use a wider pattern"
        )
    return ["".join(parts) for parts in product(heads, middles, tails)]
