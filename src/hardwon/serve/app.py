"""The service: resources behind the middleware."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import cast

from litestar import Litestar
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, Reference, SecurityScheme

from hardwon import __version__
from hardwon.errors import HardwonError
from hardwon.serve import problems
from hardwon.serve.middleware import COOKIE, App, Middleware, Receive, Scope, Send, tagged
from hardwon.serve.pool import Pool
from hardwon.serve.resources import (
    attempts,
    documents,
    export,
    failures,
    health,
    interactions,
    lessons,
    maintenance,
    measure,
    projects,
    search,
    sessions,
)
from hardwon.serve.settings import Settings

Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]
RESOURCES = (
    health, lessons, failures, attempts, interactions, sessions, documents, projects, search, measure,
    export, maintenance,
)  # fmt: skip


def application(pool: Pool, settings: Settings) -> App:
    """The resources and, where its extra is installed, the MCP server."""
    try:
        from hardwon.serve import mcp  # noqa: PLC0415 - an extra, and slow to load
    except ImportError:
        return Middleware(tagged(cast(App, resources(pool, settings))), pool, settings)
    mounted = mcp.Mounted(pool)
    routes = tagged(cast(App, resources(pool, settings, [mounted.running])))

    async def dispatched(scope: Scope, receive: Receive, send: Send) -> None:
        to_mcp = scope["type"] == "http" and scope["path"] == mcp.PATH
        await (mounted.app if to_mcp else routes)(scope, receive, send)

    return Middleware(dispatched, pool, settings)


def resources(pool: Pool, settings: Settings, lifespan: Sequence[Lifespan] = ()) -> Litestar:
    """The routes without the middleware in front of them."""
    return Litestar(
        lifespan=list(lifespan),
        route_handlers=[each.router for each in RESOURCES],
        state=State({"pool": pool, "settings": settings}),
        openapi_config=_schema(),
        exception_handlers={
            HTTPException: problems.of_framework,
            HardwonError: problems.of_ours,
            RecursionError: problems.of_depth,
            Exception: problems.of_unexpected,
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
