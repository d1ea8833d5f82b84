"""How results, tables and JSON reach a terminal or a pipe. Results go to stdout, remarks to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lackpy.result import Result


def print_json(value: Any) -> None:
    """Print one JSON document, ASCII only, so that no locale can break it."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False))


def print_value(value: Any) -> None:
    """Print a program's output for a person: text as it is, lists a line an item, rows as aligned columns."""
    if value is None:
        return
    if isinstance(value, str):
        click.echo(value)
    elif isinstance(value, list) and value and all(isinstance(v, str | int | float | bool) for v in value):
        for item in value:
            click.echo(str(item))
    elif isinstance(value, list) and value and all(isinstance(v, Mapping) for v in value):
        print_rows(value)
    else:
        click.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_rows(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print dictionary rows: a table on a terminal, tab-separated columns with a header in a pipe."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    print_table(columns, cells)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None) -> None:
    """Print a table; plain tab-separated text when stdout isn't a terminal."""
    if not sys.stdout.isatty():
        click.echo("\t".join(columns))
        for row in rows:
            click.echo("\t".join(cell.replace("\t", " ").replace("\n", "⏎") for cell in row))
        return
    from rich.console import Console  # noqa: PLC0415  # heavy, and only a terminal needs it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def remark(text: str) -> None:
    """Print to stderr."""
    click.echo(text, err=True)


def print_result(result: Result, as_json: bool) -> int:
    """Print one call's result and return the exit code: 0 when ok, 1 when not."""
    if as_json:
        print_json(result.to_json())
        return 0 if result.ok else 1
    if result.printed and result.printed.rstrip("\n") != str(result.output or "").rstrip("\n"):
        click.echo(result.printed.rstrip("\n"))
    print_value(result.output)
    if result.error is not None:
        remark(f"error ({result.error.kind}): {result.error.message}")
        if result.error.hint and result.error.hint not in result.error.message:
            remark(f"  {result.error.hint}")
    for passed in result.passed if not (result.ok or result.help) else ():
        remark(f"  tier {passed.tier} ({passed.provider}): {passed.reason}")
    if result.help:
        remark(result.help)
    if result.truncated:
        remark(f"output cut, {result.output_bytes} bytes in all: lackpy result {result.trace_id}")
    for note in result.notes:
        remark(f"note: {note}")
    if result.tier is not None:
        by = f"tier {result.tier}" + (
            f" {result.template}" if result.template else f" {result.provider or ''}".rstrip()
        )
        remark(
            f"[{by} · {len(result.calls)} calls · {result.ms.total:.0f} ms · {result.trace_id or 'no trace'}]"
        )
    return 0 if result.ok else 1
