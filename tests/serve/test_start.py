"""Starting the service, the tokens it asks for, and several of it on one store."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.serve.middleware import RateLimit, ServiceSettings, public_address
from tests.conftest import Run
from tests.serve.service import environment, fill, served


def test_the_link_is_shown_the_first_time_only_and_the_store_keeps_no_secret(tmp_path: Path) -> None:
    env = environment(tmp_path / "hardwon", Path())
    with served(env) as first:
        token = first.token
        assert token.startswith("hardwon_")
    with served(env) as again:
        assert again.token == ""
        assert again.call("GET", "/api/me", token=token).status == 200
    secret = token.split("_", 2)[2][-20:].encode()
    assert not any(secret in path.read_bytes() for path in (tmp_path / "hardwon").rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--host", "0.0.0.0"], "hardwon token make"),
        (["--public", "memory.example.org"], "write it as https://memory.example.org"),
        (["--public", "https://memory.example.org/path"], "is not a valid address"),
        (["--host", "203.0.113.7"], "cannot listen"),
    ],
)
def test_what_cannot_be_started_is_said_in_a_line(hardwon: Run, options: list[str], says: str) -> None:
    done = hardwon("serve", "--port", "0", *options)
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_elsewhere_than_on_loopback_it_asks_for_tokens_and_for_its_public_name(hardwon: Run, home: Path) -> None:
    made = json.loads(hardwon("token", "make", "team", "--scope", "read", "--json").stdout)["token"]
    unnamed = hardwon("serve", "--host", "0.0.0.0", "--port", "0")
    assert "--public https://" in unnamed.stderr
    public = "https://memory.example.org"
    with served(environment(home, Path()), "--host", "0.0.0.0", "--public", public) as service:
        service.host = service.host.replace("0.0.0.0", "127.0.0.1")
        proxied = {"Host": "memory.example.org"}
        assert service.call("GET", "/api/me", token=made, headers=proxied).status == 200
        assert service.call("GET", "/api/me", token=made).status == 421
        answer = service.call("GET", f"/login?token={made}", token="", headers=proxied)
        assert "Secure" in answer.headers["set-cookie"]


def test_a_port_that_is_taken_is_said(hardwon: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = hardwon("serve", "--port", taken.getsockname()[1])
    assert done.returncode == 1
    assert "name another with --port" in done.stderr


@pytest.mark.parametrize(("command", "missing"), [("serve", "litestar"), ("mcp", "mcp")])
def test_without_its_extra_a_command_says_what_to_install(command: str, missing: str) -> None:
    program = f"import sys; sys.modules['{missing}'] = None; from hardwon.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, command], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 1
    assert f"hardwon extras add {command}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_tokens_are_made_listed_and_revoked(hardwon: Run, tmp_path: Path) -> None:
    secret = hardwon("token", "make", "laptop", "--scope", "read", "--scope", "write").stdout.strip()
    listed = hardwon("token", "list")
    assert "laptop" in listed.stdout
    assert "read,write" in listed.stdout
    assert secret.split("_", 2)[2] not in listed.stdout
    assert hardwon("token", "revoke", "laptop").returncode == 0
    (entry,) = json.loads(hardwon("token", "list", "--json").stdout)
    assert entry["revoked_at"].endswith("Z")
    assert hardwon("token", "revoke", "laptop").returncode == 1
    assert "known: read, write, review, admin" in hardwon("token", "make", "x", "--scope", "root").stderr
    assert "no project" in hardwon("token", "make", "x", "--project", "nowhere").stderr


def test_a_token_of_a_project_cannot_be_admin(tmp_path: Path, hardwon: Run, home: Path) -> None:
    fill(home, home / "hardwon.db", tmp_path / "sessions")
    done = hardwon("token", "make", "x", "--scope", "admin", "--project", "reef")
    assert done.returncode == 1
    assert "admin" in done.stderr


def test_a_dump_brings_no_token_along(tmp_path: Path, home: Path) -> None:
    with Hardwon() as memory:
        memory.store.make_token("stranger", ["read", "admin"])
        with (tmp_path / "dump.jsonl").open("wb") as file:
            memory.store.dump(file)
        (tmp_path / "forged.jsonl").write_bytes(
            (tmp_path / "dump.jsonl").read_bytes()
            + b'{"table":"token","row":{"id":"x","name":"x","hash":"x","scopes":"admin","projects":"",'
            b'"created_at":1,"expires_at":null,"revoked_at":null}}\n'
        )
    with Hardwon(tmp_path / "other") as other:
        other.store.load(tmp_path / "dump.jsonl")
        assert other.store.tokens() == []
        with pytest.raises(Exception, match="unknown table 'token'"):
            other.store.load(tmp_path / "forged.jsonl")


def test_several_services_on_one_postgresql_are_one(postgres: str, tmp_path: Path) -> None:
    fill(tmp_path / "one", postgres, tmp_path / "sessions")
    with ExitStack() as stack:
        one, two = (stack.enter_context(served(environment(tmp_path / name, postgres))) for name in ("one", "two"))
        assert two.token == ""
        two.token = one.token

        def write(number: int) -> int:
            body = {"task": f"Try {number}", "project": "reef", "run": "both"}
            key = {"Idempotency-Key": f"k-{number // 2}-{number % 2}"}
            return int((one, two)[number % 2].post("/api/attempts", body, headers=key)["id"])

        with ThreadPoolExecutor(8) as threads:
            numbers = list(threads.map(write, range(24)))
        assert len(set(numbers)) == 24
        listed = two.get("/api/attempts", run="both", limit=200)["items"]
        assert {row["id"] for row in listed} == set(numbers)
        shared = {"Idempotency-Key": "same"}
        body = {"text": "One store.", "project": "reef"}
        first = one.post("/api/lessons", body, headers=shared)
        assert two.post("/api/lessons", body, headers=shared) == first
        one.hardwon("token", "revoke", "first")
        assert two.call("GET", "/api/me").status == 401


def test_reads_and_writes_at_once_lose_nothing(tmp_path: Path) -> None:
    home = tmp_path / "hardwon"
    fill(home, home / "hardwon.db", tmp_path / "sessions")
    unhurried = {"HARDWON_SERVE_RATE": "10000", "HARDWON_SERVE_BURST": "10000"}
    with served({**environment(home, Path()), **unhurried}) as service:

        def work(number: int) -> int:
            if number % 2:
                return service.call("GET", "/api/lessons", project="reef").status
            return service.call("POST", "/api/attempts", {"task": f"Try {number}", "run": "w"}).status

        with ThreadPoolExecutor(16) as threads:
            statuses = list(threads.map(work, range(120)))
        assert set(statuses) == {200, 201}
        assert len(service.get("/api/attempts", run="w", limit=200)["items"]) == 60


def test_who_asks_too_often_waits_as_long_as_is_said() -> None:
    now = [0.0]
    rate = RateLimit(2, 3, clock=lambda: now[0])
    assert [rate.seconds_to_wait("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert rate.seconds_to_wait("b") == 0
    now[0] += 0.5
    assert [rate.seconds_to_wait("a") for _ in range(2)] == [0, 0.5]


def test_the_service_is_called_by_its_own_names_alone() -> None:
    local = ServiceSettings(port=8765)
    assert local.hosts() == {"127.0.0.1:8765", "localhost:8765", "[::1]:8765"}
    named = ServiceSettings(host="0.0.0.0", public=(public_address("https://Memory.example.org/"),))
    assert named.hosts() == {"memory.example.org"}
