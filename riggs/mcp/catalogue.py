"""What the server offers: one table of name, description, arguments and result; each is a tool and a resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Schema = Mapping[str, Any]
SCHEME = "riggs://"
ROWS = 20
MOST_ROWS = 200
_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "Rows at most."}
_COUNT: Schema = {"type": "integer"}
_TEXT: Schema = {"type": "string"}
_ROWS: Schema = {"type": "array", "items": {"type": "object"}}
_SHARE: Schema = {"anyOf": [{"type": "number"}, {"type": "null"}]}
_NOTE: Schema = {"type": "string", "description": "Why there is little or nothing to see; else empty."}


@dataclass(frozen=True, slots=True)
class Entry:
    """One question that riggs answers.

    Attributes:
        name: Tool name, and the resource's address after `riggs://`.
        description: For the model that chooses.
        arguments: Properties of the tool's arguments; all optional, the resource takes the defaults.
        result: Properties of the answer; all are there.
    """

    name: str
    description: str
    result: Mapping[str, Schema]
    arguments: Mapping[str, Schema] = field(default_factory=dict)

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        return {"type": "object", "properties": dict(self.arguments), "additionalProperties": False}

    @property
    def output_schema(self) -> dict[str, Any]:
        """JSON schema of the answer."""
        return {"type": "object", "properties": dict(self.result), "required": list(self.result)}


CATALOGUE: tuple[Entry, ...] = (
    Entry(
        "briefing",
        "Where this workspace's ratchet stands, in a few lines: calls, template-served share, trust advice, candidates "
        "that wait for a decision, templates out of service, requests nobody could serve. Read it first.",
        {
            "text": _TEXT,
            "calls": _COUNT,
            "steady_share": _SHARE,
            "ready": _COUNT,
            "advice": _TEXT,
            "note": _NOTE,
        },
    ),
    Entry(
        "candidates",
        "What recurs in the traces and could become a template, most used first, with evidence and what stands in the "
        "way. Promoting one is a person's decision: `riggs promote ID`.",
        {"candidates": _ROWS, "total": _COUNT, "note": _NOTE},
        {
            "limit": _LIMIT,
            "rejected": {"type": "boolean", "description": "Also those a person put away."},
        },
    ),
    Entry(
        "trust",
        "How far a project, session, tool or template can be trusted: three windows from 0 to 1, their direction, and "
        "for projects and sessions the advice (tighten, hold, loosen).",
        {"scope": _TEXT, "subjects": _ROWS, "total": _COUNT, "note": _NOTE},
        {"scope": {"type": "string", "enum": ["project", "session", "tool", "template"]}, "limit": _LIMIT},
    ),
    Entry(
        "convergence",
        "Share of calls that templates served by day, the day it passed one half, and the steady state.",
        {
            "crossover_day": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "crossover_number": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "steady_share": _SHARE,
            "calls": _COUNT,
            "days": _ROWS,
            "total": _COUNT,
            "note": _NOTE,
        },
        {"limit": _LIMIT},
    ),
    Entry(
        "templates",
        "The templates in force and out of service, with pattern, kit, state and how their serves went; most used "
        "first, then this workspace's own.",
        {"templates": _ROWS, "total": _COUNT, "problems": _ROWS, "note": _NOTE},
        {"limit": _LIMIT, "state": {"type": "string", "description": "Only those in this state."}},
    ),
)
BY_NAME: Mapping[str, Entry] = {entry.name: entry for entry in CATALOGUE}
