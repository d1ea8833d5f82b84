"""The pool of sandbox workers: started on first use, replaced when one dies, shared by runs and type checks."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from lackpy.errors import LackpyError
from lackpy.run import wording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic_monty import Monty, MontySession

GRACE_S = 0.25
"""Seconds past its own time limit after which a worker that does not stop is killed."""
POLL_S = 0.05
"""Seconds between two looks at a cancel flag while all workers are busy."""
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


NO_SANDBOX = "reinstall pydantic-monty, or choose the inline executor"


class NoSandboxError(LackpyError):
    """The sandbox's program is missing or doesn't start."""


class Worker:
    """One worker while a session holds it; `kill` ends that process and no other."""

    __slots__ = ("_held", "_lock", "pid", "session")

    def __init__(self, session: MontySession) -> None:
        self.session = session
        self.pid = session.worker_pid
        self._held = True
        self._lock = threading.Lock()

    def kill(self) -> None:
        """End the process; from any thread. Nothing happens once the session is over."""
        with self._lock:
            if self._held and self.pid is not None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(self.pid, _KILL)

    def let_go(self) -> None:
        """Forbid `kill` from here on: the process goes back to the pool."""
        with self._lock:
            self._held = False


class WorkerPool:
    """Up to `workers` sandbox processes; safe to use from many threads.

    `close` ends the idle processes at once and the busy ones when they are done; the next session
    starts the pool anew.
    """

    def __init__(self, workers: int = 4) -> None:
        if workers < 1:
            raise ValueError(f"'workers' must be >= 1 (got {workers})")
        self.workers = workers
        self._slots = threading.BoundedSemaphore(workers)
        self._lock = threading.Lock()
        self._monty: Monty | None = None
        self._busy = 0
        self._closing = False
        self._owner = os.getpid()

    @contextlib.contextmanager
    def session(
        self, *, wait_s: float, given_up: Callable[[], bool] | None = None, **checkout: Any
    ) -> Iterator[Worker]:
        """Hold one worker.

        Args:
            wait_s: Longest wait for a free worker, in seconds.
            given_up: Asked while waiting; true ends the wait.
            **checkout: Passed on to the sandbox: limits, type check options.

        Raises:
            TimeoutError: No worker came free in time.
            NoSandboxError: None could be started.
        """
        self._take_slot(wait_s, given_up)
        try:
            monty = self._enter()
            try:
                with contextlib.ExitStack() as stack:
                    worker = Worker(self._check_out(monty, stack, checkout))
                    stack.callback(worker.let_go)
                    yield worker
            finally:
                self._leave()
        finally:
            self._slots.release()

    def close(self) -> None:
        """End the workers, as soon as no session holds one."""
        with self._lock:
            self._closing = self._busy > 0
            monty = None if self._busy else self._take()
        if monty is not None:
            monty.__exit__(None, None, None)

    def _check_out(self, monty: Monty, stack: contextlib.ExitStack, checkout: Any) -> MontySession:
        """Enter a session; a worker that died while idle shows it only now, so the next one is tried."""
        from pydantic_monty import MontyCrashedError  # noqa: PLC0415  # as in `_enter`

        for _ in range(self.workers):
            with contextlib.suppress(MontyCrashedError):
                return stack.enter_context(monty.checkout(**checkout))
        return stack.enter_context(monty.checkout(**checkout))

    def _take_slot(self, wait_s: float, given_up: Callable[[], bool] | None) -> None:
        if self._slots.acquire(blocking=False):
            return
        until = time.monotonic() + wait_s
        while not self._slots.acquire(timeout=POLL_S):
            if time.monotonic() >= until or (given_up is not None and given_up()):
                raise TimeoutError(f"no sandbox worker came free within {wait_s:g} s")

    def _enter(self) -> Monty:
        from pydantic_monty import Monty  # noqa: PLC0415  # 20 ms that a program-less command need not pay

        with self._lock:
            if self._owner != os.getpid():  # a fork: the parent's workers are not ours
                self._monty, self._owner, self._busy = None, os.getpid(), 0
            if self._monty is None:
                monty = Monty(
                    min_processes=1,
                    max_processes=self.workers,
                    feed_duration_limit_grace=GRACE_S,
                    turn_duration_limit_grace=GRACE_S,
                )
                try:
                    monty.__enter__()
                except (RuntimeError, OSError) as exc:
                    said = wording.guarded(str(exc))
                    raise NoSandboxError(f"the sandbox can't be started: {said}", NO_SANDBOX) from exc
                self._monty = monty
            self._busy += 1
            return self._monty

    def _leave(self) -> None:
        with self._lock:
            self._busy -= 1
            monty = self._take() if self._closing and self._busy == 0 else None
        if monty is not None:
            monty.__exit__(None, None, None)

    def _take(self) -> Monty | None:
        monty, self._monty, self._closing = self._monty, None, False
        return monty
