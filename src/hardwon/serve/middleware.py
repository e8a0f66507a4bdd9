"""What every request must pass before anything looks at it: host, origin, token, rate, size, time; and ETags."""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from hashlib import blake2b
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote_to_bytes, urlsplit

import anyio.to_thread
from litestar.config.allowed_hosts import AllowedHostsConfig
from litestar.connection import ASGIConnection
from litestar.enums import ScopeType
from litestar.middleware.allowed_hosts import AllowedHostsMiddleware
from litestar.middleware.authentication import AbstractAuthenticationMiddleware, AuthenticationResult
from msgspec import Struct

from hardwon.api.access import Token, recognise
from hardwon.errors import HardwonError
from hardwon.serve.permissions import Caller
from hardwon.serve.pool import Pool
from hardwon.serve.problems import MEDIA_TYPE, Refused, encoded

if TYPE_CHECKING:
    from litestar.types import HTTPScope

# How a service is reached, and what it puts up with.

_VARIABLE = "HARDWON_SERVE_"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PORT = 8765
_MAX_CALLERS_REMEMBERED = 10_000
_TAGGED = (b"application/json", b"text/css", b"text/javascript", b"image/svg+xml")
_FORM = "application/x-www-form-urlencoded"
COOKIE = "hardwon"
LOGIN = "/login"
LOGIN_FORM = "/login/token"
OPEN_PATHS = frozenset(("/health", "/live", LOGIN, LOGIN_FORM, "/assets/style.css", "/assets/icon.svg"))
"""What asks for no token: what the page needs that tells a browser how to get in."""
_SAFE = frozenset(("GET", "HEAD"))
_WITH_BODY = frozenset(("POST", "PUT", "PATCH"))
_HEADERS = [
    (b"cache-control", b"private, no-cache"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What a page may load: files of ours, nothing that stands in the page itself, and no text may become HTML."""
PAGE_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with `no-referrer` a browser sends our own forms with the origin `null`
}


class ServiceSettings(Struct, frozen=True, kw_only=True):
    host: str = "127.0.0.1"
    port: int = PORT
    public: tuple[str, ...] = ()
    """Addresses that others use, such as `https://memory.example.org`; what stands there ends TLS."""
    largest_body: int = 1_000_000
    head_seconds: float = 10
    body_seconds: float = 10
    """A request must be there whole within this time."""
    rate: float = 50
    """Requests a second that one token may make on the average."""
    burst: int = 200
    readers: int = 4
    """How many requests read at the same time."""

    @property
    def local(self) -> bool:
        return self.host in LOOPBACK

    @property
    def address(self) -> str:
        return f"http://{_bracketed(self.host)}:{self.port}"

    def origins(self) -> frozenset[str]:
        """The origins of pages that may call the service: its own; where others reach it, only by its public names."""
        own = [f"http://{_bracketed(name)}:{self.port}" for name in LOOPBACK] if self.local else []
        return frozenset((*own, *self.public))

    def hosts(self) -> frozenset[str]:
        """What may stand in a `Host` header; with another name, somebody's page may have led a browser here."""
        return frozenset(origin.partition("://")[2].lower() for origin in self.origins())


def limits(environment: Mapping[str, str]) -> dict[str, float]:
    """What is put up with, where a variable such as `HARDWON_SERVE_RATE` says otherwise."""
    found: dict[str, float] = {}
    for name in ("largest_body", "head_seconds", "body_seconds", "rate", "burst", "readers"):
        given = environment.get(_VARIABLE + name.upper())
        try:
            value = float(given) if given is not None else None
        except ValueError:
            value = -1.0
        if value is not None:
            if not 0 < value < math.inf:
                raise HardwonError(f"{_VARIABLE}{name.upper()} = {given} is not a valid number: use a number above 0")
            found[name] = int(value) if name in ("largest_body", "burst", "readers") else value
    return found


def public_address(text: str) -> str:
    """`https://name[:port]`, as a browser writes an origin."""
    parts = urlsplit(text.strip().rstrip("/"))
    plain = parts.hostname and not (parts.path or parts.query or parts.fragment or parts.username)
    if parts.scheme not in ("http", "https") or not plain:
        raise HardwonError(f"--public {text} is not a valid address: write it as https://memory.example.org")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


# The few types of ASGI, which all frameworks here share.

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Shown = Callable[[int, str], bytes]
"""A page about what is refused, from its status and what is said of it."""


# How often somebody may ask: so many a second on the average, and some more at once.


class RateLimit:
    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, caller: str) -> float:
        """0 if the caller may go on, which is then counted."""
        now = self._clock()
        left, then = self._left.pop(caller, (float(self._burst), now))
        left = min(float(self._burst), left + (now - then) * self._per_second)
        wait = 0.0 if left >= 1 else (1 - left) / self._per_second
        self._left[caller] = (left - 1 if wait == 0 else left, now)
        if len(self._left) > _MAX_CALLERS_REMEMBERED:
            self._left.popitem(last=False)
        return wait


# A name for what a read gave, so that who has it already is not sent it again.


def tagged(app: App) -> App:
    """Answers of JSON to a GET get an ETag; one that the client names is answered with 304."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await app(scope, receive, send)
            return
        wanted = next((value for name, value in scope["headers"] if name == b"if-none-match"), b"")
        await app(scope, receive, _Answer(send, wanted).take)

    return serve


class _Answer:
    """Holds an answer back until it is whole; what is no JSON of one piece goes through."""

    def __init__(self, send: Send, wanted: bytes) -> None:
        self._send = send
        self._known = {tag.strip().removeprefix(b"W/") for tag in wanted.split(b",")}
        self._start: Message | None = None
        self._body = b""

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200 and _is_json(message["headers"]):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish(self._start)
        else:
            await self._send(message)

    async def _finish(self, start: Message) -> None:
        tag = b'"' + blake2b(self._body, digest_size=12).hexdigest().encode() + b'"'
        headers = [*start["headers"], (b"etag", tag)]
        if tag in self._known or b"*" in self._known:
            bare = [pair for pair in headers if pair[0] not in (b"content-length", b"content-type")]
            await self._send({"type": "http.response.start", "status": 304, "headers": bare})
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": self._body, "more_body": False})


def _is_json(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"content-type" and value.startswith(_TAGGED) for name, value in headers)


# Litestar's own checks, in front of its router: behind it, unknown paths would pass them and so tell which there are.


async def _go_on(*_: Any) -> Any:
    """What stands behind each of them: the next check."""


async def _refuse_host(_: Any) -> None:
    raise Refused(
        HTTPStatus.MISDIRECTED_REQUEST, "unknown host name: start the service with --public https://NAME to add it"
    )


class Tokens(AbstractAuthenticationMiddleware):
    """Whose token comes with a request: its `user`."""

    def __init__(self, pool: Pool, rate: RateLimit, failures: RateLimit) -> None:
        openly = "|".join(map(re.escape, sorted(OPEN_PATHS)))
        super().__init__(_go_on, rf"\A(?:{openly})\Z", exclude_http_methods=(), scopes={ScopeType.HTTP})
        self._pool = pool
        self._rate = rate
        self._failures = failures

    async def authenticate_request(self, connection: ASGIConnection[Any, Any, Any, Any]) -> AuthenticationResult:
        scope = cast(Scope, connection.scope)
        headers = _headers(scope)
        bearer, cookie = _bearer(headers), _cookie(headers)
        token = bearer or cookie
        found = await anyio.to_thread.run_sync(self._recognised, token) if token else None
        if found is None:
            slow_down(self._failures, _peer(scope))
            lacks = (
                "invalid token: unknown, revoked or expired"
                if token
                else "missing token: send `Authorization: Bearer TOKEN`"
            )
            raise Refused(HTTPStatus.UNAUTHORIZED, f"{lacks}: `hardwon token make` creates one")
        if not bearer and scope["method"] not in _SAFE and "origin" not in headers:
            raise Refused(HTTPStatus.FORBIDDEN, "a change authenticated by cookie needs an Origin header")
        slow_down(self._rate, found.id)
        return AuthenticationResult(user=Caller(found), auth=None)

    def _recognised(self, token: str) -> Token | None:
        try:
            with self._pool.reading() as memory:
                return recognise(memory, token)
        except HardwonError:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the store is unavailable: try again later") from None


def slow_down(rate: RateLimit, who: str) -> None:
    if wait := rate.seconds_to_wait(who):
        raise Refused(HTTPStatus.TOO_MANY_REQUESTS, f"too many requests: try again in {math.ceil(wait)} s")


def _peer(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


class Middleware:
    def __init__(self, app: App, pool: Pool, settings: ServiceSettings, shown: Shown | None = None) -> None:
        """`shown` makes a page of what is refused, for browsers."""
        self._app = app
        self._shown = shown
        self._pool = pool
        self._settings = settings
        self._origins = settings.origins()
        self._rate = RateLimit(settings.rate, settings.burst)
        self._failures = RateLimit(settings.rate / 10, max(1, settings.burst // 4))  # of wrong tokens
        hosts = AllowedHostsConfig(sorted(settings.hosts()), www_redirect=False)
        self._hosts = AllowedHostsMiddleware(_go_on, hosts)
        self._tokens = Tokens(pool, self._rate, self._failures)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008, "reason": None})
            return
        closing = _with_headers(send)
        headers = _headers(scope)
        try:
            await self._check_host(scope, headers)
            self._check_place(headers, str(scope["method"]))
            _check_address(scope)
            if scope["path"] in OPEN_PATHS:
                slow_down(self._failures if scope["path"].startswith(LOGIN) else self._rate, f"open {_peer(scope)}")
            await self._tokens(cast("HTTPScope", scope), cast(Any, receive), cast(Any, send))
            body = await self._body(scope, headers, receive)
        except Refused as error:
            await _refuse(closing, error, self._shown if wants_page(headers) else None)
            return
        scope.setdefault("state", {})["body"] = body  # a host without lifespan gives none
        await self._app(scope, _once(body, receive), closing)

    def _check_place(self, headers: dict[str, list[str]], method: str) -> None:
        """A page of another site must not reach the service through somebody's browser, nor ask whether it may."""
        if method == "OPTIONS":
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED, "cross-origin requests are not allowed")
        origins = headers.get("origin", [])
        if any(origin not in self._origins for origin in origins) or len(origins) > 1:
            raise Refused(HTTPStatus.FORBIDDEN, "cross-origin requests are not allowed")
        site = headers.get("sec-fetch-site", ["none"])[0]
        if site not in ("none", "same-origin"):  # not even by a link: it may ask for anything, or log somebody in
            raise Refused(HTTPStatus.FORBIDDEN, "cross-origin requests are not allowed")

    async def _check_host(self, scope: Scope, headers: dict[str, list[str]]) -> None:
        """Asked of Litestar before a route is looked for, and without regard to case."""
        given = ",".join(headers.get("host", [])).lower().encode("latin-1")
        asked = {**scope, "headers": [(b"host", given)] if given else []}
        await self._hosts(cast("HTTPScope", asked), _go_on, _refuse_host)

    async def _body(self, scope: Scope, headers: dict[str, list[str]], receive: Receive) -> bytes:
        length = headers.get("content-length", ["0"])[0]
        has_body = length != "0" or "transfer-encoding" in headers
        if not has_body and scope["method"] not in _WITH_BODY:
            return b""
        if not has_body and "content-type" not in headers:
            scope["headers"] = [*scope["headers"], (b"content-type", b"application/json")]
            return b"{}"  # nothing to say is an empty object
        kind = headers.get("content-type", [""])[0].partition(";")[0].strip().lower()
        wanted = _FORM if is_page(scope["path"]) else "application/json"
        if kind != wanted or "content-encoding" in headers:
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send it uncompressed with `Content-Type: {wanted}`")
        if not length.isdecimal() or int(length) > self._settings.largest_body:
            raise Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"request body too large: at most {self._settings.largest_body:,} bytes",
            )
        try:
            async with asyncio.timeout(self._settings.body_seconds):
                body = await _read(receive, self._settings.largest_body)
        except TimeoutError:
            raise Refused(HTTPStatus.REQUEST_TIMEOUT, "timed out while waiting for the request body") from None
        if _holds_nul(body):
            raise Refused(HTTPStatus.BAD_REQUEST, "NUL characters are not allowed")
        return body


def is_page(path: str) -> bool:
    """Whether it is a page for people; all else is for programs."""
    return not path.startswith(("/api", "/mcp", "/schema"))


def wants_page(headers: Mapping[str, Iterable[str]]) -> bool:
    """Whether somebody looks at it, and no program: a browser that goes there says so, whatever it accepts."""
    accepted = any("text/html" in each for each in headers.get("accept", ()))
    return accepted or "document" in headers.get("sec-fetch-dest", ())


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _check_address(scope: Scope) -> None:
    for part in (scope.get("raw_path") or b"", scope["query_string"]):
        plain = unquote_to_bytes(part)
        try:
            plain.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused(HTTPStatus.BAD_REQUEST, "the URL is not valid UTF-8") from None
        if b"\0" in plain:
            raise Refused(HTTPStatus.BAD_REQUEST, "NUL characters are not allowed")


def _bearer(headers: dict[str, list[str]]) -> str:
    given = headers.get("authorization", [])
    scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


def _cookie(headers: dict[str, list[str]]) -> str:
    try:
        jar = SimpleCookie("; ".join(headers.get("cookie", [])))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


async def _read(receive: Receive, largest: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refused(HTTPStatus.BAD_REQUEST, "the connection was closed before the request was complete")
        body += message["body"]
        if len(body) > largest:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"request body too large: at most {largest:,} bytes")
        if not message["more_body"]:
            return bytes(body)


def _holds_nul(body: bytes) -> bool:
    """Which PostgreSQL cannot store; the escape may itself be escaped, so that only decoding tells."""
    if b"\\u0000" not in body:
        return False
    try:
        return "\0" in json.dumps(json.loads(body), ensure_ascii=False).replace("\\u0000", "\0")
    except (ValueError, RecursionError):
        return True


def _once(body: bytes, receive: Receive) -> Receive:
    """The body again, for the application; then whatever the connection tells."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            ours = [pair for pair in _HEADERS if pair[0] not in given]  # a page says itself what it may load
            message = {**message, "headers": [*message["headers"], *ours]}
        await send(message)

    return sent


async def _refuse(send: Send, error: Refused, shown: Shown | None) -> None:
    body = shown(error.status, str(error)) if shown else encoded(error.status, str(error))
    kind = b"text/html; charset=utf-8" if shown else MEDIA_TYPE.encode()
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    if shown:
        headers += [(name.lower().encode(), value.encode()) for name, value in PAGE_HEADERS.items()]
    if error.status is HTTPStatus.UNAUTHORIZED:
        headers.append((b"www-authenticate", b'Bearer realm="hardwon"'))
    if error.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        headers.append((b"retry-after", b"1"))
    if error.status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.REQUEST_ENTITY_TOO_LARGE):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": int(error.status), "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
