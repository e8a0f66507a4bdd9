"""Projects, proof, health and the HTTP API: what belongs together, what is measured, whether all is well."""

from __future__ import annotations

import threading
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from litestar import Litestar, Response, Router
from litestar.params import Parameter
from litestar.response import Redirect
from msgspec import Struct, field

from hardwon.api import Hardwon
from hardwon.api.store import Store
from hardwon.clock import moment, now
from hardwon.errors import HardwonError
from hardwon.measure.dashboard import bounds, figure
from hardwon.measure.report import Report
from hardwon.serve import browse, permissions
from hardwon.serve.pages import charts, frame, harvesting
from hardwon.serve.pages.frame import action, page, then, url
from hardwon.serve.pages.overview import VERDICTS
from hardwon.serve.routes import Asked, ProjectName, bad, pool, reading
from hardwon.store.database import Check


class Work(Struct):
    """A replay that runs, or ran last. It is left alone by whoever closes the page."""

    project: str = ""
    running: bool = False
    done: int = 0
    of: int = 0
    report: Report | None = None
    trouble: str = ""


_WORK = Work()
_STARTING = threading.Lock()


@page("/projects")
def projects(request: Asked) -> Response[str]:
    with reading(request) as memory:
        caller = permissions.of(request)
        known = frame.offered(memory, caller)
        parts = {one.id: memory.store.project_parts(one.id) for one in known[:100]} if "admin" in caller.scopes else {}
        return frame.shown("projects.html", request, memory, parts_of=parts)


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


@page("/proof")
def proof(request: Asked, project: ProjectName = None) -> Response[str]:
    with reading(request) as memory:
        if not memory.exists or browse.holds_nothing(memory):
            return frame.shown("welcome.html", request, memory, work=harvesting.of_home(memory.home))
        holder = frame.holder(request, memory, project)
        measured = browse.counted(memory, ("metrics", holder), lambda: memory.measure(project=holder))
        counted = [one for one in measured.metrics if one.value is not None]
        groups = [
            (name, [(one, figure(one), bounds(one)) for one in some])
            for name, some in groupby(counted, key=lambda one: one.group)
        ]
        return frame.shown(
            "proof.html",
            request,
            memory,
            project=holder,
            measured=measured,
            groups=groups,
            missing=[one.title for one in measured.metrics if one.value is None],
            experiment=browse.experiment(memory, project=holder),
            behind=_behind(holder, measured.since, measured.until),
            verdicts=VERDICTS,
            work=_WORK if not permissions.of(request).limited else Work(),
            curve=_curve(_WORK.report),
        )


def _behind(project: str | None, since: datetime, until: datetime) -> dict[str, str]:
    """Measure → the page that lists what it counts."""
    days = {"since": since.date(), "until": until.date()}
    listed = {
        url("lessons", project=project): ("lessons_a_day", "lessons_a_million_tokens", "unresolved"),
        url("lessons", project=project, status="active"): (
            "knowledge_age",
            "old_knowledge",
            "brier",
            "calibration_gap",
        ),
        url("failures", "met", project=project, which="before", **days): ("recurrence",),
        url("failures", project=project, fix="known"): ("coverage",),
        url("sessions", project=project): ("failed_calls", "first_try", "redactions"),
        url("journal", project=project, outcome="success"): ("completion",),
        url("journal", project=project, outcome="unknown"): ("unjudged",),
        url("review", project=project): ("queue",),
    }
    return {name: address for address, names in listed.items() for name in names}


def _curve(report: Report | None) -> charts.Chart | None:
    if report is None or not report.periods:
        return None
    found = []
    for each in report.periods:
        rest = each.foreseeable - each.foreseen
        parts = (("fixed", each.foreseen), ("again", rest), ("new", each.errors - each.foreseeable))
        about = f"until {each.day}: {each.errors} errors, {each.foreseeable} met before, {each.foreseen} foreseen"
        found.append(charts.Column(each.day[5:], parts, about))
    return charts.columns(found)


@action("/proof/replay", "read")
def replay(request: Asked) -> Redirect:
    """Begins one, unless one runs."""
    sent, caller = frame.form(request), permissions.of(request)
    caller.need_whole_store()
    project, home = sent.get("project", ""), pool(request).home
    with reading(request) as memory:
        holder = browse.project_named(memory, project) if project else ""
    with _STARTING:
        if not _WORK.running:
            _WORK.project, _WORK.running, _WORK.done, _WORK.of, _WORK.trouble = holder, True, 0, 0, ""
            threading.Thread(target=_replay, args=(home, holder), daemon=True).start()
    return then(url("proof", project=project))


def _replay(home: Any, project: str) -> None:
    def told(_: str, done: int, of: int) -> None:
        _WORK.done, _WORK.of = done, of

    try:
        with Hardwon(home) as memory:
            _WORK.report = memory.replay(project=project or None, progress=told)
    except HardwonError as error:
        _WORK.trouble = str(error)
    finally:
        _WORK.running = False


class Looking(Struct):
    """A look at the whole store, which runs or ran last."""

    running: bool = False
    checks: list[Check] = field(default_factory=list)
    at: int = 0
    trouble: str = ""


_LOOKING: dict[Path, Looking] = {}
_FRESH = 10 * 1_000_000
_PATIENCE = 0.05
"""Seconds: a small store is looked at before the page is shown."""


@page("/doctor", "admin")
def health(request: Asked) -> Response[str]:
    """Every row is looked at, which may take minutes: nobody waits for it."""
    permissions.of(request).need_whole_store()
    home = pool(request).home
    with _STARTING:
        look = _LOOKING.setdefault(home, Looking())
        if not look.running and now() - look.at > _FRESH:
            look.running = True
            begun = threading.Thread(target=_look, args=(home, look), daemon=True)
            begun.start()
            begun.join(_PATIENCE)
    with reading(request) as memory:
        return frame.shown("doctor.html", request, memory, look=look, at=moment(look.at))


def _look(home: Path, look: Looking) -> None:
    try:
        with Hardwon(home) as memory:
            look.checks, look.trouble = memory.store.check(), ""
    except HardwonError as error:
        look.trouble = str(error)
    finally:
        look.at, look.running = now(), False


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


router = Router("/", route_handlers=[projects, change, proof, replay, health, operations])
