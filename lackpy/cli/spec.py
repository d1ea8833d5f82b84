"""`lackpy spec`: the language, printed from the tables that enforce it."""

from __future__ import annotations

import click

from lackpy.cli.options import json_option
from lackpy.cli.show import print_json


@click.command()
@json_option()
def spec(as_json: bool) -> None:
    """Print what a program may contain, and what is refused with which hint."""
    from lackpy.lang import spec_json, spec_text  # noqa: PLC0415  # kept off the path of --help

    if as_json:
        print_json(spec_json())
    else:
        click.echo(spec_text())
