"""pi: errors flagged, the user's own commands judged by their exit code, a branch not told twice."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session
from hardwon.sessions import discover, pi
from hardwon.sessions.origin import INTERRUPTED
from hardwon.sessions.reader import Source
from tests.conftest import write_lines

HEADER = {
    "type": "session",
    "id": "p-1",
    "timestamp": "2026-10-01T10:00:00Z",
    "cwd": "/srv/work/reef",
    "provider": "anthropic",
}


def said(role: str, content: Any = None, *, minute: int = 1, **more: Any) -> dict[str, Any]:
    moment = 1790848800000 + minute * 60_000  # 2026-10-01T10:00:00Z and some minutes
    return {
        "type": "message",
        "timestamp": "2026-10-01T12:00:00Z",
        "message": {"role": role, "content": content, "timestamp": moment, **more},
    }


def text(words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": words}]


CALL = {"type": "toolCall", "id": "k", "name": "bash", "arguments": {"command": "make"}}


def answer(words: str, **more: Any) -> dict[str, Any]:
    return said("toolResult", text(words), toolCallId="k", toolName="bash", **more)


def session(tmp_path: Path, *records: dict[str, Any], **header: Any) -> Session:
    path = write_lines(tmp_path / "s.jsonl", [{**HEADER, **header}, *records])
    assert pi.recognises(Source(path))
    (found,) = pi.read(Source(path))
    return found


def test_a_session_is_named_and_dated_by_its_header_and_its_messages(tmp_path: Path) -> None:
    found = session(tmp_path, said("user", "fix it"), said("assistant", text("Done."), minute=5))
    assert (found.external_id, found.cwd) == ("p-1", "/srv/work/reef")
    assert (found.started_at, found.ended_at) == (1790848800000000, 1790849100000000)
    assert [(m.role, m.text) for m in found.messages] == [("user", "fix it"), ("assistant", "Done.")]


RESULTS = [
    ("fine", False, ("ok", "flag", None, "fine")),
    ("(no output)", False, ("ok", "flag", None, "")),
    ("boom\n\n\nCommand exited with code 2", True, ("error", "flag", 2, "boom")),
    ("Command exited with code 1", True, ("error", "flag", 1, "")),
    ("half\n\nCommand aborted", True, ("error", "interrupted", None, "half")),
    ("Operation aborted", True, ("error", "interrupted", None, "")),
    (
        "slow\n\nCommand timed out after 5 seconds",
        True,
        ("error", "flag", None, "slow\n\nCommand timed out after 5 seconds"),
    ),
    ("Could not find the exact text in a.py.", True, ("error", "flag", None, "Could not find the exact text in a.py.")),
    ("log: Command exited with code 1", False, ("ok", "flag", None, "log: Command exited with code 1")),
    ("an error: failed", None, ("unknown", "none", None, "an error: failed")),
]


@pytest.mark.parametrize(("words", "flag", "expected"), RESULTS)
def test_a_result_is_judged_by_its_flag_and_names_its_exit_code(
    tmp_path: Path, words: str, flag: bool | None, expected: tuple[object, ...]
) -> None:
    found = session(tmp_path, said("assistant", [CALL]), answer(words, isError=flag))
    (result,) = found.results()
    assert (result.outcome, result.evidence, result.exit_code, result.text) == expected
    assert (result.call_id, found.unpaired_calls) == ("k", 0)


COMMANDS = [
    ({"exitCode": 0}, ("ok", "exit-code", 0)),
    ({"exitCode": 3}, ("error", "exit-code", 3)),
    ({"exitCode": None, "cancelled": True}, ("error", "interrupted", None)),
    ({}, ("unknown", "none", None)),
]


@pytest.mark.parametrize(("fields", "expected"), COMMANDS)
def test_a_command_the_user_ran_is_a_call_but_not_the_users_words(
    tmp_path: Path, fields: dict[str, Any], expected: tuple[object, ...]
) -> None:
    found = session(tmp_path, said("bashExecution", command="make test", output="out", **fields))
    (result,) = found.results()
    assert (result.outcome, result.evidence, result.exit_code) == expected
    (call,) = found.messages[0].calls
    assert (call.action, call.command, result.call_id, result.text) == ("run", "make test", call.id, "out")
    assert found.user_messages == 0


def test_an_interruption_stands_where_it_came_and_leaves_its_calls_open(tmp_path: Path) -> None:
    found = session(
        tmp_path, said("assistant", [CALL], stopReason="aborted"), said("assistant", [], stopReason="aborted")
    )
    assert [(m.role, m.text) for m in found.messages] == [
        ("assistant", ""),
        ("user", INTERRUPTED),
        ("user", INTERRUPTED),
    ]
    assert found.unpaired_calls == 1


def test_thinking_is_not_read_and_images_do_no_harm(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        said("user", [*text("look"), {"type": "image", "data": "…"}]),
        said("assistant", [{"type": "thinking", "thinking": "hm", "text": "hm"}, *text("I see.")]),
    )
    assert [m.text for m in found.messages] == ["look", "I see."]


def test_summaries_and_what_extensions_put_in_are_not_the_users_words(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        {"type": "compaction", "summary": "So far: …", "timestamp": "2026-10-01T10:01:00Z"},
        {"type": "branch_summary", "summary": "There: …"},
        {"type": "custom_message", "customType": "x", "content": "remember"},
        said("custom", "remember"),
        said("user", "<system-reminder>be brief</system-reminder>"),
        said("user", "fix it"),
    )
    assert [m.text for m in found.messages if m.origin == "user"] == ["fix it"]
    assert [m.role for m in found.messages] == ["system", "system", "user", "user", "user", "user"]
    assert found.unknown_records == 0


def test_bookkeeping_is_silent_and_what_is_unknown_is_counted(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        {"type": "model_change"},
        {"type": "label"},
        {"type": "hologram"},
        said("oracle", "hm"),
        {"type": "message"},
    )
    assert (found.messages, found.unknown_records) == ((), 3)


@pytest.mark.parametrize("key", ["branchedFrom", "parentSession"])
@pytest.mark.parametrize("path", ["/home/dev/.pi/agent/sessions/x/{}", "C:\\Users\\dev\\sessions\\{}"])
def test_a_branch_is_told_from_where_it_left_when_the_session_it_left_is_there(
    tmp_path: Path, key: str, path: str
) -> None:
    records = (said("user", "before", minute=-5), said("user", "after", minute=5))
    named = {key: path.format("root.jsonl")}
    assert [m.text for m in session(tmp_path, *records, **named).messages] == ["before", "after"]
    write_lines(tmp_path / "root.jsonl", [HEADER, records[0]])
    assert [m.text for m in session(tmp_path, *records, **named).messages] == ["after"]
    assert [m.text for m in session(tmp_path, *records).messages] == ["before", "after"]


LOOK_ALIKES: list[list[dict[str, Any]]] = [
    [{"type": "session", "id": "x"}],
    [{"type": "session", "cwd": "/srv"}, said("user", "hi")],
    [{**HEADER, "id": 1}, said("user", "hi")],
    [HEADER, {"type": "response_item", "payload": {}}],
    [{"type": "session_meta", "payload": {"id": "x", "cwd": "/"}}],
    [said("user", "hi")],
]


@pytest.mark.parametrize("records", LOOK_ALIKES)
def test_what_only_looks_similar_is_not_recognised(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    assert not pi.recognises(Source(write_lines(tmp_path / "s.jsonl", records)))


def test_sessions_are_where_the_environment_says(tmp_path: Path) -> None:
    assert discover.pi({}, tmp_path) == [tmp_path / ".pi/agent/sessions"]
    assert discover.pi({"PI_CODING_AGENT_DIR": "/a"}, tmp_path) == [Path("/a/sessions")]
    assert discover.pi({"PI_CODING_AGENT_SESSION_DIR": "/s"}, tmp_path) == [Path("/s")]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ROLES = ["user", "assistant", "toolResult", "bashExecution", "custom", "compactionSummary"]
FIELDS = "content toolCallId isError command output exitCode cancelled stopReason summary timestamp".split()
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "toolCall"]) | ANYTHING},
    optional=dict.fromkeys(("text", "id", "name", "arguments"), ANYTHING),
)
BODIES = st.fixed_dictionaries(
    {"role": st.sampled_from(ROLES) | ANYTHING},
    optional={**dict.fromkeys(FIELDS, ANYTHING), "content": st.lists(BLOCKS | ANYTHING, max_size=3) | ANYTHING},
)
RECORDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["message", "compaction", "custom_message", "session"]) | ANYTHING},
    optional={
        "message": BODIES | ANYTHING,
        **dict.fromkeys(("timestamp", "summary", "content", "id", "cwd"), ANYTHING),
    },
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    header=st.dictionaries(st.sampled_from([*HEADER, "branchedFrom"]), ANYTHING), records=st.lists(RECORDS, max_size=4)
)
def test_no_value_in_any_field_stops_the_reader(tmp_path: Path, header: Any, records: Any) -> None:
    path = tmp_path / "strange.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in ({**HEADER, **header}, *records)))
    pi.recognises(Source(path))
    assert len(pi.read(Source(path))) == 1


def test_the_real_session_is_read_whole(shared: Path) -> None:
    (path,) = (shared / "transcripts/pi").rglob("*.jsonl")
    assert pi.recognises(Source(path))
    (found,) = pi.read(Source(path))
    assert found.cwd == "/Users/badlogic/workspaces/pi-mono"
    assert (len(found.messages), found.user_messages, found.tool_calls) == (921, 88, 391)
    assert (found.unpaired_calls, found.unknown_records) == (18, 0)
    assert sum(m.text == INTERRUPTED for m in found.messages) == 21
    assert Counter((r.outcome, r.evidence) for r in found.results()) == {
        ("ok", "flag"): 354,
        ("error", "flag"): 17,
        ("error", "interrupted"): 2,
    }
    assert Counter(r.exit_code for r in found.results() if r.evidence == "flag" and r.outcome == "error") == {
        1: 14,
        2: 3,
    }
