"""`lackpy delegate`, `generate`, `run` and `validate`."""

from __future__ import annotations

import sys
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lackpy.cli.options import (
    call_options,
    find_workspace,
    json_option,
    parse_kit,
    parse_params,
    read_source,
    workspace_option,
)
from lackpy.cli.show import print_json, print_result, remark
from lackpy.describe import verdict_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lackpy.service import Lackpy


@contextmanager
def open_runtime(workspace: Path | None, session: str | None = None) -> Iterator[Lackpy]:
    """Open the workspace's runtime and close it after the command."""
    from lackpy.service import Lackpy  # noqa: PLC0415  # the runtime is only needed once arguments are right

    # What a tool prints is no result: it goes to stderr.
    with redirect_stdout(sys.stderr), Lackpy(find_workspace(workspace), session=session) as runtime:
        yield runtime


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        remark(text)


@click.command()
@click.argument("intent")
@call_options
def delegate(intent: str, workspace: Path | None, session: str | None, as_json: bool, **options: Any) -> int:
    """Find a program for INTENT, run it, print its output."""
    with open_runtime(workspace, session) as runtime:
        result = runtime.delegate(_text(intent), **_call_arguments(options), progress=_progress)
    return print_result(result, as_json)


@click.command()
@click.argument("intent")
@call_options
def generate(intent: str, workspace: Path | None, session: str | None, as_json: bool, **options: Any) -> int:
    """Print the program that INTENT would run."""
    with open_runtime(workspace, session) as runtime:
        result = runtime.generate(_text(intent), **_call_arguments(options), progress=_progress)
    if as_json or not result.ok:
        return print_result(result, as_json)
    click.echo(result.program)
    remark(
        f"[tier {result.tier} {result.template or result.provider} · grade w={result.grade.w if result.grade else '?'}]"
    )
    return 0


@click.command()
@click.argument("program")
@click.option(
    "--intent", default="", help="What the program answers, in plain words; lets riggs learn from it."
)
@call_options
def run(
    program: str, intent: str, workspace: Path | None, session: str | None, as_json: bool, **options: Any
) -> int:
    """Validate and run PROGRAM (text, a .py file, or - for stdin)."""
    source = read_source(program, "PROGRAM")
    with open_runtime(workspace, session) as runtime:
        result = runtime.run_program(_text(source), intent=_text(intent), **_call_arguments(options))
    return print_result(result, as_json)


@click.command()
@click.argument("program")
@click.option("--kit", "-k", default=None, help="Kit name, or tool names separated by commas.")
@click.option("--param", "-p", "params", multiple=True, metavar="NAME", help="Name the caller will supply.")
@click.option("--max-grade", type=click.IntRange(0, 3), default=None, help="Highest world coupling allowed.")
@click.option("--rule", "rules", multiple=True, help="Extra rule, e.g. read-only.")
@workspace_option()
@json_option()
def validate(
    program: str,
    kit: str | None,
    params: tuple[str, ...],
    max_grade: int | None,
    rules: tuple[str, ...],
    workspace: Path | None,
    as_json: bool,
) -> int:
    """Check PROGRAM (text, a .py file, or - for stdin) and print every violation."""
    source = read_source(program, "PROGRAM")
    with open_runtime(workspace) as runtime:
        verdict = runtime.validate(_text(source), parse_kit(kit), params, max_grade=max_grade, rules=rules)
    if as_json:
        print_json(verdict_json(verdict))
    elif verdict.ok:
        click.echo(
            f"valid: grade w={verdict.grade.w} d={verdict.grade.d}; calls {', '.join(verdict.calls) or 'no tool'}"
        )
    else:
        for violation in verdict.violations:
            click.echo(str(violation))
    return 0 if verdict.ok else 1


def _call_arguments(options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "kit": parse_kit(options["kit"]), "params": parse_params(options["params"])}


def _text(argument: str) -> str:
    """Replace bytes of the command line that aren't the locale's encoding."""
    return argument.encode("utf-8", "replace").decode("utf-8")
