"""The protocol side: lists the catalogue, checks arguments, runs handlers in threads, stops them when told to.

Every failure of a call becomes an error result; nothing a client sends ends the server.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import jsonschema
import mcp_types as types
from anyio.from_thread import run as run_in_loop
from mcp.server import Server, ServerRequestContext

from lackpy.errors import LackpyError
from lackpy.mcp.catalogue import BY_NAME, CATALOGUE, Entry
from lackpy.mcp.handlers import Handlers, Turn
from lackpy.mcp.render import failure
from lackpy.run.record import Cancel
from lackpy.version import version

if TYPE_CHECKING:
    from lackpy.service import Lackpy

THREADS = 32
SESSION_META_KEYS = ("lackpy/session", "session")
INSTRUCTIONS = (
    "Call delegate with one plain-words intent instead of several search and read calls. If it reports that no tier "
    "could serve the intent, write a short program over the listed tools and send it with run_program, passing the "
    "intent along."
)
logger = logging.getLogger(__name__)


class LackpyServer:
    """One workspace behind MCP; `server` is the SDK's low-level server."""

    def __init__(self, runtime: Lackpy) -> None:
        """Build the server; nothing is opened yet."""
        self.runtime = runtime
        self._handlers = Handlers(runtime)
        self._running: set[Cancel] = set()
        self._limiter: anyio.CapacityLimiter | None = None
        self.server: Server[Any] = Server(
            "lackpy",
            version=version(),
            title="lackpy",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    def cancel_all(self) -> None:
        """Stop every running call; used when the client is gone."""
        for cancel in tuple(self._running):
            cancel.cancel()

    def settle(self, seconds: float) -> None:
        """Wait at most `seconds` until stopped calls have recorded their traces."""
        deadline = time.monotonic() + seconds
        while self._running and time.monotonic() < deadline:
            time.sleep(0.01)

    async def _list_tools(
        self, _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        grade = await anyio.to_thread.run_sync(self._kit_grade)
        return types.ListToolsResult(tools=[_tool(entry, grade) for entry in CATALOGUE])

    def _kit_grade(self) -> int:
        """Return the default kit's ceiling; an unusable kit counts as able to do anything."""
        try:
            return self.runtime.default_kit_grade()
        except LackpyError:
            return 3

    async def _call_tool(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        entry = BY_NAME.get(params.name)
        if entry is None:
            return failure(f"no tool '{params.name}'", f"the tools are {', '.join(BY_NAME)}")
        arguments = {
            k: v for k, v in (params.arguments or {}).items() if v is not None or k in _nullable(entry)
        }
        problem = _problem(entry, arguments)
        if problem is not None:
            return failure(f"{entry.name}: {problem}")
        return await self._run(ctx, entry, arguments)

    async def _run(
        self, ctx: ServerRequestContext[Any], entry: Entry, arguments: dict[str, Any]
    ) -> types.CallToolResult:
        cancel = Cancel()
        turn = Turn(self._session(ctx), cancel, partial(_progress, ctx))
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        work = partial(self._guarded, entry, arguments, turn)
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        except anyio.get_cancelled_exc_class():
            cancel.cancel()
            raise

    def _guarded(self, entry: Entry, arguments: dict[str, Any], turn: Turn) -> types.CallToolResult:
        """Run one handler; whatever it raises is this call's error and nobody else's."""
        self._running.add(turn.cancel)
        try:
            result: types.CallToolResult = getattr(self._handlers, entry.name)(arguments, turn)
        except LackpyError as exc:
            return failure(str(exc), exc.hint)
        except Exception as exc:  # the server outlives a fault of its own; the log has the traceback
            logger.exception("tool %s failed", entry.name)
            return failure(f"{entry.name}: internal error ({type(exc).__name__}); see the server's log")
        finally:
            self._running.discard(turn.cancel)
        return result

    def _session(self, ctx: ServerRequestContext[Any]) -> str:
        """Name the call's session: client meta, else the HTTP session, else the runtime's own."""
        meta: Any = ctx.meta or {}
        for key in SESSION_META_KEYS:
            named = meta.get(key) if hasattr(meta, "get") else None
            if isinstance(named, str) and named.strip():
                return named.strip()[:200]
        headers = getattr(ctx.request, "headers", None)
        http = headers.get("mcp-session-id") if headers is not None else None
        return http or self.runtime.session


def _progress(ctx: ServerRequestContext[Any], text: str) -> None:
    """Send one progress note from a handler's thread; a client that didn't ask gets none."""
    try:
        run_in_loop(partial(ctx.session.report_progress, 0.5, 1.0, text))
    except RuntimeError:
        logger.debug("progress not sent: the call's loop is gone")


def _tool(entry: Entry, grade: int) -> types.Tool:
    read_only = entry.effect == "read" or (entry.effect == "kit" and grade <= 1)
    return types.Tool(
        name=entry.name,
        description=entry.description,
        input_schema=dict(entry.arguments),
        output_schema=dict(entry.result),
        annotations=types.ToolAnnotations(
            read_only_hint=read_only,
            destructive_hint=entry.effect == "kit" and grade >= 3,
            idempotent_hint=read_only,
            open_world_hint=False,
        ),
    )


def _nullable(entry: Entry) -> frozenset[str]:
    properties = entry.arguments["properties"]
    return frozenset(
        name for name, schema in properties.items() if {"type": "null"} in schema.get("anyOf", ())
    )


def _problem(entry: Entry, arguments: dict[str, Any]) -> str | None:
    """Return what is wrong with the arguments, in one sentence."""
    missing = [name for name in entry.arguments["required"] if name not in arguments]
    if missing:
        return f"'{missing[0]}' is required"
    validator = jsonschema.Draft202012Validator(dict(entry.arguments))
    error = jsonschema.exceptions.best_match(validator.iter_errors(arguments))
    if error is None:
        return None
    where = ".".join(str(part) for part in error.absolute_path)
    return f"'{where}': {error.message}" if where else error.message
