"""ATIF documents: steps with their calls and results together, sub-agents within."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session
from hardwon.sessions.atif import read, recognises
from hardwon.sessions.discover import ROOTS
from hardwon.sessions.reader import Source

AGENT = {"name": "terminus", "version": "2.0", "model_name": "m"}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def step(source: str, message: object, **more: Any) -> dict[str, Any]:
    return {"step_id": 1, "source": source, "message": message, "timestamp": "2026-10-01T10:00:00Z", **more}


def call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": id, "function_name": name, "arguments": arguments}


def opened(tmp_path: Path, *steps: object, **more: Any) -> list[Session]:
    path = tmp_path / "trajectory.json"
    document = {"schema_version": "ATIF-v1.7", "session_id": "s-1", "agent": AGENT, "steps": [*steps], **more}
    path.write_text(json.dumps(document, indent=2))
    source = Source(path)
    assert recognises(source)
    return read(source)


def test_each_source_has_its_role(tmp_path: Path) -> None:
    (session,) = opened(
        tmp_path,
        step("system", "be brief"),
        step("user", [{"type": "text", "text": "fix it"}]),
        step("agent", "Done."),
        step("oracle", "?"),
        "no step",
    )
    assert [(message.role, message.origin, message.text) for message in session.messages] == [
        ("system", "injected", "be brief"),
        ("user", "user", "fix it"),
        ("assistant", "agent", "Done."),
    ]
    assert (session.agent, session.version, session.external_id) == ("terminus", "2.0", "s-1")
    assert (session.started_at, session.unknown_records) == (1_790_848_800_000_000, 2)


def test_results_follow_the_calls_of_their_step(tmp_path: Path) -> None:
    results = [
        {"source_call_id": "b", "content": "boom", "extra": {"status": "error"}},
        {"source_call_id": "a", "content": [{"type": "text", "text": "a.py"}], "extra": {"status": "completed"}},
        {"source_call_id": "c", "content": "an error that failed"},
        {"content": "screen"},
    ]
    made = [call("a", "search_files", path="."), call("b", "terminal", command="make"), call("c", "x")]
    (session,) = opened(tmp_path, step("agent", "", tool_calls=made, observation={"results": results}))
    assert [message.role for message in session.messages] == ["assistant", "tool", "tool", "tool", "tool"]
    assert [(result.call_id, result.outcome, result.evidence, result.text) for result in session.results()] == [
        ("b", "error", "flag", "boom"),
        ("a", "ok", "no-flag", "a.py"),
        ("c", "unknown", "none", "an error that failed"),
        ("", "unknown", "none", "screen"),
    ]
    assert session.results()[1].origin == "file"


def test_what_is_copied_from_an_earlier_trajectory_is_not_read_again(tmp_path: Path) -> None:
    (session,) = opened(tmp_path, step("user", "before", is_copied_context=True), step("user", "now"))
    assert [message.text for message in session.messages] == ["now"]


def test_a_sub_agents_user_is_the_agent_that_called_it(tmp_path: Path) -> None:
    deeper = {"trajectory_id": "t-3", "agent": AGENT, "steps": [step("agent", "deep")]}
    inner = {"trajectory_id": "t-2", "agent": AGENT, "steps": [step("user", "look")], "subagent_trajectories": [deeper]}
    sessions = opened(tmp_path, step("user", "fix it"), trajectory_id="t-1", subagent_trajectories=[inner, None])
    assert [(session.external_id, session.subagent, session.user_messages) for session in sessions] == [
        ("t-1", "", 1),
        ("t-1", "t-2", 0),
        ("t-1", "t-3", 0),
    ]


@pytest.mark.parametrize(
    "document",
    [
        {"atof_version": "0.1", "kind": "scope", "steps": []},
        {"schema_version": 1, "session_id": "s", "messages": []},
        {"schema_version": "ATIF-v1.7", "steps": {}},
        {"schema_version": "v1.7", "steps": []},
        ["schema_version", "steps"],
    ],
)
def test_only_the_format_itself_is_taken(tmp_path: Path, document: object) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    assert not recognises(Source(path))


def test_it_has_no_place_of_its_own() -> None:
    assert "atif" not in ROOTS


KEYS = "source message tool_calls observation timestamp is_copied_context".split()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(JSON | st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(["agent", "user"]))), other=JSON
)
def test_no_content_is_too_strange(tmp_path: Path, steps: list[Any], other: Any) -> None:
    strange = step("agent", other, tool_calls=[*steps, call("a", "x")], observation={"results": steps})
    assert opened(tmp_path, strange, *steps, agent=other, session_id=other, subagent_trajectories=steps)


def test_the_real_trajectory_is_read_whole(shared: Path) -> None:
    source = Source(next((shared / "transcripts" / "hermes").rglob("nemo_relay_atif_*.json")))
    assert recognises(source)
    (session,) = read(source)
    # Five of its six steps had even their source redacted.
    assert (len(session.messages), session.tool_calls, len(session.results()), session.unknown_records) == (5, 4, 4, 5)
    assert [call.name for call in session.messages[0].calls] == ["process", "terminal", "search_files", "search_files"]
    assert not recognises(Source(next((shared / "transcripts" / "hermes").rglob("nemo_relay_atof_*.jsonl"))))
