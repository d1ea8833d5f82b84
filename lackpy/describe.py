"""Kits, tools and verdicts as the JSON that the CLI and the MCP server both print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lackpy.result import violation_json

if TYPE_CHECKING:
    from lackpy.kits import Kit
    from lackpy.kits.spec import ToolSpec
    from lackpy.lang.verdict import Verdict


def tool_json(spec: ToolSpec) -> dict[str, Any]:
    """Return one tool: signature, grade, provider, doc, row keys."""
    signature = spec.signature
    return {
        "name": spec.name,
        "signature": signature.text(),
        "grade": {"w": signature.grade.w, "d": signature.grade.d},
        "provider": spec.provider,
        "doc": signature.doc,
        "rows": [{"name": row.name, "fields": dict(row.fields)} for row in signature.rows],
    }


def kit_json(kit: Kit) -> dict[str, Any]:
    """Return one kit with its tools."""
    return {
        "name": kit.name,
        "description": kit.description,
        "max_grade": {"w": kit.max_grade.w, "d": kit.max_grade.d} if kit.max_grade else None,
        "rules": list(kit.rules),
        "tools": [tool_json(spec) for spec in kit.tools.values()],
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a validation's outcome."""
    return {
        "ok": verdict.ok,
        "violations": [violation_json(v) for v in verdict.violations],
        "grade": {"w": verdict.grade.w, "d": verdict.grade.d},
        "calls": list(verdict.calls),
        "program": verdict.program,
    }
