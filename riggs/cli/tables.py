"""Rows as a table, JSON or CSV, and a bar where a curve says more."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from lackpy.cli.show import print_json, print_table
from riggs.analytics import plain_rows

BAR_WIDTH = 40


def format_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--json` and `--csv`."""
    function = click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")(function)
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def print_formatted(rows: list[dict[str, Any]], *, as_json: bool, as_csv: bool) -> None:
    """Print rows in the form that was asked for.

    Raises:
        click.UsageError: Both forms at once.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv exclude each other")
    clean = plain_rows(rows)
    if as_json:
        print_json(clean)
    elif as_csv:
        columns = list(clean[0]) if clean else []
        writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(clean)
    elif clean:
        print_table(list(clean[0]), [[cell(value) for value in row.values()] for row in clean])
    else:
        click.echo("no rows")


def cell(value: Any) -> str:
    """Return a cell's text: shares and seconds with three digits, nothing for null."""
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def print_bars(labels: Sequence[str], shares: Sequence[float], marks: Sequence[str] = ()) -> None:
    """Print one bar a row, 0 to 1."""
    for index, (label, share) in enumerate(zip(labels, shares, strict=True)):
        bar = "█" * round(share * BAR_WIDTH)
        note = f"  {marks[index]}" if index < len(marks) and marks[index] else ""
        click.echo(f"{label}  {share:4.0%} {bar}{note}")
