"""The two ways to the MCP server: an agent's own process, or the service."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from mcp.server.transport_security import TransportSecuritySettings

from hardwon.api.tokens import Token
from hardwon.clock import now
from hardwon.model.times import moment
from hardwon.serve.asgi import App, Receive, Scope, Send
from hardwon.serve.caller import Caller
from hardwon.serve.mcp.desk import Desk
from hardwon.serve.mcp.server import build
from hardwon.serve.pool import Pool

PATH = "/mcp"


def run_stdio(home: Path | None = None) -> None:
    """Serve the agent that started this process, until it closes stdin."""
    pool = Pool(home, readers=2)
    owner = Token(
        id="",
        name="mcp",
        scopes=("read", "write"),
        projects=(),
        created_at=moment(now()),
        expires_at=None,
        revoked_at=None,
    )
    desk = Desk(pool, Caller(owner), os.getcwd())
    with pool.writing() as memory:
        memory.writing()  # makes the store, or brings an old one up to date
    try:
        build(lambda _: desk).run("stdio")
    finally:
        pool.close()


class Mounted:
    """The same behind the gate of the service, which says who asks; it keeps no state between requests."""

    def __init__(self, pool: Pool) -> None:
        self._running: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._server = build(lambda context: Desk(pool, _caller(context)))
        # The gate has checked host and origin.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._app: App = self._server.streamable_http_app(
            streamable_http_path=PATH, json_response=True, stateless_http=True, transport_security=unchecked
        )

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._start()
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def running(self, _: Any) -> AsyncIterator[None]:
        """The life of the service, where its host tells of it."""
        yield
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def _start(self) -> None:
        """With the first request: not every host has a lifespan."""
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await self._ready.wait()

    async def _run(self) -> None:
        async with self._server.session_manager.run():
            self._ready.set()
            await asyncio.Event().wait()


def _caller(context: Any) -> Caller:
    caller = context.request_context.request.scope["state"]["caller"]
    assert isinstance(caller, Caller)
    return caller
