"""Each agent is answered in its own words, and only when something failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from hardwon.store import hook_data
from hardwon.text.shown import FAILURES, MAX_LINE_CHARACTERS
from tests.hook.conftest import AGENTS, EVENTS, MISSING, example, hook
from tests.hook.test_prompt import REEF

FLAT = {"cursor": "additional_context", "opencode": "context", "hermes": "context"}
STORED_AS = {"gemini": "gemini-cli"}


def said(agent: str, event: str, payload: Any) -> str:
    """What the agent would take from our answer; empty for silence."""
    done = hook(event, payload, "--agent", agent)
    assert (done.returncode, done.stderr) == (0, "")
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)
    if agent in FLAT:
        return str(answer[FLAT[agent]])
    inner = answer["hookSpecificOutput"]
    assert inner["hookEventName"] == payload["hook_event_name"]
    return str(inner["additionalContext"])


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session_is_briefed_a_failure_answered_and_a_common_prompt_left_alone(harvested: Path, agent: str) -> None:
    with Hardwon(harvested) as memory:
        briefing = memory.bootstrap("reef", agent=STORED_AS.get(agent, agent)).text
    assert said(agent, "session-start", example(agent, "session-start")) == briefing
    assert "uv sync --extra postgres" in said(agent, "tool-failed", example(agent, "tool-failed"))
    assert said(agent, "prompt", example(agent, "prompt")) == ""


def changed(payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**payload, **fields}


@pytest.mark.parametrize(
    ("agent", "fields"),
    [
        ("claude-code", {"is_interrupt": True}),
        ("codex", {"tool_response": f"Exit code: 0\nWall time: 1 s\nOutput:\n{MISSING}"}),
        ("codex", {"tool_input": {"command": "grep -rn asyncpg build.log"}}),
        ("codex", {"tool_input": {"command": "git log -p"}}),
        ("codex", {"tool_response": ""}),
        ("gemini", {"tool_response": {"llmContent": f"Output: {MISSING}\nExit Code: 0"}}),
        ("gemini", {"tool_response": {"llmContent": f"Output: {MISSING}"}}),
        ("cursor", {"failure_type": "permission_denied"}),
        ("cursor", {"error_message": "", "tool_output": json.dumps({"output": MISSING, "exitCode": 0})}),
        ("cursor", {"error_message": "", "tool_output": "no JSON"}),
        ("hermes", {"extra": {"status": "ok", "result": MISSING}}),
    ],
)
def test_what_did_not_fail_is_not_answered(harvested: Path, agent: str, fields: dict[str, Any]) -> None:
    assert said(agent, "tool-failed", changed(example(agent, "tool-failed"), **fields)) == ""


@pytest.mark.parametrize(
    ("agent", "fields"),
    [
        ("codex", {"tool_response": f"Exit code: 1\nWall time: 1 s\nOutput:\n{MISSING}"}),
        ("codex", {"tool_response": {"output": MISSING}}),
        ("gemini", {"tool_response": {"llmContent": [{"text": MISSING}], "error": {"message": "failed"}}}),
        ("gemini", {"tool_response": {"llmContent": None, "error": {"message": MISSING}}}),
        ("cursor", {"error_message": None, "tool_output": json.dumps({"output": MISSING, "exitCode": 1})}),
        ("hermes", {"extra": {"error_message": MISSING}}),
    ],
)
def test_a_failure_is_found_wherever_the_agent_puts_it(harvested: Path, agent: str, fields: dict[str, Any]) -> None:
    answer = said(agent, "tool-failed", changed(example(agent, "tool-failed"), **fields))
    assert "uv sync --extra postgres" in answer


def test_a_conversation_that_goes_on_is_not_briefed_again_but_one_that_was_compacted_is(harvested: Path) -> None:
    start = example("claude-code", "session-start")

    def briefed(source: str, session: str = "one", **more: str) -> bool:
        return bool(said("claude-code", "session-start", changed(start, session_id=session, source=source, **more)))

    assert briefed("startup")
    assert not briefed("resume")
    assert briefed("resume", "begun before Hardwon was installed")
    assert not briefed("fork", "two")
    assert briefed("compact", "three")
    assert briefed("clear", "four")
    assert not briefed("startup", "five", agent_id="a-sub-agent")
    assert briefed("startup", "six", agent_type="a person chose this agent")


def test_an_event_that_fires_twice_is_answered_once(harvested: Path) -> None:
    for agent in ("claude-code", "codex"):
        for event in ("session-start", "tool-failed"):
            payload = example(agent, event)
            assert said(agent, event, payload)
            assert said(agent, event, payload) == ""
    other = changed(example("codex", "tool-failed"), tool_use_id="another call")
    assert said("codex", "tool-failed", other)


def test_cursor_which_runs_the_hooks_of_claude_code_too_is_answered_once_and_in_its_own_form(harvested: Path) -> None:
    payload = example("cursor", "session-start")
    by_claudes_settings = hook("session-start", payload, "--agent", "claude-code")
    by_its_own = hook("session-start", payload, "--agent", "cursor")
    assert "additional_context" in json.loads(by_claudes_settings.stdout)
    assert by_its_own.stdout == ""


@pytest.mark.parametrize("agent", AGENTS)
def test_no_answer_is_longer_than_every_agent_takes(
    harvested: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARDWON_BUDGET", "1000000")
    with Hardwon(harvested) as memory:
        db = memory.writing()
        with db.transaction():
            longest = "é" * MAX_LINE_CHARACTERS
            lines = [(FAILURES, f"F{at:02}", longest, 2 * len(longest), 1, 1.0) for at in range(90)]
            for name in (STORED_AS.get(agent, agent), ""):
                hook_data.replace_standing(db, REEF.id, name, lines)
    text = said(agent, "session-start", example(agent, "session-start"))
    assert 9_000 < len(text.encode()) <= 10_000
    assert text.splitlines()[-1].startswith("</hardwon-memory")


def test_there_is_an_example_of_every_event_of_every_agent() -> None:
    for agent in AGENTS:
        for event in EVENTS:
            assert example(agent, event)
