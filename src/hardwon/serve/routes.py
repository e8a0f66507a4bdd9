"""What all resources have in common: how a route is declared, how it gets at the store, pages and their cursors."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

import msgspec
from litestar import Request, delete, get, patch, post, put
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter

from hardwon.api import Hardwon
from hardwon.api.access import Scope
from hardwon.errors import NotFound
from hardwon.model.attempt import renamed
from hardwon.model.nouns import Page
from hardwon.serve import permissions
from hardwon.serve.pool import Pool, once
from hardwon.serve.problems import MEDIA_TYPE, Problem, Refused
from hardwon.store.pages import Key

Asked = Request[Any, Any, Any]
Decorator = Callable[[Callable[..., Any]], HTTPRouteHandler]
Id = Annotated[str, Parameter(max_length=200)]
ProjectName = Annotated[
    str | None, Parameter(query="project", max_length=500, description="A project's id, remote, folder or name.")
]
OnlyHere = Annotated[
    bool, Parameter(query="only_here", description="Tells nothing that only other projects have seen.")
]
Budget = Annotated[int | None, Parameter(query="budget", ge=0, le=100_000)]
IdempotencyKey = Annotated[
    str,
    Parameter(
        header="Idempotency-Key",
        max_length=200,
        pattern=r"^[ -~]*$",
        description="A request that is sent again with the same key within a day is not done again.",
    ),
]

_ALWAYS = (400, 401, 403, 404, 421, 429, 503)
_ON_WRITE = (*_ALWAYS, 408, 409, 413, 415, 422)
_METHODS = {"POST": post, "PUT": put, "PATCH": patch, "DELETE": delete}
_UNCHANGED = {304: ResponseSpec(None, description="What the client has already.", generate_examples=False)}
T = TypeVar("T")
_MAX_INTEGER = 2**63 - 1


def answers(*statuses: int) -> dict[int, ResponseSpec]:
    return {
        status: ResponseSpec(
            Problem, description=HTTPStatus(status).phrase, media_type=MEDIA_TYPE, generate_examples=False
        )
        for status in statuses
    }


def reads(path: str, scope: Scope = "read", **more: Any) -> Decorator:
    """A route that changes nothing."""
    responses = {**answers(*_ALWAYS), **_UNCHANGED}
    guards = [permissions.needs(scope)]
    return _summed_up(get, path, guards=guards, responses=responses, sync_to_thread=True, **more)


def asks(path: str) -> Decorator:
    """A read whose question is too long for an address."""
    return _summed_up(
        post,
        path,
        guards=[permissions.needs("read")],
        responses=answers(*_ON_WRITE),
        status_code=HTTPStatus.OK,
        sync_to_thread=True,
    )


def writes(method: str, path: str, scope: Scope, status: HTTPStatus = HTTPStatus.OK, **more: Any) -> Decorator:
    route = _METHODS[method]
    guards = [permissions.needs(scope)]
    more |= {"guards": guards, "responses": answers(*_ON_WRITE), "status_code": status}
    return _summed_up(route, path, sync_to_thread=True, **more)


class WithFormerNames(Request[Any, Any, Any]):
    """A request whose body may call fields of an attempt or an interaction by their former names."""

    async def json(self) -> Any:
        given = await super().json()
        if not isinstance(given, dict):
            return given
        if isinstance(several := given.get("attempts"), list):
            return given | {"attempts": [renamed(one) if isinstance(one, dict) else one for one in several]}
        return renamed(given)


def _summed_up(route: Callable[..., Any], path: str, **more: Any) -> Decorator:
    """With the first sentence of what it says of itself as the summary."""

    def declared(handler: Callable[..., Any]) -> HTTPRouteHandler:
        said = (handler.__doc__ or "").strip().partition("\n")[0]
        made: HTTPRouteHandler = route(path, summary=said.partition(". ")[0].rstrip("."), **more)(handler)
        return made

    return declared


def pool(request: Asked) -> Pool:
    found = request.app.state.pool
    assert isinstance(found, Pool)
    return found


def reading(request: Asked) -> AbstractContextManager[Hardwon]:
    return pool(request).reading()


@contextmanager
def written(request: Asked, key: str, act: Callable[[Hardwon], str]) -> Iterator[tuple[Hardwon, str]]:
    """Does it once for each Idempotency-Key; gives the store and the id of what came of it."""
    with pool(request).writing() as memory:
        if not key:
            yield memory, act(memory)
            return
        yield memory, once(memory, permissions.of(request).id, key, asked(request), lambda: act(memory))


def asked(request: Asked) -> str:
    """All of a request that makes it another one."""
    return f"{request.method} {request.url.path}\n{request.scope['state']['body'].decode('utf-8', 'replace')}"


@contextmanager
def nothing_said_of(what: str) -> Iterator[None]:
    """What is not there is told in the words in which something is denied: nobody learns which it was."""
    try:
        yield
    except NotFound:
        raise NotFound(f"no such {what}") from None


def bad(detail: str) -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, detail)


# Where a page begins, as an opaque text; only what could have been a key of ours is taken for one.


Cursor = Annotated[str, Parameter(query="cursor", max_length=500, description="`next` of the page before.")]
Limit = Annotated[int, Parameter(query="limit", ge=1, le=200, description="Most items of a page.")]


def page(items: Sequence[T], keys: Sequence[Key], limit: int) -> Page[T]:
    """Rows that were asked for with one more than wanted, which tells whether there are more."""
    more = len(items) > limit
    return Page(list(items[:limit]), _written(keys[limit - 1]) if more else "")


def after(cursor: str, *types: type) -> Key | None:
    """The key that a cursor stands for, of columns of these types."""
    if not cursor:
        return None
    try:
        key = msgspec.json.decode(base64.urlsafe_b64decode(cursor.encode()), type=tuple[int | str, ...])
    except (binascii.Error, UnicodeError, msgspec.DecodeError, RecursionError, ValueError):
        raise _unknown() from None
    fits = len(key) == len(types) and all(type(part) is wanted for part, wanted in zip(key, types, strict=True))
    if not fits or any(isinstance(part, int) and abs(part) > _MAX_INTEGER for part in key):
        raise _unknown()
    if any(isinstance(part, str) and "\0" in part for part in key):
        raise _unknown()
    return key


def _written(key: Key) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode()


def _unknown() -> Refused:
    return Refused(HTTPStatus.BAD_REQUEST, "invalid cursor: pass `next` of the previous page unchanged")
