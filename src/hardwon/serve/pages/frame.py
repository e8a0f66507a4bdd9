"""What all pages have in common: templates that escape everything, and forms that only our own pages can send."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

import jinja2
from litestar import MediaType, Request, Response, Router, get, post
from litestar.datastructures import Cookie
from litestar.handlers import HTTPRouteHandler
from litestar.response import Redirect
from markupsafe import Markup, escape

from hardwon import __version__
from hardwon.api import Hardwon
from hardwon.api.access import Scope, recognise
from hardwon.clock import now, to_microseconds
from hardwon.errors import NotFound
from hardwon.failures.told import titled
from hardwon.model.nouns import Failure, Project
from hardwon.serve import browse, permissions
from hardwon.serve.middleware import COOKIE, LOGIN_FORM, PAGE_HEADERS, wants_page
from hardwon.serve.problems import Problem, Refused
from hardwon.serve.resources.health import cookie_of
from hardwon.serve.routes import Asked, reading
from hardwon.store import meta
from hardwon.text.shown import ago, clean, kind_of_error, said_status

PER_PAGE = 50
_MAX_PROJECTS_OFFERED = 300
_FOLDER = Path(__file__).parent
_MAX_DIFF_LINES = 2_000
_MAX_FORM_FIELDS = 1_000
_MAX_CHOSEN = 2_000
T = TypeVar("T")


def _seen(value: object) -> object:
    """What is put into a page: without what a reader cannot see, such as signs that turn the direction of a text."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def url(*parts: str, **query: object) -> str:
    """An address here, of parts that may hold anything; what is empty is left out of the query."""
    asked = {name: value for name, value in query.items() if value not in (None, "", False)}
    path = "/".join(("", *(quote(part, safe="") for part in parts)))
    return f"{path}?{urlencode(asked, doseq=True)}" if asked else path


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_seen,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for unsafe in ("safe", "xmlattr", "urlize", "tojson"):
        del made.filters[unsafe]
    made.globals.update(url=url, version=__version__)
    made.filters.update(ago=_ago, exact=_exact, iso=datetime.isoformat, short=short, count=count)
    made.filters.update(title_of=_title)
    made.filters.update(kind_of_error=kind_of_error, said_status=said_status)
    made.filters.update(spoken=spoken, blocks=blocks, by_whom=lambda trust: SAID_BY.get(trust, trust))
    return made


def _title(failure: Failure) -> str:
    """Without the command that shows more: the page does."""
    return titled(failure.error, failure.family, failure.command).partition(": `hardwon why`")[0]


def _ago(when: datetime) -> str:
    return ago(to_microseconds(when), now())


def _exact(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M} UTC"


def short(number: float) -> str:
    """`950`, `1.2k`, `35k`, `4.1M`."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}{letter}" if value < 10 else f"{value:.0f}{letter}"
    return f"{number:.0f}"


def count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def spoken(text: str) -> Markup:
    """A text with what stands in backticks as code; everything in it is escaped."""
    parts = clean(text).split("`")
    if len(parts) % 2 == 0:  # one of them is alone
        return escape(clean(text))
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(part) if at % 2 else escape(part) for at, part in enumerate(parts))


SAID_BY = {
    "human": "said or approved by a person",
    "measured": "counted in sessions",
    "corroborated": "said by several sources",
    "claimed": "said by an agent",
    "untrusted": "not confirmed by anybody",
}
"""How far a lesson is trusted → where that comes from."""


def blocks(text: str) -> list[tuple[bool, str]]:
    """(whether it is code, text) of what stands between fences, and of what does not."""
    found: list[tuple[bool, list[str]]] = [(False, [])]
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            found.append((not found[-1][0], []))
        else:
            found[-1][1].append(line)
    joined = [(code, "\n".join(lines).strip("\n")) for code, lines in found]
    return [(code, part) for code, part in joined if part.strip()]


_SIGNS = {"+": "added", "-": "gone", "@": "place"}


def diff(text: str) -> list[tuple[str, str]]:
    """(kind, line) of what was changed, as far as it is shown."""
    return [(_SIGNS.get(line[:1], ""), line) for line in text.splitlines()[:_MAX_DIFF_LINES]]


_TEMPLATES = _environment()


def shown(template: str, request: Asked, memory: Hardwon, **context: Any) -> Response[str]:
    """A page with the frame around it."""
    caller = permissions.of(request)
    waiting = browse.counted(memory, ("waiting",), memory.review.count) if not caller.limited else 0
    html = _TEMPLATES.get_template(template).render(
        here=request.url.path,
        may=caller.scopes,
        whole=not caller.limited,
        who=caller.name,
        waiting=waiting,
        csrf=csrf(request),
        projects=offered(memory, caller),
        **context,
    )
    return Response(html, media_type=MediaType.HTML, headers=PAGE_HEADERS)


def part(template: str, **context: Any) -> Response[str]:
    """What a page that is open puts in itself."""
    html = _TEMPLATES.get_template(template).render(**context)
    return Response(html, media_type=MediaType.HTML, headers=PAGE_HEADERS)


def refusal(status: int, detail: str) -> bytes:
    """A page about what is not served, for whoever is not known."""
    title = HTTPStatus(status).phrase
    page = _TEMPLATES.get_template("problem.html").render(status=status, title=title, detail=detail)
    return page.encode()


Handler = Callable[[Request[Any, Any, Any], Any], Response[Problem]]


def readable(handler: Handler) -> Callable[[Request[Any, Any, Any], Any], Response[Any]]:
    """The same problem as a page, where a browser asks."""

    def answer(request: Request[Any, Any, Any], error: Any) -> Response[Any]:
        found = handler(request, error)
        if not wants_page({name: request.headers.getall(name, []) for name in ("accept", "sec-fetch-dest")}):
            return found
        page = refusal(found.content.status, found.content.detail)
        return Response(page, status_code=found.status_code, media_type=MediaType.HTML, headers=PAGE_HEADERS)

    return answer


def offered(memory: Hardwon, caller: permissions.Caller) -> list[Project]:
    """The projects that a page can be about."""
    if not memory.exists:
        return []
    return browse.of_projects(memory, only=caller.projects, limit=_MAX_PROJECTS_OFFERED)[0]


def holder(request: Asked, memory: Hardwon, name: str | None) -> str | None:
    """The project that a page is about; None for all. Who may see only some is shown the first of them."""
    caller = permissions.of(request)
    if not name and caller.limited:
        return caller.projects[0]
    return caller.project(memory, name)


def page(path: str, scope: Scope = "read") -> Callable[[Callable[..., Any]], HTTPRouteHandler]:
    return get(path, guards=[permissions.needs(scope)], include_in_schema=False, sync_to_thread=True)


def action(path: str, scope: Scope = "review") -> Callable[[Callable[..., Any]], HTTPRouteHandler]:
    """What a form does; it then leads to a page."""
    return post(
        path,
        guards=[permissions.needs(scope)],
        include_in_schema=False,
        sync_to_thread=True,
        status_code=HTTPStatus.SEE_OTHER,
    )


def then(address: str) -> Redirect:
    return Redirect(address, status_code=303)


_MOST_ALIKE = 50


def in_full(request: Asked, memory: Hardwon, table: str, id: str, seen: Callable[[str], str]) -> Redirect:
    """To what an id stands for of which only the beginning is given, as the terminal prints it.

    `seen` gives the address of a whole id, or raises `NotFound` for who may not see it. Raises `NotFound`.
    """
    found = []
    for one in meta.ids_of(memory.reading(), table, id, _MOST_ALIKE) if memory.exists else ():
        with suppress(NotFound):
            found.append(seen(one))
    if len(found) != 1:
        raise NotFound(f"several begin with {id}: give more of the id" if found else f"no such {table}")
    return then(f"{found[0]}?{request.url.query}" if request.url.query else found[0])


# Forms. The middleware takes none from another origin; beyond that, each has a sign that only our own pages know.


def csrf(request: Asked) -> str:
    return blake2b(_cookie(request).encode(), digest_size=16, person=b"hardwon form").hexdigest()


def form(request: Asked) -> Mapping[str, str]:
    """What was sent; of a name that was sent several times, the last. Raises `Refused`."""
    return dict(fields(request))


def fields(request: Asked) -> list[tuple[str, str]]:
    sent = _decoded(request)
    sign = dict(sent).get("csrf", "")
    if not _cookie(request) or not hmac.compare_digest(sign.encode(), csrf(request).encode()):
        raise Refused(HTTPStatus.FORBIDDEN, "this form is too old, or not one of ours: reload the page")
    return sent


def chosen(sent: list[tuple[str, str]]) -> list[str]:
    """The rows of a list that were chosen, each once; a row may stand for several."""
    return [*dict.fromkeys(id for name, value in sent if name == "id" for id in value.split(",") if id)][:_MAX_CHOSEN]


def kept(sent: Mapping[str, str], *names: str) -> dict[str, str]:
    """The filters of a list, on the next page as well."""
    return {name: sent.get(name, "") for name in names}


def events(text: str) -> list[int]:
    """That a decision left, as an address has them."""
    return [int(part) for part in text.split(".") if part.isdecimal() and len(part) < 16]


def _decoded(request: Asked) -> list[tuple[str, str]]:
    body: bytes = request.scope["state"]["body"]
    try:
        sent = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FORM_FIELDS, errors="strict")
    except ValueError:
        raise Refused(HTTPStatus.BAD_REQUEST, "this is not a form") from None
    if any("\0" in part for pair in sent for part in pair):
        raise Refused(HTTPStatus.BAD_REQUEST, "NUL characters are not allowed")
    return sent


def login_form(request: Asked) -> Mapping[str, str]:
    """Of somebody who is not known yet: only a page of ours sends the origin that the middleware asks for."""
    if "origin" not in request.headers:
        raise Refused(HTTPStatus.FORBIDDEN, "a login needs an Origin header")
    return dict(_decoded(request))


def _cookie(request: Asked) -> str:
    return request.cookies.get(COOKIE, "")


# How a browser gets in, and the files that pages are made of.

_ASSET_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_ASSETS = {path.name: path for path in (Path(__file__).parent / "assets").iterdir() if path.suffix in _ASSET_KINDS}


@get("/assets/{name:str}", include_in_schema=False, sync_to_thread=False)
def asset(name: str) -> Response[bytes]:
    """A file of ours, by its name alone."""
    if name not in _ASSETS:
        raise NotFound("no such file")
    return Response(_ASSETS[name].read_bytes(), media_type=_ASSET_KINDS[_ASSETS[name].suffix])


@post(LOGIN_FORM, include_in_schema=False, sync_to_thread=True, status_code=HTTPStatus.SEE_OTHER)
def by_form(request: Asked) -> Redirect:
    """A token that was given to somebody, who has no link."""
    token = login_form(request).get("token", "").strip()
    with reading(request) as memory:
        if recognise(memory, token) is None:
            raise Refused(HTTPStatus.UNAUTHORIZED, "invalid token: unknown, revoked or expired")
    return Redirect("/", status_code=303, cookies=[cookie_of(request, token)])


@action("/logout", "read")
def logout(request: Asked) -> Redirect:
    form(request)
    ended = Cookie(COOKIE, value="", httponly=True, samesite="strict", path="/", max_age=0)
    return Redirect("/", status_code=303, cookies=[ended])


router = Router("/", route_handlers=[asset, by_form, logout], include_in_schema=False)
