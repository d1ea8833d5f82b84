"""May this program run? One walk answers, in the order the program would run.

`check` takes a text and the signatures of a kit and returns a `Verdict`; it raises on no text. The
walk accepts what the tables in `grammar` allow and what `lower` can rewrite; where something was
rewritten the lowered tree is walked once more, and that second walk accepts the tables only.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from lackpy.lang import grammar, rules, violations, walk_call, walk_expr, walk_stmt
from lackpy.lang.fresh import Fresh
from lackpy.lang.parse import parse
from lackpy.lang.signature import Grade, Signature
from lackpy.lang.verdict import Verdict, Violation
from lackpy.lang.violations import Place
from lackpy.lang.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NO_GRADE = Grade(0, 0)
_TABLES = (walk_expr, walk_call, walk_stmt)
"""Modules that fill the tables of the walk; importing them is what this line is for."""


def check(
    source: str,
    signatures: Mapping[str, Signature],
    *,
    params: Iterable[str] = (),
    max_grade: Grade | None = None,
    rules: Iterable[str] = (),
) -> Verdict:
    """Parse, lower, validate and grade a program.

    Args:
        source: The program, of any text at all.
        signatures: The tools it may call, by the name it calls them.
        params: Names that hold a value when the program starts.
        max_grade: The highest grade the program may have; `None` for no cap.
        rules: Extra rules, see `lackpy.lang.rules`.

    Returns:
        The verdict: every violation in source order, or the lowered tree with its grade and calls.
    """
    tree = parse(source)
    if isinstance(tree, Violation):
        return Verdict(ok=False, violations=(tree,), grade=_NO_GRADE, calls=(), source=source)
    names = Fresh(source)
    try:
        walk = Walk(source, signatures, params, names)
        walk.run(tree)
        found = walk.found
        if not found and walk.lower(tree):
            again = Walk(source, signatures, params, names, strict=True)
            again.run(tree)
            found = again.found
    except (RecursionError, MemoryError):
        deep = violations.too_deep(Place(), grammar.MAX_DEPTH)
        return Verdict(ok=False, violations=(deep,), grade=_NO_GRADE, calls=(), source=source)
    calls = tuple(name for _, name in sorted((places[0], name) for name, places in walk.calls.items()))
    grade = _NO_GRADE
    for name in calls:
        grade = grade.join(signatures[name].grade)
    if max_grade is not None and not grade.within(max_grade):
        found.extend(_over_cap(walk, calls, max_grade))
    found.extend(_broken_rules(walk, calls, rules))
    if found:
        found.sort(key=_position)
        return Verdict(
            ok=False, violations=tuple(dict.fromkeys(found)), grade=grade, calls=calls, source=source
        )
    return Verdict(ok=True, violations=(), grade=grade, calls=calls, source=source, tree=tree)


def lower_tree(tree: ast.Module, signatures: Mapping[str, Signature]) -> bool:
    """Lower `tree` in place, as far as it holds nothing the language refuses; tell whether it changed.

    Args:
        tree: A parsed program.
        signatures: Its tools.
    """
    names = Fresh(lambda: _names_of(tree))
    walk = Walk("", signatures, (), names, free=True)
    length = len(tree.body)
    walk.run(tree)
    if walk.found:
        return False
    return walk.lower(tree) or len(tree.body) != length


def _names_of(tree: ast.Module) -> str:
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    names.update(n.arg for n in ast.walk(tree) if isinstance(n, ast.arg))
    return " ".join(sorted(names))


def _position(violation: Violation) -> tuple[int, int, str]:
    return violation.line, violation.column, violation.rule


def _over_cap(walk: Walk, calls: tuple[str, ...], cap: Grade) -> list[Violation]:
    over: list[Violation] = []
    for name in calls:
        grade = walk.tools[name].grade
        if not grade.within(cap):
            place = walk.place_at(walk.calls[name][0], name)
            over.append(violations.grade_cap(place, name, f"({grade.w}, {grade.d})", f"({cap.w}, {cap.d})"))
    return over


def _broken_rules(walk: Walk, calls: tuple[str, ...], wanted: Iterable[str]) -> list[Violation]:
    found: list[Violation] = []
    for text in wanted:
        facts = rules.Facts(
            grades={name: walk.tools[name].grade for name in calls},
            calls={name: tuple(walk.place_at(at, name) for at in walk.calls[name]) for name in calls},
            loops=tuple(walk.place_at(at, "for") for at in walk.loops),
            printed=tuple(walk.place_at(at, "print") for at in walk.prints),
        )
        found.extend(rules.broken(text, facts))
    return found
