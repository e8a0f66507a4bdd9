"""ShareGPT rows: tools are tags in the text, results stand in the order of the calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session
from hardwon.sessions.discover import ROOTS
from hardwon.sessions.reader import Source
from hardwon.sessions.sharegpt import read, recognises
from tests.conftest import write_lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
HERMES = {"timestamp": "2026-10-01T10:00:00.5", "model": "m", "completed": True}


def turn(speaker: str, value: str) -> dict[str, str]:
    return {"from": speaker, "value": value}


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def response(content: object) -> str:
    return f"<tool_response>\n{json.dumps({'tool_call_id': 'x', 'name': 'n', 'content': content})}\n</tool_response>"


def opened(tmp_path: Path, *turns: dict[str, str], **more: Any) -> Session:
    row = {"conversations": [*turns], **more}
    source = Source(write_lines(tmp_path / "trajectory_samples.jsonl", [row]))
    assert recognises(source)
    (session,) = read(source)
    return session


def test_a_trajectory_of_hermes_is_read_as_hermes_own_sessions_are(tmp_path: Path) -> None:
    session = opened(
        tmp_path,
        turn("system", "You are a function calling AI model."),
        turn("human", "fix it"),
        turn(
            "gpt", "<think>\nhm\n</think>\nLooking.\n" + call("terminal", command="make") + call("read_file", path="a")
        ),
        turn("tool", response({"output": "boom", "exit_code": 2}) + "\n" + response("print()")),
        turn("gpt", "<think>\n</think>\nDone."),
        **HERMES,
    )
    assert [(message.role, message.text) for message in session.messages] == [
        ("system", "You are a function calling AI model."),
        ("user", "fix it"),
        ("assistant", "Looking."),
        ("tool", ""),
        ("tool", ""),
        ("assistant", "Done."),
    ]
    assert [call.command or call.target for call in session.messages[2].calls] == ["make", "a"]
    assert [(result.outcome, result.exit_code, result.text, result.origin) for result in session.results()] == [
        ("error", 2, "boom", "tool"),
        ("unknown", None, "print()", "file"),
    ]
    assert (session.agent, session.format, session.unpaired_calls) == ("hermes", "sharegpt", 0)
    assert session.external_id == "trajectory_samples/2026-10-01T10:00:00.5"
    assert session.started_at == session.ended_at == 1_790_848_800_500_000


def test_other_rows_are_no_sessions_of_hermes(tmp_path: Path) -> None:
    session = opened(
        tmp_path,
        turn("human", "look"),
        turn("gpt", call("search")),
        turn("tool", '<tool_response>\n{"error": "quota"}\n</tool_response>'),
        turn("gpt", call("search")),
        turn("observation", "Error: quota"),
        id="identity_0",
    )
    assert [(result.outcome, result.evidence) for result in session.results()] == [
        ("unknown", "none"),
        ("error", "text"),
    ]
    assert (session.agent, session.external_id) == ("sharegpt", "trajectory_samples/identity_0")


def test_a_tag_that_is_not_closed_is_text(tmp_path: Path) -> None:
    session = opened(tmp_path, turn("gpt", "The tag <think> and <tool_call> alone"))
    assert (session.messages[0].text, session.tool_calls) == ("The tag <think> and <tool_call> alone", 0)


def test_a_file_holds_a_session_a_row(tmp_path: Path) -> None:
    rows = [{"conversations": [turn("human", "hi")], **HERMES} for _ in range(2)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([*rows, {"conversations": [turn("human", "hi")]}], indent=2))
    assert [session.external_id for session in read(Source(path))] == [
        "rows/2026-10-01T10:00:00.5",
        "rows/2026-10-01T10:00:00.5/2",
        "rows/3",
    ]


def test_an_unknown_speaker_is_counted(tmp_path: Path) -> None:
    assert opened(tmp_path, turn("human", "hi"), turn("choir", "la")).unknown_records == 1


@pytest.mark.parametrize(
    "record",
    [
        {"conversations": []},
        {"conversations": [{"role": "user", "content": "hi"}]},
        {"conversations": [{"from": "human", "value": None}]},
        {"conversations": "human"},
        {"messages": [{"role": "user", "content": "conversations"}]},
    ],
)
def test_other_rows_are_refused(tmp_path: Path, record: dict[str, Any]) -> None:
    assert not recognises(Source(write_lines(tmp_path / "a.jsonl", [record])))


def test_it_has_no_place_of_its_own() -> None:
    assert "sharegpt" not in ROOTS


TURNS = st.lists(
    JSON
    | st.fixed_dictionaries(
        {
            "from": st.sampled_from(["human", "gpt", "tool", "x"]) | JSON,
            "value": st.text() | JSON | st.lists(st.sampled_from(["<tool_call>", "</tool_call>", "{}"])).map("".join),
        }
    )
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=TURNS, other=JSON)
def test_no_content_is_too_strange(tmp_path: Path, turns: list[Any], other: Any) -> None:
    for row in (
        {"conversations": [turn("human", "hi"), *turns], "completed": True, "timestamp": other},
        {"conversations": turns, "id": other},
        {"conversations": other},
    ):
        path = write_lines(tmp_path / "a.jsonl", [row])
        assert isinstance(recognises(Source(path)), bool)
        assert isinstance(read(Source(path)), list)
