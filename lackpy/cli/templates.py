"""`lackpy create` and `lackpy template`."""

from __future__ import annotations

from pathlib import Path

import click

from lackpy.cli.calls import open_runtime
from lackpy.cli.options import json_option, parse_kit, read_source, workspace_option
from lackpy.cli.show import print_json, print_table, remark


@click.command()
@click.argument("program")
@click.option("--name", required=True, help="Template name.")
@click.option(
    "--pattern",
    required=True,
    help="Intent pattern with {slots}, e.g. 'callers of {name}' or '{n:number} lines of {path}'.",
)
@click.option("--kit", "-k", default=None, help="Kit the program needs.")
@click.option("--force", is_flag=True, help="Replace a template of that name.")
@workspace_option()
def create(
    program: str, name: str, pattern: str, kit: str | None, force: bool, workspace: Path | None
) -> None:
    """Turn PROGRAM (text, a .py file, or - for stdin) into a template that the next call serves."""
    source = read_source(program, "PROGRAM")
    with open_runtime(workspace) as runtime:
        path = runtime.create(source, name, pattern, parse_kit(kit), force=force)
    click.echo(str(path))


@click.group()
def template() -> None:
    """What tier 0 serves."""


@template.command("list")
@click.option("--all", "everything", is_flag=True, help="Shipped ones and ones out of service too.")
@workspace_option()
@json_option()
def template_list(everything: bool, workspace: Path | None, as_json: bool) -> None:
    """List templates with state and pattern."""
    with open_runtime(workspace) as runtime:
        rows = runtime.template_rows(everything=everything)
    if as_json:
        print_json(rows)
    else:
        print_table(
            ["template", "state", "origin", "pattern", "problem"],
            [[r["name"], r["state"], r["origin"], r["pattern"], r["problem"] or ""] for r in rows],
        )
        if not everything:
            remark("(shipped templates and ones out of service: --all)")


@template.command("show")
@click.argument("name")
@workspace_option()
def template_show(name: str, workspace: Path | None) -> None:
    """Print one template's file."""
    with open_runtime(workspace) as runtime:
        text = runtime.template_text(name)
    click.echo(text, nl=False)


@template.command("test")
@click.argument("intent")
@click.option("--kit", "-k", default=None, help="Kit the call would use.")
@workspace_option()
@json_option()
def template_test(intent: str, kit: str | None, workspace: Path | None, as_json: bool) -> int:
    """Explain why INTENT is or isn't served: pattern, slots, guard, nearest template."""
    with open_runtime(workspace) as runtime:
        report = runtime.explain(intent, parse_kit(kit))
    if as_json:
        print_json(report)
    else:
        for key, value in report.items():
            if value not in (None, "", [], {}):
                click.echo(f"{key}: {value}")
    return 0 if report["hit"] else 1


@template.command("disable")
@click.argument("name")
@workspace_option()
def template_disable(name: str, workspace: Path | None) -> None:
    """Take a template out of service; a shipped one is switched off for this workspace."""
    with open_runtime(workspace) as runtime:
        path = runtime.disable_template(name)
    click.echo(str(path))
