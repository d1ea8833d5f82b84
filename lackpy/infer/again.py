"""Whether a program that failed while running is worth another one, and what its writer is told about it.

Only a program that can't have changed anything is replaced, and only for a fault of its own: a file that the intent
names and that doesn't exist is the caller's answer, not the program's fault. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from lackpy.lang.signature import Grade
from lackpy.lang.verdict import Violation
from lackpy.run.record import CallRecord, ErrorKind, RunResult

READS = 1
"""Highest world grade of a program that can be tried again without harm."""
_OWN_FAULTS = frozenset((ErrorKind.RUNTIME, ErrorKind.TOOL, ErrorKind.OUTPUT))
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


def may_go_on(grade: Grade, ran: RunResult, intent: str, *, library: bool) -> bool:
    """Tell whether another program may be tried after a failed run.

    Args:
        grade: Grade of the program that ran.
        ran: Its run.
        intent: The caller's words.
        library: It came from a template or a rule, whose failure says nothing of the next tier's program.
    """
    if ran.ok or ran.error is None or grade.w > READS:
        return False
    if library:
        return ran.error.kind is not ErrorKind.CANCELLED
    return ran.error.kind in _OWN_FAULTS and not _was_asked_for(ran.calls, intent)


def fault(ran: RunResult) -> Violation:
    """Return a failed run's kind of error as a violation, for a retry's words.

    A model has no sight of a run: it is told one of our sentences, never the error's own, which may hold what a file
    or a tool said.
    """
    message = ran.error.message if ran.error else ""
    known = ((told, hint) for part, told, hint in _FAULTS if part in message)
    told, hint = next(known, _ANY)
    return Violation("failed", (ran.error.line if ran.error else None) or 1, 1, told, hint)


def _was_asked_for(calls: Iterable[CallRecord], intent: str) -> bool:
    """Tell whether the tool call that failed had only text that the intent states."""
    failed = [c for c in calls if not c.ok]
    texts = [a for c in failed for a in c.args.values() if isinstance(a, str)]
    return bool(texts) and all(text in intent for text in texts)
