"""Projects, health, settings and the HTTP API: what belongs together, whether all is well, who may do what."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from litestar import Litestar, Response, Router
from litestar.params import Parameter
from litestar.response import Redirect
from msgspec import structs

from hardwon import config
from hardwon.api import Hardwon
from hardwon.api.access import SCOPES, NewToken
from hardwon.api.store import Store
from hardwon.clock import moment, now
from hardwon.errors import HardwonError, NotAllowed
from hardwon.harvest.walk import Progress
from hardwon.install.command import Where
from hardwon.install.status import everywhere
from hardwon.serve import browse, permissions
from hardwon.serve.pages import frame, work
from hardwon.serve.pages.frame import action, page, then, url
from hardwon.serve.routes import Asked, bad, pool, reading
from hardwon.store.database import Check


@page("/projects")
def projects(request: Asked, undo: Annotated[str, Parameter(max_length=10_000)] = "") -> Response[str]:
    with reading(request) as memory:
        caller = permissions.of(request)
        known = frame.offered(memory, caller)
        parts = {one.id: memory.store.project_parts(one.id) for one in known[:100]} if "admin" in caller.scopes else {}
        return frame.shown("projects.html", request, memory, parts_of=parts, undo=frame.events(undo))


@action("/projects/many", "admin")
def change_many(request: Asked) -> Redirect:
    """All that were chosen are put away, brought back, or made part of one; what can be undone is, as one."""
    sent, caller = frame.fields(request), permissions.of(request)
    caller.need_whole_store()
    one, verb = dict(sent), dict(sent).get("decision", "")
    if verb not in ("archive", "restore", "merge"):
        raise bad("no such decision")
    with pool(request).writing() as memory:
        store = Store(memory, caller.actor)
        ids = [browse.project_named(memory, id) for id in frame.chosen(sent)]
        into = browse.project_named(memory, one.get("into", "")) if verb == "merge" else ""
        with memory.writing().transaction():
            for id in ids:
                if verb != "merge":
                    store.archive_project(id, archived=verb == "archive")
                elif id != into:
                    store.merge_projects(id, into)
        if verb == "merge":
            return then(url("projects"))
        events = [memory.review.history(id)[-1].number for id in ids]
    return then(url("projects", undo=".".join(map(str, events))))


@action("/projects/{id:str}/{what:str}", "admin")
def change(request: Asked, id: Annotated[str, Parameter(max_length=200)], what: str) -> Redirect:
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    with pool(request).writing() as memory:
        known = browse.project_named(memory, id)
        store = Store(memory, caller.actor)
        if what == "rename":
            store.rename_project(known, sent.get("name", ""))
        elif what == "describe":
            store.describe_project(known, sent.get("description", ""))
        elif what == "merge":
            store.merge_projects(known, browse.project_named(memory, sent.get("into", "")))
        else:
            raise bad("no such change")
    return then(url("projects"))


_FRESH = 10 * 1_000_000
_PATIENCE = 0.05
"""Seconds: a small store is looked at before the page is shown."""


@page("/doctor", "admin")
def health(request: Asked) -> Response[str]:
    """Every row is looked at, which may take minutes: nobody waits for it."""
    permissions.of(request).need_whole_store()
    home = pool(request).home
    if now() - work.of_home(home, "check").at > _FRESH:
        work.begin(home, "check", "Every row of the store is being looked at", _check, patience=_PATIENCE)
    with reading(request) as memory:
        look = work.of_home(home, "check")
        return frame.shown(
            "doctor.html",
            request,
            memory,
            work=look,
            checks=look.found or [],
            at=moment(look.at),
            agents=everywhere(Where(os.environ, Path.home())),
            runs=memory.store.last_runs() if memory.exists else {},
        )


def _check(memory: Hardwon, _: Progress) -> tuple[str, list[Check]]:
    return "", memory.store.check()


# Settings: who may use the service, and what Hardwon does.

_CHANGED_HERE = (
    *("budget", "min_confidence", "half_life_days", "sample", "retain_days", "experiment", "fusion_weight"),
    *("search_sessions", "llm_tokens_per_day", "llm_cost_per_day", "llm_price_in", "llm_price_out"),
)
"""No other: what runs a program, opens a folder or sends something elsewhere is set on the machine itself."""
_TITLES = {
    "What sessions are told": {
        "budget": "Length of a briefing, in tokens",
        "min_confidence": "How sure a lesson must be, 0 to 1",
        "half_life_days": "Days after which an old line counts half",
        "experiment": "Experiment: does telling help?",
    },
    "What is read and kept": {
        "sample": "Sessions read at once",
        "retain_days": "Days that sessions are kept",
        "search_sessions": "Search in what was said and done",
        "own_folders": "More folders with sessions of yours",
    },
    "Search": {
        "fusion_weight": "How much meaning counts against words, 0 to 1",
        "embedding_url": "Where vectors are made",
        "embedding_model": "Model that makes vectors",
    },
    "Models that read sessions": {
        "distil": "Read ended sessions with",
        "distil_depth": "How much of a session a model is shown, 1 to 5",
        "llm_url": "Address of the model",
        "llm_model": "Name of the model",
        "llm_command": "Command in place of a model",
        "llm_tokens_per_day": "Most tokens a day",
        "llm_cost_per_day": "Most cost a day",
        "llm_price_in": "Price of a million tokens sent",
        "llm_price_out": "Price of a million tokens answered",
    },
    "Team": {
        "team_url": "Address of the team's service",
        "push_projects": "Projects that are pushed",
        "push_never": "Projects that are never pushed",
        "team_authors": "How the team names who pushed",
    },
    "Store": {
        "database": "Database",
        "workspace": "Workspace in the database",
        "statement_seconds": "Longest wait for a statement, in seconds",
    },
}
"""Group → setting → what it is called on the page."""
_MAY_HOLD_A_SECRET = ("database", "embedding_url", "llm_url", "llm_command")
_MOST_DAYS = 3_650


@page("/settings", "admin")
def settings(request: Asked, saved: Annotated[str, Parameter(max_length=40)] = "") -> Response[str]:
    permissions.of(request).need_whole_store()
    with reading(request) as memory:
        return _shown(request, memory, saved=saved)


def _shown(
    request: Asked, memory: Hardwon, *, saved: str = "", made: NewToken | None = None, trouble: str = ""
) -> Response[str]:
    loaded = config.load(memory.home)
    values = structs.asdict(loaded.config)
    return frame.shown(
        "settings.html",
        request,
        memory,
        tokens=[one for one in memory.store.tokens() if one.valid],
        mine=permissions.of(request).id,
        scopes=[scope for scope in SCOPES if scope in permissions.of(request).scopes],
        made=made,
        trouble=trouble,
        saved=next((some[saved] for some in _TITLES.values() if saved in some), ""),
        groups={
            group: [_setting(name, title, values[name], loaded.origins[name]) for name, title in some.items()]
            for group, some in _TITLES.items()
        },
    )


class Setting(NamedTuple):
    name: str
    title: str
    value: str
    meaning: str
    origin: str
    """Where it is set; empty for what nobody set."""
    changed_here: bool
    choices: tuple[str, ...]


def _setting(name: str, title: str, value: Any, origin: str) -> Setting:
    hidden = name in _MAY_HOLD_A_SECRET and value
    told = "(set)" if hidden else f"{value:g}" if isinstance(value, float) else str(value)
    changed_here = name in _CHANGED_HERE and not origin.startswith("HARDWON_")
    where = "" if origin == "default" else origin.rpartition("/")[2]
    meaning = config.MEANINGS[name]
    said = meaning if "://" in meaning.split()[0] else f"{meaning[0].upper()}{meaning[1:].rstrip('….')}."
    return Setting(name, title, told, said, where, changed_here, config.CHOICES.get(name, ()))


@action("/settings/config", "admin")
def configure(request: Asked) -> Redirect | Response[str]:
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    name, value = sent.get("name", ""), sent.get("value", "").strip()
    if name not in _CHANGED_HERE:
        raise bad("this setting is changed on the machine itself: `hardwon config NAME VALUE`")
    with pool(request).writing() as memory:
        try:
            pool(request).settings_changed(config.save(memory.home, name, value).config)
        except HardwonError as error:
            return _again(_shown(request, memory, trouble=str(error)))
        if name in ("half_life_days", "search_sessions") and memory.exists:
            memory.refresh_standing()
    return then(url("settings", saved=name))


@action("/settings/tokens", "admin")
def make(request: Asked) -> Response[str]:
    """The page with the secret on it, this once."""
    sent, caller = frame.fields(request), permissions.of(request)
    caller.need_whole_store()
    scopes = [value for name, value in sent if name == "scope"]
    for scope in SCOPES:
        if scope in scopes:
            caller.need(scope)  # nobody gives what he has not
    one = dict(sent)
    with pool(request).writing() as memory:
        store = Store(memory, caller.actor)
        try:
            days = _days(one.get("days", ""))
            projects = [one["project"]] if one.get("project") else []
            made = store.make_token(one.get("name", ""), scopes, projects=projects, days=days)
        except NotAllowed as error:
            return _again(_shown(request, memory, trouble=str(error)))
        return _again(_shown(request, memory, made=made))


def _days(text: str) -> float | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal() or not 1 <= int(text) <= _MOST_DAYS:
        raise NotAllowed(f"a token is valid for 1 to {_MOST_DAYS} days, or until it is revoked")
    return float(text)


def _again(answer: Response[str]) -> Response[str]:
    answer.status_code = 200
    return answer


@action("/settings/revoke", "admin")
def revoke(request: Asked) -> Redirect:
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    with pool(request).writing() as memory:
        memory.store.revoke_token(sent.get("id", ""))
    return then(url("settings"))


# The operations of the service for people: made of its OpenAPI schema, with no script of others.


class Field(NamedTuple):
    name: str
    type: str
    required: bool
    about: str


class Operation(NamedTuple):
    method: str
    path: str
    summary: str
    about: str
    parameters: list[Field]
    body: list[Field]
    gives: str


@page("/openapi")
def operations(request: Asked) -> Response[str]:
    with reading(request) as memory:
        return frame.shown("openapi.html", request, memory, groups=_grouped(request.app))


@lru_cache(maxsize=1)
def _grouped(app: Litestar) -> dict[str, list[Operation]]:
    schema = app.openapi_schema.to_schema()
    found: dict[str, list[Operation]] = {}
    for path, methods in schema["paths"].items():
        for method, told in methods.items():
            found.setdefault(told["tags"][0], []).append(_operation(schema, method, path, told))
    return dict(sorted(found.items()))


def _operation(schema: dict[str, Any], method: str, path: str, told: dict[str, Any]) -> Operation:
    parameters = [
        Field(one["name"], _type(one["schema"]), one["required"], one.get("description", ""))
        for one in told.get("parameters", [])
    ]
    sent = _content(told.get("requestBody", {}))
    given = _content(next((answer for status, answer in told["responses"].items() if status.startswith("2")), {}))
    about = told.get("description", "")
    return Operation(method.upper(), path, told["summary"], about, parameters, _fields(schema, sent), _type(given))


def _content(part: dict[str, Any]) -> dict[str, Any]:
    """The schema of what is sent or given."""
    kinds: list[dict[str, Any]] = [*part.get("content", {}).values()]
    return dict(kinds[0].get("schema", {})) if kinds else {}


def _fields(schema: dict[str, Any], sent: dict[str, Any]) -> list[Field]:
    named = schema["components"]["schemas"].get(_type(sent), {})
    needed = named.get("required", [])
    return [
        Field(name, _type(one), name in needed, one.get("description", ""))
        for name, one in named.get("properties", {}).items()
    ]


def _type(schema: dict[str, Any]) -> str:
    """In a word or two, such as `integer`, `Lesson`, `list of string`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if choices := schema.get("oneOf") or schema.get("anyOf"):
        return " or ".join(dict.fromkeys(filter(None, map(_type, choices))))
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    kind = schema.get("type", "")
    kinds = kind if isinstance(kind, list) else [kind]
    words = [f"list of {_type(schema['items'])}" if one == "array" and "items" in schema else str(one) for one in kinds]
    return " or ".join(filter(None, words))


router = Router(
    "/", route_handlers=[projects, change_many, change, health, settings, configure, make, revoke, operations]
)
