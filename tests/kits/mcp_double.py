"""An MCP server for tests that speaks newline-delimited JSON by hand; its argument says how it behaves."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

TOOLS = [
    {
        "name": "add",
        "description": "Add two numbers. Exactly.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
            "required": ["a"],
        },
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "append-row",
        "inputSchema": {
            "type": "object",
            "properties": {
                "kind": {"enum": ["x", "y"]},
                "row": {"type": "object"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
        },
        "annotations": {"destructiveHint": False},
    },
    {"name": "drop", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "fail", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "environment", "inputSchema": {"type": "object", "properties": {}}},
]


def answer(request, state):
    method, params = request.get("method"), request.get("params") or {}
    if method == "initialize":
        version = params.get("protocolVersion", "2025-06-18")
        return {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "double", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        state["calls"] += 1
        return call(params["name"], params.get("arguments") or {})
    return None


def call(name, arguments):
    text = {
        "append-row": json.dumps({"kind": arguments.get("kind"), "row": arguments.get("row")}),
        "drop": "gone",
    }
    if name == "add":
        total = arguments["a"] + arguments.get("b", 1)
        return {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"result": total}}
    if name == "fail":
        return {"content": [{"type": "text", "text": "the disk is full"}], "isError": True}
    if name == "environment":
        import os

        return {"content": [{"type": "text", "text": os.environ.get("GREETING", "") + "|" + Path.cwd().name}]}
    return {"content": [{"type": "text", "text": text[name]}]}


def main():
    mode, log = sys.argv[1], Path(sys.argv[2])
    with log.open("a") as stream:
        stream.write("start\n")
    if mode == "exits":
        return
    if mode == "garbage":
        print("this is not JSON", flush=True)
    if mode == "sleeps":
        time.sleep(600)
    state = {"calls": 0}
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request, state)
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        else:
            reply["result"] = result
        print(json.dumps(reply), flush=True)
        if mode == "dies-after-call" and state["calls"]:
            return


main()
