"""Two teams on one PostgreSQL: who has all that the second may have reads nothing of the first."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_plus

import httpx2
import psycopg
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from hardwon import Hardwon, NotAllowed, StoreError
from hardwon.api.access import ROLES
from hardwon.config import Config
from hardwon.store import meta
from hardwon.store.database import address_of, connect, need_workspace_name
from hardwon.store.postgres import NewWorkspace, drop_workspace, make_workspace
from hardwon.text.normalise import made
from tests.conftest import ClaudeSession, Run
from tests.serve.service import Service, environment, fill, served

WORDS = ("kelp", "reef", "shared_tools", "lonely")
"""What only the first team's sessions say."""
SOUGHT = "kelpctl reefctl shared_tools"


class Tenants(NamedTuple):
    server: str
    first: NewWorkspace
    second: NewWorkspace
    ids: dict[str, str]
    """Of things of the first."""
    token: str
    """Of the first."""
    service: Service
    """Of the second, with a token that may do everything there."""


@pytest.fixture(scope="module")
def tenants(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenants]:
    folder = tmp_path_factory.mktemp("tenants")
    first, second = (make_workspace(postgres_server, made(f"{name}_").lower(), role=True) for name in ("one", "two"))
    try:
        fill(folder / "first", first.address, folder / "sessions")
        with Hardwon(folder / "first") as memory:
            memory.config = Config(database=first.address)
            token = memory.store.make_token("ada", role="admin").secret
            ids = {
                "lessons": memory.lessons.list()[0].id,
                "failures": memory.failures.list()[0].id,
                "sessions": memory.sessions.list()[0].id,
                "projects": memory.store.projects()[0].id,
            }
        with served(environment(folder / "second", second.address)) as service:
            yield Tenants(postgres_server, first, second, ids, token, service)
    finally:
        for one in (first, second):
            drop_workspace(postgres_server, one.name)


def none_of_it(text: str | bytes) -> None:
    told = (text.decode("utf-8", "replace") if isinstance(text, bytes) else text).lower()
    assert [word for word in WORDS if word in told] == []


def test_over_http_nothing_of_another_workspace_is_there(tenants: Tenants) -> None:
    service = tenants.service
    assert service.call("GET", "/api/lessons", token=tenants.token).status == 401
    schema = service.get("/schema/openapi.json")
    asked = 0
    for path, methods in schema["paths"].items():
        if "get" not in methods:
            continue
        ways = [path] if "{" not in path else [path.split("{")[0] + id for id in tenants.ids.values()]
        for way in ways:
            for query in ({}, {"project": tenants.ids["projects"]}, {"q": SOUGHT, "limit": 50}):
                answer = service.call("GET", way, **query)
                assert answer.status < 500, (way, answer)
                none_of_it(answer.body.replace(SOUGHT.encode(), b"").replace(quote_plus(SOUGHT).encode(), b""))
                asked += 1
    assert asked > 100
    for noun, id in tenants.ids.items():
        assert service.call("GET", f"/api/{noun}/{id}").status == 404


class _Patient(httpx2.AsyncHTTPTransport):
    """Asks again when the service says so: what was asked before may have used up what is allowed in a second."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        while (response := await super().handle_async_request(request)).status_code == HTTPStatus.TOO_MANY_REQUESTS:
            await response.aclose()
            await asyncio.sleep(float(response.headers["retry-after"]))
        return response


def test_over_mcp_nothing_of_another_workspace_is_there(tenants: Tenants) -> None:
    async def ask() -> list[str]:
        bearer = {"Authorization": f"Bearer {tenants.service.token}"}
        async with (
            httpx2.AsyncClient(headers=bearer, transport=_Patient()) as http,
            Client(streamable_http_client(f"{tenants.service.address}/mcp", http_client=http)) as client,
        ):
            told = []
            for tool in (await client.list_tools()).tools:
                wanted = tool.input_schema.get("required", [])
                types = {name: about.get("type") for name, about in tool.input_schema["properties"].items()}
                for word in (tenants.ids["lessons"], tenants.ids["projects"], "make check"):
                    given: dict[str, Any] = {name: word if types[name] == "string" else 1 for name in wanted}
                    told.append(str(await client.call_tool(tool.name, given)))
            return told

    answers = asyncio.run(ask())
    assert len(answers) > 20
    for each in answers:
        none_of_it(each)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM {first}.lesson",
        "SELECT * FROM {first}.session",
        "SELECT * FROM {first}.token",
        "SELECT value FROM {first}.meta",
        "SELECT terms FROM {first}.search_item",
        "COPY {first}.lesson TO STDOUT",
        "INSERT INTO {first}.meta VALUES ('a', 'b')",
        "DELETE FROM {first}.lesson",
        "SELECT nextval('{first}.event_number')",
        "CREATE TABLE {first}.mine (a int)",
        "CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
        "CREATE TABLE public.lesson (a int)",
        "DROP SCHEMA {first} CASCADE",
        "SET ROLE {first_role}",
        "SET SESSION AUTHORIZATION {first_role}",
        "ALTER ROLE {first_role} PASSWORD 'x'",
        "CREATE ROLE more",
        "SELECT pg_read_file('/etc/passwd')",
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT lo_import('/etc/passwd')",
        "SELECT * FROM pg_authid",
        "SELECT * FROM pg_catalog.pg_statistic",
    ],
)
def test_a_role_has_rights_on_its_own_schema_alone(tenants: Tenants, statement: str) -> None:
    named = statement.format(first=tenants.first.name, first_role=tenants.first.role)
    with (
        psycopg.connect(tenants.second.address, autocommit=True) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(named)


def test_what_the_server_tells_everybody_holds_no_words_of_others(tenants: Tenants) -> None:
    with psycopg.connect(tenants.second.address, autocommit=True) as connection:
        seen = [
            str(connection.execute(f"SELECT * FROM {view}").fetchall())
            for view in ("pg_stats", "pg_stat_activity", "information_schema.tables", "information_schema.columns")
        ]
    for each in seen:
        none_of_it(each)
    assert tenants.first.name not in "".join(seen[:1] + seen[2:])


def test_a_search_path_that_names_another_workspace_leads_nowhere(tenants: Tenants, tmp_path: Path) -> None:
    stolen = address_of(tenants.second.address, tenants.first.name)
    with pytest.raises(StoreError, match="that you may use"), closing(connect(stolen)) as db:
        db.query("SELECT * FROM lesson")
    for name in ("x, public", "one;DROP", "pg_catalog", "public", "A", "", "x\0"):
        with pytest.raises(NotAllowed):
            need_workspace_name(name)
    missing = address_of(tenants.server, "nobody_made_this")
    for write in (False, True):
        with pytest.raises(StoreError, match="has no workspace 'nobody_made_this'"):
            connect(missing, write=write)


def test_a_workspace_is_made_listed_limited_and_dropped(
    postgres_server: str, hardwon: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HARDWON_DATABASE", postgres_server)
    name = made("w_").lower()
    assert hardwon("workspace", "make", name).returncode == 0
    assert "exists already" in hardwon("workspace", "make", name).stderr
    assert hardwon("workspace", "limit", name, "--sessions", "1", "--retain-days", "30").returncode == 0
    monkeypatch.setenv("HARDWON_WORKSPACE", name)
    with Hardwon() as memory:
        assert memory.retain_days == 30
        memory.harvest(ClaudeSession("a").user("Always use reefctl in this project.").write(tmp_path))
        with pytest.raises(NotAllowed, match="full: 1 of 1 sessions"):
            memory.harvest(ClaudeSession("b").user("Never use kelpctl in this project.").write(tmp_path))
        longer = ClaudeSession("a").user("Always use reefctl in this project.").run("make", "ok").write(tmp_path)
        assert memory.harvest(longer).sessions == 1, "one that is there may grow"
        db = memory.writing()
        with db.transaction():
            meta.set_limits(db, meta.Limits(bytes=1))
        with pytest.raises(NotAllowed, match="of 1 bytes"):
            memory.lessons.propose("It is full.")
    found = json.loads(hardwon("workspace", "list", "--json").stdout)
    assert [(one["sessions"], one["limits"]["bytes"]) for one in found if one["name"] == name] == [(1, 1)]
    assert "pass --yes" in hardwon("workspace", "drop", name).stderr
    assert hardwon("workspace", "drop", name, "--yes").returncode == 0
    assert "no workspace" in hardwon("workspace", "drop", name, "--yes").stderr
    assert "has no workspace" in hardwon("lessons").stderr


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        ("reader", "GET"),
        ("contributor", "GET write"),
        ("reviewer", "GET write review"),
        ("admin", "GET write review admin"),
    ],
)
def test_a_role_may_do_what_it_is_for(tenants: Tenants, role: str, allowed: str) -> None:
    made_ = tenants.service.hardwon("token", "make", f"{role} {made('t')}", "--role", role)
    assert tuple(made_["scopes"]) == tuple(scope for scope in ROLES["admin"] if scope in ROLES[role])
    calls = {
        "GET": ("GET", "/api/lessons", None),
        "write": ("POST", "/api/lessons", {"text": f"The tide tables of {role} are in UTC.", "project": "sand"}),
        "review": ("POST", "/api/lessons/Lnone/archive", {}),
        "admin": ("GET", "/api/events", None),
    }
    for name, (method, path, body) in calls.items():
        status = tenants.service.call(method, path, body, token=made_["token"]).status
        assert (status == 403) == (name not in allowed.split()), (role, name, status)
