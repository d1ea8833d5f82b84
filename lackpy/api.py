"""The two stateless entry points: `validate` a program against tools, and `run` it. No trace is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lackpy.run.record import ErrorKind, Limits, RunError, RunResult

if TYPE_CHECKING:
    from lackpy.kits.spec import ToolSpec
    from lackpy.lang.signature import Grade
    from lackpy.lang.verdict import Verdict

    Tools = Mapping[str, Callable[..., Any] | ToolSpec]


def toolset(tools: Tools) -> dict[str, ToolSpec]:
    """Return name → ToolSpec; the mapping's key is the name a program calls."""
    from lackpy.kits import spec_of  # noqa: PLC0415  # `import lackpy` stays light

    return {name: spec_of(fn, name=name) for name, fn in tools.items()}


def as_grade(value: Grade | int | None) -> Grade | None:
    """Read a grade cap: an int caps `w` alone."""
    from lackpy.lang.signature import Grade  # noqa: PLC0415

    return Grade(value, 3) if isinstance(value, int) else value


def validate(
    program: str,
    tools: Tools,
    *,
    params: Iterable[str] = (),
    max_grade: Grade | int | None = None,
    rules: Iterable[str] = (),
) -> Verdict:
    """Check one program and return every violation at once; nothing runs.

    Args:
        program: Source text.
        tools: Name → callable or ToolSpec that the program may call.
        params: Names the caller will supply.
        max_grade: Highest grade allowed (an int caps `w`).
        rules: Extra named rules, e.g. `read-only` (see `lackpy spec`).
    """
    from lackpy.lang import check  # noqa: PLC0415

    signatures = {name: spec.signature for name, spec in toolset(tools).items()}
    return check(program, signatures, params=params, max_grade=as_grade(max_grade), rules=rules)


def refusal(verdict: Verdict) -> RunError:
    """Turn a refused verdict into the error of a run: the first violation leads, the rest follow."""
    first = verdict.violations[0]
    more = "".join(f"\n{v}" for v in verdict.violations[1:])
    return RunError(ErrorKind.VALIDATION, f"{first}{more}", first.line, first.hint)


def run(
    program: str,
    tools: Tools,
    *,
    params: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    executor: str = "monty",
) -> RunResult:
    """Validate `program`, then run it in the sandbox.

    Args:
        program: Source text.
        tools: Name → callable or ToolSpec.
        params: Name → plain data, readable by the program as variables.
        limits: Budgets; the defaults of `Limits` when absent.
        executor: `monty` (worker process) or `inline` (in this process).

    Returns:
        A result whose `error` says what ended the run; programs and tools never raise through it.

    Raises:
        ValueError: `executor` is not one of the two.
    """
    from lackpy.lang import check  # noqa: PLC0415
    from lackpy.run import executor as executor_named  # noqa: PLC0415  # worker start-up belongs to the first run

    runner = executor_named(executor)
    specs = toolset(tools)
    given = dict(params or {})
    verdict = check(program, {name: spec.signature for name, spec in specs.items()}, params=given)
    if not verdict.ok:
        return RunResult(ok=False, output=None, printed="", calls=(), error=refusal(verdict), ms=0.0)
    return runner.run(verdict, specs, given, limits or Limits())
