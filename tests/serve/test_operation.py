"""What an operator needs: alive, ready, counted, traced; and no state in a process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.conftest import EXAMPLES, REPOSITORY
from tests.serve.service import Service, environment, served

DEPLOY = REPOSITORY / "examples" / "deploy"


@pytest.fixture(scope="module")
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A real HTTP server that takes spans as a collector does."""
    taken: list[bytes] = []

    class Take(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Take)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", taken
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def pair(
    workspace: str, tmp_path_factory: pytest.TempPathFactory, collector: tuple[str, list[bytes]]
) -> Iterator[tuple[Service, Service, Path]]:
    """Two services of one workspace, as a proxy has them behind it."""
    folder = tmp_path_factory.mktemp("operation")
    watched = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector[0], "OTEL_BSP_SCHEDULE_DELAY": "100"}
    log = folder / "asked.jsonl"
    with (
        served({**environment(folder / "a", workspace), **watched}, "--log", str(log)) as first,
        served(environment(folder / "b", workspace)) as second,
    ):
        second.token = first.token
        yield first, second, log


def test_no_state_is_in_a_process(pair: tuple[Service, Service, Path]) -> None:
    first, second, _ = pair
    token = first.make_token("ada", "read", "write")
    body = {"text": "The tide tables are in UTC.", "project": "reef"}
    sent = [one.post("/api/lessons", body, token=token, headers={"Idempotency-Key": "k1"}) for one in (first, second)]
    assert sent[0]["lesson"]["id"] == sent[1]["lesson"]["id"], "sent again to another process, it is not done again"
    shown = second.get(f"/api/lessons/{sent[0]['lesson']['id']}", token=token)
    assert shown["lesson"]["text"] == body["text"]
    first.hardwon("token", "revoke", "ada")
    assert [one.call("GET", "/api/lessons", token=token).status for one in (first, second)] == [401, 401]


def test_it_is_alive_ready_and_counted(pair: tuple[Service, Service, Path]) -> None:
    first, _, log = pair
    assert first.get("/live", token="") == first.get("/health", token="") == {"status": "ok"}
    first.get("/api/search", q="a secret question")
    assert first.call("GET", "/metrics", token="").status == 401
    answer = first.call("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    told = answer.body.decode()
    assert 'hardwon_requests_total{method="GET",noun="search",status="200"}' in told
    assert 'hardwon_store_rows{noun="lesson"}' in told
    for path in ("/nobody/knows", "/api/nobody-knows"):
        first.call("GET", path)
    assert "nobody" not in first.call("GET", "/metrics").body.decode(), "no path of others becomes a label"
    limited = first.make_token("only reef", "read", project="reef")
    assert first.call("GET", "/metrics", token=limited).status == 403
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"method": "GET", "path": "/api/search", "status": 200, "name": "first"}.items() <= next(
        line for line in lines if line["path"] == "/api/search"
    ).items()
    assert "secret question" not in log.read_text()
    assert oct(os.stat(log).st_mode & 0o777) == "0o600"


def test_spans_arrive_without_the_words_of_a_question(
    pair: tuple[Service, Service, Path], collector: tuple[str, list[bytes]]
) -> None:
    first, taken = pair[0], collector[1]
    first.get("/api/search", q="telltale")
    for _ in range(200):
        if any(b"/api/search" in one for one in taken):
            break
        threading.Event().wait(0.05)
    assert any(b"hardwon" in one and b"/api/search" in one for one in taken)
    assert not any(b"telltale" in one for one in taken)


def test_the_compose_file_and_the_units_start_commands_that_exist() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    assert set(compose["services"]) == {"database", "service", "worker"}
    units = [(DEPLOY / f"hardwon-{name}.service").read_text() for name in ("serve", "worker")]
    started = [compose["services"][name]["command"] for name in ("service", "worker")]
    started += [
        line.partition("hardwon ")[2].split() for unit in units for line in unit.splitlines() if "ExecStart=" in line
    ]
    for words in started:
        known = subprocess.run(
            [sys.executable, "-m", "hardwon", words[0], "--help"], capture_output=True, text=True, check=True
        ).stdout
        assert [word for word in words if word.startswith("--") and word.split("=")[0] not in known] == []


def test_the_action_briefs_an_agent_and_keeps_its_transcript(tmp_path: Path) -> None:
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text())
    steps = {step.get("id"): step for step in action["runs"]["steps"]}
    output = tmp_path / "output"
    output.touch()
    own = {
        **environment(tmp_path / "hardwon", Path()), "GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "TRANSCRIPTS": str(EXAMPLES),
        "PROJECT": "tidepool", "TASK": "fix the tests; $(touch pwned)",
    }  # fmt: skip
    for step in ("collect", "brief"):
        command = ["bash", "-eo", "pipefail", "-c", steps[step]["run"]]
        done = subprocess.run(command, env=own, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    told = dict(line.split("=", 1) for line in output.read_text().splitlines())
    assert Path(told["briefing"]).read_text()
    assert len(list(Path(told["transcripts"]).rglob("*.jsonl"))) > 0
    assert not (tmp_path / "pwned").exists()
    assert "${{" not in steps["brief"]["run"] + steps["collect"]["run"], "what others write comes by the environment"


def test_the_action_asks_the_service_of_a_team(pair: tuple[Service, Service, Path], tmp_path: Path) -> None:
    first = pair[0]
    made = first.post("/api/lessons", {"text": "The reef's gauges are read in UTC.", "project": "reef"})["lesson"]
    first.post(f"/api/lessons/{made['id']}/promote", {"why": "read"})
    steps = yaml.safe_load((REPOSITORY / "action.yml").read_text())["runs"]["steps"]
    (brief,) = (step["run"] for step in steps if step.get("id") == "brief")
    asked = {"project": "reef", "task": "read the gauges & say 'done'"}
    for token in (first.token, "hardwon_of_nobody"):
        own = {
            **environment(tmp_path / "hardwon", Path()), "GITHUB_OUTPUT": str(tmp_path / "output"),
            "RUNNER_TEMP": str(tmp_path), "SERVICE": first.address, "TOKEN": token, "PROJECT": asked["project"],
            "TASK": asked["task"], "TRANSCRIPTS": "",
        }  # fmt: skip
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", brief], env=own, capture_output=True, check=False)
        assert (done.returncode == 0) == (token == first.token), done.stderr
        if token == first.token:
            told = (tmp_path / "hardwon-briefing.md").read_text()
            assert told.strip() == first.get("/api/bootstrap", **asked)["text"].strip()
            assert "UTC" in told


def test_entire_finds_the_command(tmp_path: Path) -> None:
    entire = shutil.which("entire-hardwon", path=str(Path(sys.executable).parent))
    assert entire
    own = environment(tmp_path / "h", Path())
    done = subprocess.run([entire], cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "repository" in done.stderr
    told = subprocess.run([entire, "harvest", "--help"], capture_output=True, text=True, check=True).stdout
    assert "Learn from session" in told
