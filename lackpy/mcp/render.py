"""A `Result` as an MCP tool result that fits a context window: output first, then one line of facts.

Text and structured form together stay under the byte budget; what is cut is said and has a handle.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types

from lackpy.result import Result

OUTPUT_BYTES = 16_000  # per form, so text and structured form stay below 25,000 tokens with their trimmings
TEXT_CHARS = 4_000
CALLS_SHOWN = 20
ARGUMENT_CHARS = 200


def text_of(value: Any) -> str:
    """Return output as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)


def cut(text: str, limit: int = TEXT_CHARS) -> str:
    """Return `text`, cut with a mark that says how much is missing."""
    return text if len(text) <= limit else f"{text[:limit]}… [{len(text) - limit} characters more]"


def render(result: Result) -> types.CallToolResult:
    """Return the MCP form of one delegate, generate or run."""
    body = _bounded(result.to_json())
    lines = []
    if result.ok:
        lines.append(text_of(result.output if result.tier is not None else None))
    if result.printed and result.printed.strip() != str(result.output or "").strip():
        lines.append(f"printed: {cut(result.printed)}")
    if result.error is not None:
        lines.append(f"{result.error.kind}: {cut(result.error.message)}")
        if result.error.hint:
            lines.append(f"hint: {result.error.hint}")
        lines.extend(f"tool {c.tool} failed: {cut(c.error or '', 500)}" for c in result.calls if not c.ok)
    if result.error is not None and not result.help:
        lines.extend(f"tier {p.tier} ({p.provider}) passed: {cut(p.reason, 500)}" for p in result.passed)
    if result.help:
        lines.append(cut(result.help))
    if result.truncated:
        lines.append(
            f"[cut: {result.output_bytes} bytes in all; result(trace_id={result.trace_id!r}, offset=…) has the rest]"
        )
    lines.extend(f"note: {note}" for note in result.notes)
    lines.append(_facts(result))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text="\n".join(lines))],
        structured_content=body if result.ok else None,
        is_error=not result.ok,
    )


def plain(value: dict[str, Any]) -> types.CallToolResult:
    """Return a small dictionary as both forms."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=json.dumps(value, ensure_ascii=False, allow_nan=False))],
        structured_content=value,
    )


def failure(message: str, hint: str = "") -> types.CallToolResult:
    """Return an error result: one sentence and what to do."""
    text = f"{message}\nhint: {hint}" if hint and hint not in message else message
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def _facts(result: Result) -> str:
    parts = []
    if result.tier is not None:
        parts.append(f"tier {result.tier}" + (f" {result.template}" if result.template else ""))
    parts.append(f"{result.ms.total:.0f} ms")
    if result.calls:
        names: dict[str, int] = {}
        for call in result.calls:
            names[call.tool] = names.get(call.tool, 0) + 1
        parts.append(", ".join(f"{n} x{count}" if count > 1 else n for n, count in names.items()))
    if result.trace_id:
        parts.append(f"trace {result.trace_id}")
    return f"[{' · '.join(parts)}]"


def _bounded(body: dict[str, Any]) -> dict[str, Any]:
    calls = body["calls"]
    shown = [{**c, "args": {k: _short(v) for k, v in c["args"].items()}} for c in calls[:CALLS_SHOWN]]
    body["calls"] = shown
    if len(calls) > CALLS_SHOWN:
        body["notes"] = [*body["notes"], f"{len(calls)} tool calls, the first {CALLS_SHOWN} shown"]
    body["printed"] = cut(body["printed"])
    if body["program"]:
        body["program"] = cut(body["program"])
    body["slots"] = {k: _short(v) for k, v in body["slots"].items()}
    return body


def _short(value: Any) -> Any:
    text = text_of(value)
    return value if len(text) <= ARGUMENT_CHARS else cut(text, ARGUMENT_CHARS)
