"""Whether a program that failed or found nothing is worth another one, and what its writer is told about it.

Only a program that can't have changed anything is replaced, and only for a fault of its own: a file that the intent
names and that doesn't exist is the caller's answer, and so is nothing, where the program looked for exactly what the
intent states. Nothing found for a pattern, a file or a condition of the model's own is doubted once. Pure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from lackpy.lang.verdict import Verdict, Violation
from lackpy.run.record import CallRecord, ErrorKind, RunResult

READS = 1
"""Highest world grade of a program that can be tried again without harm."""
_OWN_FAULTS = frozenset((ErrorKind.RUNTIME, ErrorKind.TOOL, ErrorKind.OUTPUT))
_EDGE = "*/."
"""What a pattern may have around the text that the intent states."""
_FAULTS = (
    (
        "iterable argument is empty",
        "it took the maximum of nothing",
        "make the pattern or filter less strict",
    ),
    (
        "index out of range",
        "a list had fewer items than it took",
        "make the pattern less strict, or return the list",
    ),
    ("invalid literal for int", "it made a number of text that is none", "take only the digits of the text"),
    ("KeyError", "it took a key that isn't there", "use only keys that the value has, or .get(key, default)"),
    (
        "no such file",
        "it named a file that isn't there",
        "use a path as the request names it, or find it with glob",
    ),
    ("unpack", "it unpacked another number of values", "take as many names as there are values"),
)
"""Part of an error's sentence → what a model is told of it, what to do instead."""
_ANY = ("it failed", "write it in another way")


def may_go_on(verdict: Verdict, ran: RunResult, intent: str, *, library: bool, doubt: bool = True) -> bool:
    """Tell whether another program may be tried after a run.

    Args:
        verdict: The program that ran.
        ran: Its run.
        intent: The caller's words.
        library: It came from a template or a rule, whose failure says nothing of the next tier's program.
        doubt: Nothing found may be doubted.
    """
    if verdict.grade.w > READS:
        return False
    if ran.ok or ran.error is None:
        return doubt and not library and _is_doubtful(verdict.program, ran, intent)
    if library:
        return ran.error.kind is not ErrorKind.CANCELLED
    return ran.error.kind in _OWN_FAULTS and not _was_asked_for(ran.calls, intent)


def is_better(ran: RunResult, before: RunResult | None) -> bool:
    """Tell whether a later run's result replaces an earlier one's: it worked and found something, or nothing had."""
    if before is None or not before.ok:
        return True
    return ran.ok and not _found_nothing(ran)


def fault(ran: RunResult) -> Violation:
    """Return what went wrong with a run as a violation, for a retry's words.

    A model has no sight of a run: it is told one of our sentences, never the error's own, which may hold what a file
    or a tool said.
    """
    if ran.ok:
        return Violation("nothing", 1, 1, "it found nothing", "look for it in another way")
    message = ran.error.message if ran.error else ""
    known = ((told, hint) for part, told, hint in _FAULTS if part in message)
    told, hint = next(known, _ANY)
    return Violation("failed", (ran.error.line if ran.error else None) or 1, 1, told, hint)


def _was_asked_for(calls: Iterable[CallRecord], intent: str) -> bool:
    """Tell whether the tool call that failed had only text that the intent states."""
    failed = [c for c in calls if not c.ok]
    texts = [a for c in failed for a in c.args.values() if isinstance(a, str)]
    return bool(texts) and all(text in intent for text in texts)


def _is_doubtful(program: str, ran: RunResult, intent: str) -> bool:
    """Tell whether a program found nothing and looked for a text of its own."""
    if not _found_nothing(ran):
        return False
    tree = ast.parse(program)
    keys = {id(n.slice) for n in ast.walk(tree) if isinstance(n, ast.Subscript)}
    texts = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in keys)
    return any(isinstance(n.value, str) and n.value.strip(_EDGE) not in intent for n in texts)


def _found_nothing(ran: RunResult) -> bool:
    return not ran.printed and ran.output is not False and ran.output in (None, 0, "", [], {})
