"""Agents that answer without a screen, and servers: each is asked as it wants to be, and nothing of it is learned.

Programs of our own stand in for the agents: real processes that check how they are called.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon, HardwonError
from hardwon.harvest.distil.model import Command, Passing
from tests.conftest import ClaudeSession, Run
from tests.harvest.chat import RULE, TYPED, Server, said

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are started by their first line")

STAND_IN = """#!{python}
import json, os, sys
from pathlib import Path
asked = sys.stdin.read()
log = Path({log!r})
called = dict(args=sys.argv[1:], cwd=os.getcwd(), off=os.environ.get("HARDWON_OFF"), asked=asked)
names = ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "OPENCODE_CONFIG_CONTENT")
called["settings"] = {{name: os.environ.get(name, "") for name in names}}
log.write_text(log.read_text() + json.dumps(called) + "\\n" if log.exists() else json.dumps(called) + "\\n")
said = json.dumps({{"items": [{rule!r}]}})
name = os.path.basename(sys.argv[0])
if name == "claude":
    usage = {{"input_tokens": 7, "output_tokens": 5}}
    text = "```json\\n" + said + "\\n```"
    print(json.dumps({{"type": "result", "result": text, "usage": usage, "total_cost_usd": 0.25}}))
elif name == "gemini":
    print(json.dumps({{"response": said, "stats": {{}}}}))
else:
    print("thinking {{ about }} it")
    print(said)
"""


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Callable[[], list[dict[str, Any]]]]:
    def install(name: str) -> Callable[[], list[dict[str, Any]]]:
        log = tmp_path / "calls.jsonl"
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        text = STAND_IN.format(python=sys.executable, log=str(log), rule=RULE)
        program.write_text(text)
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
        return lambda: [json.loads(line) for line in log.read_text().splitlines()]

    return install


@pytest.fixture
def typed(tmp_path: Path) -> Path:
    return ClaudeSession().user("ship it").says("I push it to main now.").user(TYPED).write(tmp_path)


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode"])
def test_an_agent_is_asked_without_tools_and_over_stdin(
    name: str, hardwon: Run, home: Path, typed: Path, stand_in: Callable[[str], Any]
) -> None:
    calls = stand_in(name)
    hardwon("harvest", typed)
    done = json.loads(hardwon("distil", "--with", name, "--yes", "--json").stdout)
    assert (done["sessions"], done["active"]) == (1, 1)
    (first,) = calls()
    assert first["off"] == "1"  # our own hooks stay silent
    assert Path(first["cwd"]) == (home / "distil").resolve()
    assert TYPED in first["asked"]
    assert not any(TYPED in argument for argument in first["args"])
    arguments = " ".join(first["args"])
    if name == "claude":
        assert first["args"][first["args"].index("--tools") + 1] == ""
        assert "--no-session-persistence" in arguments
        assert (done["tokens"], done["cost"]) == (12, 0.25)
    elif name == "codex":
        assert "--sandbox read-only" in arguments
        assert "--ephemeral" in arguments
        assert first["args"][-1] == "-"
    elif name == "gemini":
        settings = json.loads(Path(first["settings"]["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).read_text())
        assert settings["tools"]["core"] == ["none-of-them"]
    else:
        assert json.loads(first["settings"]["OPENCODE_CONFIG_CONTENT"])["permission"] == {"*": "deny"}


def test_the_first_agent_that_is_there_is_asked(hardwon: Run, typed: Path, stand_in: Callable[[str], Any]) -> None:
    calls = stand_in("codex")
    hardwon("harvest", typed)
    told = hardwon("distil").stderr
    assert "This asks codex." in told
    assert "leaves this machine" in told
    hardwon("distil", "--yes", "--model", "small")
    assert calls()[0]["args"][-3:] == ["-m", "small", "-"]


def test_an_agent_that_is_not_there_is_named(hardwon: Run, typed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hardwon("harvest", typed)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert "gemini is not on the PATH" in hardwon("distil", "--with", "gemini", "--yes").stderr
    assert "unknown model 'gemni'" in hardwon("distil", "--with", "gemni", "--yes").stderr


def test_what_an_agent_says_when_it_fails_is_told(hardwon: Run, typed: Path, stand_in: Callable[[str], Any]) -> None:
    stand_in("claude")
    program = Path(os.environ["PATH"].split(os.pathsep)[0]) / "claude"
    program.write_text("#!/bin/sh\necho 'error: unknown option --tools' >&2\nexit 1\n")
    hardwon("harvest", typed)
    with Hardwon() as memory:
        done = memory.sessions.distil(using="claude", pause=lambda _: None)
    assert "unknown option --tools" in done.trouble
    assert done.left == 1


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_what_an_agent_keeps_of_our_questions_is_not_harvested(
    name: str, home: Path, typed: Path, tmp_path: Path, stand_in: Callable[[str], Any]
) -> None:
    calls = stand_in(name)
    with Hardwon(home) as memory:
        memory.harvest([typed])
        memory.sessions.distil(using=name)
        before = {**memory.store.totals(), "files": 0}
        for at, call in enumerate(calls()):
            session = ClaudeSession(f"ours-{at}", cwd=call["cwd"], day=9).user(call["asked"])
            memory.harvest([session.says(f"## Decisions\n- {RULE['claim']}").write(tmp_path)])
        assert {**memory.store.totals(), "files": 0} == before


def test_a_session_that_ends_is_distilled_where_that_is_switched_on(
    hardwon: Run, home: Path, tmp_path: Path, stand_in: Callable[[str], Any]
) -> None:
    from hardwon import afterwards
    from hardwon.hook.session_end import PENDING

    calls = stand_in("claude")
    long = ClaudeSession().user("ship it").says("I push it to main now.").user(TYPED)
    for part in range(12):
        long = long.says("words " * 4_000).user(f"and now part {part}: " + "do this and that and more " * 40)
    path = long.write(tmp_path)

    def end() -> None:
        (home / PENDING).mkdir(parents=True, exist_ok=True)
        (home / PENDING / "1.json").write_text(json.dumps({"agent": "claude-code", "transcript": str(path)}))
        afterwards.main(home)

    end()
    assert not (tmp_path / "calls.jsonl").exists()  # it is off until somebody switches it on
    hardwon("config", "distil", "claude")
    end()
    assert len(calls()) == 1
    with Hardwon(home) as memory:
        assert any(lesson.rule == "distilled" and lesson.status == "active" for lesson in memory.lessons.list())


def test_ollama_is_asked_with_room_for_the_question(
    home: Path, typed: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(body: dict[str, Any]) -> tuple[int, Any]:
        assert body["format"]["required"] == ["items"]
        return 200, {"message": {"content": json.dumps({"items": [RULE]})}, "done_reason": "stop", "eval_count": 3}

    server = serve(reply)
    monkeypatch.setenv("OLLAMA_HOST", server.url.removesuffix("/v1"))
    with Hardwon(home) as memory:
        memory.harvest([typed])
        done = memory.sessions.distil(using="ollama")
    assert (done.sessions, done.active) == (1, 1)
    assert server.asked[0]["path"] == "/api/chat"
    assert server.asked[0]["options"]["num_ctx"] >= 16_000


def test_ollama_that_is_not_there_is_named(home: Path, typed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    with Hardwon(home) as memory:
        memory.harvest([typed])
        with pytest.raises(HardwonError, match="Ollama does not answer"):
            memory.sessions.distil(using="ollama")


def test_llama_cpp_speaks_as_openai(
    home: Path, typed: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(said({"items": [RULE]}))
    monkeypatch.setenv("LLAMA_ARG_PORT", server.url.rpartition(":")[2].removesuffix("/v1"))
    with Hardwon(home) as memory:
        memory.harvest([typed])
        assert memory.sessions.distil(using="llama.cpp").active == 1


def test_anthropics_protocol(
    home: Path, typed: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = {"input_tokens": 10, "output_tokens": 10}
    content = [{"type": "tool_use", "name": "answer", "id": "t", "input": {"items": [RULE]}}]
    server = serve((200, {"content": content, "stop_reason": "tool_use", "usage": usage}))
    monkeypatch.setenv("HARDWON_LLM_KEY", "k-1")
    with Hardwon(home) as memory:
        memory.harvest([typed])
        report = memory.sessions.distil(using=f"{server.url}/messages")
    assert (report.sessions, report.active, report.tokens) == (1, 1, 20)
    assert server.asked[0]["headers"]["x-api-key"] == "k-1"


def test_a_hosts_own_key_goes_to_no_other_host(
    home: Path, typed: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(said({"items": []}))
    monkeypatch.setenv("OPENAI_API_KEY", "k-openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-anthropic")
    with Hardwon(home) as memory:
        memory.harvest([typed])
        memory.sessions.distil()
    assert "k-" not in json.dumps([asked["headers"] for asked in server.asked])


def test_a_command_of_ones_own(
    home: Path, typed: Path, stand_in: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = stand_in("my-model")
    monkeypatch.setenv("HARDWON_LLM_COMMAND", "my-model --fast")
    with Hardwon(home) as memory:
        memory.harvest([typed])
        assert memory.sessions.distil().active == 1
    assert calls()[0]["args"] == ["--fast"]


def test_a_command_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    (tmp_path / "hangs.sh").write_text("sleep 600 & echo $! > child; wait")
    command = Command(["sh", "-c", f"cd {tmp_path} && sh hangs.sh"], seconds=1)
    with pytest.raises(Passing, match="no answer in 1"):
        command.ask("", "", {"required": ["items"]})
    child = int((tmp_path / "child").read_text())
    try:
        running = os.pidfd_open(child)
    except ProcessLookupError:
        return
    ended = select.poll()
    ended.register(running, select.POLLIN)
    assert ended.poll(10_000), "it is still there"
