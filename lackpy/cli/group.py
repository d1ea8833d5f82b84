"""The command table and the process's edge: encodings, closed pipes, exit codes.

Exit codes: 0 done, 1 the call failed, 2 usage, 130 interrupted, 141 the reader went away.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

import click

from lackpy.errors import LackpyError

COMMANDS: Mapping[str, str] = {
    "delegate": "lackpy.cli.calls:delegate",
    "generate": "lackpy.cli.calls:generate",
    "run": "lackpy.cli.calls:run",
    "validate": "lackpy.cli.calls:validate",
    "create": "lackpy.cli.templates:create",
    "template": "lackpy.cli.templates:template",
    "kit": "lackpy.cli.kits:kit",
    "tool": "lackpy.cli.kits:tool",
    "spec": "lackpy.cli.spec:spec",
    "trace": "lackpy.cli.traces:trace",
    "result": "lackpy.cli.traces:result",
    "feedback": "lackpy.cli.traces:feedback",
    "init": "lackpy.cli.setup:init",
    "status": "lackpy.cli.setup:status",
    "doctor": "lackpy.cli.setup:doctor",
    "serve": "lackpy.cli.serve:serve",
    "eval": "lackpy.cli.eval:command",
}
SUMMARY: Mapping[str, str] = {
    "delegate": "State an intent, get one result.",
    "generate": "Show the program an intent would run, without running it.",
    "run": "Validate and run a program of your own.",
    "validate": "Check a program and print every violation.",
    "create": "Turn a program into a template.",
    "template": "List, show, test and disable templates.",
    "kit": "List, show and create kits.",
    "tool": "List tools with their signatures.",
    "spec": "Print the language.",
    "trace": "List, show and follow traces.",
    "result": "Page through a large stored result.",
    "feedback": "Mark a trace good or bad.",
    "init": "Set up a workspace.",
    "status": "Show what this workspace has.",
    "doctor": "Check the installation and say what to do.",
    "serve": "Serve over MCP.",
    "eval": "Measure a model tier on a file of intents.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported on use, so that `--help` imports none of them."""

    def __init__(self, commands: Mapping[str, str], summary: Mapping[str, str], **kwargs: Any) -> None:
        """Take name → `module:attribute` and name → one line."""
        super().__init__(**kwargs)
        self._lazy = commands
        self._summary = summary

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the table's order."""
        del ctx
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        del ctx
        target = self._lazy.get(cmd_name)
        if target is None:
            return None
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{target} is not a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command list from the summary table."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary[name]) for name in self._lazy])


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from lackpy.version import version  # noqa: PLC0415  # reads package metadata, only wanted here

        click.echo(f"{ctx.find_root().info_name} {version()}")
        ctx.exit()


version_option = click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
)
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyGroup, commands=COMMANDS, summary=SUMMARY, context_settings=CONTEXT)
@version_option
def cli() -> None:
    """One intent in, one traced result out: programs found, checked, run and recorded."""


def main(argv: list[str] | None = None) -> NoReturn:
    """Entry point of the `lackpy` script."""
    run_group(cli, "lackpy", argv)


def run_group(group: click.Group, name: str, argv: list[str] | None = None) -> NoReturn:
    """Run a command group with the process's edges handled: never a traceback for what a user can cause."""
    _tolerant_streams()
    code = 0
    try:
        code = _invoke(group, name, argv)
        with contextlib.suppress(AttributeError):
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
        code = 141
    except OSError as exc:
        _drop_stdout()
        _complain(f"{name}: {exc.strerror or exc}{f': {exc.filename}' if exc.filename else ''}")
        code = 1
    sys.exit(code)


def _invoke(group: click.Group, name: str, argv: list[str] | None) -> int:
    try:
        outcome = group.main(args=argv, prog_name=name, standalone_mode=False)
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except click.Abort:
        _complain(f"{name}: interrupted")
        return 130
    except click.ClickException as exc:
        exc.show(sys.stderr)
        return exc.exit_code
    except LackpyError as exc:
        _complain(f"{name}: {exc}" + (f"\n  {exc.hint}" if exc.hint else ""))
        return 2
    except KeyboardInterrupt:
        return 130
    return outcome if isinstance(outcome, int) else 0


def _tolerant_streams() -> None:
    """Print what the terminal's encoding can't hold as replacement characters, never as a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _drop_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's last flush can't fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)


def _complain(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        click.echo(text, err=True)
