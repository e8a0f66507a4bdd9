"""The service's operations for people: made of its OpenAPI schema, with no script of others."""

from __future__ import annotations

from typing import Any, NamedTuple

from litestar import Response, Router

from hardwon.serve.pages import frame
from hardwon.serve.pages.frame import page
from hardwon.serve.routes import Asked, reading


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
        return frame.shown("openapi.html", request, memory, groups=grouped(request.app.openapi_schema.to_schema()))


def grouped(schema: dict[str, Any]) -> dict[str, list[Operation]]:
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


router = Router("/", route_handlers=[operations])
