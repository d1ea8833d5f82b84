"""Options and small parsers that several commands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def workspace_option() -> Decorator:
    """`--workspace DIR`: the folder a call works in, by default the nearest one that holds `.lackpy` or `.git`."""
    return click.option(
        "--workspace",
        "-w",
        type=click.Path(path_type=Path),
        default=None,
        envvar="LACKPY_WORKSPACE",
        help="Folder to work in (default: nearest with .lackpy or .git).",
    )


def json_option() -> Decorator:
    """`--json`: machine output, one JSON document on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def call_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of delegate, generate and run."""
    for option in reversed(
        (
            workspace_option(),
            click.option("--kit", "-k", default=None, help="Kit name, or tool names separated by commas."),
            click.option(
                "--param",
                "-p",
                "params",
                multiple=True,
                metavar="NAME=VALUE",
                help="Input the program reads.",
            ),
            click.option(
                "--max-grade", type=click.IntRange(0, 3), default=None, help="Highest world coupling allowed."
            ),
            click.option("--rule", "rules", multiple=True, help="Extra rule, e.g. read-only."),
            click.option(
                "--timeout", "timeout_s", type=click.FloatRange(min=0, min_open=True), help="Seconds."
            ),
            click.option("--session", default=None, envvar="LACKPY_SESSION", help="Session name."),
            json_option(),
        )
    ):
        function = option(function)
    return function


def find_workspace(given: Path | None) -> Path:
    """Return the workspace folder.

    Raises:
        click.BadParameter: `given` isn't a folder.
    """
    if given is not None:
        if not given.is_dir():
            raise click.BadParameter(f"'{given}' is not a folder", param_hint="--workspace")
        return given.resolve()
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / ".lackpy").is_dir() or (folder / ".git").exists():
            return folder
    return here


def parse_params(pairs: tuple[str, ...]) -> dict[str, Any]:
    """Read `NAME=VALUE` pairs; a value that is JSON is data, any other is text.

    Raises:
        click.BadParameter: A pair without `=` or a name that isn't an identifier.
    """
    params: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"'{pair}' is not NAME=VALUE", param_hint="--param")
        try:
            params[name] = json.loads(value)
        except ValueError:
            params[name] = value
        except RecursionError as exc:
            raise click.BadParameter(f"the value of '{name}' nests too deeply", param_hint="--param") from exc
    return params


def parse_kit(kit: str | None) -> str | list[str] | None:
    """Read `--kit`: one name, or tool names separated by commas."""
    return [part.strip() for part in kit.split(",") if part.strip()] if kit and "," in kit else kit


def read_source(argument: str, what: str) -> str:
    """Return a program: `-` reads stdin, an existing `.py` or `.lack` file its text, anything else is the text.

    Raises:
        click.BadParameter: The file can't be read.
    """
    if argument == "-":
        return sys.stdin.read()
    if argument.endswith((".py", ".lack")) and "\n" not in argument and "(" not in argument:
        path = Path(argument)
        try:
            return path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as exc:
            raise click.BadParameter(f"'{argument}' can't be read ({exc})", param_hint=what) from exc
    return argument
