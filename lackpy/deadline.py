"""When the tool call in progress must have ended, and whether it was given up: what an executor tells a tool.

The executor sets it around the call; a tool that scans or starts processes asks for it. Tools need not know of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Deadline:
    """The end of one tool call; safe to use from several threads.

    Attributes:
        at: Monotonic seconds.
        stopped: The call was given up; nobody waits for its answer.
    """

    __slots__ = ("_callbacks", "_lock", "at", "stopped")

    def __init__(self, at: float) -> None:
        """End at monotonic second `at`."""
        self.at = at
        self.stopped = False
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def left_s(self) -> float:
        """Return the seconds left, 0 when it was given up or is over."""
        return 0.0 if self.stopped else max(0.0, self.at - time.monotonic())

    def stop(self) -> None:
        """Give the call up and run what was asked for with `on_stop`."""
        with self._lock:
            self.stopped = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def on_stop(self, callback: Callable[[], None]) -> None:
        """Run `callback` once when the call is given up, at once when it already was."""
        with self._lock:
            if not self.stopped:
                self._callbacks.append(callback)
                return
        callback()


_current: ContextVar[Deadline | None] = ContextVar("lackpy_deadline", default=None)


def current() -> Deadline | None:
    """Return the deadline of the tool call this code runs in, `None` outside one."""
    return _current.get()


@contextmanager
def during(deadline: Deadline) -> Iterator[None]:
    """Make `deadline` the current one, also for threads started with a copy of this context."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)
