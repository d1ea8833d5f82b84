r"""One `.gitignore` file's text → which entries it ignores or takes back, as git decides it.

Each entry is judged by itself, its folder having been judged before; the last pattern that matches wins. Libraries
that judge a whole path at once get `*` with `!*/` and `!*.py` wrong, hence these rules. Linear time (RE2).

Source: gitignore(5) and wildmatch with WM_PATHNAME: `*`, `?` and sets stay inside a path part, `**` between slashes is
any number of folders, `\` quotes the next character, an unclosed `[` or a final `\` matches nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_POSIX = re.compile(r"\[:(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit):\]")
_NEVER = "[^\\x00-\\x{10FFFF}]"


@dataclass(frozen=True, slots=True)
class _Pattern:
    """One line: takes back (`!`), folders only (final `/`), basename or path, and its regular expression."""

    back: bool
    folders_only: bool
    by_name: bool
    source: str


class Rules:
    """The patterns of one file, ready to match."""

    def __init__(self, patterns: tuple[_Pattern, ...]) -> None:
        """Compile `patterns`, in the file's order."""
        self._patterns = [(one, _compiled(one.source)) for one in reversed(patterns)]
        names = [one.source for one in patterns if one.by_name]
        paths = [one.source for one in patterns if not one.by_name]
        self._any_name = _compiled("|".join(f"(?:{one})" for one in names)) if names else None
        self._any_path = _compiled("|".join(f"(?:{one})" for one in paths)) if paths else None

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Return whether the entry is ignored (`True`), taken back (`False`) or not spoken of (`None`).

        Args:
            path: Relative to the folder the rules stand in, without a final slash.
            folder: The entry is a folder.
        """
        whole = path.encode()
        name = whole[whole.rfind(b"/") + 1 :]
        by_name = self._any_name is not None and self._any_name.fullmatch(name) is not None
        by_path = self._any_path is not None and self._any_path.fullmatch(whole) is not None
        if not by_name and not by_path:
            return None
        for one, compiled in self._patterns:
            if one.folders_only and not folder:
                continue
            if compiled.fullmatch(name if one.by_name else whole) is not None:
                return not one.back
        return None


@lru_cache(maxsize=512)
def rules_of(text: str) -> Rules:
    """Return the rules that an ignore file's text holds."""
    parsed = (_parsed(line) for line in text.split("\n"))
    return Rules(tuple(one for one in parsed if one is not None))


def _compiled(source: str) -> Any:
    import re2  # noqa: PLC0415  # 20 ms to load, only scans need it

    options = re2.Options()
    options.log_errors = False
    options.dot_nl = True
    options.never_capture = True
    return re2.compile(source.encode(), options)


def _parsed(line: str) -> _Pattern | None:
    """Read one line; `None` when it holds no pattern."""
    if line.startswith("#"):
        return None
    line = _without_trailing_spaces(line)
    back = line.startswith("!")
    body = line[1:] if back else line
    folders_only = body.endswith("/")
    body = body[:-1] if folders_only else body
    if not body:
        return None
    by_name = "/" not in body
    body = body.removeprefix("/")
    return _Pattern(back, folders_only, by_name, _translated(body))


def _without_trailing_spaces(line: str) -> str:
    """Drop spaces at the end that no backslash quotes."""
    end = len(line)
    while end and line[end - 1] == " ":
        slashes = len(line[: end - 1]) - len(line[: end - 1].rstrip("\\"))
        if slashes % 2:
            break
        end -= 1
    return line[:end]


def _translated(body: str) -> str:
    out: list[str] = []
    i = 0
    while i < len(body):
        char = body[i]
        if char == "*":
            end = i
            while end < len(body) and body[end] == "*":
                end += 1
            between = end - i == 2 and (i == 0 or body[i - 1] == "/")
            if between and body.startswith("/", end):
                out.append("(?:.*/)?")
                i = end + 1
                continue
            out.append(".*" if between and end == len(body) else "[^/]*")
            i = end
        elif char == "?":
            out.append("[^/]")
            i += 1
        elif char == "[":
            made, i = _set(body, i + 1)
            if made is None:
                return _NEVER
            out.append(made)
        elif char == "\\":
            if i + 1 == len(body):
                return _NEVER
            out.append(_literal(body[i + 1]))
            i += 2
        else:
            out.append(_literal(char))
            i += 1
    return "".join(out)


def _literal(char: str) -> str:
    return char if char.isalnum() or char in "_/" or ord(char) > 127 else f"\\x{{{ord(char):x}}}"


def _set(body: str, i: int) -> tuple[str | None, int]:
    """Return the class of a `[…]` whose inside starts at `i`, and where the text goes on; `None` when unclosed."""
    negated = body[i : i + 1] in ("!", "^")
    i += negated
    parts: list[str] = []
    first = True
    while i < len(body):
        if body[i] == "]" and not first:
            inner = "".join(parts)
            return (f"[^/{inner}]" if negated else f"[{inner}]"), i + 1
        first = False
        posix = _POSIX.match(body, i)
        if posix:
            parts.append(posix[0])
            i = posix.end()
            continue
        char, i = _quoted(body, i)
        if char is None:
            return None, i
        if body[i : i + 1] == "-" and body[i + 1 : i + 2] not in ("", "]"):
            last, i = _quoted(body, i + 1)
            if last is None:
                return None, i
            if char <= last:
                parts.append(f"{_literal(char)}-{_literal(last)}")
            elif not parts:
                parts.append("\\x{0}")  # a range that runs backwards holds nothing
            continue
        parts.append(_literal(char))
    return None, i


def _quoted(body: str, i: int) -> tuple[str | None, int]:
    """Return the character at `i`, a backslash quoting the next one, and where the text goes on."""
    if body[i] != "\\":
        return body[i], i + 1
    return (body[i + 1], i + 2) if i + 1 < len(body) else (None, i + 1)
