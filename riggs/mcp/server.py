"""The protocol side: lists the catalogue as tools and resources, answers in threads; never writes in the workspace."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import jsonschema
import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from lackpy.errors import LackpyError
from lackpy.mcp.render import OUTPUT_BYTES, failure, plain
from lackpy.version import version
from riggs.mcp.answers import ANSWERS
from riggs.mcp.catalogue import BY_NAME, CATALOGUE, SCHEME, Entry
from riggs.mcp.view import View

INSTRUCTIONS = (
    "Read-only: how this workspace's delegated calls converge on templates. Start with briefing. Decisions (promote, "
    "reject, demote) are a person's, on the command line."
)
logger = logging.getLogger(__name__)


class RiggsServer:
    """One workspace's ratchet behind MCP; `server` is the SDK's low-level server."""

    def __init__(self, workspace: Path) -> None:
        """Build the server; nothing is opened yet."""
        self._view = View(workspace)
        self.server: Server[Any] = Server(
            "riggs",
            version=version(),
            title="riggs",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_read_resource=self._read_resource,
        )

    def cancel_all(self) -> None:
        """Do nothing: an answer changes nothing and ends by itself."""

    def settle(self, seconds: float) -> None:  # noqa: ARG002  # the transport's contract
        """Delete the copy of the store."""
        self._view.close()

    def answer(self, entry: Entry, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return one answer, cut to the byte budget.

        Raises:
            LackpyError: The store, the configuration or an argument can't be used.
        """
        error = jsonschema.exceptions.best_match(
            jsonschema.Draft202012Validator(entry.input_schema).iter_errors(dict(arguments))
        )
        if error is not None:
            where = ".".join(str(part) for part in error.absolute_path)
            raise LackpyError(
                f"{entry.name}: '{where}': {error.message}" if where else f"{entry.name}: {error.message}"
            )
        with self._view.store() as store:
            return fitted(ANSWERS[entry.name](store, arguments))

    async def _list_tools(
        self, _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(entry) for entry in CATALOGUE])

    async def _call_tool(
        self, _ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        entry = BY_NAME.get(params.name)
        if entry is None:
            return failure(f"no tool '{params.name}'", f"the tools are {', '.join(BY_NAME)}")
        arguments = {k: v for k, v in (params.arguments or {}).items() if v is not None}
        try:
            return plain(await anyio.to_thread.run_sync(partial(self.answer, entry, arguments)))
        except LackpyError as exc:
            return failure(str(exc), exc.hint)
        except Exception as exc:  # the server outlives a fault of its own; the log has the traceback
            logger.exception("tool %s failed", entry.name)
            return failure(f"{entry.name}: internal error ({type(exc).__name__}); see the server's log")

    async def _list_resources(
        self, _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    name=e.name, uri=SCHEME + e.name, description=e.description, mime_type="application/json"
                )
                for e in CATALOGUE
            ]
        )

    async def _read_resource(
        self, _ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        entry = BY_NAME.get(uri.removeprefix(SCHEME)) if uri.startswith(SCHEME) else None
        if entry is None:
            known = ", ".join(SCHEME + name for name in BY_NAME)
            raise MCPError(types.INVALID_PARAMS, f"no resource '{uri}'; there are {known}")
        try:
            body = await anyio.to_thread.run_sync(partial(self.answer, entry, {}))
        except LackpyError as exc:
            raise MCPError(types.INTERNAL_ERROR, str(exc)) from exc
        text = json.dumps(body, ensure_ascii=False, allow_nan=False)
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="application/json", text=text)]
        )


def fitted(body: dict[str, Any], budget: int = OUTPUT_BYTES) -> dict[str, Any]:
    """Drop rows from the end of the longest list until the JSON form fits `budget` bytes; `note` says so."""
    dropped = 0
    while len(json.dumps(body, ensure_ascii=False).encode()) > budget:
        lists = [key for key, value in body.items() if isinstance(value, list) and value]
        if not lists:
            break
        longest = max(lists, key=lambda key: len(json.dumps(body[key])))
        body = {**body, longest: body[longest][:-1]}
        dropped += 1
    if dropped:
        said = f"{dropped} rows left out to keep the answer small; ask for fewer with limit"
        body["note"] = f"{body['note']}; {said}" if body.get("note") else said
    return body


def _tool(entry: Entry) -> types.Tool:
    return types.Tool(
        name=entry.name,
        description=entry.description,
        input_schema=entry.input_schema,
        output_schema=entry.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
