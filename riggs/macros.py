"""Sequences of an outer agent's own calls that one delegate could have served, and the program they amount to.

Pure: consumes calls in order, produces candidates. A sequence is two to five steps between two prompts, each joined to
an earlier one by data: the same word in its arguments, or a value out of its result. Calls of one tool in a row on
values out of one result are one step. Two sequences are the same when their tools and that flow are; what differs
from one occurrence to the next becomes a parameter.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from riggs.outer_tools import BOOKKEEPING, PATH_PARAMS, relative, translate

MIN_STEPS, MAX_STEPS = 2, 5
MIN_SESSIONS = 3
MIN_VALUE_CHARS = 3
"""A shorter value occurs in a result by accident."""

# Tool → how a program gets file names out of its result; tools that aren't here return text or counts.
_FILES = {
    "grep": 'sorted({{row["file"] for row in {source}}})',
    "find_definitions": 'sorted({{row["file"] for row in {source}}})',
    "find_callers": 'sorted({{row["file"] for row in {source}}})',
    "glob": "{source}",
}
_FIRST = {
    "grep": '{source}[0]["file"]',
    "find_definitions": '{source}[0]["file"]',
    "find_callers": '{source}[0]["file"]',
    "glob": "{source}[0]",
}
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_TOKEN = re.compile(r"[\w./\\-]+")


@dataclass(frozen=True, slots=True)
class OuterCall:
    """One call of the outer agent; `kind` is `prompt` where a person or a caller said something instead."""

    session_id: str
    is_sidechain: bool
    turn_id: str
    kind: str
    tool: str
    is_good: bool
    args: Mapping[str, object] = field(default_factory=dict)
    head: str = ""


@dataclass(frozen=True, slots=True)
class Macro:
    """One recurring sequence.

    Attributes:
        macro_id: Stable key of tools and flow.
        steps: Our tools, in order; `read*` = once for each value of an earlier result.
        program: What they amount to.
        params: Parameter → an example value.
        sessions, occurrences: Where it was seen.
        calls: Calls the outer agent made for them.
        round_trips_saved: Calls that one delegate each would have made unnecessary.
        example: Turn ids of the newest occurrence.
    """

    macro_id: str
    steps: tuple[str, ...]
    program: str
    params: Mapping[str, str]
    sessions: int
    occurrences: int
    calls: int
    round_trips_saved: int
    example: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Step:
    """One or more calls of a tool; `values` is what the single varying argument took, in order."""

    tool: str
    args: Mapping[str, str]
    turn_ids: tuple[str, ...]
    result: str
    each: str = ""
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _From:
    """An argument taken out of an earlier step's result: its first file, or each file in turn."""

    at: int
    is_each: bool


@dataclass(frozen=True, slots=True)
class _Text:
    """An argument made of literal text and numbered holes."""

    pieces: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """One step of a flow."""

    tool: str
    args: tuple[tuple[str, _From | _Text], ...]

    @property
    def label(self) -> str:
        is_each = any(isinstance(source, _From) and source.is_each for _, source in self.args)
        return f"{self.tool}*" if is_each else self.tool


_Flow = tuple[_Part, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """One occurrence: its flow (what makes it the same as another) and the values in its holes."""

    key: _Flow
    holes: tuple[str, ...]
    session_id: str
    turn_ids: tuple[str, ...]


def find_macros(
    calls: Iterable[OuterCall], workspace: str, *, min_sessions: int = MIN_SESSIONS
) -> list[Macro]:
    """Return sequences seen in at least `min_sessions` sessions, those that save most first.

    Raises:
        ValueError: `min_sessions` is below 1.
    """
    if min_sessions < 1:
        raise ValueError(f"'min_sessions' must be >= 1 (got {min_sessions})")
    groups: dict[_Flow, list[_Found]] = defaultdict(list)
    for session_id, steps in _chains(calls, workspace):
        for found in _windows(session_id, steps):
            groups[found.key].append(found)
    kept = {key: found for key, found in groups.items() if len({f.session_id for f in found}) >= min_sessions}
    macros = [_macro(key, found) for key, found in _closed(kept).items()]
    return sorted(macros, key=lambda m: (-m.round_trips_saved, -m.sessions, m.macro_id))


def _chains(calls: Iterable[OuterCall], workspace: str) -> Iterator[tuple[str, list[_Step]]]:
    """Yield runs of translated, successful calls that nothing interrupts."""
    steps: list[_Step] = []
    where: tuple[str, bool] | None = None
    for call in calls:
        here = (call.session_id, call.is_sidechain)
        if here != where:
            if where and steps:
                yield where[0], steps
            where, steps = here, []
        if call.tool in BOOKKEEPING:
            continue
        ours = translate(call.tool, call.args, workspace) if call.is_good and call.kind != "prompt" else None
        if ours is None:
            if steps:
                yield here[0], steps
            steps = []
            continue
        steps.append(_Step(ours[0], ours[1], (call.turn_id,), _relative_text(call.head, workspace)))
    if where and steps:
        yield where[0], steps


def _relative_text(text: str, workspace: str) -> str:
    return text.replace(workspace.rstrip("/") + "/", "")


def _collapse(steps: Sequence[_Step]) -> list[_Step]:
    """Join calls of one tool in a row whose one differing argument comes out of one earlier result."""
    done: list[_Step] = []
    at = 0
    while at < len(steps):
        end = at + 1
        while end < len(steps) and steps[end].tool == steps[at].tool:
            end += 1
        run = steps[at:end]
        joined = _join(run, done) if len(run) > 1 else None
        done += [joined] if joined else run
        at = end
    return done


def _join(run: Sequence[_Step], before: Sequence[_Step]) -> _Step | None:
    if any(step.args.keys() != run[0].args.keys() for step in run):
        return None
    varying = [name for name in run[0].args if len({step.args[name] for step in run}) > 1]
    if len(varying) != 1 or varying[0] not in PATH_PARAMS:
        return None
    values = tuple(step.args[varying[0]] for step in run)
    if not any(all(_occurs(v, source.result) for v in values) for source in before if source.tool in _FILES):
        return None
    turn_ids = tuple(t for step in run for t in step.turn_ids)
    text = "\n".join(step.result for step in run)
    return _Step(run[0].tool, run[0].args, turn_ids, text, varying[0], values)


def _windows(session_id: str, steps: Sequence[_Step]) -> Iterator[_Found]:
    joined = _collapse(steps)
    for start in range(len(joined)):
        for size in range(MIN_STEPS, MAX_STEPS + 1):
            if start + size <= len(joined):
                found = _flow(session_id, joined[start : start + size])
                if found is not None:
                    yield found


def _flow(session_id: str, window: Sequence[_Step]) -> _Found | None:
    """Return the window's flow, or `None` when a step stands alone or needs a value that no program could get."""
    shared = _shared_words(window)
    holes: dict[str, int] = {}
    key: list[_Part] = []
    for at, step in enumerate(window):
        bound: list[tuple[str, _From | _Text]] = []
        known = len(holes)
        for name, value in sorted(step.args.items()):
            wanted = step.values if step.each == name else (value,)
            source = _bind(name, wanted, window[:at], shared, holes)
            if source is None:
                return None
            bound.append((name, source))
        if at and not any(_joins(source, known) for _, source in bound):
            return None
        key.append(_Part(step.tool, tuple(bound)))
    turn_ids = tuple(t for step in window for t in step.turn_ids)
    return _Found(tuple(key), tuple(holes), session_id, turn_ids)


def _joins(source: _From | _Text, known: int) -> bool:
    """Tell whether an argument uses something of an earlier step, which had filled `known` holes."""
    return isinstance(source, _From) or any(isinstance(p, int) and p < known for p in source.pieces)


def _bind(
    name: str, values: tuple[str, ...], before: Sequence[_Step], shared: frozenset[str], holes: dict[str, int]
) -> _From | _Text | None:
    """Return where an argument comes from; `None` when it comes out of a result that no program can take apart."""
    value = values[0]
    if len(values) == 1 and value in holes:
        return _Text((holes[value],))
    for at, step in enumerate(before):
        if all(_occurs(v, step.result) for v in values):
            if step.tool not in _FILES or name not in PATH_PARAMS:
                return None
            return _From(at, is_each=len(values) > 1 or value != _first_path(step.result))
    if name in PATH_PARAMS or not shared.intersection(_WORD.findall(value)):
        return _Text((_hole(value, holes),))
    pieces: list[str | int] = []
    end = 0
    for match in _WORD.finditer(value):
        if match[0] in shared:
            pieces += [value[end : match.start()], _hole(match[0], holes)]
            end = match.end()
    return _Text(tuple(p for p in (*pieces, value[end:]) if p != ""))


def _hole(value: str, holes: dict[str, int]) -> int:
    return holes.setdefault(value, len(holes))


def _shared_words(window: Sequence[_Step]) -> frozenset[str]:
    """Return words that stand in the arguments (paths aside) of more than one step."""
    seen: dict[str, set[int]] = defaultdict(set)
    for at, step in enumerate(window):
        for name, value in step.args.items():
            if name not in PATH_PARAMS:
                for word in _WORD.findall(value):
                    seen[word].add(at)
    return frozenset(word for word, places in seen.items() if len(places) > 1)


def _occurs(value: str, text: str) -> bool:
    """Tell whether a value stands in a result as a whole token."""
    if len(value) < MIN_VALUE_CHARS or value not in text:
        return False
    return re.search(rf"(?<![\w/.-]){re.escape(value)}(?![\w/])", text) is not None


def _first_path(text: str) -> str:
    for token in _TOKEN.findall(text):
        stripped = token.rstrip(".")
        if "." in stripped or "/" in stripped:
            return relative(stripped, "")
    return ""


def _closed(groups: Mapping[_Flow, list[_Found]]) -> dict[_Flow, list[_Found]]:
    """Leave out a sequence whose every occurrence is part of one longer sequence."""
    owners: dict[str, set[_Flow]] = defaultdict(set)
    for key, found in groups.items():
        for one in found:
            for turn_id in one.turn_ids:
                owners[turn_id].add(key)
    kept = {}
    for key, found in groups.items():
        longer = [k for k in set.intersection(*(owners[f.turn_ids[0]] for f in found)) if len(k) > len(key)]
        spans = {k: [set(f.turn_ids) for f in groups[k]] for k in longer}
        covered = any(all(any(set(f.turn_ids) <= span for span in spans[k]) for f in found) for k in longer)
        if not covered:
            kept[key] = found
    return kept


def _macro(key: _Flow, found: list[_Found]) -> Macro:
    unique = list({f.turn_ids: f for f in found}.values())
    newest = unique[-1]
    names, constants = _names(key, unique)
    calls = sum(len(f.turn_ids) for f in unique)
    return Macro(
        macro_id=hashlib.sha256(repr(key).encode()).hexdigest()[:12],
        steps=tuple(part.label for part in key),
        program=_program(key, names, constants),
        params={name: newest.holes[hole] for hole, name in names.items()},
        sessions=len({f.session_id for f in unique}),
        occurrences=len(unique),
        calls=calls,
        round_trips_saved=calls - len(unique),
        example=newest.turn_ids,
    )


def _names(key: _Flow, found: list[_Found]) -> tuple[dict[int, str], dict[int, str]]:
    """Return hole → parameter name, and hole → value for those that never varied."""
    names: dict[int, str] = {}
    constants: dict[int, str] = {}
    for hole in range(len(found[0].holes)):
        values = {f.holes[hole] for f in found}
        if len(values) == 1:
            constants[hole] = values.pop()
            continue
        wanted = next(name for part in key for name, source in part.args if _uses(source, hole))
        candidates = (wanted, *(f"{wanted}{n}" for n in range(2, len(found[0].holes) + 2)))
        names[hole] = next(name for name in candidates if name not in names.values())
    return names, constants


def _uses(source: _From | _Text, hole: int) -> bool:
    return isinstance(source, _Text) and any(isinstance(p, int) and p == hole for p in source.pieces)


def _program(key: _Flow, names: Mapping[int, str], constants: Mapping[int, str]) -> str:
    """Write the sequence as a program of our language; its value holds each step's result."""
    lines: list[str] = []
    for at, part in enumerate(key):
        variable = f"step{at + 1}"
        arguments, loop = [], ""
        for name, source in part.args:
            if isinstance(source, _Text):
                arguments.append(f"{name}={_text(source, names, constants)}")
                continue
            form = _FILES if source.is_each else _FIRST
            files = form[key[source.at].tool].format(source=f"step{source.at + 1}")
            arguments.append(f"{name}={'item' if source.is_each else files}")
            loop = files if source.is_each else loop
        call = f"{part.tool}({', '.join(arguments)})"
        lines.append(f"{variable} = [{call} for item in {loop}]" if loop else f"{variable} = {call}")
    results = ", ".join(f'"{at + 1} {part.tool}": step{at + 1}' for at, part in enumerate(key))
    return "\n".join([*lines, f"{{{results}}}"])


def _text(source: _Text, names: Mapping[int, str], constants: Mapping[int, str]) -> str:
    """Return an argument: a parameter, a literal, or an f-string of both."""
    pieces = [p if isinstance(p, str) else constants.get(p, p) for p in source.pieces]
    if len(pieces) == 1 and isinstance(pieces[0], int):
        return names[pieces[0]]
    parts: list[ast.expr] = [
        ast.Constant(p) if isinstance(p, str) else ast.FormattedValue(ast.Name(names[p]), conversion=-1)
        for p in pieces
    ]
    if not any(isinstance(p, ast.FormattedValue) for p in parts):
        return repr("".join(str(p) for p in pieces))
    return ast.unparse(ast.JoinedStr(parts))
