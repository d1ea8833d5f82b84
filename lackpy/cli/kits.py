"""`lackpy kit` and `lackpy tool`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lackpy.cli.options import find_workspace, json_option, parse_kit, workspace_option
from lackpy.cli.show import print_json, print_table
from lackpy.describe import kit_json, tool_json


@click.group()
def kit() -> None:
    """Named sets of tools."""


@kit.command("list")
@workspace_option()
@json_option()
def kit_list(workspace: Path | None, as_json: bool) -> None:
    """List shipped and workspace kits."""
    from lackpy.kits import list_kits  # noqa: PLC0415  # tools load parsers

    kits = list_kits(find_workspace(workspace))
    if as_json:
        print_json([kit_json(k) for k in kits])
    else:
        print_table(
            ["kit", "tools", "description"], [[k.name, " ".join(k.tools), k.description] for k in kits]
        )


@kit.command("show")
@click.argument("name")
@workspace_option()
@json_option()
def kit_show(name: str, workspace: Path | None, as_json: bool) -> None:
    """Show one kit's tools with signatures and grades."""
    from lackpy.kits import load_kit  # noqa: PLC0415

    found = load_kit(name, find_workspace(workspace))
    if as_json:
        print_json(kit_json(found))
        return
    click.echo(f"{found.name}: {found.description}")
    if found.max_grade is not None:
        click.echo(f"max grade w={found.max_grade.w}")
    if found.rules:
        click.echo(f"rules: {', '.join(found.rules)}")
    _tool_table(found.tools.values())


@kit.command("create")
@click.argument("name")
@click.argument("tools", nargs=-1, required=True)
@click.option("--description", default="", help="One sentence.")
@workspace_option()
def kit_create(name: str, tools: tuple[str, ...], description: str, workspace: Path | None) -> None:
    """Write .lackpy/kits/NAME.toml with TOOLS."""
    from lackpy.kits import create_kit  # noqa: PLC0415

    click.echo(str(create_kit(find_workspace(workspace), name, list(tools), description)))


@click.group()
def tool() -> None:
    """The functions a program can call."""


@tool.command("list")
@click.option("--kit", "-k", "which", default=None, help="Only this kit's tools.")
@workspace_option()
@json_option()
def tool_list(which: str | None, workspace: Path | None, as_json: bool) -> None:
    """List tools with signature and grade."""
    from lackpy.kits import load_kit, toolbox  # noqa: PLC0415

    root = find_workspace(workspace)
    tools = load_kit(parse_kit(which) or which, root).tools if which else toolbox(root)
    if as_json:
        print_json([tool_json(spec) for spec in tools.values()])
    else:
        _tool_table(tools.values())


def _tool_table(specs: Any) -> None:
    rows = [
        [
            s.name,
            s.signature.text(),
            str(s.signature.grade.w),
            str(s.signature.grade.d),
            s.provider,
            s.signature.doc,
        ]
        for s in specs
    ]
    print_table(["tool", "signature", "w", "d", "provider", "does"], rows)
