"""The words of every refusal: one constructor a rule id.

Wording is product data: it is stored in traces and fed back to models, and tests hold it exactly.
Each constructor takes the place first and returns one `Violation`; none looks at a tree.
"""

from __future__ import annotations

from dataclasses import dataclass

from lackpy.lang.verdict import Violation


@dataclass(frozen=True, slots=True)
class Place:
    """Where a violation is: 1-based line, 1-based column in characters, offending text."""

    line: int = 1
    column: int = 1
    text: str = ""

    def violation(self, rule: str, message: str, hint: str) -> Violation:
        """Return a violation of `rule` here."""
        return Violation(rule, self.line, self.column, message, hint, self.text)


def syntax(at: Place, what: str, hint: str = "write one complete Python program") -> Violation:
    """The text is no Python."""
    return at.violation("syntax", f"not valid Python: {what}", hint)


def character(at: Place, code: str, name: str, hint: str) -> Violation:
    """A character that no program may hold outside a string, or at all."""
    return at.violation("syntax", f"character {code} ({name}) cannot stand here", hint)


def too_long(at: Place, got: int, most: int) -> Violation:
    """The source has too many characters."""
    return at.violation(
        "too-long", f"the program has {got} characters, {most} are allowed", "split it into several programs"
    )


def too_many_nodes(at: Place, most: int) -> Violation:
    """The tree has too many nodes."""
    return at.violation(
        "too-many-nodes",
        f"the program has more than {most} parts",
        "compute long literals in a loop, or split the program",
    )


def too_deep(at: Place, most: int) -> Violation:
    """The tree nests too deeply."""
    return at.violation(
        "too-deep",
        f"the program nests deeper than {most} levels",
        "give inner parts a name on a line of their own",
    )


def forbidden_syntax(at: Place, what: str, hint: str) -> Violation:
    """A construct outside the whitelist."""
    return at.violation("forbidden-syntax", f"{what} is not in the language", hint)


def unknown_name(at: Place, name: str, hint: str) -> Violation:
    """A name that nothing binds."""
    return at.violation("unknown-name", f"'{name}' is not defined", hint)


def used_before(at: Place, name: str) -> Violation:
    """A name that is bound only further down."""
    return at.violation(
        "used-before-assignment",
        f"'{name}' is used before it gets a value",
        f"assign '{name}' above this line",
    )


def rebound(at: Place, name: str, kind: str) -> Violation:
    """A tool or builtin name as a target."""
    return at.violation(
        "rebound-name", f"'{name}' is a {kind} and keeps its meaning", f"use another name: '{name}_'"
    )


def reserved_name(at: Place, name: str) -> Violation:
    """A name that belongs to Python."""
    return at.violation(
        "reserved-name", f"'{name}' is reserved", "use a name that starts with a letter or one underscore"
    )


def tool_as_value(at: Place, name: str) -> Violation:
    """A tool's name that isn't being called."""
    return at.violation("tool-as-value", f"tool '{name}' can only be called", f"call it: {name}(...)")


def tool_as_key(at: Place, name: str) -> Violation:
    """A tool's name as the value of `key=`."""
    return at.violation(
        "tool-as-value", f"tool '{name}' can only be called", f"call it in a lambda: key=lambda x: {name}(x)"
    )


def builtin_as_value(at: Place, name: str) -> Violation:
    """A builtin's name that isn't being called."""
    return at.violation("builtin-as-value", f"'{name}' can only be called", f"call it: {name}(...)")


def attribute(at: Place, name: str) -> Violation:
    """An attribute that isn't the target of a call."""
    return at.violation(
        "attribute",
        f"attribute '.{name}' cannot be read",
        f"values are plain data: use x['{name}'], or call a method",
    )


def unknown_method(at: Place, name: str, hint: str) -> Violation:
    """A method outside the safe-method table."""
    return at.violation("unknown-method", f"method '.{name}()' is not in the language", hint)


def call_target(at: Place) -> Violation:
    """A call of something that is no tool, builtin or method."""
    return at.violation(
        "call-target",
        "only tools, builtins and methods can be called",
        "call a tool or builtin by its own name",
    )


def call_of_value(at: Place, name: str) -> Violation:
    """A call of a variable."""
    return at.violation(
        "call-target",
        f"'{name}' holds a value and cannot be called",
        "call a tool or builtin by its own name",
    )


def arguments(at: Place, message: str, signature: str) -> Violation:
    """A call whose arguments don't fit the signature."""
    return at.violation("arguments", message, f"write {signature}")


def lambda_place(at: Place) -> Violation:
    """A lambda outside `key=`."""
    return at.violation(
        "lambda",
        "a lambda can only be a key",
        "use it as key= of sorted, min, max or .sort, or write the expression",
    )


def lambda_shape(at: Place) -> Violation:
    """A lambda whose parameters aren't one plain name."""
    return at.violation("lambda", "a key lambda takes one plain argument", "write key=lambda x: ...")


def key_value(at: Place) -> Violation:
    """A `key=` that is no lambda and no builtin that may stand there."""
    return at.violation(
        "key-argument", "key= takes a lambda here", 'write key=lambda x: ..., or sort_by(items, "field")'
    )


def star(at: Place) -> Violation:
    """A starred expression where none may stand."""
    return at.violation("star", "a starred value cannot stand here", "write it inside a list: [*a, *b]")


def two_stars(at: Place) -> Violation:
    """Two starred targets in one assignment."""
    return at.violation("star", "an assignment takes one starred target", "slice the list: x[0], x[1:]")


def target(at: Place) -> Violation:
    """An assignment target that is no name, item or tuple of these."""
    return at.violation("assignment-target", "this cannot be assigned to", "assign to a name: x = value")


def literal(at: Place, kind: str, hint: str) -> Violation:
    """A constant that is no plain data."""
    return at.violation("literal", f"a {kind} literal is not in the language", hint)


def number_too_large(at: Place, most: int) -> Violation:
    """An integer literal with too many digits."""
    return at.violation(
        "number-too-large", f"an integer literal may have {most} binary digits", "write a shorter number"
    )


def static_size(at: Place, size: int, most: int) -> Violation:
    """An expression whose size is known and too large."""
    return at.violation(
        "static-size", f"this would make {size} items, {most} are allowed", "use a smaller number"
    )


def format_text(at: Place, why: str) -> Violation:
    """A `.format` call that can't become an f-string."""
    return at.violation("format", f".format() {why}", 'write an f-string: f"{x}"')


def statement_value(at: Place, what: str) -> Violation:
    """An expression that only works as a statement of its own."""
    return at.violation("statement", f"{what} has no value", "write it on a line of its own")


def grade_cap(at: Place, tool: str, grade: str, cap: str) -> Violation:
    """A tool above the caller's cap."""
    return at.violation(
        "grade-cap",
        f"tool '{tool}' has grade {grade}, the cap is {cap}",
        "use a tool of a lower grade, or raise the cap",
    )


def rule_broken(at: Place, rule: str, message: str, hint: str) -> Violation:
    """An extra rule the caller asked for."""
    return at.violation(rule, message, hint)


def unknown_rule(rule: str, known: str) -> Violation:
    """An extra rule that doesn't exist or whose value is wrong."""
    return Place().violation("unknown-rule", f"'{rule}' is not a rule", f"rules are {known}")
