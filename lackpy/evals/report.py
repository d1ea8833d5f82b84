"""The ablation table as Markdown, and the list of cases that aren't right."""

from __future__ import annotations

from collections.abc import Sequence

from lackpy.evals.harness import Measured

HEADER = (
    "step",
    "valid raw",
    "valid repaired",
    "valid",
    "right",
    "by group",
    "median s",
    "tokens in",
    "tokens out",
)


def rows(measured: Sequence[Measured]) -> list[list[str]]:
    """Return one row a step, in the order of `HEADER`."""
    return [
        [
            m.step,
            _share(m, "valid_raw"),
            _share(m, "valid_repaired"),
            _share(m, "valid"),
            f"{m.count('right')}/{len(m.outcomes)}",
            _groups(m),
            f"{m.median_seconds():.2f}",
            _tokens(m, "tokens_in"),
            _tokens(m, "tokens_out"),
        ]
        for m in measured
    ]


def markdown(title: str, measured: Sequence[Measured]) -> str:
    """Return a title, the table, and what the first step got wrong."""
    lines = [f"### {title}", "", "| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join(row) + " |" for row in rows(measured)]
    wrong = [o for o in measured[0].outcomes if not o.right] if measured else []
    if wrong:
        lines += ["", f"Not right under `{measured[0].step}`:", ""]
        lines += [f"- {o.case}: {(o.error or o.output or 'no output')[:120]}" for o in wrong]
    return "\n".join(lines) + "\n"


def _share(measured: Measured, field: str) -> str:
    return f"{100 * measured.count(field) / len(measured.outcomes):.1f} %"


def _groups(measured: Measured) -> str:
    names = list(dict.fromkeys(o.group for o in measured.outcomes if o.group))
    parts = []
    for name in names:
        inside = [o for o in measured.outcomes if o.group == name]
        parts.append(f"{name} {sum(o.right for o in inside)}/{len(inside)}")
    return ", ".join(parts)


def _tokens(measured: Measured, field: str) -> str:
    mean = measured.mean_tokens(field)
    return "?" if mean is None else f"{mean:.0f}"
