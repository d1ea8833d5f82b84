"""Executors by name, one of each kind a process: warm workers are shared by everyone who asks."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from lackpy.run.inline import InlineExecutor
from lackpy.run.monty import MontyExecutor

if TYPE_CHECKING:
    from lackpy.run.record import Executor

NAMES = ("monty", "inline")
DEFAULT_WORKERS = 4
_shared: dict[str, dict[int, Executor]] = {name: {} for name in NAMES}
_lock = threading.Lock()


def executor(name: str = "monty", *, workers: int | None = None) -> Executor:
    """Return this process's executor of that name; closing it is safe, its next run starts it anew.

    Args:
        name: `monty` (worker processes) or `inline` (this process).
        workers: Most programs that run at once on `monty`; `None` takes the executor that is there.

    Raises:
        ValueError: There is no such executor.
    """
    if name not in NAMES:
        raise ValueError(f"'executor' must be 'monty' or 'inline' (got {name!r})")
    with _lock:
        made = _shared[name]
        if workers is None:
            workers = next(iter(made), DEFAULT_WORKERS)
        if workers not in made:
            made[workers] = MontyExecutor(workers) if name == "monty" else InlineExecutor()
        return made[workers]
