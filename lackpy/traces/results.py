"""Outputs too large for a reply: kept whole beside the journal, read back in pages."""

from __future__ import annotations

import contextlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lackpy.errors import LackpyError

_ID = re.compile(r"^[0-9a-f-]{8,40}$")


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a stored output: characters `offset` to `offset + len(text)` of `total`; `next_offset` ends with `None`."""

    text: str
    offset: int
    total: int
    next_offset: int | None


def store_result(state_dir: Path, trace_id: str, output: Any, *, keep: int) -> None:
    """Write one output (text as it is, anything else as JSON) and drop all but the newest `keep`.

    Raises:
        OSError: It can't be written.
    """
    folder = state_dir / "results"
    folder.mkdir(parents=True, exist_ok=True)
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, allow_nan=False)
    target = folder / f"{trace_id}.txt"
    part = target.with_suffix(".tmp")
    try:
        part.write_text(text, encoding="utf-8", errors="replace", newline="")
        part.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    for old in sorted(folder.glob("*.txt"), key=lambda p: p.name)[: -keep or None]:
        with contextlib.suppress(OSError):
            os.unlink(old)  # noqa: PTH108  # suppress needs no Path here


def load_result(state_dir: Path, trace_id: str, *, offset: int = 0, limit: int | None = None) -> Page:
    """Return one page of a stored output.

    Raises:
        LackpyError: No such output, or an offset beyond its end.
    """
    if not _ID.match(trace_id):
        raise LackpyError(f"'{trace_id}' is not a trace id; pass the one that the call returned")
    path = state_dir / "results" / f"{trace_id}.txt"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read()
    except FileNotFoundError as exc:
        raise LackpyError(
            f"no stored output for trace {trace_id}; only outputs that were cut are stored"
        ) from exc
    if offset < 0 or offset > len(text):
        raise LackpyError(f"'offset' must be 0 to {len(text)} (got {offset})")
    end = len(text) if limit is None else min(len(text), offset + limit)
    return Page(text[offset:end], offset, len(text), end if end < len(text) else None)
