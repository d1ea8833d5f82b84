"""`lackpy init`, `status` and `doctor`: from a fresh folder to a working second tier in one step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lackpy.cli.options import find_workspace, json_option, workspace_option
from lackpy.cli.show import print_json, print_table, remark


@click.command()
@click.option("--model", default=None, help="GGUF file, or an Ollama model name, for tier 2.")
@click.option("--api/--no-api", default=False, help="Allow the API tier (needs ANTHROPIC_API_KEY).")
@workspace_option()
@json_option()
def init(model: str | None, api: bool, workspace: Path | None, as_json: bool) -> None:
    """Write .lackpy/config.toml with the best second tier found on this machine."""
    from lackpy.health import initialise  # noqa: PLC0415  # probes model servers

    report = initialise(find_workspace(workspace) if workspace else Path.cwd(), model=model, api=api)
    if as_json:
        print_json(report)
        return
    click.echo(f"{'wrote' if report['written'] else 'kept'} {report['path']}")
    for line in report["found"]:
        click.echo(f"  {line}")
    remark('try: lackpy delegate "find TODOs in src"')


@click.command()
@workspace_option()
@json_option()
def status(workspace: Path | None, as_json: bool) -> None:
    """Show tiers, templates, kits and traces of this workspace."""
    from lackpy.health import overview  # noqa: PLC0415

    report = overview(find_workspace(workspace))
    if as_json:
        print_json(report)
        return
    click.echo(f"workspace {report['workspace']}  ·  kit {report['kit']}  ·  executor {report['executor']}")
    print_table(
        ["tier", "provider", "status"], [[t["tier"], t["provider"], t["status"]] for t in report["tiers"]]
    )
    click.echo(f"templates: {report['templates']}  ·  traces: {report['traces']}")
    for problem in report["problems"]:
        remark(f"problem: {problem}")


@click.command()
@workspace_option()
@json_option()
def doctor(workspace: Path | None, as_json: bool) -> int:
    """Check every part and say what to do about what is missing; exit 1 when a needed part fails."""
    from lackpy.health import examine  # noqa: PLC0415

    checks = examine(find_workspace(workspace))
    if as_json:
        print_json(checks)
    else:
        print_table(
            ["", "part", "finding", "do"], [[_mark(c), c["part"], c["finding"], c["do"]] for c in checks]
        )
    return 1 if any(c["state"] == "fail" for c in checks) else 0


def _mark(check: dict[str, Any]) -> str:
    return {"ok": "ok", "warn": "--", "fail": "FAIL"}[check["state"]]
