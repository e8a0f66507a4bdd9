"""`/health`, `/login`, `/` and `/api/me`: is it there, how a browser gets in, who am I."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from litestar import Response, Router, get
from litestar.datastructures import Cookie
from litestar.params import Parameter
from litestar.response import Redirect
from msgspec import Struct

from hardwon import __version__
from hardwon.api.access import recognise, redeem
from hardwon.model.nouns import Me
from hardwon.serve import browse, permissions
from hardwon.serve.middleware import COOKIE, ServiceSettings
from hardwon.serve.problems import Refused
from hardwon.serve.routes import Asked, answers, pool, reading, reads


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
            "invalid token: unknown, revoked or expired; `hardwon token make` creates a new one",
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


router = Router("/", route_handlers=[health, live, login, about, me], tags=["health"])
