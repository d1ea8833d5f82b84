"""How the server is reached: stdio, or streamable HTTP on loopback with an optional bearer token.

The SDK's stdio transport moves descriptors 0 and 1 away before it serves, so whatever a tool, a program or a child
prints lands on stderr and children read an empty stdin.
"""

from __future__ import annotations

import hmac
import ipaddress
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from lackpy.errors import LackpyError

if TYPE_CHECKING:
    from mcp.server import Server

    from lackpy.mcp.server import LackpyServer

SETTLE_S = 1.0


class Served(Protocol):
    """What a transport needs of a server."""

    server: Server[Any]

    def cancel_all(self) -> None:
        """Stop every running call."""
        ...

    def settle(self, seconds: float) -> None:
        """Wait at most `seconds` for calls that were stopped, then let go."""
        ...


def serve_stdio(server: Served) -> None:
    """Serve one client on stdin and stdout until it closes stdin or goes away."""
    from mcp.server.stdio import stdio_server  # noqa: PLC0415  # only this transport needs it

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.server.run(read, write, server.server.create_initialization_options())

    try:
        anyio.run(serve)
    finally:
        server.cancel_all()
        server.settle(SETTLE_S)


def parse_address(address: str) -> tuple[str, int]:
    """Read `HOST:PORT`, `:PORT` or `PORT`.

    Raises:
        LackpyError: It is none of them.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise LackpyError(f"'{address}' is not HOST:PORT", "write e.g. --http 127.0.0.1:8765")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class BearerToken:
    """ASGI middleware: a request without the token gets 401 and reaches nothing."""

    def __init__(self, app: Any, token: str) -> None:
        """Guard `app` with `token`."""
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on when its Authorization header matches, compared in constant time."""
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                await send(
                    {
                        "type": "http.response.start",
                        "status": 401,
                        "headers": [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")],
                    }
                )
                await send({"type": "http.response.body", "body": b"missing or wrong bearer token\n"})
                return
        await self._app(scope, receive, send)


def http_app(server: LackpyServer, host: str, port: int, token: str | None) -> Any:
    """Return the ASGI application, with DNS-rebinding protection for every host.

    Raises:
        LackpyError: `host` is reachable from elsewhere and there is no token.
    """
    from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415

    if not is_loopback(host) and not token:
        raise LackpyError(
            f"'{host}' is reachable from other machines; set a token in LACKPY_TOKEN or bind 127.0.0.1"
        )
    names = {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=sorted(f"{name}:{port}" for name in names),
        allowed_origins=sorted(f"http://{name}:{port}" for name in names),
    )
    app: Any = server.server.streamable_http_app(host=host, transport_security=security)
    return BearerToken(app, token) if token else app


def serve_http(server: LackpyServer, address: str, token: str | None) -> None:
    """Serve streamable HTTP at `http://HOST:PORT/mcp` until interrupted."""
    import uvicorn  # noqa: PLC0415

    host, port = parse_address(address)
    app = http_app(server, host, port, token)
    try:
        uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=2)
    finally:
        server.cancel_all()
        server.settle(SETTLE_S)
