"""A local HTTP server that answers from a queue and remembers what it was sent."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class ModelServer:
    """Answers each request with the next (status, body, headers); repeats the last one."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any, dict[str, str]]] = []
        self.requests: list[tuple[str, dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(size)
                outer.requests.append((self.path, json.loads(raw) if raw else {}))
                status, body, headers = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", headers.get("content-type", "application/json"))
                for name, value in headers.items():
                    if name != "content-type":
                        self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_HEAD = _answer  # noqa: N815  # the base class's names

            def log_message(self, *_args: object) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def enqueue(self, status: int, body: Any, **headers: str) -> None:
        """Add an answer."""
        self.answers.append((status, body, {k.replace("_", "-"): v for k, v in headers.items()}))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
