"""`/health`, `/live`, `/metrics`, `/login` and `/api/me`: is it there, how does it go, who am I; counts and traces."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from http import HTTPStatus
from typing import Annotated, Any, TextIO

from litestar import Response, Router, get
from litestar.datastructures import Cookie
from litestar.params import Parameter
from litestar.response import Redirect
from msgspec import Struct

from hardwon import __version__
from hardwon.api.access import recognise, redeem
from hardwon.clock import moment, now
from hardwon.model.nouns import Me
from hardwon.serve import browse, permissions
from hardwon.serve.middleware import COOKIE, App, Message, Receive, Scope, Send, ServiceSettings
from hardwon.serve.permissions import Caller
from hardwon.serve.pool import Pool
from hardwon.serve.problems import Refused
from hardwon.serve.routes import Asked, answers, pool, reading, reads
from hardwon.store import meta


class Health(Struct, frozen=True):
    status: str


class About(Struct, frozen=True):
    name: str
    version: str
    schema: str


@get(
    "/health",
    responses=answers(400, 403, 421, 429, 503),
    summary="Whether the store can be read",
    sync_to_thread=True,
    security=[{}],
)
def health(request: Asked) -> Health:
    """Whether the store can be read; asks for no token."""
    with reading(request) as memory:
        browse.of_events(memory, limit=1)
    return Health("ok")


@get(
    "/live",
    responses=answers(400, 403, 421, 429),
    summary="Whether the service runs",
    sync_to_thread=False,
    security=[{}],
)
def live() -> Health:
    """Whether the service runs, be the store there or not; asks for no token."""
    return Health("ok")


@get(
    "/login",
    summary="Let a browser in by a link",
    responses=answers(400, 401, 403, 421, 429, 503),
    status_code=HTTPStatus.SEE_OTHER,
    sync_to_thread=True,
    security=[{}],
)
def login(request: Asked, token: Annotated[str, Parameter(query="token", max_length=200)] = "") -> Redirect:
    """Gives a browser the token as a cookie that no script can read and no other site can use.

    Of a link that is good for once, a token of the browser's own.
    """
    with reading(request) as memory:
        known = recognise(memory, token)
    if known is None:
        with pool(request).writing() as memory:
            token = redeem(memory, token)
    if not token:
        raise Refused(
            HTTPStatus.UNAUTHORIZED,
            "this link was used already, or is none: run `hardwon open` again; for a program, `hardwon token make`",
        )
    return Redirect("/", status_code=303, cookies=[cookie_of(request, token)])


def cookie_of(request: Asked, token: str) -> Cookie:
    settings = request.app.state.settings
    assert isinstance(settings, ServiceSettings)
    secure = f"https://{request.headers['host']}" in settings.public
    return Cookie(COOKIE, value=token, httponly=True, samesite="strict", secure=secure, path="/", max_age=30 * 86400)


@reads("/api")
def about() -> Response[About]:
    """What this is."""
    return Response(About("hardwon", __version__, "/schema"))


@reads("/api/me")
def me(request: Asked) -> Me:
    """Whose token this is, and what it may do."""
    caller = permissions.of(request)
    return Me(caller.name, caller.scopes, caller.projects)


# What an operator sees: counts for Prometheus, who asked for what, traces for OpenTelemetry.

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds."""
_HELD = ("session", "lesson", "failure", "fix", "attempt")
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_KNOWN = frozenset(
    "attempts bootstrap documents events export failures forget interactions lessons me metrics projects purge push "
    "pull replay search sessions".split()
)


class Measured:
    """Counters of this process; several processes are scraped one by one."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram  # noqa: PLC0415 - an extra

        self.registry = CollectorRegistry()
        labels = ["method", "noun", "status"]
        self._requests = Counter("hardwon_requests", "Requests answered.", labels, registry=self.registry)
        self._seconds = Histogram(
            "hardwon_request_seconds", "How long they took.", ["noun"], buckets=_BOUNDS, registry=self.registry
        )

    def count(self, method: str, path: str, status: int, seconds: float) -> None:
        first, _, rest = path.lstrip("/").partition("/")
        noun = rest.partition("/")[0] if first == "api" else first
        noun = noun if noun in _KNOWN or noun in ("mcp", "health", "live") else "page"  # anybody may ask for any path
        known = method if method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD") else "other"
        self._requests.labels(known, noun, str(status)).inc()
        self._seconds.labels(noun).observe(seconds)

    def text(self, held: dict[str, int]) -> str:
        from prometheus_client import CollectorRegistry, Gauge, generate_latest  # noqa: PLC0415 - an extra

        store = CollectorRegistry()
        rows = Gauge("hardwon_store_rows", "What the store holds.", ["noun"], registry=store)
        for noun, count in held.items():
            rows.labels(noun).set(count)
        return (generate_latest(self.registry) + generate_latest(store)).decode()


def measured() -> Measured | None:
    """None where the extra is not installed."""
    return Measured() if importlib.util.find_spec("prometheus_client") else None


@get("/metrics", guards=[permissions.needs("read")], sync_to_thread=True, include_in_schema=False)
def metrics(request: Asked) -> Response[str]:
    """Counts of requests and of what the store holds, as Prometheus reads them; for tokens of all projects."""
    permissions.of(request).need_whole_store()
    counted: Measured | None = request.app.state.measured
    if counted is None:
        raise Refused(HTTPStatus.NOT_IMPLEMENTED, "metrics need an extra: `hardwon extras add observe`")
    return Response(counted.text(_held(pool(request))), media_type="text/plain; version=0.0.4; charset=utf-8")


def _held(pool: Pool) -> dict[str, int]:
    with pool.reading() as memory:
        db = memory.reading()
        found = {noun: int(db.query(f"SELECT count(*) FROM {noun}")[0][0]) for noun in _HELD}
        return found | {"bytes": meta.size_of(db), "failed_jobs": len(meta.failed_jobs(db))}


def observed(app: App, counted: Measured | None, log: TextIO | None) -> App:
    """The whole service, each of whose answers is counted and, if asked for, written down with who got it."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await app(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - began
            if counted:
                counted.count(scope["method"], scope["path"], status, seconds)
            if log:
                log.write(_line(scope, status, seconds))
                log.flush()

    return traced(serve) if os.environ.get(_ENDPOINT) and importlib.util.find_spec("opentelemetry.sdk") else serve


def _line(scope: Scope, status: int, seconds: float) -> str:
    """Who asked for what, without the words of a question: those may hold anything."""
    caller = scope.get("user")
    entry: dict[str, Any] = {
        "at": moment(now()).isoformat(timespec="milliseconds"),
        "token": caller.id if isinstance(caller, Caller) else "",
        "name": caller.name if isinstance(caller, Caller) else "",
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    return json.dumps(entry) + "\n"


def traced(app: App) -> App:
    """Spans to the collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, without the words of any question."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 - an extra
    from opentelemetry.instrumentation.asgi import OpenTelemetryMiddleware  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=Resource.create({"service.name": "hardwon"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "query_string": scope.get("hardwon_query", b"")}, receive, send)

    instrumented: Any = OpenTelemetryMiddleware(inside, tracer_provider=provider, exclude_spans=["receive", "send"])

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "hardwon_query": scope["query_string"], "query_string": b""}
            await instrumented(scope, receive, send)
        else:
            await app(scope, receive, send)

    return serve


router = Router("/", route_handlers=[health, live, login, about, me, metrics], tags=["health"])
