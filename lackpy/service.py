"""The delegate runtime of one workspace: intent → dispatch → run → journal → result.

Consumes plain arguments, returns `Result`; a bad argument, kit or configuration raises `LackpyError`, everything
that a program, tool or tier does comes back inside the result. Never holds the store open.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lackpy import config as configuration
from lackpy.api import refusal
from lackpy.call import Call, UsageError, prepare
from lackpy.infer.again import is_better
from lackpy.infer.protocol import Tier
from lackpy.kits import Kit, load_kit
from lackpy.lang import check
from lackpy.recorder import Recorder, RunFacts
from lackpy.result import Ms, Passed, Result
from lackpy.run.record import Cancel, ErrorKind, Executor, RunError, RunResult

if TYPE_CHECKING:
    from datetime import datetime

    from lackpy.infer.dispatch import Candidate, Dispatcher
    from lackpy.infer.protocol import Provider
    from lackpy.lang.signature import Grade
    from lackpy.lang.verdict import Verdict
    from lackpy.templates.format import Template

KitLike = str | list[str] | Mapping[str, Any]
LIBRARY_TIERS = (Tier.TEMPLATES, Tier.RULES)


class Lackpy:
    """A workspace's delegate runtime; thread-safe, reusable, closed by `close()` or as a context manager.

    Args:
        workspace: Folder that tools are confined to.
        kit: Kit for calls that don't name one; `None` uses the configuration's.
        config: Overrides `.lackpy/config.toml` when given.
        session: Session name; a new id when absent.
        providers: Asked after the configured tiers, e.g. a model of your own.
        clock: Wall clock of the traces; the machine's when absent.

    Raises:
        UsageError: `workspace` isn't a folder.
        ConfigError: The configuration can't be used.
    """

    def __init__(
        self,
        workspace: str | Path = ".",
        kit: KitLike | None = None,
        config: configuration.Config | None = None,
        session: str | None = None,
        *,
        providers: Iterable[Provider] = (),
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """Read the configuration; workers, models and the store are opened on first use."""
        root = Path(workspace).resolve()
        if not root.is_dir():
            raise UsageError(f"workspace '{workspace}' is not a folder")
        self.workspace = root
        self.config = config or configuration.load(root)
        self.kit: KitLike = kit if kit is not None else self.config.kit
        self.recorder = Recorder(root, self.config, session, clock)
        self._providers = tuple(providers)
        self._executor: Executor | None = None
        self._dispatcher: Dispatcher | None = None
        self._lock = threading.RLock()

    @property
    def session(self) -> str:
        """The session that traces of this runtime belong to."""
        return self.recorder.session

    # -- calls ---------------------------------------------------------------------------------------

    def delegate(
        self,
        intent: str,
        kit: KitLike | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        max_grade: Grade | int | None = None,
        rules: Iterable[str] = (),
        timeout_s: float | None = None,
        cancel: Cancel | None = None,
        progress: Callable[[str], None] | None = None,
        session: str | None = None,
    ) -> Result:
        """Find a program for `intent`, run it, record it.

        Args:
            intent: What is wanted, in plain words.
            kit: Kit name, tool names, or name → tool.
            params: Inputs the program may read.
            max_grade: Highest grade allowed.
            rules: Extra rules, e.g. `read-only`.
            timeout_s: Seconds for the whole call.
            cancel: Stops the call from another thread.
            progress: Called with one sentence when a slow tier starts.
            session: Session of this call, when it isn't the runtime's own.

        Raises:
            UsageError, KitError: A bad argument.
        """
        call = self._call(_wanted(intent), kit, params, max_grade, rules, timeout_s, cancel, session)
        search = self.dispatcher.search(
            call.request(), max_grade=call.max_grade, rules=call.rules, progress=progress
        )
        validate_ms = 0.0
        result: Result | None = None
        ran: RunResult | None = None
        candidate: Candidate | None = None
        failed: list[Passed] = []
        for found in search:
            validate_ms += found.validate_ms
            run = self._run(found.verdict, call, found.proposal.params)
            if found.tier in LIBRARY_TIERS:
                self._report(found, run)
            if is_better(run, ran):
                candidate, ran, result = found, run, _from_run(found, run)
            if not search.goes_on(found, run):
                break
            said = "its program found nothing" if run.ok else f"its program failed: {_sentence(run)}"
            failed.append(Passed(str(found.tier), found.provider, said))
        if result is None:
            result = self._unserved(call, search)
        result = replace(
            result,
            passed=(*search.passed, *failed, *self._absent(result)),
            ms=_timing(call, search.generate_ms, validate_ms, ran),
        )
        return self.recorder.record(self._facts(call, search, candidate), result)

    def generate(
        self,
        intent: str,
        kit: KitLike | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        max_grade: Grade | int | None = None,
        rules: Iterable[str] = (),
        timeout_s: float | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Result:
        """Find a program for `intent` and return it without running it; nothing is recorded.

        Raises:
            UsageError, KitError: A bad argument.
        """
        call = self._call(_wanted(intent), kit, params, max_grade, rules, timeout_s, None, None)
        search = self.dispatcher.search(
            call.request(), max_grade=call.max_grade, rules=call.rules, progress=progress
        )
        candidate = next(iter(search), None)
        timing = _timing(call, search.generate_ms, candidate.validate_ms if candidate else 0.0, None)
        if candidate is None:
            unserved = self._unserved(call, search)
            return replace(unserved, ms=timing, passed=(*search.passed, *self._absent(unserved)))
        return Result(
            ok=True,
            tier=str(candidate.tier),
            provider=candidate.provider,
            template=candidate.proposal.template,
            slots=candidate.proposal.slots,
            program=candidate.verdict.program,
            grade=candidate.verdict.grade,
            passed=tuple(search.passed),
            ms=timing,
        )

    def run_program(
        self,
        program: str,
        kit: KitLike | None = None,
        params: Mapping[str, Any] | None = None,
        intent: str = "",
        *,
        max_grade: Grade | int | None = None,
        rules: Iterable[str] = (),
        timeout_s: float | None = None,
        cancel: Cancel | None = None,
        session: str | None = None,
    ) -> Result:
        """Validate and run the caller's own program; with `intent` the trace can teach a template.

        Raises:
            UsageError, KitError: A bad argument.
        """
        call = self._call(intent, kit, params, max_grade, rules, timeout_s, cancel, session)
        started = time.monotonic()
        verdict = self._checked(_program(program), call)
        validate_ms = _ms_since(started)
        ran = self._run(verdict, call, {}) if verdict.ok else None
        result = Result(
            ok=ran is not None and ran.ok,
            output=ran.output if ran else None,
            printed=ran.printed if ran else "",
            tier=str(Tier.CALLER),
            provider="caller",
            program=verdict.program,
            grade=verdict.grade,
            calls=ran.calls if ran else (),
            error=ran.error if ran else refusal(verdict),
            violations=verdict.violations,
            notes=ran.notes if ran else (),
            ms=_timing(call, 0.0, validate_ms, ran),
        )
        facts = RunFacts(
            intent=call.intent,
            kit=call.kit.name,
            params=call.param_types,
            session=call.session,
            program_given=program,
            executor=self.config.run.executor if ran else None,
        )
        return self.recorder.record(facts, result)

    def validate(
        self,
        program: str,
        kit: KitLike | None = None,
        params: Iterable[str] = (),
        *,
        max_grade: Grade | int | None = None,
        rules: Iterable[str] = (),
    ) -> Verdict:
        """Check a program against a kit, types included; nothing runs and nothing is recorded.

        Raises:
            UsageError, KitError: A bad argument.
        """
        call = self._call("", kit, dict.fromkeys(params), max_grade, rules, None, None, None)
        return self._checked(_program(program), call)

    def create(
        self, program: str, name: str, pattern: str, kit: KitLike | None = None, *, force: bool = False
    ) -> Path:
        """Write a template from one program: the explicit fast path, served on the next call.

        Args:
            program: With `{slot}` inside its strings.
            name: Template name.
            pattern: Intent pattern with the same slots, `{slot}` or `{slot:type}`.
            kit: Kit the program needs.
            force: Replace a template of that name.

        Raises:
            TemplateError: The program, name or pattern can't be used, or the name is taken.
        """
        from lackpy.templates.create import create_template  # noqa: PLC0415  # writing is rare

        return create_template(
            self.workspace,
            self.load_kit(kit),
            program=_program(program),
            name=name,
            pattern=pattern,
            force=force,
        )

    def disable_template(self, name: str) -> Path:
        """Take a template out of service; a shipped one for this workspace only.

        Raises:
            TemplateError: No template has that name, or its file can't be written.
        """
        from lackpy.templates.create import disable_template  # noqa: PLC0415  # writing is rare

        return disable_template(self.workspace, self._template(name))

    def template_text(self, name: str) -> str:
        """Return a template's file.

        Raises:
            TemplateError: No template has that name.
        """
        from lackpy.templates.create import template_text  # noqa: PLC0415

        return template_text(self._template(name))

    def _template(self, name: str) -> Template:
        from lackpy.templates.format import TemplateError  # noqa: PLC0415

        provider = self.dispatcher.templates
        found = provider.library.current().templates.get(name) if provider else None
        if found is None:
            raise TemplateError(f"no template '{name}'; see `lackpy template list --all`")
        return found.template

    def template_rows(self, *, everything: bool = False) -> list[dict[str, Any]]:
        """Return one row a template: state, pattern, problem; without `everything` only this workspace's own."""
        rows = self.dispatcher.template_rows(self.load_kit().signatures)
        return [row for row in rows if everything or row["origin"] == "workspace"]

    def explain(self, intent: str, kit: KitLike | None = None) -> dict[str, Any]:
        """Say why tier 0 does or doesn't serve an intent: pattern, slots, guard, nearest templates."""
        call = self._call(_wanted(intent), kit, None, None, (), None, None, None)
        report = self.dispatcher.explain(call.request())
        return (
            report.to_json()
            if report
            else {"hit": False, "reason": "tier 0 is off: [tiers] order lacks templates"}
        )

    def feedback(self, trace_id: str, verdict: str, note: str = "") -> None:
        """Record `good` or `bad` for a trace; bad counts as a failure of its template at once.

        Raises:
            UsageError: Another verdict, or a trace id that isn't one.
        """
        if verdict not in ("good", "bad"):
            raise UsageError(f"'verdict' must be good or bad (got {verdict!r})")
        if not isinstance(trace_id, str) or not 8 <= len(trace_id) <= 64:
            raise UsageError(f"'trace_id' must be the id a call returned (got {trace_id!r})")
        template = self.recorder.feedback(trace_id, verdict, note)
        if template is not None and verdict == "bad":
            self.dispatcher.report(template, ok=False)

    # -- parts ---------------------------------------------------------------------------------------

    @property
    def executor(self) -> Executor:
        """The configured executor, started on first use."""
        with self._lock:
            if self._executor is None:
                from lackpy.run import executor  # noqa: PLC0415  # worker start-up belongs to the first run

                self._executor = executor(self.config.run.executor, workers=self.config.run.workers)
            return self._executor

    @property
    def dispatcher(self) -> Dispatcher:
        """The configured tiers, built on first use."""
        with self._lock:
            if self._dispatcher is None:
                from lackpy.infer.build import build_dispatcher  # noqa: PLC0415  # tiers import their own parts

                self._dispatcher = build_dispatcher(self.workspace, self.config, self._providers)
            return self._dispatcher

    def load_kit(self, kit: KitLike | None = None) -> Kit:
        """Resolve a kit; `None` is the runtime's default.

        Raises:
            KitError: No such kit or tool.
        """
        return load_kit(kit if kit is not None else self.kit, self.workspace)

    def default_kit_grade(self) -> int:
        """Return the default kit's highest `w`, capped by the configuration."""
        kit = self.load_kit()
        ceiling = max((spec.signature.grade.w for spec in kit.tools.values()), default=0)
        caps = [
            cap
            for cap in (self.config.max_grade, kit.max_grade.w if kit.max_grade else None)
            if cap is not None
        ]
        return min([ceiling, *caps])

    def close(self) -> None:
        """Stop workers and models; every acknowledged trace is on disk already."""
        with self._lock:
            if self._executor is not None:
                self._executor.close()
                self._executor = None
            if self._dispatcher is not None:
                self._dispatcher.close()
                self._dispatcher = None
        self.recorder.close()
        _close_tool_servers()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _call(
        self,
        intent: str,
        kit: KitLike | None,
        params: Mapping[str, Any] | None,
        max_grade: Grade | int | None,
        rules: Iterable[str],
        timeout_s: float | None,
        cancel: Cancel | None,
        session: str | None,
    ) -> Call:
        return prepare(
            intent,
            self.load_kit(kit),
            params,
            max_grade=max_grade if max_grade is not None else self.config.max_grade,
            rules=rules,
            limits=self.config.limits,
            timeout_s=timeout_s,
            cancel=cancel,
            session=session or self.session,
        )

    def _checked(self, program: str, call: Call) -> Verdict:
        verdict = check(
            program, call.kit.signatures, params=call.params, max_grade=call.max_grade, rules=call.rules
        )
        if not verdict.ok or not self.config.run.type_check:
            return verdict
        from lackpy.run import typecheck  # noqa: PLC0415  # starts a worker

        wrong = typecheck(verdict.program, call.kit.signatures, call.param_types)
        return replace(verdict, ok=False, violations=wrong, tree=None) if wrong else verdict

    def _run(self, verdict: Verdict, call: Call, extra: Mapping[str, Any]) -> RunResult:
        left = call.deadline - time.monotonic()
        if call.cancel.cancelled:
            return _stopped(ErrorKind.CANCELLED, "cancelled before the program started")
        if left <= 0:
            return _stopped(
                ErrorKind.LIMIT, f"time limit of {call.limits.time_s:g} s reached before the program started"
            )
        limits = replace(call.limits, time_s=left)
        return self.executor.run(verdict, call.kit.tools, {**call.params, **extra}, limits, call.cancel)

    def _report(self, candidate: Candidate, ran: RunResult) -> None:
        """Tell the circuit breaker how a template's serve went; a cancelled call says nothing about it."""
        template = candidate.proposal.template
        if template is not None and not (ran.error and ran.error.kind is ErrorKind.CANCELLED):
            self.dispatcher.report(template, ok=ran.ok)

    def _unserved(self, call: Call, search: Any) -> Result:
        last = search.last_refused
        error = RunError(
            ErrorKind.NO_PROGRAM,
            "no tier has a program for this intent",
            hint="send a program with run_program",
        )
        return Result(
            ok=False,
            error=error,
            program=last.program if last else None,
            violations=last.violations if last else (),
            help=self.dispatcher.help(call.request(), search.passed),
        )

    def _absent(self, result: Result) -> list[Passed]:
        """Name the tiers that aren't set up, when none of the others served the call."""
        return (
            []
            if result.tier is not None
            else [Passed(str(t), n, why) for t, n, why in self.dispatcher.missing]
        )

    def _facts(self, call: Call, search: Any, candidate: Candidate | None) -> RunFacts:
        proposal = candidate.proposal if candidate else None
        return RunFacts(
            intent=call.intent,
            kit=call.kit.name,
            params=call.param_types,
            session=call.session,
            model=proposal.model if proposal else None,
            program_given=proposal.program if proposal else None,
            attempts=tuple(search.attempts),
            executor=self.config.run.executor if candidate else None,
            slots=proposal.slots if proposal else {},
        )


def _close_tool_servers() -> None:
    """Stop MCP servers that kits started, if any did."""
    servers = sys.modules.get("lackpy.kits.mcp_servers")
    if servers is not None:
        servers.close_servers()


def _wanted(intent: str) -> str:
    if isinstance(intent, str) and not intent.strip():
        raise UsageError("'intent' is empty; say in plain words what is wanted")
    return intent


def _program(program: str) -> str:
    if not isinstance(program, str):
        raise UsageError(f"'program' must be text (got {type(program).__name__})")
    return program


def _from_run(candidate: Candidate, ran: RunResult) -> Result:
    return Result(
        ok=ran.ok,
        output=ran.output,
        printed=ran.printed,
        tier=str(candidate.tier),
        provider=candidate.provider,
        template=candidate.proposal.template,
        slots=candidate.proposal.slots,
        program=candidate.verdict.program,
        grade=candidate.verdict.grade,
        calls=ran.calls,
        error=ran.error,
        notes=ran.notes,
    )


def _timing(call: Call, generate_ms: float, validate_ms: float, ran: RunResult | None) -> Ms:
    return Ms(generate_ms, validate_ms, ran.ms if ran else 0.0, _ms_since(call.started))


def _stopped(kind: ErrorKind, message: str) -> RunResult:
    return RunResult(ok=False, output=None, printed="", calls=(), error=RunError(kind, message), ms=0.0)


def _sentence(ran: RunResult) -> str:
    return ran.error.message if ran.error else "no output"


def _ms_since(started: float) -> float:
    return (time.monotonic() - started) * 1000.0
