"""Keeps an evaluation in the store: one row a step, in table `eval_runs`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lackpy import sqlfiles
from lackpy.evals.harness import Measured
from lackpy.traces.ids import new_id, utc_now
from lackpy.traces.store import Store


def keep(workspace: Path, provider: str, model: str, cases: str, measured: Sequence[Measured]) -> str:
    """Write one evaluation and return its id.

    Args:
        workspace: Whose store it goes to.
        provider: Provider's name.
        model: Model id.
        cases: Case file's name.
        measured: What was measured.
    """
    run_id, at = new_id(), utc_now()
    statement = sqlfiles.load("store/insert_eval").text
    with Store(workspace).write() as connection:
        for position, m in enumerate(measured):
            connection.execute(
                statement,
                {
                    "run_id": run_id,
                    "ran_at": at,
                    "provider": provider,
                    "model": model,
                    "cases": cases,
                    "position": position,
                    "step": m.step,
                    "case_count": len(m.outcomes),
                    "valid_raw": m.count("valid_raw"),
                    "valid_repaired": m.count("valid_repaired"),
                    "valid": m.count("valid"),
                    "right_count": m.count("right"),
                    "median_s": m.median_seconds(),
                    "tokens_in": m.mean_tokens("tokens_in"),
                    "tokens_out": m.mean_tokens("tokens_out"),
                },
            )
    return run_id
