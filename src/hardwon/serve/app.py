"""`hardwon serve`: resources behind the middleware, and a server that waits for requests until it is stopped."""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import uvicorn
from litestar import Litestar
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, Reference, SecurityScheme
from msgspec.structs import replace
from uvicorn.protocols.http.h11_impl import H11Protocol

from hardwon import __version__
from hardwon.api.access import make_first
from hardwon.errors import HardwonError
from hardwon.serve import problems
from hardwon.serve.announced import announced
from hardwon.serve.middleware import COOKIE, App, Middleware, Receive, Scope, Send, ServiceSettings, tagged
from hardwon.serve.pages import care, frame, overview, proof, work
from hardwon.serve.pages import failures as failures_page
from hardwon.serve.pages import lessons as lessons_page
from hardwon.serve.pages import search as search_page
from hardwon.serve.pages import sessions as sessions_page
from hardwon.serve.pool import Pool
from hardwon.serve.resources import (
    attempts,
    documents,
    failures,
    health,
    interactions,
    lessons,
    search,
    store,
)

if TYPE_CHECKING:
    from hardwon.serve.mcp import Mounted

Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]
RESOURCES = (health, lessons, failures, attempts, interactions, documents, search, store)
PAGES = (
    frame,
    overview,
    failures_page,
    lessons_page,
    sessions_page,
    search_page,
    proof,
    care,
    work,
)
MCP_PATH = "/mcp"
_MAX_CONNECTIONS = 500


def application(pool: Pool, settings: ServiceSettings, log: TextIO | None = None) -> App:
    """The resources and, where its extra is installed, the MCP server; `log` is told who asked for what."""
    counted = health.measured()
    return health.observed(_behind_middleware(pool, settings, counted), counted, log)


def _behind_middleware(pool: Pool, settings: ServiceSettings, counted: health.Measured | None) -> App:
    if not all(map(importlib.util.find_spec, ("mcp", "pydantic"))):
        return Middleware(tagged(cast(App, resources(pool, settings, counted=counted))), pool, settings, frame.refusal)
    mounted = _McpOnDemand(pool)
    routes = tagged(cast(App, resources(pool, settings, [mounted.running], counted)))

    async def dispatched(scope: Scope, receive: Receive, send: Send) -> None:
        to_mcp = scope["type"] == "http" and scope["path"] == MCP_PATH
        await (mounted.app if to_mcp else routes)(scope, receive, send)

    return Middleware(dispatched, pool, settings, frame.refusal)


class _McpOnDemand:
    """The MCP server, loaded by the first request to it: it takes half as much memory again as all else."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._loading = asyncio.Lock()
        self._mounted: Mounted | None = None

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._loading:
            if self._mounted is None:
                self._mounted = await asyncio.to_thread(self._loaded)
        await self._mounted.app(scope, receive, send)

    def _loaded(self) -> Mounted:
        from hardwon.serve.mcp import Mounted  # noqa: PLC0415 - an extra, slow to load, and large

        return Mounted(self._pool, MCP_PATH)

    @asynccontextmanager
    async def running(self, _: Litestar) -> AsyncIterator[None]:
        """The life of the service, where its host tells of it."""
        yield
        if self._mounted is not None:
            await self._mounted.stop()


def resources(
    pool: Pool,
    settings: ServiceSettings,
    lifespan: Sequence[Lifespan] = (),
    counted: health.Measured | None = None,
) -> Litestar:
    """The routes without the middleware in front of them."""
    return Litestar(
        lifespan=list(lifespan),
        route_handlers=[each.router for each in (*RESOURCES, *PAGES)],
        state=State({"pool": pool, "settings": settings, "measured": counted}),
        openapi_config=_schema(),
        exception_handlers={
            HTTPException: frame.readable(problems.of_framework),
            HardwonError: frame.readable(problems.of_ours),
            RecursionError: frame.readable(problems.of_depth),
            Exception: frame.readable(problems.of_unexpected),
        },
        request_max_body_size=settings.largest_body,
        logging_config=None,
    )


def _schema() -> OpenAPIConfig:
    schemes: dict[str, SecurityScheme | Reference] = {
        "token": SecurityScheme(type="http", scheme="bearer", description="`hardwon token make` gives one."),
        "cookie": SecurityScheme(type="apiKey", name=COOKIE, security_scheme_in="cookie"),
    }
    return OpenAPIConfig(
        title="Hardwon",
        version=__version__,
        description="What coding agents' sessions taught: lessons, failures and what fixed them.",
        path="/schema",
        render_plugins=[JsonRenderPlugin(path=["/openapi.json", "/"])],
        components=Components(security_schemes=schemes),
        security=[{"token": []}, {"cookie": []}],
        use_handler_docstrings=True,
    )


# `hardwon serve`: a server that waits for requests until it is stopped.

_MALLOPT = {-8: 2, -3: 512 * 1024, -1: 1024 * 1024}
"""By the numbers of glibc: arenas, what is mapped apart, what may stay free at the end of an arena."""


def _give_memory_back() -> None:
    """By itself glibc keeps an arena for every thread, each as large as the most that was ever needed in it."""
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):  # another C library
            for option, value in _MALLOPT.items():
                ctypes.CDLL(None).mallopt(option, value)


class ImpatientProtocol(H11Protocol):
    """Closes a connection on which a request does not begin in time, or does not end its headers."""

    patience = 10.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and self.cycle.response_complete:  # what came is no whole request yet
            self._watch()

    def _watch(self) -> None:
        self.loop.call_later(self.patience, self._look, self.cycle)

    def _look(self, last: object) -> None:
        if self.cycle is last and not self.transport.is_closing():
            self.transport.close()


class _Patient(uvicorn.Server):
    """Ends by itself when it is to."""

    def __init__(self, config: uvicorn.Config, ended: Callable[[], bool]) -> None:
        super().__init__(config)
        self._ended = ended

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._ended()


class Server:
    """A service and the link that its owner gets in by, if there was no token yet."""

    def __init__(self, settings: ServiceSettings, home: Path | None = None, log: TextIO | None = None) -> None:
        _give_memory_back()
        self._socket = _listening(settings)
        self.settings = replace(settings, port=self._socket.getsockname()[1])
        self._pool = Pool(home, settings.readers)
        self._last = time.monotonic()
        try:
            self._app = application(self._pool, self.settings, log)
            self.token = self._prepare()
        except BaseException:
            self._close()
            raise

    def _prepare(self) -> str:
        with self._pool.writing() as memory:
            memory.writing()  # makes the store, or brings an old one up to date
            if self.settings.local:
                return make_first(memory)
            if not any(token.valid for token in memory.store.tokens()):
                raise HardwonError(
                    f"other machines can reach {self.settings.host}: first create a token for each user with "
                    "`hardwon token make`, and put a TLS proxy in front of it (docs/service.md)"
                )
        if not self.settings.public:
            raise HardwonError(
                f"listening on {self.settings.host} needs the public address, such as "
                "--public https://memory.example.org, where a TLS proxy runs (docs/service.md)"
            )
        return ""

    @property
    def link(self) -> str:
        return f"{self.settings.address}/login?token={self.token}" if self.token else ""

    def run(self, idle: float = 0) -> None:
        """Until it is stopped, or nobody has asked anything for so many seconds."""
        patience = self.settings.head_seconds
        protocol: Any = type("ImpatientProtocol", (ImpatientProtocol,), {"patience": patience})
        config = uvicorn.Config(
            self._heard,
            interface="asgi3",
            http=protocol,
            ws="none",
            access_log=False,
            log_level="warning",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_graceful_shutdown=5,
        )

        def ended() -> bool:
            return bool(idle) and time.monotonic() - self._last > idle and not work.runs(self._pool.home)

        server = _Patient(config, ended)
        try:
            local = self.settings.local and not self.settings.public
            with announced(self._pool.home, self.settings.address if local else ""):
                server.run(sockets=[self._socket])
        finally:
            self._close()

    async def _heard(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._last = time.monotonic()
        await self._app(scope, receive, send)

    def _close(self) -> None:
        self._socket.close()
        self._pool.close()


def _listening(settings: ServiceSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # asyncio sends at once only if it is said
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen(_MAX_CONNECTIONS)
        return listening
    except OSError as error:
        listening.close()
        raise HardwonError(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; name another with --port"
        ) from error
