"""Outputs too large for a reply: kept whole beside the journal, read back in pages.

A text is kept as it is, anything else as its JSON; offsets count characters of that. Secrets are masked character for
character, so that an offset taken from the live reply stays right. A file is fully there or not there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lackpy.errors import LackpyError
from lackpy.traces.mask import mask_text

_ID = re.compile(r"[0-9a-f-]{8,40}")
_SUFFIX = ".txt"


@dataclass(frozen=True, slots=True)
class Page:
    """Characters `offset` to `offset + len(text)` of a stored output's `total`; `next_offset` is `None` at its end."""

    text: str
    offset: int
    total: int
    next_offset: int | None


def store_result(state_dir: Path, trace_id: str, output: Any, *, keep: int, mask: bool = True) -> None:
    """Write one output and drop all but the newest `keep`; with `keep` 0 nothing is written.

    Args:
        state_dir: A `.lackpy` folder.
        trace_id: The trace it belongs to.
        output: Text, or plain data.
        keep: Stored outputs to keep, this one included.
        mask: Replace recognised secrets by as many `*`.

    Raises:
        OSError: It can't be written.
        LackpyError: `trace_id` is no trace id.
    """
    folder = state_dir / "results"
    target = _file(state_dir, trace_id)
    if keep > 0:
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, allow_nan=False)
        folder.mkdir(parents=True, exist_ok=True)
        _write(target, mask_text(text, keep_length=True) if mask else text)
    # UUIDv7 names sort by age.
    for old in sorted(folder.glob(f"*{_SUFFIX}"), key=lambda p: p.name)[: -keep or None]:
        with contextlib.suppress(OSError):
            old.unlink()


def load_result(state_dir: Path, trace_id: str, *, offset: int = 0, limit: int | None = None) -> Page:
    """Return one page of a stored output.

    Args:
        state_dir: A `.lackpy` folder.
        trace_id: The trace it belongs to.
        offset: First character, from 0.
        limit: Characters at most; all the rest when absent.

    Raises:
        LackpyError: No such output, or an offset or limit out of range.
    """
    path = _file(state_dir, trace_id)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read()
    except FileNotFoundError as exc:
        raise LackpyError(
            f"no stored output for trace {trace_id}; only outputs that were cut are stored, and the oldest are dropped"
        ) from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise LackpyError(f"{path} can't be read ({exc})") from exc
    if not 0 <= offset <= len(text):
        raise LackpyError(f"'offset' must be 0 to {len(text)} (got {offset})")
    if limit is not None and limit < 1:
        raise LackpyError(f"'limit' must be >= 1 (got {limit})")
    end = len(text) if limit is None else min(len(text), offset + limit)
    return Page(text[offset:end], offset, len(text), end if end < len(text) else None)


def _file(state_dir: Path, trace_id: str) -> Path:
    if not _ID.fullmatch(trace_id):
        raise LackpyError(f"'{trace_id[:60]}' is no trace id; pass the one that the call returned")
    return state_dir / "results" / f"{trace_id}{_SUFFIX}"


def _write(target: Path, text: str) -> None:
    part = target.with_name(f"{target.stem}-{secrets.token_hex(4)}.tmp")
    try:
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        # A lone surrogate becomes one `?`: offsets stay right.
        with open(fd, "w", encoding="utf-8", errors="replace", newline="") as file:  # noqa: PTH123  # a descriptor
            file.write(text)
        part.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
