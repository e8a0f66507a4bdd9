"""OpenAI-style chats: a conversation a line, tools as function calls or as XML in the text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session
from hardwon.sessions.discover import ROOTS
from hardwon.sessions.openai_chat import read, recognises
from hardwon.sessions.reader import Source
from tests.conftest import write_lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def said(role: str, content: object, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def opened(path: Path) -> list[Session]:
    source = Source(path)
    assert recognises(source)
    return read(source)


def chat(tmp_path: Path, *messages: dict[str, Any], **more: Any) -> Session:
    (session,) = opened(write_lines(tmp_path / "chats.jsonl", [{"messages": [*messages], **more}]))
    return session


def test_calls_are_paired_with_their_results(tmp_path: Path) -> None:
    session = chat(
        tmp_path,
        said("system", "be brief"),
        said("user", [{"type": "text", "text": "what is in a.py?"}]),
        said("assistant", None, tool_calls=[call("a", "read_file", path="a.py"), call("b", "bash", command="ls")]),
        said("tool", "a.py", tool_call_id="b", name="bash"),
        said("tool", "print()", tool_call_id="a", name="read_file"),
        said("assistant", "A print."),
    )
    assert [(message.role, message.origin, message.text) for message in session.messages[:2]] == [
        ("system", "injected", "be brief"),
        ("user", "user", "what is in a.py?"),
    ]
    assert [(result.call_id, result.origin, result.outcome) for result in session.results()] == [
        ("b", "tool", "unknown"),
        ("a", "file", "unknown"),
    ]
    assert (session.external_id, session.unpaired_calls) == ("chats/1", 0)


def test_an_error_is_one_that_begins_so(tmp_path: Path) -> None:
    session = chat(
        tmp_path,
        said("assistant", None, tool_calls=[call("a", "book"), call("b", "book")]),
        said("tool", "Error: payment amount does not add up", tool_call_id="a"),
        said("tool", "No Error: all is booked", tool_call_id="b"),
    )
    assert [(result.outcome, result.evidence) for result in session.results()] == [
        ("error", "text"),
        ("unknown", "none"),
    ]


def test_an_id_used_twice_still_pairs_each_call_with_its_own_result(tmp_path: Path) -> None:
    session = chat(
        tmp_path,
        said("assistant", None, tool_calls=[call("a", "bash", command="ls")]),
        said("tool", "first", tool_call_id="a"),
        said("assistant", None, tool_calls=[call("a", "bash", command="pwd")]),
        said("tool", "second", tool_call_id="a"),
    )
    commands = {call.id: call.command for message in session.messages for call in message.calls}
    assert [(commands[result.call_id], result.text) for result in session.results()] == [
        ("ls", "first"),
        ("pwd", "second"),
    ]


def test_a_function_call_of_old_is_read(tmp_path: Path) -> None:
    session = chat(
        tmp_path,
        said("assistant", None, function_call={"name": "bash", "arguments": '{"command": "ls"}'}),
        said("function", "a.py", name="bash"),
    )
    assert (session.messages[0].calls[0].command, session.unpaired_calls) == ("ls", 0)


def test_a_function_written_as_xml_is_a_call_and_the_observation_its_result(tmp_path: Path) -> None:
    edit = (
        "Now I edit.\n\n<function=str_replace_editor>\n<parameter=command>str_replace</parameter>\n"
        "<parameter=path>/testbed/a.py</parameter>\n<parameter=new_str>\nx = 1\n</parameter>\n</function>"
    )
    session = chat(
        tmp_path,
        said("user", "fix it"),
        said("assistant", edit),
        said("user", "OBSERVATION:\nNo replacement was performed, old_str did not appear"),
        said("assistant", "<function=bash>\n<parameter=command>make</parameter>\n</function>"),
        said("user", "Observation: Error: could not connect"),
        said("assistant", "<function=bash>\n<parameter=command>true</parameter>\n</function>"),
        said("user", "Your command ran successfully and did not produce any output."),
        said("assistant", "<function=submit>\n</function>"),
        said("user", "Thank you, but look at b.py too"),
        instance_id="reef.1",
    )
    calls = [call for message in session.messages for call in message.calls]
    assert [(call.name, call.target or call.command) for call in calls] == [
        ("str_replace_editor", "/testbed/a.py"),
        ("bash", "make"),
        ("bash", "true"),
        ("submit", ""),
    ]
    assert (calls[0].detail, session.messages[1].text) == ("x = 1", "Now I edit.")
    assert [(result.outcome, result.text) for result in session.results()] == [
        ("error", "No replacement was performed, old_str did not appear"),
        ("unknown", "Error: could not connect"),  # a program's words, not the agent's
        ("unknown", ""),
    ]
    assert [message.text for message in session.messages if message.origin == "user"] == [
        "fix it",
        "Thank you, but look at b.py too",
    ]
    assert session.external_id == "chats/reef.1"


def test_a_list_of_trajectories_is_as_many_sessions(tmp_path: Path) -> None:
    rows = [{"task_id": 7, "trial": n, "reward": 0.0, "info": {}, "traj": [said("user", "hi")]} for n in (0, 1, 1)]
    path = tmp_path / "airline.json"
    path.write_text(json.dumps(rows, indent=2))
    assert [session.external_id for session in opened(path)] == ["airline/7-0", "airline/7-1", "airline/7-1/3"]


def test_a_single_conversation_may_be_the_whole_document(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": [said("user", "hi")]}, indent=2))
    assert len(opened(path)) == 1


@pytest.mark.parametrize(
    "record",
    [
        {"role": "user", "content": "hi"},
        {"session_id": "s", "messages": [said("user", "hi")]},
        {"messages": [{"role": "user", "content": "hi", "ts": 1}]},
        {"messages": [{"role": "user", "text": "hi"}]},
        {"messages": [{"role": "wizard", "content": "hi"}]},
        {"messages": [{"info": {"role": "user"}, "parts": []}]},
        {"messages": []},
        {"messages": "user"},
        {"messages_display": "user: hi"},
        {"info": {"exit_status": "x"}, "messages": [said("user", "hi")]},
    ],
)
def test_what_other_agents_write_around_messages_is_left_to_them(tmp_path: Path, record: dict[str, Any]) -> None:
    assert not recognises(Source(write_lines(tmp_path / "a.jsonl", [record] * 2)))


def test_it_has_no_place_of_its_own() -> None:
    assert "openai-chat" not in ROOTS


MESSAGES = st.lists(
    JSON
    | st.dictionaries(
        st.sampled_from(["role", "content", "tool_calls", "tool_call_id", "name", "function_call"]),
        JSON | st.sampled_from(["user", "assistant", "tool", "<function=a><parameter=b>"]),
    )
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=MESSAGES, other=JSON)
def test_no_content_is_too_strange(tmp_path: Path, messages: list[Any], other: Any) -> None:
    row = {"messages": [said("user", "hi"), *messages], "id": other, "task_id": other, "trial": other}
    path = tmp_path / "a.json"
    for document in ([row, other], row, messages, {"traj": messages, "reward": other}):
        path.write_text(json.dumps(document))
        assert isinstance(recognises(Source(path)), bool)
        assert isinstance(read(Source(path)), list)


def test_the_real_trajectories_are_read_whole(shared: Path) -> None:
    sessions = opened(next((shared / "transcripts" / "tau-bench").rglob("gpt-4o-airline.json")))
    results = [result for session in sessions for result in session.results()]
    assert len(sessions) == len({session.external_id for session in sessions}) == 200
    assert sum(len(session.messages) for session in sessions) == 5_308
    assert sum(session.tool_calls for session in sessions) == len(results) == 1_164
    assert sum(result.outcome == "error" for result in results) == 73
    assert sum(session.unpaired_calls + session.unknown_records for session in sessions) == 0


def test_the_real_rows_of_xml_are_read_whole(shared: Path) -> None:
    sessions = opened(next((shared / "transcripts" / "swe-agent").rglob("ft_xml_example.jsonl")))
    assert [(len(session.messages), session.tool_calls, len(session.results())) for session in sessions] == [
        (75, 37, 36),
        (89, 44, 43),
        (45, 22, 21),
    ]
    assert all(session.user_messages == 1 for session in sessions)
