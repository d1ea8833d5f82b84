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
_HINTS = (
    ("iterable argument is empty", "the pattern or filter found nothing: make it less strict"),
    (
        "index out of range",
        "the list has fewer items: make the pattern less strict, or return the whole list",
    ),
    ("invalid literal for int", "take only the digits of the text before int()"),
    ("KeyError", "use only keys that the value has, or .get(key, default)"),
    ("no such file", "use a path as the request names it, or find it with glob"),
    ("unpack", "the number of names must be the number of values"),
)
"""Part of an error's sentence → what to do instead."""
_ANY = "write it so that this can't happen"


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
    """Return a failed run's error as a violation, for a retry's words."""
    message = ran.error.message if ran.error else "it failed"
    hint = next((hint for part, hint in _HINTS if part in message), _ANY)
    return Violation("failed", (ran.error.line if ran.error else None) or 1, 1, message, hint)


def _was_asked_for(calls: Iterable[CallRecord], intent: str) -> bool:
    """Tell whether the tool call that failed had only text that the intent states."""
    failed = [c for c in calls if not c.ok]
    texts = [a for c in failed for a in c.args.values() if isinstance(a, str)]
    return bool(texts) and all(text in intent for text in texts)
