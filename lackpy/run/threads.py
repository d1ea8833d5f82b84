"""Call a function with a deadline, from any thread.

The function runs in a daemon thread of a small pool. When the deadline passes first, the caller goes on
and the thread is left to end by itself: Python can't stop a thread, but nobody waits for it either. Once
the function does return, its thread serves again.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

MAX_IDLE = 8
"""Threads kept warm for the next call."""

Reply = queue.SimpleQueue[tuple[str, Any]]
"""One answer: `("value", result)`, `("raised", exception)` or `("stopped", None)`."""

_Job = tuple[Callable[[], Any], contextvars.Context, Reply]
_idle: list[queue.SimpleQueue[_Job | None]] = []
_lock = threading.Lock()


def start(function: Callable[[], Any]) -> Reply:
    """Start `function` in another thread, in a copy of this thread's context; return where its answer goes."""
    reply: Reply = queue.SimpleQueue()
    with _lock:
        jobs = _idle.pop() if _idle else None
    if jobs is None:
        jobs = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(jobs,), name="lackpy-tool", daemon=True).start()
    jobs.put((function, contextvars.copy_context(), reply))
    return reply


def wait(reply: Reply, timeout_s: float) -> tuple[str, Any] | None:
    """Return the answer, or `None` when `timeout_s` seconds passed first."""
    try:
        return reply.get(timeout=max(0.0, timeout_s))
    except queue.Empty:
        return None


def _serve(jobs: queue.SimpleQueue[_Job | None]) -> None:
    while True:
        job = jobs.get()
        if job is None:
            return
        function, context, reply = job
        answer = _answer(function, context)
        del job, function, context
        with _lock:
            keep = len(_idle) < MAX_IDLE
            if keep:
                _idle.append(jobs)
        reply.put(answer)
        del answer, reply
        if not keep:
            return


def _answer(function: Callable[[], Any], context: contextvars.Context) -> tuple[str, Any]:
    try:
        return "value", context.run(function)
    except BaseException as exc:  # noqa: BLE001  # a tool may raise anything, SystemExit too; the caller decides
        return "raised", exc
