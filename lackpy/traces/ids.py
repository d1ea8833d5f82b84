"""Trace ids and the wall clock. Ids are UUIDv7: unique, and ordered within a process."""

from __future__ import annotations

import datetime
import threading
import time
import uuid

_lock = threading.Lock()
_last_ms = 0
_count = 0


def new_id() -> str:
    """Return a UUIDv7 that sorts after every earlier one of this process, also when the clock steps back.

    Source: RFC 9562 section 5.7, with a 12-bit counter in `rand_a` (section 6.2, method 1).
    """
    global _last_ms, _count  # noqa: PLW0603  # the order of ids is a property of the process
    with _lock:
        now = time.time_ns() // 1_000_000
        if now > _last_ms:
            _last_ms, _count = now, 0
        else:
            _count += 1
            if _count > 0xFFF:
                _last_ms, _count = _last_ms + 1, 0
        stamp, count = _last_ms, _count
    value = (stamp & (1 << 48) - 1) << 80 | 0x7 << 76 | count << 64 | 0b10 << 62 | uuid.uuid4().int & (1 << 62) - 1
    return str(uuid.UUID(int=value))


def utc_now(ago_ms: float = 0.0) -> str:
    """Return the time `ago_ms` milliseconds ago as ISO 8601 UTC with microseconds and `Z`."""
    moment = datetime.datetime.now(datetime.UTC) - datetime.timedelta(milliseconds=ago_ms)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
