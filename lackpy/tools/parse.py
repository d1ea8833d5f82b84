"""Source text → its definitions and calls, with the language's tables. Syntactic: no names are resolved.

Never raises on any text: a file with syntax errors gives what the parser could still read.
"""

from __future__ import annotations

import marshal
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from lackpy.tools.languages import Def, Language, Step

if TYPE_CHECKING:
    from ast_grep_py import SgNode

_Row = tuple[str, int, str, str, str]

MODULE = "<module>"
_RECEIVER_CHARS = 120  # a longer receiver is an expression, not a name
_KEPT_BYTES = 64 * 1024 * 1024  # packed facts remembered, about 60 bytes a definition or call


class Definition(NamedTuple):
    """One definition; `owner` is the dotted names of the definitions around it."""

    name: str
    type: str
    line: int
    owner: str


class Call(NamedTuple):
    """One call site.

    Attributes:
        name: The called name.
        line: Line of that name.
        within: Innermost function or method around it, or `<module>`.
        receiver: Text before the name (`self`, `pkg.mod`), "" when the call is bare or the text is long.
        owner: Innermost class around it, "" outside classes.
    """

    name: str
    line: int
    within: str
    receiver: str
    owner: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What one file holds as plain tuples: definitions by line, calls by position."""

    definitions: tuple[tuple[str, str, int, str], ...]
    calls: tuple[tuple[str, int, str, str, str], ...]

    def defined(self, matches: Callable[[str], bool]) -> list[Definition]:
        """Return the definitions whose name matches."""
        return [Definition(*one) for one in self.definitions if matches(one[0])]

    def called(self, matches: Callable[[str], bool]) -> list[Call]:
        """Return the calls whose name matches."""
        return [Call(*one) for one in self.calls if matches(one[0])]


@dataclass(slots=True)
class _Open:
    """A definition whose node has begun: its name, type, and the character range of its body."""

    name: str
    type: str
    start: int
    end: int
    owner: str


class FactCache:
    """Remembers the facts of recently parsed contents, packed; safe to use from several threads."""

    def __init__(self) -> None:
        """Start empty."""
        self._packed: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def facts(self, source: bytes, language: Language) -> Facts:
        """Return the facts of UTF-8 `source`."""
        key = blake2b(source, digest_size=20, person=language.grammar.encode()).digest()
        with self._lock:
            packed = self._packed.get(key)
            if packed is not None:
                self._packed.move_to_end(key)
        if packed is not None:
            return Facts(*marshal.loads(packed))  # noqa: S302  # our own bytes, from this process
        found = extract(source.decode(), language)
        packed = marshal.dumps((found.definitions, found.calls))
        with self._lock:
            if key not in self._packed:
                self._packed[key] = packed
                self._size += len(packed)
            while self._size > _KEPT_BYTES and len(self._packed) > 1:
                self._size -= len(self._packed.popitem(last=False)[1])
        return found


def extract(source: str, language: Language) -> Facts:
    """Return the definitions and calls of `source`."""
    from ast_grep_py import SgRoot  # noqa: PLC0415  # 100 ms to load, only code tools need it

    root = SgRoot(source, language.grammar).root()
    nodes = [(node.range().start.index, i, node) for i, node in enumerate(root.find_all(_rule(language)))]
    nodes.sort(key=lambda item: item[:2])
    definitions: list[tuple[str, str, int, str]] = []
    calls: list[tuple[int, int, _Row]] = []
    stack: list[_Open] = []
    for at, _, node in nodes:
        while stack and stack[-1].end <= at:
            stack.pop()
        kind = node.kind()
        how = language.definitions.get(kind)
        if how is not None:
            opened = _define(node, how, language, stack, definitions, at)
            if opened is not None:
                stack.append(opened)
        else:
            call = _call(node, kind, language, stack, at)
            if call is not None:
                calls.append(call)
    definitions.sort(key=lambda d: d[2])
    calls.sort(key=lambda c: c[:2])
    return Facts(tuple(definitions), tuple(c[2] for c in calls))


@cache
def _rule(language: Language) -> Any:
    """Return the parser's query for every node the tables name."""
    rules: list[dict[str, Any]] = [{"kind": kind} for kind in language.definitions]
    rules += [
        {"kind": kind, "regex": site.text} if site.text else {"kind": kind}
        for kind, site in language.calls.items()
    ]
    if language.macro_calls:
        after = {"kind": "token_tree", "regex": r"^\(", "stopBy": "neighbor"}
        rules.append({"kind": "identifier", "inside": {"kind": "token_tree"}, "precedes": after})
    return {"rule": {"any": rules}}


def _define(
    node: SgNode,
    how: Def,
    language: Language,
    stack: list[_Open],
    out: list[tuple[str, str, int, str]],
    at: int,
) -> _Open | None:
    body = node.field("body")
    if how.body and body is None:
        return None
    if how.value:
        value = node.field("value") or node.field("right")
        if value is None or value.kind() not in how.value:
            return None
    named, receiver = _name(_go(node, how.name), language)
    if named is None:
        return None
    name = named.text()
    around = next((o for o in reversed(stack) if o.start <= at), None)
    owner = f"{around.owner}.{around.name}" if around and around.owner else around.name if around else ""
    if how.owner is not None:
        held, _ = _name(_go(node, how.owner), language)
        receiver = held.text() if held is not None else receiver
    kind = how.type
    if kind == "function" and ((receiver and language.grammar in ("cpp", "lua")) or _in_class(around)):
        kind = "method"
    if receiver and kind in ("method", "class"):
        owner = f"{owner}.{receiver}" if owner else receiver
    span = (body or node).range()
    if kind != "scope":
        line = node.range().start.line if language.own_line else named.range().start.line
        out.append((name, kind, line + 1, owner.replace("::", ".")))
    return _Open(name, kind, span.start.index, span.end.index, owner)


def _in_class(around: _Open | None) -> bool:
    return around is not None and around.type in ("class", "scope")


def _call(
    node: SgNode, kind: str, language: Language, stack: list[_Open], at: int
) -> tuple[int, int, _Row] | None:
    site = language.calls.get(kind)
    if site is None:  # a token of a macro's arguments, which is the name itself
        named: SgNode | None = node
        receiver = ""
    elif not site.name and site.text:
        named, receiver = node.child(0), ""
    else:
        named, receiver = _name(_go(node, site.name), language)
    if named is None:
        return None
    if site is not None and site.receiver is not None:
        receiver = _text(_go(node, site.receiver))
    end = named.range().end
    within, owner = MODULE, ""
    for opened in reversed(stack):
        if opened.start > at:
            continue
        if opened.type in ("class", "scope"):
            owner = owner or opened.name
        elif within == MODULE:
            within = opened.name
    return end.line, end.column, (named.text(), end.line + 1, within, receiver, owner)


def _go(node: SgNode, step: Step) -> SgNode | None:
    """Follow one path from `node`."""
    if isinstance(step, str):
        found = node.field(step)
        if found is not None:
            return found
        return next((child for child in node.named_children() if child.kind() == step), None)
    children = [child for child in node.named_children() if child.kind() != "comment"]
    return children[step] if children else None


def _name(node: SgNode | None, language: Language) -> tuple[SgNode | None, str]:
    """Return the node that holds the last name of an expression or declarator, and the text before it."""
    receiver = ""
    for _ in range(40):
        if node is None:
            return None, ""
        kind = node.kind()
        step = language.steps.get(kind)
        if step is None:
            break
        if step[1] is not None:
            receiver = _joined(receiver, _text(_go(node, step[1])))
        node = _go(node, step[0])
    if node is None or (kind not in language.whole and node.named_children()):
        return None, ""
    return node, receiver


def _joined(outer: str, inner: str) -> str:
    return f"{outer}.{inner}" if outer and inner else outer or inner


def _text(node: SgNode | None) -> str:
    if node is None:
        return ""
    span = node.range()
    return node.text() if span.end.index - span.start.index <= _RECEIVER_CHARS else ""
