"""The plugins that run inside opencode and Hermes, as those would run them."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from hardwon.install.command import Where
from hardwon.install.files import plugin
from hardwon.store import spool
from tests.conftest import ClaudeSession, Run
from tests.hook.conftest import MISSING, harvested  # noqa: F401 - a fixture
from tests.hook.test_session_end import is_idle, wait_for

NODE = shutil.which("node")
V1 = """
const hooks = await hardwon.server({ directory: "/srv/work/reef" })
const system = { system: [] }
await hooks["experimental.chat.system.transform"]({ sessionID: "one" }, system)
await hooks["experimental.chat.system.transform"]({ sessionID: "one" }, system)
await hooks.event({ event: { type: "session.created", properties: { info: { id: "child", parentID: "one" } } } })
await hooks["experimental.chat.system.transform"]({ sessionID: "child" }, system)
const title = { system: ["You are a title generator. You output ONLY a thread title."] }
await hooks["experimental.chat.system.transform"]({ sessionID: "one" }, title)
if (title.system.length !== 1) console.error("a title needs no briefing")
const failed = { title: "", output: MISSING, metadata: { exit: 1 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "one", callID: "c1", args: {} }, failed)
const worked = { title: "", output: MISSING, metadata: { exit: 0 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "one", callID: "c2", args: {} }, worked)
const message = { message: { id: "m1", sessionID: "one" }, parts: [{ type: "text", text: "please go on with it" }] }
await hooks["chat.message"]({ sessionID: "one" }, message)
await hooks.event({ event: { type: "session.idle" } })
await hooks.dispose()
const parts = message.parts.length
console.log(JSON.stringify({ system: system.system, failed: failed.output, worked: worked.output, parts }))
"""
V2 = """
const hooks = {}
const ctx = {
  session: { hook: async (name, run) => { hooks[name] = run }, get: async ({ sessionID }) => sessionID === "child" ? { parentID: "one" } : { location: { directory: "/srv/work/reef" } } },
  tool: { hook: async (name, run) => { hooks[name] = run } },
}
const cleanup = await hardwon.setup(ctx)
const system = []
await hooks.prompt({ sessionID: "one", prompt: { text: "please go on with it" } })
await hooks.context({ sessionID: "one", kind: "title", system })
await hooks.context({ sessionID: "one", kind: "primary", system })
await hooks.context({ sessionID: "child", kind: "primary", system })
const failed = { sessionID: "one", id: "c1", status: "completed", result: { content: [{ type: "text", text: MISSING }], metadata: { exit: 1 } } }
await hooks["execute.after"](failed)
const worked = { sessionID: "one", id: "c2", status: "completed", result: { content: MISSING, metadata: { exit: 0 } } }
await hooks["execute.after"](worked)
await hooks["execute.after"]({ sessionID: "one", id: "c3", status: "error", error: new Error("x") })
await cleanup()
console.log(JSON.stringify({ system: system.map((part) => part.text), failed: failed.result.content.map((part) => part.text).join("\\n"), worked: worked.result.content, parts: 1 }))
"""  # noqa: E501 - JavaScript


@pytest.mark.skipif(NODE is None, reason="there is no node to run it")
@pytest.mark.parametrize("host", [V1, V2], ids=["opencode-1", "opencode-2"])
def test_opencode_is_briefed_once_a_session_and_told_the_fix(harvested: Path, tmp_path: Path, host: str) -> None:  # noqa: F811
    (tmp_path / "hardwon.mjs").write_text(plugin("opencode.js", "opencode", Where({}, tmp_path)))
    played = f'import hardwon from "./hardwon.mjs"\nconst MISSING = {json.dumps(MISSING)}\n{host}'
    (tmp_path / "play.mjs").write_text(played)
    done = subprocess.run(
        [NODE or "", "play.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    said = json.loads(done.stdout)
    assert set(map(str, said["system"])) == {said["system"][0]}
    assert "Always use uv" in said["system"][0]
    assert "uv sync --extra postgres" in said["failed"]
    assert (said["worked"], said["parts"]) == (MISSING, 1)
    wait_for(lambda: is_idle(harvested))


@pytest.mark.skipif(NODE is None, reason="there is no node to run it")
def test_opencode_goes_on_when_hardwon_is_gone_and_the_doctor_knows(tmp_path: Path, home: Path) -> None:
    home.mkdir()
    (tmp_path / "hardwon.mjs").write_text(plugin("opencode.js", "opencode", Where({}, tmp_path, python="/gone/python")))
    (tmp_path / "play.mjs").write_text(f'import hardwon from "./hardwon.mjs"\nconst MISSING = "no"\n{V1}')
    done = subprocess.run(
        [NODE or "", "play.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stderr, json.loads(done.stdout)["system"]) == ("", [])
    kept = spool.waiting(str(home))
    assert {(agent, event) for _, _, event, agent, _, _ in kept} == {
        ("opencode", event) for event in ("session-start", "tool-failed", "prompt", "session-end")
    }
    assert all("ENOENT" in run[5] for run in kept)


def hermes(folder: Path, python: str) -> dict[str, Callable[..., Any]]:
    """What the plugin registers when Hermes loads it."""
    path = folder / "hermes_plugin.py"
    path.write_text(plugin("hermes.py", "hermes", Where({}, folder, python=python)))
    spec = importlib.util.spec_from_file_location("hermes_plugin", path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    registered: dict[str, Callable[..., Any]] = {}

    class Context:
        register_hook = staticmethod(registered.__setitem__)

    loaded.register(Context())
    return registered


@pytest.fixture
def reef(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "reef"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_hermes_is_briefed_on_the_first_turn_and_told_the_fix(harvested: Path, tmp_path: Path, reef: Path) -> None:  # noqa: F811
    talk = ClaudeSession("in-reef", cwd=str(reef)).user("Always use tabs in this project.")
    talk.run("pytest -q", MISSING, exit_code=1).run("uv sync --extra postgres", "ok").run("pytest -q", "ok")
    with Hardwon(harvested) as memory:
        memory.harvest([talk.write(tmp_path)])
    hooks = hermes(tmp_path, sys.executable)
    briefed = hooks["pre_llm_call"](session_id="h", user_message="hello there", is_first_turn=True, model="m")
    assert "Always use tabs" in briefed["context"]
    assert hooks["pre_llm_call"](session_id="h", user_message="hello there", is_first_turn=False, model="m") is None
    failed = json.dumps({"output": MISSING, "exit_code": 1, "error": None})
    answer = hooks["transform_tool_result"](tool_name="terminal", args={}, result=failed, session_id="h", task_id="")
    assert answer.startswith(failed)
    assert "uv sync --extra postgres" in answer
    worked = json.dumps({"output": MISSING, "exit_code": 0})
    assert hooks["transform_tool_result"](tool_name="terminal", args={}, result=worked, task_id="") is None
    told = hooks["transform_tool_result"](tool_name="x", args={}, result="", status="error", error_message=MISSING)
    assert "uv sync" in told
    hooks["on_session_finalize"](session_id="h", reason="exit")
    wait_for(lambda: is_idle(harvested))


def test_hermes_goes_on_when_hardwon_is_gone_and_the_doctor_knows(tmp_path: Path, home: Path, hardwon: Run) -> None:
    with Hardwon() as memory:
        memory.harvest([])
    hooks = hermes(tmp_path, "/gone/python")
    assert hooks["pre_llm_call"](session_id="h", user_message="hello", is_first_turn=True) is None
    assert hooks["transform_tool_result"](result="boom", status="error") is None
    hooks["on_session_finalize"]()
    kept = spool.waiting(str(home))
    assert [(agent, event) for _, _, event, agent, _, _ in kept] == [
        ("hermes", "session-start"),
        ("hermes", "tool-failed"),
        ("hermes", "session-end"),
    ]
    assert "/gone/python" in hardwon("doctor").stdout


def test_hermes_goes_on_when_not_even_that_can_be_kept(tmp_path: Path, home: Path) -> None:
    home.write_text("not a folder")
    hooks = hermes(tmp_path, "/gone/python")
    assert hooks["pre_llm_call"](session_id="h", user_message="hello", is_first_turn=True) is None
