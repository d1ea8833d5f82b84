"""The command table of `riggs`; the process's edges are lackpy's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import click

from lackpy.cli.group import CONTEXT, LazyGroup, run_group, version_option

# name → (module:command, one line)
TABLE: Mapping[str, tuple[str, str]] = {
    "ingest": ("riggs.cli.ingest:ingest", "Bring journals and sibling tools' logs into the store."),
    "candidates": ("riggs.cli.candidates:candidates", "What recurs and could become a template."),
    "promote": ("riggs.cli.decide:promote", "Turn candidates into templates."),
    "reject": ("riggs.cli.decide:reject", "Put a candidate away, with the reason."),
    "demote": ("riggs.cli.decide:demote", "Take a template out of service."),
    "history": ("riggs.cli.decide:history", "Every decision with its evidence."),
    "trust": ("riggs.cli.trust:trust", "How far project, sessions, tools and templates can be trusted."),
    "macros": (
        "riggs.cli.macros:macros",
        "Sequences of the outer agent's calls that one delegate could serve.",
    ),
    "brief": ("riggs.cli.brief:brief", "One screen: what changed, trust, what waits, what is in trouble."),
    "convergence": (
        "riggs.cli.convergence:convergence",
        "Template-served share by day, crossover, steady state.",
    ),
    "savings": ("riggs.cli.convergence:savings", "Model time and money not spent."),
    "gaps": ("riggs.cli.gaps:gaps", "Requests that no tier served."),
    "sql": ("riggs.cli.sql:sql", "Query the store, read-only."),
    "report": ("riggs.cli.report:report", "One page with figures and charts."),
    "notebook": ("riggs.cli.report:notebook", "Open a notebook on this workspace."),
    "export": ("riggs.cli.export:export", "Training pairs that ran, as JSON lines."),
    "serve": ("riggs.cli.serve:serve", "The ratchet's state over MCP, read-only."),
    "audit": ("riggs.cli.audit:audit", "Ask a model about calls that templates served."),
    "backtest-policy": (
        "riggs.cli.backtest_policy:backtest_policy",
        "The stored past under other thresholds.",
    ),
    "compact": ("riggs.cli.compact:compact", "Give back unused space in the store."),
    "simulate": ("riggs.cli.simulate:simulate", "Measure convergence on a workload, through the real parts."),
}


@click.group(
    cls=LazyGroup,
    commands={name: target for name, (target, _) in TABLE.items()},
    summary={name: line for name, (_, line) in TABLE.items()},
    context_settings=CONTEXT,
)
@version_option
def cli() -> None:
    """Read the traces, find what recurs, let a person promote it to a template."""


def main(argv: list[str] | None = None) -> NoReturn:
    """Entry point of the `riggs` script."""
    run_group(cli, "riggs", argv)
