"""What to say when no tier has a program: why, what comes close, which tools there are, what to send instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lackpy.templates.nearest import nearest

if TYPE_CHECKING:
    from lackpy.infer.protocol import Request
    from lackpy.result import Passed
    from lackpy.templates.format import Template


def no_program_help(request: Request, passed: Iterable[Passed], served: Iterable[Template]) -> str:
    """Return a few lines of help; the same request always gets the same."""
    lines = ["No tier has a program for this intent."]
    lines += [f"- tier {p.tier} ({p.provider}): {p.reason}" for p in passed]
    near = nearest(request.intent, served)
    if near:
        lines.append("Nearest templates:")
        lines += [f"- {n.phrasing}" for n in near]
    lines.append(f"Tools of kit '{request.kit}':")
    lines += [f"- {signature.text()}" for signature in request.signatures.values()]
    lines.append(
        "Send a program yourself: run_program(program, intent=…) over MCP, or `lackpy run PROGRAM --intent …`; "
        "it is checked, run and recorded, so a recurring request can become a template."
    )
    return "\n".join(lines)
