"""Recurring sequences out of the store, each program checked against the workspace's tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lackpy import sqlfiles
from lackpy.kits import toolbox
from lackpy.lang import check
from riggs.ingest import claude_code
from riggs.macros import Macro, OuterCall, find_macros

if TYPE_CHECKING:
    from riggs.store import Store

_ROWS = 10_000


def recurring(store: Store, sessions: int) -> list[tuple[Macro, str]]:
    """Return (sequence, why its program can't be used, "" when it can)."""
    found = find_macros(_calls(store), str(store.workspace), min_sessions=sessions)
    signatures = {name: spec.signature for name, spec in toolbox(store.workspace).items()}
    checked = []
    for macro in found:
        verdict = check(macro.program, signatures, params=macro.params)
        checked.append((macro, "" if verdict.ok else str(verdict.violations[0])))
    return checked


def _calls(store: Store) -> Iterator[OuterCall]:
    with store.read() as con:
        cursor = con.execute(sqlfiles.load("macros/steps").text, {"source": claude_code.NAME})
        while rows := cursor.fetchmany(_ROWS):
            for session_id, is_sidechain, turn_id, kind, tool, outcome, args, head in rows:
                given = json.loads(args) if args else {}
                yield OuterCall(
                    session_id,
                    is_sidechain,
                    turn_id,
                    kind,
                    tool,
                    outcome == "success",
                    given if isinstance(given, dict) else {},
                    head or "",
                )
