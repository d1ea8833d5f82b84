"""The call tracer: every tool call of a run passes here and leaves a `CallRecord`.

Arguments and results are copied as plain data both ways, each call has its own deadline, and whatever a
tool raises ends the run as one `StopRunError`. One tracer serves one run.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from typing import TYPE_CHECKING, Any

from lackpy.deadline import Deadline, during
from lackpy.run import threads, wording
from lackpy.run.plain import BudgetError, PlainError, copy_plain, json_safe
from lackpy.run.record import CallRecord, ErrorKind, RunError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lackpy.kits.spec import ToolSpec
    from lackpy.run.record import Limits

PREVIEW_CHARS = 500
"""Characters of a result's JSON that a record keeps."""
TRACE_CHARS = 2_000
"""Characters of one text argument that a record keeps."""
TRACE_ITEMS = 50
"""Items of one list or dict argument that a record keeps."""
TRACE_DEPTH = 4
"""Nesting of one argument that a record keeps."""


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()), range)


class StopRunError(Exception):
    """Ends a run from inside a tool call; carries what to report."""

    def __init__(self, error: RunError) -> None:
        super().__init__(error.message)
        self.error = error


def stop(kind: ErrorKind, message: str, hint: str = "") -> StopRunError:
    """Return the exception that ends a run with this error."""
    return StopRunError(RunError(kind, message, None, hint))


class Tracer:
    """Calls tools for one run.

    Args:
        tools: By the name a program calls.
        limits: Budgets of the run.
        deadline: When the whole run must be over, on the monotonic clock in seconds.
    """

    def __init__(self, tools: Mapping[str, ToolSpec], limits: Limits, deadline: float) -> None:
        self.tools = tools
        self.limits = limits
        self.deadline = deadline
        self.records: list[CallRecord] = []
        self.tool_s = 0.0
        self.stopped = False
        self._reply: threads.Reply | None = None
        self._end: Deadline | None = None

    def stop(self) -> None:
        """End the call in progress and refuse later ones; from any thread."""
        self.stopped = True
        reply = self._reply
        if reply is not None:
            reply.put(("stopped", None))
        end = self._end
        if end is not None:
            end.stop()

    def call(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call one tool and return a plain copy of its result.

        Raises:
            StopRunError: The tool is unknown, its arguments don't fit or are too large, it failed, took too
                long, gave something that is no plain data, or the run was cancelled.
        """
        started = time.perf_counter()
        shown: dict[str, Any] = {}
        try:
            spec = self._spec(name)
            given = _bind(spec, args, kwargs)
            shown = {key: for_trace(value) for key, value in given.items()}
            plain_args, plain_kwargs = self._copy_arguments(name, args, kwargs)
            result, text = self._run(spec, plain_args, plain_kwargs)
        except StopRunError as exc:
            self._record(name, shown, started, error=exc.error.message)
            raise
        self._record(name, shown, started, text=text)
        return result

    def _spec(self, name: str) -> ToolSpec:
        if self.stopped:
            raise stop(ErrorKind.CANCELLED, "the run was cancelled")
        if len(self.records) >= self.limits.tool_calls:
            raise stop(
                ErrorKind.LIMIT,
                f"the program made more than {self.limits.tool_calls:,} tool calls",
                "narrow the search first, then call tools on what is left",
            )
        spec = self.tools.get(name)
        if spec is None:
            raise stop(ErrorKind.RUNTIME, f"NameError: name {name!r} is not defined")
        return spec

    def _copy_arguments(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], dict[str, Any]]:
        try:
            return copy_plain(list(args), self.limits), copy_plain(dict(kwargs), self.limits)
        except BudgetError as exc:
            raise stop(ErrorKind.LIMIT, f"an argument of {name}() is too large: {exc}") from None
        except PlainError as exc:
            raise stop(
                ErrorKind.RUNTIME, f"TypeError: an argument of {name}() can't be passed: {exc}"
            ) from None

    def _run(self, spec: ToolSpec, args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, str]:
        name = spec.name
        own_s = self.limits.tool_time_s if spec.timeout_s is None else spec.timeout_s
        left_s = self.deadline - time.monotonic()
        self._end = end = Deadline(time.monotonic() + min(own_s, left_s))
        with during(end):
            self._reply = reply = threads.start(lambda: self._outcome(spec, args, kwargs))
        if self.stopped:
            reply.put(("stopped", None))
        began = time.monotonic()
        try:
            answer = threads.wait(reply, min(own_s, left_s))
        finally:
            self._reply = self._end = None
            self.tool_s += time.monotonic() - began
        if answer is None:
            end.stop()
            raise _late(name, own_s, left_s, self.limits)
        how, value = answer
        if how == "stopped":
            end.stop()
            raise stop(ErrorKind.CANCELLED, f"the run was cancelled during {name}()")
        if how == "raised":
            raise _failed(name, value)
        return value  # type: ignore[no-any-return]  # `_outcome` made it

    def _outcome(self, spec: ToolSpec, args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, str]:
        """Call the tool and copy its result, both in the tool's thread and under its deadline."""
        result = spec.fn(*args, **kwargs)
        if inspect.iscoroutine(result):
            result = asyncio.run(result)
        plain = copy_plain(result, self.limits)
        return plain, _json(plain)

    def _record(
        self,
        name: str,
        args: dict[str, Any],
        started: float,
        *,
        error: str | None = None,
        text: str | None = None,
    ) -> None:
        self.records.append(
            CallRecord(
                step=len(self.records) + 1,
                tool=name,
                args=args,
                ok=error is None,
                ms=(time.perf_counter() - started) * 1000,
                error=error,
                result_bytes=None if text is None else _size(text),
                preview="" if text is None else text[:PREVIEW_CHARS],
            )
        )


def _late(name: str, own_s: float, left_s: float, limits: Limits) -> StopRunError:
    if own_s <= left_s:
        return stop(
            ErrorKind.LIMIT, f"{name}() took longer than its limit of {own_s:g} s", "ask for less at once"
        )
    return stop(
        ErrorKind.LIMIT,
        f"the program took longer than {limits.time_s:g} s, the last of it in {name}()",
        "ask for less at once",
    )


def _failed(name: str, exc: BaseException) -> StopRunError:
    if isinstance(exc, BudgetError):
        return stop(ErrorKind.LIMIT, f"the result of {name}() is too large: {exc}", "ask for less at once")
    if isinstance(exc, PlainError):
        return stop(ErrorKind.TOOL, f"{name}() gave a result that can't be passed on: {exc}")
    hint = getattr(exc, "hint", "")
    return stop(
        ErrorKind.TOOL, f"{name}() failed: {wording.of_exception(exc)}", hint if isinstance(hint, str) else ""
    )


def _bind(spec: ToolSpec, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameter name → argument.

    Raises:
        StopRunError: The arguments don't fit the signature; the text is Python's own.
    """
    name, params = spec.name, spec.signature.params
    if any(p.name.startswith("*") for p in params):  # what it takes is its own to judge
        return {**{f"arg{i}": value for i, value in enumerate(args, 1)}, **kwargs}
    names = [p.name for p in params]
    if len(args) > len(names):
        takes = f"{len(names)} positional argument{'' if len(names) == 1 else 's'}"
        raise stop(
            ErrorKind.RUNTIME,
            f"TypeError: {name}() takes {takes} but {len(args)} were given",
            spec.signature.text(),
        )
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key in given:
            raise stop(
                ErrorKind.RUNTIME,
                f"TypeError: {name}() got multiple values for argument '{key}'",
                spec.signature.text(),
            )
        if key not in names:
            raise stop(
                ErrorKind.RUNTIME,
                f"TypeError: {name}() got an unexpected keyword argument '{key}'",
                spec.signature.text(),
            )
        given[key] = value
    missing = [p.name for p in params if p.required and p.name not in given]
    if missing:
        raise stop(
            ErrorKind.RUNTIME,
            f"TypeError: {name}() missing required argument: '{missing[0]}'",
            spec.signature.text(),
        )
    return given


def for_trace(value: Any, depth: int = 0) -> Any:
    """Return a small JSON-safe picture of an argument: long texts and lists cut, the cut said.

    Example:
        >>> for_trace({"path": "a.py", "lines": (1, 2)})
        {'path': 'a.py', 'lines': [1, 2]}
    """
    kind: type = type(value)
    if kind is str:
        if len(value) <= TRACE_CHARS:
            return value
        return f"{value[:TRACE_CHARS]}… ({len(value):,} characters)"
    if kind is int:
        return value if value.bit_length() <= 4096 else f"a whole number of {value.bit_length():,} bits"
    if kind in (bool, float, type(None)):
        return json_safe(value).value
    if isinstance(value, _VIEWS):
        value, kind = _first(value), list
    elif isinstance(value, set):
        kind = set
    if kind in (list, tuple, set, frozenset, dict) and depth >= TRACE_DEPTH:
        return f"… ({len(value):,} items)"
    if kind is dict:
        kept = list(value.items())[:TRACE_ITEMS]
        shown = {str(for_trace(k, TRACE_DEPTH)): for_trace(v, depth + 1) for k, v in kept}
        if len(kept) < len(value):
            shown["…"] = f"{len(value):,} items"
        return shown
    if kind in (list, tuple, set, frozenset):
        items = [for_trace(item, depth + 1) for item in _first(value)]
        return items if len(items) == len(value) else [*items, f"… ({len(value):,} items)"]
    return f"a value of type {kind.__name__}"


def _first(items: Any) -> list[Any]:
    return [item for item, _ in zip(items, range(TRACE_ITEMS), strict=False)]


def _json(value: Any) -> str:
    try:
        return json.dumps(json_safe(value).value, ensure_ascii=False, separators=(",", ":"))
    except (PlainError, ValueError):  # keys that clash, or a number longer than Python writes
        return json.dumps(for_trace(value), ensure_ascii=False, separators=(",", ":"))


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
