"""OpenHands: events that answer one another, in a list, a line of a benchmark's output or a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session
from hardwon.sessions.discover import openhands as roots
from hardwon.sessions.openhands import read, recognises
from hardwon.sessions.reader import Source
from tests.conftest import write_lines

AT = "2026-10-01T10:00:00.5"
TASK = {"id": 0, "timestamp": AT, "source": "user", "action": "message", "args": {"content": "fix the build"}}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def action(id: int, kind: str, **args: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": AT, "source": "agent", "action": kind, "args": args}


def observation(cause: int, kind: str, content: str, **extras: Any) -> dict[str, Any]:
    event = {"id": cause + 1, "timestamp": AT, "source": "agent", "observation": kind, "content": content}
    return {**event, "cause": cause, "extras": extras}


def listed(tmp_path: Path, *events: object) -> Session:
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps([TASK, *events]))
    source = Source(path)
    assert recognises(source)
    (session,) = read(source)
    return session


def test_an_observation_answers_the_action_that_caused_it(tmp_path: Path) -> None:
    session = listed(
        tmp_path,
        action(3, "run", command="make", thought="Building."),
        action(5, "read", path="/srv/a.py"),
        observation(5, "read", "print()"),
        observation(3, "run", "done", metadata={"exit_code": 0, "working_dir": "/srv/reef"}),
    )
    assert [(message.role, message.text) for message in session.messages[:2]] == [
        ("user", "fix the build"),
        ("assistant", "Building."),
    ]
    assert [(result.call_id, result.text, result.origin) for result in session.results()] == [
        ("5", "print()", "file"),
        ("3", "done", "tool"),
    ]
    assert (session.cwd, session.started_at, session.unpaired_calls) == ("/srv/reef", 1_790_848_800_500_000, 0)


OUTCOMES: list[tuple[str, str, dict[str, Any], tuple[str, str, int | None, str]]] = [
    ("run", "boom", {"metadata": {"exit_code": 2}}, ("error", "exit-code", 2, "boom")),
    ("run", "fine", {"metadata": {"exit_code": 0}}, ("ok", "exit-code", 0, "fine")),
    ("run", "serving", {"metadata": {"exit_code": -1}}, ("unknown", "none", None, "serving")),
    ("run", "fine", {"exit_code": 0, "command": "make"}, ("ok", "exit-code", 0, "fine")),
    ("edit", "ERROR:\nNo replacement was performed", {}, ("error", "text", None, "No replacement was performed")),
    ("edit", "The file /srv/a.py has been edited.", {}, ("ok", "no-flag", None, "The file /srv/a.py has been edited.")),
    ("error", "no such tool", {"error_id": ""}, ("error", "flag", None, "no such tool")),
    ("user_rejected", "No, thank you", {}, ("error", "rejected", None, "No, thank you")),
    ("browse", "a page", {"error": True}, ("error", "flag", None, "a page")),
    ("run_ipython", "Traceback: error, failed", {}, ("unknown", "none", None, "Traceback: error, failed")),
]


@pytest.mark.parametrize(("kind", "content", "extras", "expected"), OUTCOMES)
def test_what_an_observation_says_of_its_action(
    tmp_path: Path, kind: str, content: str, extras: dict[str, Any], expected: tuple[str, str, int | None, str]
) -> None:
    session = listed(tmp_path, action(3, "run", command="make"), observation(3, kind, content, **extras))
    (result,) = session.results()
    assert (result.outcome, result.evidence, result.exit_code, result.text) == expected


def test_the_prompt_of_the_shell_is_no_output_but_tells_the_folder(tmp_path: Path) -> None:
    session = listed(
        tmp_path,
        action(1, "run", command="ls"),
        observation(1, "run", "a.py\r\nroot@bcd3959393a1:/workspace # ", exit_code=0),
        action(3, "run_ipython", code="1"),
        observation(3, "run_ipython", "1\n[Jupyter current working directory: /workspace]"),
    )
    assert [result.text for result in session.results()] == ["a.py", "1"]
    assert session.cwd == "/workspace"


def test_what_the_program_tells_itself_is_no_message(tmp_path: Path) -> None:
    session = listed(
        tmp_path,
        action(1, "change_agent_state", agent_state="init"),
        observation(1, "agent_state_changed", ""),
        action(3, "recall", query="x"),
        observation(3, "recall", "Added workspace context"),
        action(5, "think", thought="hm"),
        observation(5, "think", "Your thought has been logged."),
        action(7, "system", content="You are OpenHands", openhands_version="0.35.0"),
        {"id": 8, "source": "user", "action": "message", "args": {"content": "Please continue working on the task on"}},
        action(9, "finish", final_thought="All done."),
        {"id": 10, "source": "agent", "telepathy": 1},
    )
    assert [(message.role, message.origin) for message in session.messages] == [
        ("user", "user"),
        ("system", "injected"),
        ("user", "injected"),
        ("assistant", "agent"),
    ]
    assert (session.version, session.unknown_records) == ("0.35.0", 1)


def test_calls_of_one_response_are_one_message(tmp_path: Path) -> None:
    shared = {"tool_call_metadata": {"model_response": {"id": "chatcmpl-1"}, "total_calls_in_response": 2}}
    session = listed(
        tmp_path,
        {**action(1, "run", command="ls"), **shared},
        observation(1, "run", "", metadata={"exit_code": 0}),
        {**action(3, "run", command="pwd"), **shared},
        observation(3, "run", "", metadata={"exit_code": 0}),
    )
    assert [call.command for call in session.messages[1].calls] == ["ls", "pwd"]
    assert [message.role for message in session.messages] == ["user", "assistant", "tool", "tool"]


def test_an_output_file_holds_a_session_a_line(tmp_path: Path) -> None:
    flat = [
        {"action": "message", "content": "Please fix the issue", "wait_for_response": False},
        {"action": "run", "command": "touch LICENSE", "thought": "I'll add it."},
        {"observation": "run", "content": "", "command": "touch LICENSE", "exit_code": 0},
        {"action": "message", "content": "Done.", "wait_for_response": True},
    ]
    pairs = [[TASK, {}], [action(1, "run", command="make"), observation(1, "run", "x", metadata={"exit_code": 1})]]
    lines = [
        {"issue": {"owner": "o", "repo": "r", "number": 5}, "instruction": "x", "history": flat, "success": True},
        {"instance_id": "reef-1", "instruction": "x", "history": pairs},
        {"instance_id": "reef-1", "instruction": "x", "history": []},
    ]
    source = Source(write_lines(tmp_path / "output.jsonl", lines))
    assert recognises(source)
    resolved, instance, empty = read(source)
    assert [(message.role, message.origin) for message in resolved.messages] == [
        ("user", "user"),
        ("assistant", "agent"),
        ("tool", "tool"),
        ("assistant", "agent"),
    ]
    assert resolved.external_id == "o/r#5"
    assert (instance.external_id, instance.results()[0].exit_code) == ("reef-1@1790848800500000", 1)
    assert empty.external_id == "output/3/reef-1"


def v1(kind: str, **more: Any) -> dict[str, Any]:
    return {"id": kind, "timestamp": AT, "kind": kind, **more}


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


V1_EVENTS = [
    v1("SystemPromptEvent", source="agent", system_prompt={"type": "text", "text": "You are OpenHands"}),
    v1("MessageEvent", source="user", llm_message={"role": "user", "content": text("fix it")}),
    v1(
        "ActionEvent",
        source="agent",
        thought=text("Running."),
        tool_name="terminal",
        tool_call_id="k1",
        llm_response_id="r1",
        action={"command": "make", "kind": "TerminalAction"},
    ),
    v1("ActionEvent", tool_name="browser", tool_call_id="k2", llm_response_id="r1", action={}, thought=[]),
    v1("ObservationEvent", tool_call_id="k1", observation={"content": text("boom"), "exit_code": 2, "is_error": False}),
    v1("UserRejectObservation", tool_call_id="k2", rejection_reason="not now"),
    v1("ConversationStateUpdateEvent", key="x"),
    v1("SomethingNew"),
    v1("ActionEvent", tool_name="finish", tool_call_id="k3", action={"message": "Done."}, thought=[]),
]


def conversation(folder: Path) -> Source:
    state = {"id": "c-1", "agent": {"llm": {}}, "workspace": {"working_dir": "/srv/reef"}, "execution_status": "idle"}
    write_lines(folder / "base_state.json", [state])
    for number, event in enumerate(V1_EVENTS):
        write_lines(folder / "events" / f"event-{number:05}-0a0b0c0d.json", [event])
    return Source(folder / "base_state.json")


def test_a_conversation_folder_is_one_session(tmp_path: Path) -> None:
    source = conversation(tmp_path / "conversations" / "c1")
    (source.path.parent / "events" / "event-00009-0a0b0c0d.json").write_text('{"kind": "Mess')
    assert recognises(source)
    (session,) = read(source)
    assert [(message.role, message.text) for message in session.messages] == [
        ("system", "You are OpenHands"),
        ("user", "fix it"),
        ("assistant", "Running."),
        ("tool", ""),
        ("tool", ""),
        ("assistant", "Done."),
    ]
    assert [call.id for call in session.messages[2].calls] == ["k1", "k2"]
    assert [(result.outcome, result.evidence) for result in session.results()] == [
        ("error", "exit-code"),
        ("error", "rejected"),
    ]
    assert (session.external_id, session.cwd, session.unknown_records) == ("c-1", "/srv/reef", 2)


def test_a_sub_agents_user_is_the_agent_that_called_it(tmp_path: Path) -> None:
    (session,) = read(conversation(tmp_path / "c1" / "subagents" / "s1"))
    assert (session.subagent, session.user_messages) == ("s1", 0)


def test_one_event_alone_is_not_a_session(tmp_path: Path) -> None:
    folder = conversation(tmp_path).path.parent / "events"
    assert not any(recognises(Source(path)) for path in folder.iterdir())


def test_the_place_can_be_moved(tmp_path: Path) -> None:
    assert roots({}, tmp_path) == [tmp_path / ".openhands" / "conversations"]
    assert roots({"OPENHANDS_PERSISTENCE_DIR": "/p"}, tmp_path) == [Path("/p/conversations")]
    assert roots({"OPENHANDS_CONVERSATIONS_DIR": "/c"}, tmp_path) == [Path("/c")]


KEYS = "id timestamp source action observation args content extras cause kind llm_message tool_call_metadata".split()
EVENTS = st.lists(JSON | st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(["run", "message", "error"])))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS, kinds=st.lists(st.sampled_from(sorted({event["kind"] for event in V1_EVENTS}))))
def test_no_content_is_too_strange(tmp_path: Path, events: list[Any], kinds: list[str]) -> None:
    for event, kind in zip(events, kinds, strict=False):
        if isinstance(event, dict):
            event["kind"] = kind
    run = {"history": events, "instance_id": "x", "issue": events}
    state = {"workspace": events, "agent": {}, "id": events}
    for name, content in (("list.json", events), ("output.jsonl", run), ("state.json", state)):
        path = tmp_path / name
        path.write_text(json.dumps(content))
        assert isinstance(recognises(Source(path)), bool)
        assert len(read(Source(path))) == 1


def test_real_runs_are_read_whole(shared: Path) -> None:
    folder = shared / "transcripts" / "openhands" / "All-Hands-AI__OpenHands"
    counted = {}
    for path in sorted(folder.rglob("*.json*")):
        source = Source(path)
        if recognises(source):
            sessions = read(source)
            results = [result for session in sessions for result in session.results()]
            counted[path.parent.name + "/" + path.name] = (
                len(sessions),
                sum(len(session.messages) for session in sessions),
                sum(session.tool_calls for session in sessions),
                sum(result.outcome == "error" for result in results),
                sum(session.unknown_records + session.unpaired_calls for session in sessions),
            )
    assert counted == {
        "trajs/basic.json": (1, 4, 1, 0, 0),
        "trajs/basic_gui_mode.json": (1, 10, 4, 0, 0),
        "trajs/basic_interactions.json": (1, 6, 0, 0, 0),
        "trajs/wrong_initial_state.json": (1, 8, 3, 0, 0),
        "examples/output.jsonl": (3, 212, 101, 45, 0),
        "mock_output/output.jsonl": (2, 52, 24, 11, 0),
    }
