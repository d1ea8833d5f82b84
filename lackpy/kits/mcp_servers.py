"""Connections to the MCP servers named in a workspace's `.mcp.json`, each started when first needed.

All run on one background event loop; a server's task enters and leaves its own connection. A server that fails costs
one time limit and one sentence, never another server's answer; the next call starts it anew. Children end at exit.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import json
import math
import os
import re
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from lackpy.kits.errors import KitError
from lackpy.tools.errors import ToolError

if TYPE_CHECKING:
    import mcp_types
    from mcp import Client

CONNECT_S = 10.0
"""Seconds that starting a server, its handshake and its list of tools may take together."""

CALL_S = 120.0
"""Seconds that one call may take; executors give up earlier."""

RETRY_S = 30.0
"""Seconds before a server that failed is asked for its tools again; a call asks at once."""

_CLOSE_S = 8.0
_PAGES = 50
_FILE = ".mcp.json"
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """One server of `.mcp.json`, variables not yet filled in.

    Attributes:
        name: Its key in the file.
        command: Program of a server on this machine, "" for a remote one.
        args: Its arguments.
        env: (name, value) pairs added to its environment.
        url: Address of a remote server.
        headers: (name, value) pairs sent to it.
        folder: Where the program starts.
    """

    name: str
    command: str
    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    url: str
    headers: tuple[tuple[str, str], ...]
    folder: str

    @property
    def prefix(self) -> str:
        """What the names of its tools start with, an identifier."""
        clean = re.sub(r"\W", "_", self.name).strip("_") or "mcp"
        return f"mcp_{clean}" if clean[0].isdigit() else clean


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How one server stands: `state` is `idle`, `ready` or `failed`; `reason` is one sentence."""

    name: str
    state: str
    tools: int
    reason: str = ""


def mcp_servers(workspace: Path) -> list[ServerEntry]:
    """Return the servers of `WORKSPACE/.mcp.json`, none when there is no such file.

    Raises:
        KitError: The file can't be read or an entry is malformed.
    """
    path = workspace / _FILE
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as exc:
        raise KitError(f"{path}: can't be read ({exc})") from exc
    return _entries(text, str(path), os.path.realpath(workspace))


@lru_cache(maxsize=32)
def _entries(text: str, path: str, folder: str) -> list[ServerEntry]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise KitError(f"{path}: not valid JSON: {exc}") from exc
    servers = data.get("mcpServers", {}) if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        raise KitError(f'{path}: must hold an object {{"mcpServers": {{NAME: …}}}}')
    return [_entry(name, entry, path, folder) for name, entry in servers.items()]


def _entry(name: str, entry: Any, path: str, folder: str) -> ServerEntry:
    def pairs(key: str) -> tuple[tuple[str, str], ...]:
        value = entry.get(key) or {}
        if not isinstance(value, dict):
            raise KitError(f"{path}: server {name!r}: '{key}' must be an object")
        return tuple((str(k), str(v)) for k, v in value.items())

    if not isinstance(entry, dict):
        raise KitError(f"{path}: server {name!r} must be an object")
    command, url, args = entry.get("command", ""), entry.get("url", ""), entry.get("args") or []
    if not isinstance(command, str) or not isinstance(url, str) or bool(command) == bool(url):
        raise KitError(f"{path}: server {name!r} needs either a 'command' or a 'url'")
    if not isinstance(args, list):
        raise KitError(f"{path}: server {name!r}: 'args' must be a list")
    return ServerEntry(name, command, tuple(map(str, args)), pairs("env"), url, pairs("headers"), folder)


def _filled(text: str, server: str) -> str:
    """Fill `${VAR}` and `${VAR:-default}` from the environment."""

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1], match[2])
        if found is None:
            raise ToolError(f"MCP server {server!r}: environment variable {match[1]} is not set")
        return found

    return _VARIABLE.sub(value, text)


class Server:
    """One server's connection; safe to use from any thread."""

    def __init__(self, entry: ServerEntry) -> None:
        """Connect to nothing yet."""
        self.entry = entry
        self.listed: tuple[mcp_types.Tool, ...] = ()
        self._reason = ""
        self._failed_at = -math.inf
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop: asyncio.Event | None = None
        self._connecting: asyncio.Lock | None = None

    @property
    def status(self) -> ServerStatus:
        """How it stands, without asking it anything."""
        state = "ready" if self._client is not None else "failed" if self._reason else "idle"
        return ServerStatus(self.entry.name, state, len(self.listed), self._reason)

    def tools(self) -> tuple[mcp_types.Tool, ...]:
        """Return its tools; those last seen when it can't be reached."""
        if self._client is None and time.monotonic() - self._failed_at > RETRY_S:
            with contextlib.suppress(ToolError):
                _on_loop(self._connected(), CONNECT_S + _CLOSE_S)
        return self.listed

    def call(self, tool: str, arguments: Mapping[str, Any]) -> mcp_types.CallToolResult:
        """Call one of its tools.

        Raises:
            ToolError: It can't be reached, takes too long, refuses, or ends during the call.
        """
        return _on_loop(self._call(tool, dict(arguments)), CONNECT_S + CALL_S + _CLOSE_S)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> mcp_types.CallToolResult:
        from mcp import MCPError  # noqa: PLC0415  # 0.6 s to load, only MCP tools need it

        client = await self._connected()
        try:
            async with asyncio.timeout(CALL_S):
                return await client.call_tool(tool, arguments)
        except TimeoutError as exc:
            raise ToolError(
                f"MCP server {self.entry.name!r}: {tool!r} gave no answer within {CALL_S:g} s"
            ) from exc
        except (MCPError, OSError, RuntimeError) as exc:
            if self._client is not client:
                raise ToolError(
                    f"MCP server {self.entry.name!r} ended during {tool!r}; it is started again on next use"
                ) from exc
            raise ToolError(f"MCP server {self.entry.name!r}: {tool!r} failed: {exc}") from exc

    async def _connected(self) -> Client:
        if self._connecting is None:
            self._connecting = asyncio.Lock()
        async with self._connecting:
            if self._client is not None:
                return self._client
            await self.close()
            ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
            self._stop = asyncio.Event()
            self._task = asyncio.create_task(self._serve(ready, self._stop))
            waiting: set[asyncio.Future[Any]] = {self._task, ready}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if not ready.done():
                self._reason = await self._why()
                self._failed_at = time.monotonic()
                raise ToolError(self._reason)
            self._reason = ""
            return ready.result()

    async def _why(self) -> str:
        name = self.entry.name
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=_CLOSE_S)
            if self._task.done() and not self._task.cancelled() and (error := _first(self._task.exception())):
                if isinstance(error, ToolError):
                    return str(error)
                if isinstance(error, FileNotFoundError):
                    return f"MCP server {name!r}: command {self.entry.command!r} not found"
                return f"MCP server {name!r} can't be reached: {error or type(error).__name__}"
        return f"MCP server {name!r} did not answer within {CONNECT_S:g} s of its start"

    async def _serve(self, ready: asyncio.Future[Client], stop: asyncio.Event) -> None:
        """Hold the connection open until `stop` or the server's end; enters and leaves it in this one task."""
        import anyio  # noqa: PLC0415
        from mcp import Client  # noqa: PLC0415

        with anyio.CancelScope(deadline=anyio.current_time() + CONNECT_S) as scope:
            async with contextlib.AsyncExitStack() as stack:
                transport = await self._transport(stack, stop)
                client = await stack.enter_async_context(Client(transport))
                self.listed = await _all_tools(client)
                scope.deadline = math.inf
                self._client = client
                if not ready.done():
                    ready.set_result(client)
                try:
                    await stop.wait()
                finally:
                    self._client = None

    async def _transport(self, stack: contextlib.AsyncExitStack, stop: asyncio.Event) -> Any:
        from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415

        entry, name = self.entry, self.entry.name
        if entry.url:
            from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

            http = None
            if entry.headers:
                import httpx2  # noqa: PLC0415  # comes with mcp

                headers = {key: _filled(value, name) for key, value in entry.headers}
                http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers))
            return streamable_http_client(_filled(entry.url, name), http_client=http)
        quiet = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))  # noqa: ASYNC230, SIM115  # closed by the stack
        parameters = StdioServerParameters(
            command=_filled(entry.command, name),
            args=[_filled(value, name) for value in entry.args],
            env={key: _filled(value, name) for key, value in entry.env},
            cwd=entry.folder,
        )
        return _watched(stdio_client(parameters, errlog=quiet), stop)

    async def close(self) -> None:
        """End the connection and wait until the child is gone."""
        if self._task is not None and not self._task.done():
            if self._stop is not None:
                self._stop.set()
            await asyncio.wait({self._task}, timeout=_CLOSE_S)


@contextlib.asynccontextmanager
async def _watched(transport: Any, ended: asyncio.Event) -> AsyncIterator[Any]:
    """Set `ended` when the server's output ends, so that a dead connection isn't used again."""
    async with transport as (read, write):
        yield _Watched(read, ended), write


class _Watched:
    """A read stream that notes its own end."""

    def __init__(self, inner: Any, ended: asyncio.Event) -> None:
        self._inner = inner
        self._ended = ended

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __aiter__(self) -> _Watched:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._inner.__anext__()
        except StopAsyncIteration:
            self._ended.set()
            raise

    async def receive(self) -> Any:
        import anyio  # noqa: PLC0415

        try:
            return await self._inner.receive()
        except anyio.EndOfStream:
            self._ended.set()
            raise

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._inner.__aexit__(*error)


async def _all_tools(client: Client) -> tuple[mcp_types.Tool, ...]:
    found: list[mcp_types.Tool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor:
            break
    return tuple(found)


def _first(error: BaseException | None) -> BaseException | None:
    """Return the first error of a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Background:
    """The one event loop, in its own thread, started on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.servers: dict[ServerEntry, Server] = {}

    def server(self, entry: ServerEntry) -> Server:
        with self._lock:
            return self.servers.setdefault(entry, Server(entry))

    def run(self, work: Coroutine[Any, Any, _T], timeout_s: float) -> _T:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_serve_loop, args=(self._loop,), name="lackpy-mcp", daemon=True
                )
                self._thread.start()
                atexit.register(self.close)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout_s)
        except concurrent.futures.TimeoutError as exc:
            future.cancel()
            raise ToolError(f"no answer from an MCP server within {timeout_s:g} s") from exc

    def close(self) -> None:
        with self._lock:
            loop, self._loop = self._loop, None
            servers = list(self.servers.values())
            self.servers.clear()
        if loop is None:
            return
        atexit.unregister(self.close)

        async def end() -> None:
            await asyncio.gather(*(server.close() for server in servers))

        with contextlib.suppress(concurrent.futures.TimeoutError):
            asyncio.run_coroutine_threadsafe(end(), loop).result(_CLOSE_S + 1)
        loop.call_soon_threadsafe(loop.stop)
        if self._thread is not None:
            self._thread.join(1.0)


def _serve_loop(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


_background = _Background()


def _on_loop(work: Coroutine[Any, Any, _T], timeout_s: float) -> _T:
    return _background.run(work, timeout_s)


def server_of(entry: ServerEntry) -> Server:
    """Return the one connection to the server of `entry`."""
    return _background.server(entry)


def close_servers() -> None:
    """End every connection and its child process; the next use starts them again."""
    _background.close()


def server_status(workspace: str | Path) -> list[ServerStatus]:
    """Return how each server of the workspace's `.mcp.json` stands; starts none.

    Raises:
        KitError: The file can't be used.
    """
    return [server_of(entry).status for entry in mcp_servers(Path(workspace))]
