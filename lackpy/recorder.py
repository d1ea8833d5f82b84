"""Turns one finished call into its trace, fsyncs it to the journal and settles what the caller gets back.

A trace that can't be written (full disk, read-only folder) becomes a note in the result, never a failed call.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lackpy.errors import LackpyError
from lackpy.result import Result
from lackpy.traces.drain import drain, drain_due
from lackpy.traces.ids import iso_utc, new_id
from lackpy.traces.journal import Journal, JournalError
from lackpy.traces.mask import mask_data, mask_text
from lackpy.traces.record import Attempt, Feedback, Trace
from lackpy.traces.results import store_result
from lackpy.traces.store import Store
from lackpy.version import version

if TYPE_CHECKING:
    from lackpy.config import Config
    from lackpy.run.record import CallRecord

PREVIEW_CHARS = 2_000
CALL_PREVIEW_CHARS = 200
REMEMBERED_TRACES = 2_000
DRAIN_EVERY = 500  # records of one process between two looks at the journal's size
IGNORED_STATE = "journal/\nresults/\n*.duckdb\n*.duckdb.wal\n*.tmp\nbreaker.json\nconcepts.json\n"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What the recorder must know of a call beyond its result."""

    intent: str
    kit: str
    params: Mapping[str, str]
    session: str
    model: str | None = None
    program_given: str | None = None
    attempts: tuple[Attempt, ...] = ()
    executor: str | None = None
    slots: Mapping[str, Any] = field(default_factory=dict)


class Recorder:
    """Writes one workspace's traces; thread-safe. The state folder is made on the first record."""

    def __init__(
        self,
        workspace: Path,
        config: Config,
        session: str | None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """Name the session; nothing is written yet."""
        self._clock = clock or (lambda: datetime.now(UTC))
        self.session = session or new_id()
        self._workspace = workspace
        self._config = config
        self._journal: Journal | None = None
        self._lock = threading.Lock()
        self._recorded = 0
        self._templates: OrderedDict[str, str | None] = OrderedDict()

    @property
    def state_dir(self) -> Path:
        """The workspace's `.lackpy` folder."""
        return self._workspace / ".lackpy"

    def record(self, facts: RunFacts, result: Result) -> Result:
        """Write the call's trace and return its result with trace id, and with a large output replaced by a preview."""
        trace_id = new_id()
        started = iso_utc(self._clock() - timedelta(milliseconds=result.ms.total))
        settled, preview, size = self._settle_output(replace(result, trace_id=trace_id))
        trace = self._trace(trace_id, started, facts, settled, preview, size)
        try:
            self._open_journal().append(trace)
        except (JournalError, OSError) as exc:
            return replace(settled, trace_id=None, notes=(*settled.notes, f"trace not recorded: {exc}"))
        with self._lock:
            self._drain_now_and_then()
            self._templates[trace_id] = result.template
            while len(self._templates) > REMEMBERED_TRACES:
                self._templates.popitem(last=False)
        return settled

    def feedback(self, trace_id: str, verdict: str, note: str) -> str | None:
        """Append a feedback record; return the template that served the trace when this process still knows it.

        Raises:
            JournalError: It can't be written.
        """
        text = mask_text(note) if self._config.traces.mask else note
        self._open_journal().append(
            Feedback(trace_id=trace_id, ts=iso_utc(self._clock()), verdict=verdict, note=text)
        )
        with self._lock:
            return self._templates.get(trace_id)

    def close(self) -> None:
        """Close this process's journal segment; drain the journal when it has grown."""
        with self._lock:
            if self._journal is None:
                return
            self._journal.close()
            self._journal = None
        self._drain()

    def _drain(self) -> None:
        """Bring the journal into the store when it is due and nobody has the store open; never fails a call."""
        if drain_due(self.state_dir):
            with contextlib.suppress(LackpyError, OSError):
                drain(self.state_dir, Store(self._config.traces.store, base=self.state_dir, wait_s=0.0))

    def _drain_now_and_then(self) -> None:
        self._recorded += 1
        if self._recorded % DRAIN_EVERY == 0:
            threading.Thread(target=self._drain, name="lackpy-drain", daemon=True).start()

    def _open_journal(self) -> Journal:
        with self._lock:
            if self._journal is None:
                self._make_state_dir()
                self._journal = Journal(self.state_dir / "journal")
            return self._journal

    def _make_state_dir(self) -> None:
        """Create `.lackpy`, with a `.gitignore` that leaves templates, kits and configuration to version control."""
        try:
            self.state_dir.mkdir(exist_ok=True)
            ignore = self.state_dir / ".gitignore"
            if not ignore.exists():
                ignore.write_text(IGNORED_STATE, encoding="utf-8")
        except OSError as exc:
            raise JournalError(f"{self.state_dir} can't be written ({exc.strerror or exc})") from exc

    def _settle_output(self, result: Result) -> tuple[Result, str | None, int | None]:
        """Return the result as the caller gets it, the trace's output preview, and the output's bytes."""
        if not result.ok or result.program is None:
            return result, None, None
        text = json.dumps(result.output, ensure_ascii=False, allow_nan=False)
        size = len(text.encode("utf-8", "replace"))
        preview = self._kept(text)
        if size <= self._config.limits.output_bytes:
            return replace(result, output_bytes=size), preview, size
        shown = result.output if isinstance(result.output, str) else text
        cut = replace(
            result, output=shown[: self._config.limits.output_bytes], truncated=True, output_bytes=size
        )
        try:
            self._make_state_dir()
            store_result(
                self.state_dir,
                str(result.trace_id),
                result.output,
                keep=self._config.traces.results_keep,
                mask=self._config.traces.mask,
            )
        except (OSError, JournalError) as exc:
            cut = replace(cut, notes=(*cut.notes, f"the rest of the output was not stored: {exc}"))
        return cut, preview, size

    def _kept(self, text: str) -> str | None:
        keep = self._config.traces.keep
        if keep == "none":
            return None
        if self._config.traces.mask:
            text = mask_text(text)
        return text if keep == "full" else text[:PREVIEW_CHARS]

    def _trace(
        self,
        trace_id: str,
        started: str,
        facts: RunFacts,
        result: Result,
        preview: str | None,
        size: int | None,
    ) -> Trace:
        mask: Any = mask_data if self._config.traces.mask else (lambda value: value)
        tokens_in, tokens_out, cost = (
            _sum(facts.attempts, name) for name in ("tokens_in", "tokens_out", "cost_usd")
        )
        return Trace(
            trace_id=trace_id,
            ts=started,
            project=self._workspace.name,
            session_id=facts.session,
            intent=mask(facts.intent),
            kit=facts.kit,
            params=dict(facts.params),
            tier=str(result.tier) if result.tier is not None else None,
            provider=result.provider,
            model=facts.model,
            template=result.template,
            slots=mask(dict(facts.slots)),
            program=mask(result.program),
            program_given=mask(facts.program_given) if facts.program_given != result.program else None,
            attempts=tuple(_masked_attempt(a, mask) for a in facts.attempts),
            valid=result.program is not None and not result.violations,
            success=result.ok,
            error_kind=str(result.error.kind) if result.error else None,
            error=mask(result.error.message) if result.error else None,
            grade_w=result.grade.w if result.grade else None,
            grade_d=result.grade.d if result.grade else None,
            calls=tuple(self._call(call, mask) for call in result.calls),
            output_preview=preview,
            output_bytes=size,
            printed_bytes=len(result.printed.encode("utf-8", "replace")),
            executor=facts.executor,
            gen_ms=result.ms.generate,
            validate_ms=result.ms.validate,
            run_ms=result.ms.run,
            total_ms=result.ms.total,
            tokens_in=int(tokens_in) if tokens_in is not None else None,
            tokens_out=int(tokens_out) if tokens_out is not None else None,
            cost_usd=cost,
            lackpy_version=version(),
        )

    def _call(self, call: CallRecord, mask: Any) -> dict[str, Any]:
        kept = self._config.traces.keep != "none"
        return {
            "step": call.step,
            "tool": call.tool,
            "args": mask(dict(call.args)),
            "ok": call.ok,
            "ms": round(call.ms, 3),
            "error": mask(call.error) if call.error else None,
            "result_bytes": call.result_bytes,
            "preview": mask(call.preview[:CALL_PREVIEW_CHARS]) if kept else "",
        }


def _sum(attempts: tuple[Attempt, ...], name: str) -> float | None:
    known = [value for a in attempts if (value := getattr(a, name)) is not None]
    return sum(known) if known else None


def _masked_attempt(attempt: Attempt, mask: Any) -> Attempt:
    return replace(
        attempt,
        raw=mask(attempt.raw) if attempt.raw else attempt.raw,
        program=mask(attempt.program) if attempt.program else attempt.program,
    )
