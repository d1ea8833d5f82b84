"""One call's arguments, checked and resolved before anything is tried."""

from __future__ import annotations

import keyword
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lackpy.api import as_grade
from lackpy.errors import LackpyError
from lackpy.infer.protocol import Request
from lackpy.kits import Kit
from lackpy.lang.signature import Grade
from lackpy.run.record import Cancel, Limits

MAX_INTENT_CHARS = 100_000
LONGEST_S = 86_400  # a day; executors take no seconds beyond what their clocks hold


class UsageError(LackpyError):
    """An argument can't be used; the sentence names it and says what to pass."""


@dataclass(frozen=True, slots=True)
class Call:
    """Checked arguments of one call; `started` is a monotonic reading."""

    intent: str
    kit: Kit
    params: Mapping[str, Any]
    param_types: Mapping[str, str]
    max_grade: Grade | None
    rules: tuple[str, ...]
    limits: Limits
    cancel: Cancel
    session: str
    started: float

    @property
    def deadline(self) -> float:
        """Monotonic time by which the call must have answered."""
        return self.started + self.limits.time_s

    def request(self) -> Request:
        """Return the question to the tiers."""
        return Request(
            intent=self.intent,
            kit=self.kit.name,
            signatures=self.kit.signatures,
            params=self.param_types,
            timeout_s=max(0.0, self.deadline - time.monotonic()),
        )


def prepare(
    intent: str,
    kit: Kit,
    params: Mapping[str, Any] | None,
    *,
    max_grade: Grade | int | None,
    rules: Iterable[str],
    limits: Limits,
    timeout_s: float | None,
    cancel: Cancel | None,
    session: str,
) -> Call:
    """Check the arguments of a call.

    Raises:
        UsageError: One of them can't be used.
    """
    given = _checked_params(params, kit)
    if not isinstance(intent, str):
        raise UsageError(f"'intent' must be text (got {type(intent).__name__})")
    if len(intent) > MAX_INTENT_CHARS:
        raise UsageError(f"'intent' must be at most {MAX_INTENT_CHARS:,} characters (got {len(intent):,})")
    if isinstance(rules, str) or not all(isinstance(rule, str) for rule in rules):
        raise UsageError("'rules' must be a list of rule names, e.g. ['read-only']")
    if timeout_s is not None and not (isinstance(timeout_s, int | float) and 0 < timeout_s <= LONGEST_S):
        raise UsageError(f"'timeout_s' must be seconds > 0, at most {LONGEST_S:,} (got {timeout_s!r})")
    cap = _cap(max_grade)
    return Call(
        intent=intent,
        kit=kit,
        params=given,
        param_types={name: type_source(value) for name, value in given.items()},
        max_grade=_tighter(cap, kit.max_grade),
        rules=(*kit.rules, *rules),
        limits=replace(limits, time_s=float(timeout_s)) if timeout_s is not None else limits,
        cancel=cancel or Cancel(),
        session=session,
        started=time.monotonic(),
    )


def _is_plain(name: str) -> bool:
    return name.isidentifier() and not name.startswith("_") and not keyword.iskeyword(name)


def _checked_params(params: Mapping[str, Any] | None, kit: Kit) -> dict[str, Any]:
    if params is None:
        return {}
    if not isinstance(params, Mapping):
        raise UsageError(f"'params' must map names to values (got {type(params).__name__})")
    for name in params:
        if not isinstance(name, str) or not _is_plain(name):
            raise UsageError(
                f"'params' name {name!r} is not a plain identifier; use letters, digits and _, no Python keyword"
            )
        if name in kit.signatures:
            raise UsageError(f"'params' name '{name}' is also a tool of kit '{kit.name}'; rename it")
    return dict(params)


def _cap(max_grade: Grade | int | None) -> Grade | None:
    if isinstance(max_grade, bool) or not isinstance(max_grade, Grade | int | None):
        raise UsageError(f"'max_grade' must be 0 to 3 (got {max_grade!r})")
    if isinstance(max_grade, int) and not 0 <= max_grade <= 3:
        raise UsageError(f"'max_grade' must be 0 to 3 (got {max_grade})")
    return as_grade(max_grade)


def _tighter(a: Grade | None, b: Grade | None) -> Grade | None:
    if a is None or b is None:
        return a or b
    return Grade(min(a.w, b.w), min(a.d, b.d))


def type_source(value: Any) -> str:
    """Return a type annotation's source for a parameter value, e.g. `list[str]`."""
    if isinstance(value, list | tuple) and value and len({type(v) for v in value}) == 1:
        return f"list[{type_source(value[0])}]"
    for kind in (bool, int, float, str, list, dict):
        if isinstance(value, kind):
            return kind.__name__
    return "Any"
