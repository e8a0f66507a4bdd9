"""Who asks, and what of the store that person or agent may see and do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from hardwon.api import Hardwon
from hardwon.api.access import Scope, Token
from hardwon.api.store import Store
from hardwon.errors import NotFound
from hardwon.serve import browse
from hardwon.serve.problems import Refused


class Caller:
    """The holder of a token, whose name is on record with all that is done by it."""

    def __init__(self, token: Token) -> None:
        self._token = token
        self.id = token.id
        self.name = token.name
        self.scopes = token.scopes
        self.projects = token.projects
        self.actor = f"token {token.name} {token.id}"

    @property
    def limited(self) -> bool:
        """To some projects; such a caller is never told of the others."""
        return bool(self.projects)

    def need(self, scope: Scope) -> None:
        if scope not in self.scopes:
            raise Refused(HTTPStatus.FORBIDDEN, f"this token lacks the scope '{scope}'")

    def need_whole_store(self) -> None:
        if self.limited:
            raise Refused(
                HTTPStatus.FORBIDDEN, "this needs access to the whole store; this token is limited to some projects"
            )

    def sees(self, project: str) -> bool:
        return not self.limited or project in self.projects

    def need_project(self, project: str, what: str) -> None:
        """What belongs to another project does not exist for this caller."""
        if not self.sees(project):
            raise NotFound(f"no such {what}")

    def need_item(self, memory: Hardwon, id: str) -> None:
        """That it is something in the store which this caller may see."""
        if id.startswith("F"):
            if not any(browse.knows_failure(memory, id, project) for project in self.projects or (None,)):
                raise NotFound(f"no failure {id}")
            return
        owner = browse.owner_of(memory, id)
        if owner is None:
            raise NotFound(f"nothing found with id {id}: use the id at the start of a line")
        if owner:
            self.need_project(owner, "item")

    def project(self, memory: Hardwon, name: str | None) -> str | None:
        """The id of the project that is meant; None is the whole store, which not every caller may have."""
        if name:
            found = browse.project_named(memory, name)
            self.need_project(found, "project")
            return found
        if not self.limited:
            return None
        if len(self.projects) > 1:
            raise Refused(HTTPStatus.BAD_REQUEST, "this token is for several projects: name one with `project`")
        return self.projects[0]

    def home(self, memory: Hardwon, name: str) -> str:
        """Where something new is kept: for whoever may see all projects, also one that exists from now on."""
        try:
            return self.project(memory, name) or ""
        except NotFound:
            if self.limited:
                raise
        need_no_path(name)
        return Store(memory, self.actor).add_project(name)


def need_no_path(name: str) -> None:
    """No request names a folder of the service's machine."""
    if name.startswith(("/", "~", ".", "\\")) or name[1:3] in (":\\", ":/"):
        raise Refused(HTTPStatus.BAD_REQUEST, "a path is no project here: give a name or a git remote")


def of(connection: ASGIConnection[Any, Any, Any, Any]) -> Caller:
    caller = connection.scope["user"]  # put there by the middleware
    assert isinstance(caller, Caller)
    return caller


Guard = Callable[[ASGIConnection[Any, Any, Any, Any], BaseRouteHandler], "Awaitable[None] | None"]


def needs(scope: Scope) -> Guard:
    """A guard for a route that asks for a scope."""

    def guard(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
        of(connection).need(scope)

    return guard
