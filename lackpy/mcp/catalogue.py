"""The tools that the MCP server offers: one table of name, description, arguments and result.

Descriptions are written for a model that must choose: when to use it, what comes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
PAGE_CHARS = 16_000  # one page of a stored output, in characters

_KIT: Schema = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "null"}],
    "description": "Kit name (see kit_list) or a list of tool names; default: the workspace's.",
}
_PARAMS: Schema = {
    "anyOf": [{"type": "object"}, {"type": "null"}],
    "description": "Inputs the program can read as variables.",
}
_INTENT: Schema = {
    "type": "string",
    "minLength": 1,
    "description": "What you want, in plain words, one request.",
}
_CAPS: Mapping[str, Schema] = {
    "max_grade": {
        "anyOf": [{"type": "integer", "minimum": 0, "maximum": 3}, {"type": "null"}],
        "description": "Most that may happen: 0 query, 1 read, 2 run, 3 write.",
    },
    "rules": {"type": "array", "items": {"type": "string"}, "description": "Extra rules, e.g. read-only."},
    "timeout_s": {
        "anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "null"}],
        "description": "Seconds for the whole call.",
    },
}
_STRING_OR_NULL: Schema = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_NUMBER: Schema = {"type": "number"}


def _object(
    properties: Mapping[str, Any], required: tuple[str, ...] = (), *, closed: bool = False
) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties), "required": list(required)}
    if closed:
        schema["additionalProperties"] = False
    return schema


RESULT_SCHEMA: Schema = _object(
    {
        "ok": {"type": "boolean"},
        "output": {"description": "The program's value; a text preview when truncated is true."},
        "printed": {"type": "string"},
        "trace_id": _STRING_OR_NULL,
        "tier": _STRING_OR_NULL,
        "provider": _STRING_OR_NULL,
        "template": _STRING_OR_NULL,
        "slots": {"type": "object"},
        "program": _STRING_OR_NULL,
        "grade": {"anyOf": [_object({"w": {"type": "integer"}, "d": {"type": "integer"}}), {"type": "null"}]},
        "calls": {"type": "array", "items": {"type": "object"}},
        "ms": _object({"generate": _NUMBER, "validate": _NUMBER, "run": _NUMBER, "total": _NUMBER}),
        "error": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "truncated": {"type": "boolean"},
        "output_bytes": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "passed": {"type": "array", "items": {"type": "object"}},
        "violations": {"type": "array", "items": {"type": "object"}},
        "help": _STRING_OR_NULL,
        "notes": {"type": "array", "items": {"type": "string"}},
    },
    ("ok", "output", "trace_id", "tier", "calls", "ms", "truncated"),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One MCP tool.

    Attributes:
        name: Tool name; `Handlers` has a method of that name.
        description: For the model that chooses.
        arguments: JSON schema of the arguments.
        result: JSON schema of the structured result.
        effect: `kit` = as the default kit's grade, `read` = changes nothing, `record` = writes under `.lackpy`.
    """

    name: str
    description: str
    arguments: Schema
    result: Schema
    effect: str


CATALOGUE: tuple[Entry, ...] = (
    Entry(
        "delegate",
        "Answer a question about this workspace, or do a small job in it, in ONE call instead of many: who calls a "
        "function, where it is defined, which files mention or import something, counts, outlines, reading parts of "
        "files. State one intent in plain words. Returns the answer, then trace id, tier and tool calls. If nothing "
        "can serve it, the error lists tools and asks for run_program.",
        _object({"intent": _INTENT, "kit": _KIT, "params": _PARAMS, **_CAPS}, ("intent",), closed=True),
        RESULT_SCHEMA,
        "kit",
    ),
    Entry(
        "run_program",
        "Run your own short program over the kit's tools (restricted Python: assignments, for, if, comprehensions, "
        "f-strings; the last expression is the output) in one call. Use it when delegate could not serve an intent, "
        "and pass that intent along: it teaches a template for next time.",
        _object(
            {
                "program": {"type": "string", "description": "Source text."},
                "kit": _KIT,
                "params": _PARAMS,
                "intent": {"type": "string", "description": "What the program answers, in plain words."},
                **_CAPS,
            },
            ("program",),
            closed=True,
        ),
        RESULT_SCHEMA,
        "kit",
    ),
    Entry(
        "generate",
        "Show the program that delegate would run for an intent, without running it.",
        _object({"intent": _INTENT, "kit": _KIT, "params": _PARAMS, **_CAPS}, ("intent",), closed=True),
        RESULT_SCHEMA,
        "read",
    ),
    Entry(
        "validate",
        "Check a program without running it. Returns every violation with line, column and a hint.",
        _object(
            {
                "program": {"type": "string"},
                "kit": _KIT,
                "params": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Names you will supply.",
                },
                "max_grade": _CAPS["max_grade"],
                "rules": _CAPS["rules"],
            },
            ("program",),
            closed=True,
        ),
        _object(
            {
                "ok": {"type": "boolean"},
                "violations": {"type": "array", "items": {"type": "object"}},
                "grade": {"type": "object"},
                "calls": {"type": "array", "items": {"type": "string"}},
                "program": {"type": "string"},
            },
            ("ok", "violations"),
        ),
        "read",
    ),
    Entry(
        "result",
        "Read on in an output that was too large: characters from offset on.",
        _object(
            {
                "trace_id": {"type": "string"},
                "offset": {"type": "integer", "minimum": 0},
                "limit": {"type": "integer", "minimum": 1, "maximum": PAGE_CHARS},
            },
            ("trace_id",),
            closed=True,
        ),
        _object(
            {
                "text": {"type": "string"},
                "offset": {"type": "integer"},
                "total": {"type": "integer"},
                "next_offset": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            },
            ("text", "total", "next_offset"),
        ),
        "read",
    ),
    Entry(
        "feedback",
        "Say whether a delegate's answer was right (good) or wrong (bad). Bad ones take their template out of service.",
        _object(
            {
                "trace_id": {"type": "string"},
                "verdict": {"type": "string", "enum": ["good", "bad"]},
                "note": {"type": "string"},
            },
            ("trace_id", "verdict"),
            closed=True,
        ),
        _object({"recorded": {"type": "boolean"}}, ("recorded",)),
        "record",
    ),
    Entry(
        "create",
        "Keep a program as a template: intents that match the pattern, e.g. 'callers of {name}', are served at once "
        "from then on.",
        _object(
            {
                "program": {"type": "string", "description": "With {slot} inside its strings."},
                "name": {"type": "string"},
                "pattern": {"type": "string"},
                "kit": _KIT,
            },
            ("program", "name", "pattern"),
            closed=True,
        ),
        _object({"path": {"type": "string"}}, ("path",)),
        "record",
    ),
    Entry(
        "kit_list",
        "List the kits: named sets of tools.",
        _object({}, closed=True),
        _object({"kits": {"type": "array", "items": {"type": "object"}}}, ("kits",)),
        "read",
    ),
    Entry(
        "kit_info",
        "Show one kit's tools with signatures, row keys and grades.",
        _object({"kit": {"type": "string"}}, ("kit",), closed=True),
        _object(
            {"name": {"type": "string"}, "tools": {"type": "array", "items": {"type": "object"}}},
            ("name", "tools"),
        ),
        "read",
    ),
    Entry(
        "kit_create",
        "Name a set of tools as a new kit.",
        _object(
            {
                "name": {"type": "string"},
                "tools": {"type": "array", "items": {"type": "string"}, "minItems": 1},
                "description": {"type": "string"},
            },
            ("name", "tools"),
            closed=True,
        ),
        _object({"path": {"type": "string"}}, ("path",)),
        "record",
    ),
    Entry(
        "tool_list",
        "List every tool a kit may hold, with its signature.",
        _object({}, closed=True),
        _object({"tools": {"type": "array", "items": {"type": "object"}}}, ("tools",)),
        "read",
    ),
)
BY_NAME: Mapping[str, Entry] = {entry.name: entry for entry in CATALOGUE}
