"""Repair: what a small model wrote, turned into the program it meant. A guess each time, so every step is recorded.

Only ever applied to model output, never to a caller's program. Driven by tables, in order; no model, no file, no
clock. A valid program is returned byte for byte unless its value can only be nothing or a failure (`MEANING_REPAIRS`,
coercions); a repaired one is validated anew by whoever runs it.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lackpy.lang import grammar
from lackpy.lang import repair_idioms as idiom
from lackpy.lang import repair_text as text_repair
from lackpy.lang import repair_tree as tree_repair
from lackpy.lang.coerce import coerce
from lackpy.lang.repair_calls import call_forms, pattern_lists
from lackpy.lang.repair_operators import set_operators
from lackpy.lang.repair_values import path_values
from lackpy.lang.signature import Signature
from lackpy.lang.validate import check

MAX_RAW_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class Repaired:
    """What repair made of a text.

    Attributes:
        program: The program; `None` when the text holds none.
        repairs: Names of the steps that changed something, in order.
    """

    program: str | None
    repairs: tuple[str, ...]


TEXT_REPAIRS: tuple[tuple[str, Callable[[str], str | None]], ...] = (
    ("thinking", text_repair.strip_thinking),
    ("end-mark", text_repair.strip_marks),
    ("fence", text_repair.unfence),
    ("end-mark", text_repair.strip_marks),
    ("prompt", text_repair.unprompt),
    ("signature", text_repair.without_results),
    ("dedent", lambda text: textwrap.dedent(text).strip("\n")),
    ("characters", text_repair.plain_characters),
    ("keyword-name", text_repair.rename_keywords),
)
"""Tried in order while the text doesn't parse; each keeps what the one before it made."""
LAST_TEXT_REPAIRS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("closing", text_repair.balance),
    ("indentation", text_repair.reindent),
)
"""Tried when no part of the text parses; kept only where the result does."""
TREE_REPAIRS: tuple[tuple[str, tree_repair.Repair], ...] = (
    ("import", tree_repair.imports),
    ("guard", tree_repair.guards),
    ("function", tree_repair.unwrap),
    ("open", tree_repair.opened),
    ("first-count", tree_repair.first_count),
    ("counter", idiom.counters),
    ("idiom", idiom.idioms),
    ("pattern-list", pattern_lists),
    ("set-operator", set_operators),
    ("taken-name", tree_repair.taken_names),
    ("literal", tree_repair.literals),
    ("near-name", tree_repair.near_names),
    ("keyword-argument", tree_repair.keyword_arguments),
    ("attribute-key", tree_repair.attribute_keys),
    ("return", tree_repair.guards),
)
"""Tried in order on a program that parses and isn't valid."""
MEANING_REPAIRS: tuple[tuple[str, tree_repair.Repair], ...] = (
    ("first-count", tree_repair.first_count),
    ("last-value", tree_repair.last_value),
    ("call-form", call_forms),
    ("path-value", path_values),
)
"""Tried on every program, valid or not: what they change can only fail or give nothing."""


def repair(
    raw: str,
    signatures: Mapping[str, Signature],
    *,
    params: Mapping[str, str] | Iterable[str] = (),
    coercions: bool = True,
) -> Repaired:
    """Return the program in a model's answer.

    Args:
        raw: The answer, of any text.
        signatures: The kit's tools.
        params: Parameters of the call, name → type source (or only names).
        coercions: Also coerce values whose shape the signatures show to be wrong.
    """
    if len(raw) > MAX_RAW_CHARS:
        return Repaired(None, ())
    types = dict(params) if isinstance(params, Mapping) else dict.fromkeys(params, "Any")

    def known(name: str) -> bool:
        return name in signatures or name in grammar.BUILTINS or name in types

    repairs: list[str] = []
    text = _as_text(raw, signatures, types, known, repairs)
    if text is None:
        return Repaired(None, tuple(dict.fromkeys(repairs)))
    program = _as_program(text, signatures, types, known, repairs, coercions=coercions).strip("\n")
    return Repaired(program or None, tuple(dict.fromkeys(repairs)))


def _as_text(
    raw: str,
    signatures: Mapping[str, Signature],
    params: Mapping[str, str],
    known: text_repair.Known,
    repairs: list[str],
) -> str | None:
    """Find the lines of the program; `None` when there are none."""
    text = raw.strip("\n")
    if not text.strip():
        return None
    if check(text, signatures, params=params).ok:
        return text
    for name, step in TEXT_REPAIRS:
        if text_repair.parses(text) and not _chatty(text):
            break
        changed = step(text)
        if changed is None:
            repairs.append(name)
            return None
        if changed != text:
            if changed.strip() != text.strip():
                repairs.append(name)
            text = changed
    tree = text_repair.tree_of(text)
    if tree is not None and tree.body:
        return _without_words(text, tree, known, repairs)
    cut = text_repair.without_prose(text, known)
    fixed = _closed(text, repairs) if cut is None or cut.count("\n") + 2 < len(text.splitlines()) else None
    if fixed is not None:
        return fixed
    if cut is not None:
        repairs.append("prose")
        return cut
    if _no_code(text):
        repairs.append("prose")
        return None
    return text


def _chatty(text: str) -> bool:
    """Tell whether a text that parses still shows marks of a chat or session: `In [1]: x` parses as an annotation."""
    return "```" in text or "~~~" in text or text_repair.looks_prompted(text)


def _closed(text: str, repairs: list[str]) -> str | None:
    for name, step in LAST_TEXT_REPAIRS:
        changed = step(text)
        if changed != text and text_repair.parses(changed):
            repairs.append(name)
            return changed
    both = text_repair.balance(text_repair.reindent(text))
    if text_repair.parses(both):
        repairs.extend(name for name, _ in LAST_TEXT_REPAIRS)
        return both
    return None


def _no_code(text: str) -> bool:
    """Tell whether nothing in the text looks like code at all."""
    return not any(c in text for c in "()[]{}=")


def _without_words(text: str, tree: ast.Module, known: text_repair.Known, repairs: list[str]) -> str | None:
    """Drop words at either end that parse as names: `Done`, `Output: [1]`."""
    bound = tree_repair.bound_names(tree)

    def is_known(name: str) -> bool:
        return name in bound or known(name)

    body = list(tree.body)
    while body and text_repair.prose(body[-1], is_known):
        body.pop()
    while body and text_repair.prose(body[0], is_known):
        body.pop(0)
    if len(body) == len(tree.body):
        return text
    repairs.append("prose")
    if not body:
        return None
    return "\n".join(text.split("\n")[body[0].lineno - 1 : body[-1].end_lineno])


def _as_program(
    text: str,
    signatures: Mapping[str, Signature],
    params: Mapping[str, str],
    known: text_repair.Known,
    repairs: list[str],
    *,
    coercions: bool,
) -> str:
    """Rewrite the tree where it must be; the text stays as it is when nothing applies."""
    del known
    tree = text_repair.tree_of(text)
    if tree is None:
        return text
    changed = False
    if not check(text, signatures, params=params).ok:
        for name, step in TREE_REPAIRS:
            if step(tree, signatures):
                repairs.append(name)
                changed = True
        tree.body = [s for s in tree.body if not isinstance(s, ast.Pass)]
    for name, step in MEANING_REPAIRS:
        if step(tree, signatures):
            repairs.append(name)
            changed = True
    if coercions:
        made = coerce(tree, signatures, params)
        repairs.extend(made)
        changed = changed or bool(made)
    if not changed:
        return text
    try:
        return ast.unparse(ast.fix_missing_locations(tree))
    except (RecursionError, ValueError):
        return text
