"""Extra rules a caller or a kit may ask for, each by one short text.

`read-only` (no tool above grade 1), `no-loops`, `no-print`, `max-calls=N` (places that call a tool),
`no-tool=NAME`, `only-tool=NAME`. A text that is none of these is itself one violation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lackpy.lang import violations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lackpy.lang.signature import Grade
    from lackpy.lang.verdict import Violation
    from lackpy.lang.violations import Place


@dataclass(frozen=True, slots=True)
class Facts:
    """What rules may look at.

    Attributes:
        grades: Grade of each tool the program calls.
        calls: Places that call each tool, in source order.
        loops: Places of `for` statements.
        printed: Places that call `print`.
    """

    grades: Mapping[str, Grade]
    calls: Mapping[str, tuple[Place, ...]]
    loops: tuple[Place, ...]
    printed: tuple[Place, ...]


def _read_only(facts: Facts, _: str) -> list[Violation]:
    return [
        violations.rule_broken(
            facts.calls[name][0],
            "read-only",
            f"tool '{name}' does more than read",
            "use tools of grade 0 or 1",
        )
        for name, grade in facts.grades.items()
        if max(grade.w, grade.d) > 1
    ]


def _no_loops(facts: Facts, _: str) -> list[Violation]:
    return [
        violations.rule_broken(at, "no-loops", "a for statement is not allowed here", "write a comprehension")
        for at in facts.loops
    ]


def _no_print(facts: Facts, _: str) -> list[Violation]:
    return [
        violations.rule_broken(at, "no-print", "print is not allowed here", "put the value on the last line")
        for at in facts.printed
    ]


def _max_calls(facts: Facts, value: str) -> list[Violation]:
    places = sorted(
        (at for found in facts.calls.values() for at in found), key=lambda at: (at.line, at.column)
    )
    most = int(value)
    message = f"the program calls tools in {len(places)} places, {most} are allowed"
    return [
        violations.rule_broken(at, "max-calls", message, "call fewer tools, or one tool in a loop")
        for at in places[most : most + 1]
    ]


def _no_tool(facts: Facts, value: str) -> list[Violation]:
    return [
        violations.rule_broken(
            at, "no-tool", f"tool '{value}' is not allowed here", "use another tool of the kit"
        )
        for at in facts.calls.get(value, ())
    ]


def _only_tool(facts: Facts, value: str) -> list[Violation]:
    allowed = set(value.split(","))
    return [
        violations.rule_broken(
            at, "only-tool", f"tool '{name}' is not allowed here", f"use {value.replace(',', ', ')}"
        )
        for name, places in facts.calls.items()
        if name not in allowed
        for at in places
    ]


RULES: dict[str, tuple[str, Callable[[Facts, str], list[Violation]]]] = {
    "read-only": ("no tool above grade 1", _read_only),
    "no-loops": ("no for statement", _no_loops),
    "no-print": ("no print", _no_print),
    "max-calls=N": ("at most N places that call a tool", _max_calls),
    "no-tool=NAME": ("tool NAME is not called", _no_tool),
    "only-tool=NAME,...": ("no other tool is called", _only_tool),
}
"""Form of each rule, with what it demands."""
_BY_NAME = {form.partition("=")[0]: (form, judge) for form, (_, judge) in RULES.items()}


def broken(text: str, facts: Facts) -> list[Violation]:
    """Return the violations of the rule that `text` names; one `unknown-rule` where it names none."""
    name, equals, value = text.strip().partition("=")
    form, judge = _BY_NAME.get(name, (None, None))
    wants = form is not None and "=" in form
    fits = bool(equals) == wants and (not wants or bool(value)) and (name != "max-calls" or value.isdecimal())
    if judge is None or not fits:
        return [violations.unknown_rule(text, ", ".join(RULES))]
    return judge(facts, value)
