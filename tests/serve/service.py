"""A real `hardwon serve` in a process of its own, spoken to over real sockets."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from hardwon import Hardwon
from tests.conftest import AGENT_VARIABLES, ClaudeSession
from tests.forked import COMMANDS


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Service:
    def __init__(self, address: str, token: str, environment: dict[str, str]) -> None:
        self.address = address
        self.host = urlsplit(address).netloc
        self.token = token
        self.environment = environment

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        /,
        *,
        token: str | None = None,
        headers: dict[str, str] | None = None,
        **query: Any,
    ) -> Answer:
        """One request. An empty token sends none; the body is sent as JSON unless it is bytes."""
        connection = http.client.HTTPConnection(self.host, timeout=30)
        sent = {"Authorization": f"Bearer {self.token if token is None else token}"} if token != "" else {}
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        sent |= headers or {}
        address = f"{path}?{urlencode(query, doseq=True)}" if query else path
        try:
            connection.request(method, address, data, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str, /, **options: Any) -> Any:
        answer = self.call("GET", path, **options)
        assert answer.status == 200, answer
        return answer.json

    def post(self, path: str, body: object = None, /, **options: Any) -> Any:
        answer = self.call("POST", path, {} if body is None else body, **options)
        assert answer.status in (200, 201), answer
        return answer.json

    def hardwon(self, *arguments: str) -> Any:
        """What a command of the same store prints as JSON."""
        done = COMMANDS.run(*arguments, "--json", env=self.environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def hardwon_link(self) -> str:
        """The secret of a link that lets one browser in."""
        shown = COMMANDS.run("open", "--no-browser", "--json", env=self.environment)
        assert shown.returncode == 0, shown.stderr
        found = json.loads(shown.stdout)
        assert found["address"] == self.address
        return str(found["link"].rpartition("=")[2])

    def make_token(self, name: str, *scopes: str, project: str = "") -> str:
        chosen = [part for scope in scopes for part in ("--scope", scope)]
        limit = ["--project", project] if project else []
        return str(self.hardwon("token", "make", name, *chosen, *limit)["token"])


def environment(home: Path, place: Path | str) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(AGENT_VARIABLES)}
    database = {"HARDWON_DATABASE": place} if isinstance(place, str) else {}
    return {**own, **database, "HARDWON_HOME": str(home), "HOME": str(home.parent)}


@contextmanager
def served(environment: dict[str, str], *options: str) -> Iterator[Service]:
    with COMMANDS.running("serve", "--port", "0", "--json", *options, env=environment) as (out, errors):
        told = ""
        while not told.endswith("}\n"):
            line = out.readline()
            assert line, errors.read_text()
            told += line
        started = json.loads(told)
        yield Service(started["address"], started["link"].rpartition("=")[2], environment)


def fill(home: Path, place: Path | str, folder: Path) -> None:
    """Two projects: what each holds names it."""
    with Hardwon(home) as memory:
        if isinstance(place, str):
            memory.config = type(memory.config)(database=place)
        paths = []
        for day, project in enumerate(("reef", "kelp"), start=1):
            for number in (1, 2):
                session = ClaudeSession(f"{project}-{number}", cwd=f"/srv/work/{project}", day=day * 2 + number)
                session.user(f"Always use {project}ctl in this project.")
                missing = f"ModuleNotFoundError: No module named '{project}_tools'"
                session.run("pytest -q", missing, exit_code=1)
                session.run(f"uv sync --extra {project}-tools", "ok").run("pytest -q", "1 passed")
                shared = "ModuleNotFoundError: No module named 'shared_tools'"
                session.run("make check", shared, exit_code=1)
                session.run(f"uv sync --extra shared-tools --group {project}", "ok").run("make check", "ok")
                session.run("make lone", "ModuleNotFoundError: No module named 'lonely_tools'", exit_code=1)
                if project == "kelp":
                    session.run("uv sync --extra lonely-tools --group kelp", "ok").run("make lone", "ok")
                paths.append(session.write(folder / project))
        memory.harvest(paths, mine=True)
        for project in ("reef", "kelp", ""):
            note = folder / "notes" / f"{project or 'everywhere'}.md"
            note.parent.mkdir(exist_ok=True)
            note.write_text(f"# Tides\n\nThe {project or 'common'} tide tables are in UTC.\n")
            memory.documents.ingest([note], project=project)
