"""Machines and a team's service, over real sockets: pushed, pulled, told by hooks, forgotten."""

from __future__ import annotations

import json
import os
import random
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks import push

from hardwon import BadConfig, Hardwon, HardwonError, NotAllowed, NotFound, connect, team
from hardwon.afterwards import exchange_with_team
from hardwon.client import Client
from hardwon.exchange.team import SessionRows
from tests.conftest import ClaudeSession, Run, same_marks
from tests.hook.conftest import context, example, hook
from tests.serve.service import Service

MISSING = "ModuleNotFoundError: No module named 'asyncpg'"
Machine = Callable[..., Path]


@pytest.fixture
def remote(request: pytest.FixtureRequest) -> str:
    """A project of the test's own."""
    return f"git.example.org/tide/{request.node.originalname.removeprefix('test_')[:40]}"


@pytest.fixture
def token(service: Service, remote: str) -> str:
    return service.make_token(f"ada of {remote[-30:]}", "push", "read")


@pytest.fixture
def machine(service: Service, token: str, remote: str, tmp_path: Path) -> Machine:
    def made(name: str, *says: str, allowed: bool = True, with_token: str = token) -> Path:
        """One whose checkout of the project has had a session for each thing that was said."""
        home = tmp_path / name / "hardwon"
        folder = tmp_path / name / "reef"
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://{remote}.git\n')
        paths = []
        for number, said in enumerate(says, 1):
            session = ClaudeSession(f"{name}-{number}-{remote[-30:]}", cwd=str(folder), day=number).user(said)
            session.run("pytest -q", MISSING, exit_code=1).run("uv sync --extra postgres", "ok")
            paths.append(session.run("pytest -q", "1 passed").write(tmp_path / name / "sessions"))
        home.mkdir()
        chosen = f'push_projects = "{remote}"\n' if allowed else ""
        (home / "config.toml").write_text(f'team_url = "{service.address}"\n{chosen}')
        (home / team.TOKEN_FILE).write_text(with_token)
        (home / team.TOKEN_FILE).chmod(0o600)
        with Hardwon(home) as memory:
            memory.harvest(paths, mine=True)
        return home

    return made


def pushed(home: Path) -> team.Pushed:
    with Hardwon(home) as memory, team.service(memory) as there:
        return team.push(memory, there)


def pulled(home: Path) -> team.Pulled:
    with Hardwon(home) as memory, team.service(memory) as there:
        return team.pull(memory, there)


def texts(service: Service, token: str, remote: str) -> set[str]:
    with connect(service.address, token) as there:
        return {lesson.text for lesson in there.lessons.list(project=remote, kind="preference")}


def told(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the hook of a machine hands to a session of the project."""
    monkeypatch.setenv("HARDWON_HOME", str(home))
    payload = example("claude-code", "session-start", cwd=str(home.parent / "reef"))
    done = hook("session-start", {**payload, "session_id": secrets.token_hex(8)}, "claude-code")
    return str(context(done)["additionalContext"]) if done.stdout.strip() else ""


def test_what_one_machine_learned_the_hook_of_another_tells(
    machine: Machine, service: Service, token: str, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = machine("ada", "Always use uv in this project.", "Always use uv in this project.")
    ben = machine("ben", "Never edit the generated files by hand.")
    assert pushed(ada).sessions == 2
    done = pulled(ben)
    assert done.projects == ["".join(remote.rsplit("/", 1)[1:])]
    assert done.lessons >= 1
    before = told(ben, monkeypatch)
    assert "Always use uv" in before
    assert "Never edit the generated files" in before
    assert before.count("Always use uv") == 1
    config = ben / "config.toml"
    config.write_text(config.read_text().replace(service.address, "http://127.0.0.1:9"))  # nobody is there
    assert told(ben, monkeypatch) == before


def test_a_push_that_is_cut_off_goes_on_and_one_without_news_sends_nothing(
    machine: Machine, service: Service, token: str, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = machine("ada", *(f"Always keep rule number {number} of the harbour." for number in range(5)))
    monkeypatch.setattr(team, "_SESSIONS_PER_REQUEST", 1)
    requests: list[int] = []
    with Hardwon(home) as memory, team.service(memory) as there:
        take = there.team.take

        def cut(sent: Any) -> Any:
            """The service has it, and the machine does not hear of it any more."""
            requests.append(len(sent))
            answer = take(sent)
            if len(requests) == 3:
                raise HardwonError("cut off")
            return answer

        monkeypatch.setattr(there.team, "take", cut)
        with pytest.raises(HardwonError, match="cut off"):
            team.push(memory, there)
        again = team.push(memory, there)
    assert (again.sessions, again.unchanged) == (2, 3)
    assert requests == [1] * 6
    assert pushed(home).sessions == 0
    assert pushed(home).bytes == 0
    assert len(texts(service, token, remote)) == 5


def test_nothing_leaves_before_its_person_said_yes_or_after_they_said_never(
    machine: Machine, service: Service, token: str, remote: str
) -> None:
    home = machine("ada", "Always use uv in this project.", allowed=False)
    with Hardwon(home) as memory:
        assert list(team.waiting(memory)) == []
        assert not team.is_joined(memory)
        assert team.allow(memory, remote).team_name == remote
        assert len(list(team.waiting(memory))) == 1
        assert team.is_joined(memory)
        memory.config = msgspec.structs.replace(memory.config, push_never="git.example.org/tide/*")
        assert list(team.waiting(memory)) == []
        assert [one.why_not for one in team.projects(memory)] == ["push_never names it"]
    config = (home / "config.toml").read_text()
    (home / "config.toml").write_text(f'{config}push_never = "git.example.org/*"\n')
    assert pushed(home).projects == []
    with connect(service.address, token) as there, pytest.raises(NotFound):
        there.lessons.list(project=remote)


def test_a_folder_without_a_remote_needs_a_name_for_the_team(home: Path, tmp_path: Path) -> None:
    with Hardwon(home) as memory:
        memory.harvest(ClaudeSession("s-1", cwd="/srv/work/shoal").run("make", "ok").write(tmp_path), mine=True)
        with pytest.raises(NotAllowed, match="--as"):
            team.allow(memory, "shoal")
        assert team.allow(memory, "shoal", "the-shoal").team_name == "the-shoal"
        ((waiting),) = team.waiting(memory)
        assert waiting.project == "the-shoal"
        assert "/srv" not in msgspec.json.encode(waiting).decode()


def test_what_is_forgotten_on_a_machine_is_forgotten_by_the_team_and_the_other_way_round(
    machine: Machine, service: Service, token: str, remote: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = machine(
        "ada", "Always keep the walruses out of the harbour.", "Always use uv in this project.", "Never hurry."
    )
    ben = machine("ben", "Always use uv in this project.", "Never feed the narwhals after dark.")
    pushed(ada)
    pushed(ben)
    assert {"Always keep the walruses out of the harbour."} < texts(service, token, remote)
    with Hardwon(ada) as memory:
        assert memory.store.forget(session=f"ada-1-{remote[-30:]}").left == []
        memory.store.forget(session=f"ada-2-{remote[-30:]}")
    assert pushed(ada).withdrawn == 2
    assert texts(service, token, remote) == {"Always use uv in this project.", "Never feed the narwhals after dark."}
    with connect(service.address, service.token) as owner:
        owner.store.forget(text="narwhals", dry_run=False)
    pulled(ada)
    assert "narwhal" not in told(ada, monkeypatch)
    assert pushed(ben).sessions == 0
    assert "narwhal" not in "".join(texts(service, token, remote))
    with Hardwon(ada) as memory:  # what was forgotten here does not come back with a pull
        memory.store.forget(text="Always use uv")
    pulled(ada)
    assert "Always use uv" not in told(ada, monkeypatch)


def test_a_token_pushes_where_it_may_and_nowhere_else(machine: Machine, service: Service, remote: str) -> None:
    home = machine("ada", "Always use uv in this project.")
    with Hardwon(home) as memory:
        (rows,) = team.waiting(memory)
    body = {"sent": [msgspec.to_builtins(rows)]}
    reader = service.make_token(f"reader {remote[-20:]}", "read", "write", "review")
    assert service.call("POST", "/api/team/sessions", body, token=reader).status == 403
    assert service.call("POST", "/api/team/withdraw", {"sessions": [rows.session]}, token=reader).status == 403
    assert service.call("POST", "/api/team/settle", {}, token=reader).status == 403
    kelp = service.make_token(f"kelp {remote[-20:]}", "push", "read", project="kelp")
    assert service.call("POST", "/api/team/sessions", body, token=kelp).status == 404
    assert service.call("GET", "/api/team/known", token=kelp, project="reef").status == 404
    of_kelp = {"sent": [{**body["sent"][0], "project": "kelp"}]}
    assert service.post("/api/team/sessions", of_kelp, token=kelp)[0]["became"] == "stored"
    pusher = service.make_token(f"pusher {remote[-20:]}", "push")
    for name in ("/etc", "~/x", "C:\\x", "", "a\nb", "x" * 501):
        answer = service.call(
            "POST", "/api/team/sessions", {"sent": [{**body["sent"][0], "project": name}]}, token=pusher
        )
        assert answer.status == 400, name
    assert service.call("POST", "/api/team/sessions", {"sent": [{"rows": 1}]}, token=pusher).status == 400
    assert service.post("/api/team/withdraw", {"sessions": [rows.session]}, token=pusher)["sessions"] == []
    assert service.post("/api/team/withdraw", {"sessions": [rows.session]}, token=kelp)["sessions"] == [rows.session]


def test_who_pushed_it_is_told_by_a_pseudonym(machine: Machine, service: Service, token: str, remote: str) -> None:
    home = machine("ada", "Always use uv in this project.")
    pushed(home)
    with connect(service.address, token) as there:
        (lesson,) = there.lessons.list(project=remote, kind="preference")
        (source,) = there.lessons.get(lesson.id).sources
    assert re.fullmatch("by person-[0-9a-f]{10}", source.path)


def test_by_itself_after_a_harvest_and_its_troubles_are_for_the_doctor(
    machine: Machine, service: Service, token: str, remote: str
) -> None:
    home = machine("ada", "Always use uv in this project.")
    with Hardwon(home) as memory:
        exchange_with_team(memory, home, "claude-code")
    assert texts(service, token, remote) == {"Always use uv in this project."}
    assert (home / "team.json").stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    with Hardwon(home) as memory:
        memory.config = msgspec.structs.replace(memory.config, team_url="http://127.0.0.1:9")
        exchange_with_team(memory, home, "claude-code")
        runs = memory.store.last_runs()["claude-code"]
    assert [run["error"] for run in runs if run["event"] == "push" and "cannot reach" in str(run["error"])]


def test_a_token_that_others_can_read_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    with pytest.raises(BadConfig, match="HARDWON_TEAM_TOKEN"):
        team.token(home)
    file = home / team.TOKEN_FILE
    file.write_text("hardwon_1_2\n")
    file.chmod(0o644)
    if os.name != "nt":
        with pytest.raises(BadConfig, match="chmod 600"):
            team.token(home)
    file.chmod(0o600)
    assert team.token(home) == "hardwon_1_2"
    monkeypatch.setenv(team.TOKEN_VARIABLE, "hardwon_3_4")
    assert team.token(home) == "hardwon_3_4"


def test_the_commands_show_every_row_before_and_say_what_they_did(
    machine: Machine, remote: str, hardwon: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = machine("ada", "Always use uv in this project.", allowed=False)
    name = remote.rsplit("/", 1)[1]
    monkeypatch.setenv("HARDWON_HOME", str(home))
    assert "look first" in hardwon("push", "--project", name).stderr
    assert "No project may be pushed yet" in hardwon("push").stdout
    shown = hardwon("push", "--dry-run", "--project", name, "--yes")
    assert shown.returncode == 0, shown.stderr
    assert "quote='Always use uv in this project.'" in shown.stdout
    assert "would leave this machine" in shown.stderr
    listed = msgspec.convert(json.loads(hardwon("push", "--dry-run", "--json").stdout), list[SessionRows])
    assert [one.project for one in listed] == [remote]
    assert "1 sessions of 1 projects pushed" in hardwon("push").stdout
    assert json.loads(hardwon("push", "--json").stdout)["unchanged"] == 1
    assert "lessons" in hardwon("pull").stdout
    assert json.loads(hardwon("pull", "--json").stdout)["projects"] == [name]
    monkeypatch.setenv("HARDWON_HOME", str(home.parent / "nobody"))
    assert hardwon("push").returncode == 1
    assert "team_url" in hardwon("pull").stderr


@pytest.fixture
def many(service: Service, token: str) -> Iterator[Client]:
    with connect(service.address, token) as there:
        yield there


def test_a_session_of_many_calls_goes_in_one_request(machine: Machine, many: Client, remote: str) -> None:
    home = machine("ada", "Always use uv in this project.")
    with Hardwon(home) as memory:
        (rows,) = team.waiting(memory)
    first = rows.rows["call"][0]
    calls = [
        [number, number, None, *first[3:5], f"pytest tests/test_{number}.py -q", *first[6:]] for number in range(14_000)
    ]
    large = msgspec.structs.replace(rows, rows={**rows.rows, "call": calls})
    assert len(msgspec.json.encode(large)) > 1_000_000
    assert many.team.take([large.small()])[0].became == "stored"
    assert many.sessions.list(project=remote)[0].tool_calls == 14_000


def test_machines_that_are_killed_and_push_again_make_the_store_of_one(
    shared: Path, postgres: str, tmp_path: Path
) -> None:
    """Real sessions of strangers, a real PostgreSQL; `python -m benchmarks.push` does it with all of them."""
    found = sorted((shared / "projects" / "codex").rglob("*.jsonl"), key=lambda path: (path.stat().st_size, path))
    files = [path for path in found if path.stat().st_size > 20_000][:6]
    whole = push.machine(tmp_path / "one" / "hardwon", files)
    machines = [push.machine(tmp_path / f"m{at}" / "hardwon", files[at::2]) for at in range(2)]
    names = push.team_names(whole.home)
    (tmp_path / "there").mkdir()
    with push.team_service(tmp_path / "there", postgres) as (running, token):
        for one in machines:
            push.join(one, running.address, token, names)
        assert push.push_all(machines, 2, random.Random(1)) >= 1
    with Hardwon(tmp_path / "reference") as memory:
        same_marks(memory)
        memory.team.take(list(push.sent_by(whole, names)))
        memory.team.settle()
    done = push.compared(push.content(tmp_path / "reference" / "hardwon.db", {}), push.content(postgres, {}))
    assert (done.missing, done.added, dict(done.changed)) == (0, 0, {}), done.examples
    assert done.equal > 50
