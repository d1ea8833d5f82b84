"""Where examples come from besides the shipped bank: a workspace's live templates and its past successes.

Each source is a callable that the retriever asks on every request; both answer from memory unless something changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from lackpy import sqlfiles
from lackpy.errors import LackpyError
from lackpy.infer.retrieve import Example, Source, from_template

if TYPE_CHECKING:
    from lackpy.templates.loader import TemplateLibrary

REFRESH_S = 30.0
"""Seconds between two looks into the store; a prompt needs no example of this very minute."""
STORE_WAIT_S = 0.2
"""Longest wait for a store that another process holds; older examples do meanwhile."""
MAX_PAST = 500
MAX_PROGRAM_CHARS = 400
"""A longer past program teaches less than it costs."""


def live_templates(library: TemplateLibrary) -> Source:
    """Return a source over the templates that are served, rebuilt when the library changes."""
    seen: list[object] = []
    examples: list[Example] = []

    def source() -> list[Example]:
        snapshot = library.current()
        if not seen or seen[0] is not snapshot:
            seen[:] = [snapshot]
            served = [
                loaded.template for loaded in snapshot.templates.values() if loaded.template.state.served
            ]
            examples[:] = [from_template(t.name, t.pattern, t.program, t.slots) for t in served]
        return examples

    return source


def past_successes(workspace: Path, clock: Callable[[], float] = time.monotonic) -> Source:
    """Return a source over programs that callers wrote or marked good.

    Args:
        workspace: Whose store to read; without a store there are none.
        clock: Monotonic seconds.
    """
    examples: list[Example] = []
    looked: list[float] = []

    def source() -> list[Example]:
        now = clock()
        if not looked or now - looked[0] >= REFRESH_S:
            looked[:] = [now]
            found = _read(workspace)
            if found is not None:
                examples[:] = found
        return examples

    return source


def _read(workspace: Path) -> list[Example] | None:
    """Return what the store holds; `None` when it can't be read now."""
    from lackpy.traces.store import Store  # noqa: PLC0415  # loads DuckDB

    store = Store(workspace, wait_s=STORE_WAIT_S)
    if not store.exists:
        return []
    statement = sqlfiles.load("store/past_programs").text
    try:
        with store.read() as connection:
            rows = connection.execute(statement, {"kit": None, "limit": MAX_PAST}).fetchall()
    except LackpyError:
        return None
    return [
        Example(f"trace:{trace_id}", (intent,), program)
        for trace_id, intent, program in rows
        if len(program) <= MAX_PROGRAM_CHARS
    ]
