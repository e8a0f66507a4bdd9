"""The SDK's own client on a fresh store: it lists and calls every tool, over stdio and over HTTP."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.conftest import Run
from tests.serve.service import environment, served
from tests.serve.test_mcp import Connect, ask, call, over_http

ERROR = "=== FAILURES ===\nE   ModuleNotFoundError: No module named 'asyncpg'\n=== 1 failed in 0.1s ===\n"
WHOLE = {
    "task": "Make the client retry", "outcome": "failure", "approach": "a loop around send()", "files": ["src/a.py"],
    "files_read": ["README.md"], "diff": "+retry()", "test_results": ERROR, "exit_code": 1,
    "analysis": "It retried POST, too.", "reflection": "Retry only what is safe to repeat.", "retry_count": 2,
    "run": "r1", "phase": "VERIFY", "agent": "loop", "session": "s-1", "git_commit": "abc1234", "tokens": 900,
    "duration": 1.5, "at": "2026-10-01T10:00:00Z",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that nothing is known of."""
    made = tmp_path / "reef-checkout"
    (made / ".git").mkdir(parents=True)
    (made / ".git" / "config").write_text('[remote "origin"]\n\turl = https://git.example/own/reef-checkout\n')
    return made


@pytest.fixture
def stdio(home: Path, folder: Path) -> Connect:
    @asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        own = StdioServerParameters(
            command=sys.executable, args=["-m", "hardwon", "mcp"], env=environment(home, Path()), cwd=str(folder)
        )
        async with Client(stdio_client(own)) as client:
            yield client

    return connect


@pytest.fixture
def http(home: Path) -> Iterator[Connect]:
    with served(environment(home, Path())) as running:
        yield over_http(running, running.token)


def calls(**more: Any) -> list[tuple[str, dict[str, Any]]]:
    """Every tool, each with what it needs, the writing ones first."""
    return [
        ("log_attempt", {**WHOLE, **more}),
        ("reflect_on_attempt", {"attempt": 1, "reflection": "Retry GET and PUT, never POST."}),
        ("remember", {"text": "The gauges speak Modbus.", **more}),
        ("feedback", {"id": "ID", "helped": True}),
        ("recall", {"query": "retry gauges", **more}),
        ("bootstrap", {"task": "Make the client retry", **more}),
        ("orient", {"task": "Make the client retry", **more}),
        ("known_failure", {"output": ERROR, **more}),
        ("similar_attempts", {"task": "Make the client retry", **more}),
        ("verify_done", {"run": "r1", **more}),
    ]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_client_lists_and_calls_every_tool_on_a_fresh_store(
    request: pytest.FixtureRequest, transport: str, hardwon: Run
) -> None:
    connect: Connect = request.getfixturevalue(transport)
    wanted = calls(**({"project": "reef"} if transport == "http" else {}))
    told: dict[str, str] = {}

    def called(name: str, arguments: dict[str, Any]) -> Callable[[Client], Coroutine[Any, Any, bool]]:
        async def step(client: Client) -> bool:
            if name == "feedback":
                arguments["id"] = told["remember"].split()[3].rstrip(".")
            ok, told[name] = await call(name, **arguments)(client)
            return ok

        return step

    listed, *done = ask(connect, lambda client: client.list_tools(), *(called(*each) for each in wanted))
    assert {tool.name for tool in listed.tools} == {name for name, _ in wanted}
    assert all(tool.description for tool in listed.tools)
    assert all(done), told
    assert "unconfirmed: [L" in told["recall"]
    assert "asyncpg" in told["known_failure"]
    assert 'Learned: "Retry GET and PUT, never POST.".' in told["similar_attempts"]
    assert "CONTRADICTED" in told["verify_done"]
    entry = json.loads(hardwon("journal", "show", "1", "--json").stdout)
    for name, value in {**WHOLE, "reflection": "Retry GET and PUT, never POST."}.items():
        assert entry[name] == value
    lessons = json.loads(hardwon("lessons", "--json").stdout)
    assert {one["scope"] for one in lessons} == {"project"}


def test_an_argument_that_a_tool_does_not_take_is_refused(stdio: Connect, hardwon: Run) -> None:
    unknown, wrong = ask(
        stdio,
        call("log_attempt", task="x", lesson="this would be lost"),
        call("log_attempt", task="x", outcome="great"),
    )
    assert (unknown[0], wrong[0]) == (False, False)
    assert "log_attempt takes no lesson; it takes task, outcome," in unknown[1]
    assert "\n" not in unknown[1] + wrong[1]
    assert "Nothing failed" in hardwon("journal", "failures").stdout


def test_in_a_folder_not_yet_known_nothing_is_global(stdio: Connect, hardwon: Run) -> None:
    *told, kept = ask(
        stdio, call("bootstrap"), call("recall", query="gauges"), call("orient", task="x"),
        call("remember", text="The gauges speak Modbus."),
    )  # fmt: skip
    assert told == [(True, "Nothing is known about this folder's project yet.")] * 3
    assert kept[0]
    (lesson,) = json.loads(hardwon("lessons", "--json").stdout)
    (project,) = json.loads(hardwon("projects", "--json").stdout)
    assert (lesson["scope"], lesson["project"], project["name"]) == ("project", project["id"], "reef-checkout")


def test_over_http_nothing_is_kept_without_a_project(http: Connect) -> None:
    found = ask(http, call("remember", text="The gauges speak Modbus."), call("log_attempt", task="x"))
    assert [ok for ok, _ in found] == [False, False]
    assert all("missing project" in text for _, text in found)


def test_what_the_prompt_asks_for_can_be_stored(stdio: Connect, hardwon: Run) -> None:
    _, prompt, _ = ask(
        stdio,
        call("log_attempt", task="Make the client retry", outcome="failure"),
        lambda client: client.get_prompt("reflect", {"attempt": "1"}),
        call("reflect_on_attempt", attempt=1, reflection="Retry only what is safe to repeat."),
    )
    assert "reflect_on_attempt" in prompt.messages[0].content.text
    assert "Retry only what is safe to repeat." in hardwon("journal", "show", "1").stdout
    assert "Retry only what is safe to repeat." in hardwon("review", "--list").stdout


def test_recall_tells_what_fixed_a_failure_and_feedback_takes_every_id(stdio: Connect, hardwon: Run) -> None:
    failed = {"task": "Read the gauges", "outcome": "failure", "test_results": ERROR, "approach": "as before"}
    worked = {"task": "Read the gauges", "outcome": "success", "approach": "bind the driver to the pool"}
    *_, (_, told) = ask(
        stdio,
        call("log_attempt", **failed, run="r1"),
        call("log_attempt", **worked, run="r1", retry_of=1),
        call("log_attempt", **failed, run="r2"),
        call("log_attempt", **worked, run="r2", retry_of=3),
        call("recall", query="asyncpg gauges", limit=20),
    )
    ids = [line.partition("[")[2].partition("]")[0] for line in told.splitlines() if "[" in line]
    assert {id[0] for id in ids} >= {"F", "A"}
    assert "; worked: bind the driver to the pool" in told
    noted = ask(stdio, *(call("feedback", id=id, helped=True) for id in ids))
    assert all(ok for ok, _ in noted), noted


def test_an_unknown_resource_is_one_clear_line(stdio: Connect) -> None:
    def refused(address: str) -> Callable[[Client], Coroutine[Any, Any, str]]:
        async def step(client: Client) -> str:
            try:
                return f"found: {await client.read_resource(address)}"
            except MCPError as error:
                return str(error)

        return step

    lesson, project, other = ask(
        stdio, *map(refused, ("hardwon://lessons/Lnone/sources", "hardwon://bootstrap/nowhere", "hardwon://nothing"))
    )
    assert lesson == "nothing found with id Lnone: use the id at the start of a line"
    assert project == "no such project"
    assert other.count("\n") == 0
    assert "hardwon://nothing" in other
