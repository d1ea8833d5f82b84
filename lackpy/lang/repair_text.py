"""Text repairs: from what a small model wrote to the lines that are its program. Each guesses; each is recorded.

Consumes and produces text, never raises. A repair is tried only while the text as it stands isn't a program, so a
program whose string literals hold `</think>`, fences or curly quotes is never touched.
"""

from __future__ import annotations

import ast
import keyword
import re
import textwrap
import unicodedata
import warnings
from collections.abc import Callable, Iterable

MAX_LINES = 80
"""Longest answer, in lines, in which a program is looked for between prose."""
Known = Callable[[str], bool]
"""Tells whether a name is a tool, builtin or parameter."""

_THINK_PAIR = re.compile(
    r"<(think|thinking|\|begin_of_thought\|)>.*?<(/think|/thinking|\|end_of_thought\|)>", re.DOTALL
)
_THINK_CLOSE = re.compile(r"\A.*<(/think|/thinking|\|end_of_thought\|)>", re.DOTALL)
_THINK_OPEN = re.compile(r"<(think|thinking|\|begin_of_thought\|)>")
_SOLUTION = re.compile(r"<\|(begin|end)_of_solution\|>")
_END_MARK = re.compile(
    r"\s*(?:</s>|<\|[a-zA-Z_]{2,30}\|>?|<end_of_turn>|<eos>|</?(?:code|python|tool_call|answer|cell)\b[^>\n]*>?|<\uff5c[^>\n]*>?)\s*\Z"
)
_LEAD_MARK = re.compile(r"\A\s*(?:<s>|<\|[a-zA-Z_]{2,30}\|>|<(?:code|python|answer|cell)>)\s*")
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_STRAY_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*\w*[ \t]*$", re.MULTILINE)
_PROMPT = re.compile(r"^[ \t]*(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?|\s*\.\.\.: )(.*)$")
_OUT = re.compile(r"^[ \t]*Out ?\[\d*\]:")
_RESULT = re.compile(r"^([ \t]*(?!def\b|async\b)\w+\(.*\))[ \t]*->[ \t]*[^\n]*[^:\s][ \t]*$", re.MULTILINE)
_INLINE = re.compile(r"`([^`\n]+)`")


def parses(text: str) -> bool:
    """Tell whether `text` is Python with at least one statement."""
    tree = tree_of(text)
    return tree is not None and bool(tree.body)


def tree_of(text: str) -> ast.Module | None:
    """Return the syntax tree, `None` when there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def strip_thinking(text: str) -> str | None:
    """Drop reasoning blocks; `None` when the reasoning never ended, so that there is no program."""
    text = _SOLUTION.sub("", _THINK_PAIR.sub("", text))
    text = _THINK_CLOSE.sub("", text)
    if _THINK_OPEN.search(text):
        head = _THINK_OPEN.split(text)[0]
        return head if parses(head) else None
    return text


def strip_marks(text: str) -> str:
    """Drop chat-template tokens and half-written closing tags at both ends."""
    text = _LEAD_MARK.sub("", text)
    while True:
        shorter = _END_MARK.sub("", text)
        if shorter == text:
            return text
        text = shorter


def unfence(text: str) -> str:
    """Return the fenced code: the first block that parses, else the first; text without a fence as it is."""
    blocks = [textwrap.dedent(m.group(3)).strip("\n") for m in _FENCE.finditer(text)]
    blocks = [b for b in blocks if b.strip()]
    if blocks:
        python = [b for b in blocks if parses(b)]
        return python[0] if python else blocks[0]
    return _STRAY_FENCE.sub("", text)


def unprompt(text: str) -> str:
    """Drop `>>>`, `...` and `In [1]:` prompts, and the output lines of such a session."""
    lines = text.split("\n")
    marked = [_PROMPT.match(line) for line in lines]
    if not any(marked):
        return text
    return "\n".join(m.group(1) for m in marked if m)


def without_results(text: str) -> str:
    """Drop what a call returns where a line repeats a tool's signature: `glob("*.py") -> list[str]`."""
    return _RESULT.sub(r"\1", text)


_CODE_CHARS = {
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u201c": '"', "\u201d": '"',
    "\u201e": '"', "\u201f": '"',
    "\u00ab": '"', "\u00bb": '"', "\u2032": "'", "\u2033": '"', "\u2010": "-", "\u2011": "-", "\u2012": "-",
    "\u2013": "-",
    "\u2014": "-", "\u2212": "-", "\u00d7": "*", "\u2044": "/", "\u2192": "->", "\u2026": "...", "\u3001": ",",
    "\u3002": ".",
    "\u2264": "<=", "\u2265": ">=", "\u2260": "!=",
}  # fmt: skip
_CLOSERS = {
    "\u201c": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u2018": "\u2019",
    "\u00ab": "\u00bb",
    "\u201d": "\u201d",
    "\u2019": "\u2019",
}
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f\x00")


def plain_characters(text: str) -> str:
    """Write typographic quotes, odd blanks and full-width marks as ASCII, string contents aside."""
    out: list[str] = []
    i = 0
    while i < len(text):
        c = text[i]
        if c in "\"'":
            end = _string_end(text, i)
            out.append(text[i:end])
            i = end
            continue
        if c in _CLOSERS:
            end = next(
                (k for k in range(i + 1, len(text)) if text[k] in _CLOSERS[c] or text[k] == "\n"), len(text)
            )
            body = text[i + 1 : end]
            out.append(_quoted(body))
            i = end + (end < len(text) and text[end] != "\n")
            continue
        out.append(_plain(c))
        i += 1
    return "".join(out)


def _quoted(body: str) -> str:
    quote = "'" if '"' in body and "'" not in body else '"'
    return quote + body.replace(quote, "\\" + quote) + quote


def _plain(c: str) -> str:
    if c in _INVISIBLE:
        return ""
    if c in _CODE_CHARS:
        return _CODE_CHARS[c]
    if "\uff01" <= c <= "\uff5e":
        return chr(ord(c) - 0xFEE0)
    if c not in " \t\n\r\f" and unicodedata.category(c) in ("Zs", "Zl", "Zp"):
        return "\n" if unicodedata.category(c) != "Zs" else " "
    return c


def _string_end(text: str, start: int) -> int:
    """Return the index after the string literal that opens at `start`; the end of its line when it never closes."""
    quote = text[start]
    if text[start : start + 3] == quote * 3:
        end = text.find(quote * 3, start + 3)
        return len(text) if end < 0 else end + 3
    i = start + 1
    while i < len(text) and text[i] != "\n":
        if text[i] == "\\":
            i += 1
        elif text[i] == quote:
            return i + 1
        i += 1
    return min(i, len(text))


def code_spans(text: str) -> Iterable[tuple[bool, str]]:
    """Split text into (is code, part): string literals and comments are not code."""
    i = start = 0
    while i < len(text):
        if text[i] in "\"'#":
            if start < i:
                yield True, text[start:i]
            if text[i] == "#":
                end = text.find("\n", i)
                end = len(text) if end < 0 else end
            else:
                end = _string_end(text, i)
            yield False, text[i:end]
            i = start = end
        else:
            i += 1
    if start < len(text):
        yield True, text[start:]


def without_prose(text: str, known: Known) -> str | None:
    """Return the longest run of lines that is a program, `None` when no run is one."""
    lines = textwrap.dedent(text).strip("\n").split("\n")
    if len(lines) > MAX_LINES:
        return None
    size = len(lines)
    best: tuple[int, int, int] | None = None
    for i in range(size):
        if not lines[i].strip() or lines[i][0] in " \t":
            continue
        for j in range(size, i, -1):
            if best is not None and j - i < best[0]:
                break
            if not lines[j - 1].strip():
                continue
            tree = tree_of("\n".join(lines[i:j]))
            if tree is None or not tree.body:
                continue
            bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            if any(prose(n, lambda name: name in bound or known(name)) for n in tree.body):  # noqa: B023  # used at once
                continue
            if not any(isinstance(n, (ast.Call, ast.Constant, ast.Subscript)) for n in ast.walk(tree)):
                continue
            best = (j - i, i, j)
            break
    if best is None:
        inline = [c for c in _INLINE.findall(text) if parses(c) and "(" in c]
        return inline[-1] if inline else None
    return "\n".join(lines[best[1] : best[2]])


def prose(statement: ast.stmt, known: Known) -> bool:
    """Tell whether a statement that happens to parse is words: `Done`, `Output: [1]`, `- all of them`."""
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None
    if not isinstance(statement, ast.Expr):
        return False
    nodes = list(ast.walk(statement.value))
    if any(isinstance(n, (ast.Call, ast.Subscript, ast.JoinedStr, ast.comprehension)) for n in nodes):
        return False
    if any(isinstance(n, ast.Constant) and n.value is not Ellipsis for n in nodes):
        return False
    names = [n.id for n in nodes if isinstance(n, ast.Name)]
    if not names:
        return any(isinstance(n, ast.Constant) for n in nodes)
    wordy = not isinstance(statement.value, ast.Name) or names[0][:1].isupper() or not names[0].isascii()
    return wordy and not any(known(n) for n in names)


def looks_prompted(text: str) -> bool:
    """Tell whether a line starts with a prompt of an interactive session."""
    return any(_PROMPT.match(line) or _OUT.match(line) for line in text.split("\n"))


_NEVER_NAMES = frozenset(
    ["for", "in", "if", "else", "elif", "and", "or", "not", "is", "None", "True", "False"]
)
_NAMELIKE = [k for k in keyword.kwlist if k not in _NEVER_NAMES]


def rename_keywords(text: str) -> str:
    """Give a variable that is named like a keyword an underscore: `def = …` → `def_ = …`."""
    for word in _NAMELIKE:
        bound = re.compile(
            rf"(^[ \t]*|,[ \t]*){word}[ \t]*=(?!=)|\bfor[ \t]+(\w+,[ \t]*)?{word}\b[ \t]*(,[ \t]*\w+[ \t]*)?in\b",
            re.MULTILINE,
        )
        bare = "".join(part if code else " " for code, part in code_spans(text))
        if not bound.search(bare):
            continue
        free = f"{word}_"
        while re.search(rf"\b{free}\b", bare):
            free += "_"
        text = "".join(
            re.sub(rf"(?<![\w.]){word}\b", free, part) if code else part for code, part in code_spans(text)
        )
    return text


_PAIRS = {"(": ")", "[": "]", "{": "}"}


def balance(text: str) -> str:
    """Close what was left open at the end of a statement; drop a closer that nothing opened."""
    best = text
    for candidate in (_balanced(text, per_line=False), _balanced(text, per_line=True)):
        if parses(candidate):
            return candidate
    return best


def _balanced(text: str, *, per_line: bool) -> str:
    out: list[str] = []
    stack: list[str] = []
    for code, part in code_spans(text):
        if not code:
            out.append(part if part[0] == "#" or _closed(part) else part + part[0])
            continue
        for c in part:
            if c in _PAIRS:
                stack.append(_PAIRS[c])
            elif c in ")]}":
                while stack and stack[-1] != c and c in stack:
                    out.append(stack.pop())
                if not stack:
                    continue
                if stack[-1] == c:
                    stack.pop()
                else:
                    continue
            elif c == "\n" and per_line and stack:
                out.append("".join(reversed(stack)))
                stack.clear()
            out.append(c)
    out.append("".join(reversed(stack)))
    return "".join(out)


def _closed(literal: str) -> bool:
    quote = literal[:3] if literal[:3] in ('"""', "'''") else literal[0]
    return len(literal) >= 2 * len(quote) and literal.endswith(quote)


def reindent(text: str) -> str:
    """Bring lines whose indentation Python refuses to the level of the block they can only belong to."""
    lines = textwrap.dedent(text.expandtabs(4)).split("\n")
    out: list[str] = []
    opened = False
    level = 0
    for line in lines:
        if not line.strip():
            out.append(line)
            continue
        own = len(line) - len(line.lstrip())
        if own > level and not opened:
            own = level
        elif own <= level and opened:
            own = level + 4
        out.append(" " * own + line.strip())
        level = own
        opened = line.rstrip().endswith(":")
    return "\n".join(out)
