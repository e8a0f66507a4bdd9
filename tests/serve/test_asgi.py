"""The service as an ASGI application in any host: one that tells of no lifespan and gives no state."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HOST = """
import asyncio, json, sys
from hardwon import Hardwon
from hardwon.serve.app import application
from hardwon.serve.pool import Pool
from hardwon.serve.middleware import ServiceSettings

with Hardwon() as memory:
    token = memory.store.make_token("host", ["read"]).secret

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}

async def asked(app, method, path, body=b""):
    headers = [(b"host", b"127.0.0.1:8765"), (b"authorization", f"Bearer {token}".encode())]
    if body:
        headers += [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"accept", b"application/json, text/event-stream"),
        ]
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers, "root_path": "",
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8765),
    }
    sent = []
    given = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return given.pop() if given else await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return [sent[0]["status"], b"".join(part.get("body", b"") for part in sent[1:]).decode()]

async def main():
    app = application(Pool(None, 1), ServiceSettings())
    found = [await asked(app, "GET", "/health"), await asked(app, "GET", "/api/me")]
    for _ in range(2):
        found.append(await asked(app, "POST", "/mcp", json.dumps(CALL).encode()))
    print(json.dumps(found))

asyncio.run(main())
"""


def test_a_host_without_lifespan_and_state_is_enough(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", HOST], capture_output=True, text=True, timeout=60, check=True
    )
    health, me, *tools = json.loads(done.stdout.splitlines()[-1])
    assert (health[0], json.loads(me[1])["name"]) == (200, "host")
    for status, body in tools:
        assert (status, "known_failure" in body) == (200, True), body
