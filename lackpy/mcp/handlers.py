"""What each MCP tool does, as blocking functions over the runtime; the server runs them in threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lackpy.describe import kit_json, tool_json, verdict_json
from lackpy.kits import create_kit, list_kits, load_kit, toolbox
from lackpy.mcp.catalogue import PAGE_CHARS
from lackpy.mcp.render import plain, render
from lackpy.traces.results import load_result

if TYPE_CHECKING:
    import mcp_types as types

    from lackpy.run.record import Cancel
    from lackpy.service import Lackpy

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One tool call's surroundings: its session, how it is stopped, and where progress goes."""

    session: str
    cancel: Cancel
    progress: Callable[[str], None]


class Handlers:
    """One method a catalogue entry; arguments are already checked against its schema."""

    def __init__(self, runtime: Lackpy) -> None:
        """Serve `runtime`'s workspace."""
        self._runtime = runtime

    def delegate(self, arguments: Arguments, turn: Turn) -> types.CallToolResult:
        """Find a program and run it."""
        return render(
            self._runtime.delegate(
                arguments["intent"],
                arguments.get("kit"),
                arguments.get("params"),
                **_caps(arguments),
                cancel=turn.cancel,
                progress=turn.progress,
                session=turn.session,
            )
        )

    def generate(self, arguments: Arguments, turn: Turn) -> types.CallToolResult:
        """Find a program."""
        return render(
            self._runtime.generate(
                arguments["intent"],
                arguments.get("kit"),
                arguments.get("params"),
                **_caps(arguments),
                progress=turn.progress,
            )
        )

    def run_program(self, arguments: Arguments, turn: Turn) -> types.CallToolResult:
        """Run the caller's program."""
        return render(
            self._runtime.run_program(
                arguments["program"],
                arguments.get("kit"),
                arguments.get("params"),
                arguments.get("intent", ""),
                **_caps(arguments),
                cancel=turn.cancel,
                session=turn.session,
            )
        )

    def validate(self, arguments: Arguments, _turn: Turn) -> types.CallToolResult:
        """Check a program."""
        return plain(
            verdict_json(
                self._runtime.validate(
                    arguments["program"],
                    arguments.get("kit"),
                    arguments.get("params", ()),
                    max_grade=arguments.get("max_grade"),
                    rules=arguments.get("rules", ()),
                )
            )
        )

    def result(self, arguments: Arguments, _turn: Turn) -> types.CallToolResult:
        """Page through a stored output."""
        page = load_result(
            self._runtime.workspace / ".lackpy",
            arguments["trace_id"],
            offset=arguments.get("offset", 0),
            limit=min(arguments.get("limit", PAGE_CHARS), PAGE_CHARS),
        )
        return plain(
            {"text": page.text, "offset": page.offset, "total": page.total, "next_offset": page.next_offset}
        )

    def feedback(self, arguments: Arguments, _turn: Turn) -> types.CallToolResult:
        """Record a verdict."""
        self._runtime.feedback(arguments["trace_id"], arguments["verdict"], arguments.get("note", ""))
        return plain({"recorded": True})

    def create(self, arguments: Arguments, _turn: Turn) -> types.CallToolResult:
        """Write a template."""
        path = self._runtime.create(
            arguments["program"], arguments["name"], arguments["pattern"], arguments.get("kit")
        )
        return plain({"path": path.relative_to(self._runtime.workspace).as_posix()})

    def kit_list(self, _arguments: Arguments, _turn: Turn) -> types.CallToolResult:
        """List kits."""
        kits = list_kits(self._runtime.workspace)
        return plain(
            {"kits": [{"name": k.name, "description": k.description, "tools": list(k.tools)} for k in kits]}
        )

    def kit_info(self, arguments: Arguments, _turn: Turn) -> types.CallToolResult:
        """Show a kit."""
        return plain(kit_json(load_kit(arguments["kit"], self._runtime.workspace)))

    def kit_create(self, arguments: Arguments, _turn: Turn) -> types.CallToolResult:
        """Write a kit file."""
        path = create_kit(
            self._runtime.workspace, arguments["name"], arguments["tools"], arguments.get("description", "")
        )
        return plain({"path": path.relative_to(self._runtime.workspace).as_posix()})

    def tool_list(self, _arguments: Arguments, _turn: Turn) -> types.CallToolResult:
        """List tools."""
        return plain({"tools": [tool_json(spec) for spec in toolbox(self._runtime.workspace).values()]})


def _caps(arguments: Arguments) -> dict[str, Any]:
    return {
        "max_grade": arguments.get("max_grade"),
        "rules": tuple(arguments.get("rules", ())),
        "timeout_s": arguments.get("timeout_s"),
    }
