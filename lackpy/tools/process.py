"""Child processes that can't outlive their call: no stdin, own process group, a deadline, output to a file.

Every process the child leaves behind is killed, also one that left the group (found by a mark in its environment).
"""

from __future__ import annotations

import atexit
import os
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lackpy import deadline

_MARK = "LACKPY_CHILD"
_GRACE_S = 0.5  # between asking a group to end and killing it
_TAIL_BYTES = 20_000
_SWEEPS, _SWEEP_S = 50, 0.02
_live: set[tuple[int, str]] = set()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended.

    Attributes:
        status: Exit status, negative = killed by that signal, `None` = still running at the deadline.
        tail: The end of what it printed, at most 20,000 bytes.
        seconds: How long it ran.
    """

    status: int | None
    tail: str
    seconds: float


def run(
    command: Sequence[str], cwd: str, environment: Mapping[str, str], output: Path, timeout_s: float
) -> Ended:
    """Run `command` and wait for its end or the deadline.

    Args:
        command: Program and arguments.
        cwd: Folder it starts in.
        environment: Its whole environment.
        output: File that takes stdout and stderr.
        timeout_s: Seconds until its group is killed.

    Raises:
        OSError: It can't be started.
    """
    mark = secrets.token_hex(8)
    started = time.monotonic()
    with output.open("wb") as sink:
        child = subprocess.Popen(  # noqa: S603  # running the project's own tests is the purpose
            list(command),
            cwd=cwd,
            env={**environment, _MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    with _lock:
        _live.add((child.pid, mark))
    call = deadline.current()
    if call is not None:
        call.on_stop(lambda: _give_up(child.pid, mark))
    status: int | None = None
    try:
        with suppress(subprocess.TimeoutExpired):
            status = child.wait(timeout_s)
    finally:
        seconds = time.monotonic() - started
        _end(child, mark)
        with _lock:
            _live.discard((child.pid, mark))
    return Ended(status, _tail(output), seconds)


def _give_up(pid: int, mark: str) -> None:
    """Kill a child whose caller no longer waits; `run` in its own thread does the rest."""
    with _lock:
        if (pid, mark) in _live:
            _signal(pid, signal.SIGKILL)


def _end(child: subprocess.Popen[bytes], mark: str) -> None:
    """Kill the child's group and whatever else it started."""
    if child.poll() is None:
        _signal(child.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE_S)
    _signal(child.pid, signal.SIGKILL)
    _sweep(mark)
    with suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE_S)


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _sweep(mark: str) -> None:
    """Kill processes that carry `mark` in their environment until none is left, for at most a second (Linux)."""
    wanted = f"{_MARK}={mark}".encode()
    for _ in range(_SWEEPS):
        found = False
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
                    found = True
        if not found:
            return
        time.sleep(_SWEEP_S)


def _tail(output: Path) -> str:
    with suppress(OSError), output.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        return file.read().decode("utf-8", errors="replace")
    return ""


@atexit.register
def _end_all() -> None:
    """Kill children of calls that were given up."""
    with _lock:
        left = list(_live)
    for pid, mark in left:
        _signal(pid, signal.SIGKILL)
        _sweep(mark)
