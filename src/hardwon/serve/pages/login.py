"""How a browser gets in, and the files that pages are made of."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

from litestar import Response, Router, get, post
from litestar.datastructures import Cookie
from litestar.response import Redirect

from hardwon.api.access import recognise
from hardwon.errors import NotFound
from hardwon.serve.middleware import COOKIE, LOGIN_FORM
from hardwon.serve.pages import frame
from hardwon.serve.problems import Refused
from hardwon.serve.resources.health import cookie_of
from hardwon.serve.routes import Asked, reading

_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILES = {path.name: path for path in (Path(__file__).parent / "assets").iterdir() if path.suffix in _KINDS}


@get("/assets/{name:str}", include_in_schema=False, sync_to_thread=False)
def asset(name: str) -> Response[bytes]:
    """A file of ours, by its name alone."""
    if name not in _FILES:
        raise NotFound("no such file")
    return Response(_FILES[name].read_bytes(), media_type=_KINDS[_FILES[name].suffix])


@post(LOGIN_FORM, include_in_schema=False, sync_to_thread=True, status_code=HTTPStatus.SEE_OTHER)
def by_form(request: Asked) -> Redirect:
    """A token that was given to somebody, who has no link."""
    token = frame.login_form(request).get("token", "").strip()
    with reading(request) as memory:
        if recognise(memory, token) is None:
            raise Refused(HTTPStatus.UNAUTHORIZED, "invalid token: unknown, revoked or expired")
    return Redirect("/", status_code=303, cookies=[cookie_of(request, token)])


@frame.action("/logout", "read")
def logout(request: Asked) -> Redirect:
    frame.form(request)
    ended = Cookie(COOKIE, value="", httponly=True, samesite="strict", path="/", max_age=0)
    return Redirect("/", status_code=303, cookies=[ended])


router = Router("/", route_handlers=[asset, by_form, logout], include_in_schema=False)
