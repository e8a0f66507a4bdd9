"""Copilot CLI: events with a success flag; a failed command is a successful call with its exit code at the end."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session
from hardwon.sessions.copilot import read, recognises
from hardwon.sessions.discover import copilot as roots
from hardwon.sessions.origin import INTERRUPTED
from hardwon.sessions.reader import Source
from tests.conftest import write_lines

_numbers = count()


def event(kind: str, _agent: str = "", **data: Any) -> dict[str, Any]:
    number = next(_numbers)
    envelope = {"type": kind, "data": data, "id": f"e{number}", "timestamp": "2026-10-01T10:00:00Z", "parentId": None}
    return {**envelope, "agentId": _agent} if _agent else envelope


CONTEXT = {
    "cwd": "/srv/work/reef",
    "branch": "main",
    "repository": "tide/reef",
    "hostType": "github",
    "repositoryHost": "github.com",
}
START = event("session.start", sessionId="c-1", copilotVersion="1.0.34", producer="copilot-agent", context=CONTEXT)


def asked(name: str = "bash", **arguments: Any) -> dict[str, Any]:
    request = {"toolCallId": "k", "name": name, "arguments": arguments, "type": "function"}
    return event("assistant.message", content="", toolRequests=[request])


def done(success: object, content: str | None = None, **error: Any) -> dict[str, Any]:
    result = None if content is None else {"content": content}
    return event("tool.execution_complete", toolCallId="k", success=success, result=result, error=error or None)


def sessions(tmp_path: Path, *events: dict[str, Any]) -> list[Session]:
    source = Source(write_lines(tmp_path / "c-9" / "events.jsonl", events))
    assert recognises(source)
    return read(source)


def session(tmp_path: Path, *events: dict[str, Any]) -> Session:
    (only,) = sessions(tmp_path, START, *events)
    return only


def test_the_start_tells_where_and_what(tmp_path: Path) -> None:
    found = session(tmp_path)
    assert (found.external_id, found.version, found.cwd) == ("c-1", "1.0.34", "/srv/work/reef")
    assert (found.branch, found.remote) == ("main", "https://github.com/tide/reef")


def test_without_a_start_the_folder_names_the_session(tmp_path: Path) -> None:
    (found,) = sessions(tmp_path, event("user.message", content="hi"))
    assert (found.external_id, found.remote) == ("c-9", "")


OUTCOMES: list[tuple[dict[str, Any], tuple[str, str, int | None, str]]] = [
    (done(True, "fine\n<exited with exit code 0>"), ("ok", "exit-code", 0, "fine")),
    (done(True, "boom\n<exited with exit code 2>"), ("error", "exit-code", 2, "boom")),
    (done(True, "\n<exited with exit code 1>"), ("error", "exit-code", 1, "")),
    (done(True, "boom\n<shellId: 4 completed with exit code 1>\n"), ("error", "exit-code", 1, "boom")),
    (done(True, "still running"), ("ok", "flag", None, "still running")),
    (
        done(True, "it says <exited with exit code 1> in passing"),
        ("ok", "flag", None, "it says <exited with exit code 1> in passing"),
    ),
    (done(False, message="no such tool"), ("error", "flag", None, "no such tool")),
    (done(False, "FAIL"), ("error", "flag", None, "FAIL")),
    (done(False, message="The user said no", code="rejected"), ("error", "rejected", None, "The user said no")),
    (done(False, message="Permission denied", code="denied"), ("error", "rejected", None, "Permission denied")),
    (done(False, message="stopped", code="cancelled"), ("error", "interrupted", None, "stopped")),
    (done("yes", "what"), ("unknown", "none", None, "what")),
]


@pytest.mark.parametrize(("told", "expected"), OUTCOMES)
def test_the_flag_or_the_exit_code_tells_the_outcome(
    tmp_path: Path, told: dict[str, Any], expected: tuple[str, str, int | None, str]
) -> None:
    (result,) = session(tmp_path, asked(command="make"), told).results()
    assert (result.outcome, result.evidence, result.exit_code, result.text) == expected


def test_a_file_that_ends_like_a_shells_output_is_no_exit_code(tmp_path: Path) -> None:
    (result,) = session(tmp_path, asked("view", path="log"), done(True, "x\n<exited with exit code 1>")).results()
    assert (result.outcome, result.exit_code, result.origin) == ("ok", None, "file")


def test_a_start_is_a_call_only_when_no_message_asked_for_it(tmp_path: Path) -> None:
    start = event("tool.execution_start", toolCallId="k", toolName="bash", arguments={"command": "make"})
    assert session(tmp_path, asked(command="make"), start, done(True, "")).tool_calls == 1
    alone = session(tmp_path, start, done(True, ""))
    assert (alone.tool_calls, alone.unpaired_calls, alone.messages[0].calls[0].command) == (1, 0, "make")


def test_only_what_the_user_typed_is_the_users(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        event("system.message", role="system", content="You are"),
        event("user.message", content="fix it", transformedContent="<now>12:00</now>\n\nfix it"),
        event("user.message", content="", transformedContent="Keep working"),
        event("user.message", content="Keep working", isAutopilotContinuation=True),
        event("user.message", content="How to read a PDF", source="skill-pdf"),
    )
    assert [m.text for m in found.messages if m.origin == "user"] == ["fix it"]
    assert [(m.role, m.origin) for m in found.messages if m.text == "Keep working"] == [("user", "injected")] * 2


def test_an_abort_is_an_interruption(tmp_path: Path) -> None:
    (said,) = session(tmp_path, event("abort", reason="user_initiated")).messages
    assert (said.origin, said.text) == ("injected", INTERRUPTED)


def test_a_sub_agent_is_a_session_of_its_own(tmp_path: Path) -> None:
    main, new, old = sessions(
        tmp_path,
        START,
        event("user.message", content="go"),
        event("subagent.started", toolCallId="t", agentName="explore"),
        event("user.message", "explore-1", content="look around"),
        event("assistant.message", content="found", parentToolCallId="t-2"),
        event("subagent.completed", "idle-agent", toolCallId="t"),
    )
    assert [s.external_id for s in (main, new, old)] == ["c-1"] * 3
    assert (main.subagent, new.subagent, old.subagent) == ("", "explore-1", "t-2")
    assert (new.messages[0].origin, main.user_messages) == ("agent", 1)


def test_a_rewind_takes_back_its_event_and_all_after_it(tmp_path: Path) -> None:
    first, second, third = (event("user.message", content=text) for text in ("first", "second", "third"))
    rewind = event("session.snapshot_rewind", upToEventId=second["id"], eventsRemoved=2)
    fourth = event("user.message", content="fourth")
    assert [m.text for m in session(tmp_path, first, second, third, rewind, fourth).messages] == ["first", "fourth"]
    assert session(tmp_path, first, event("session.snapshot_rewind", upToEventId="gone")).user_messages == 1


def test_an_event_written_twice_is_read_once(tmp_path: Path) -> None:
    said = event("user.message", content="hi")
    assert session(tmp_path, said, said).user_messages == 1


def test_unknown_events_are_counted_and_bookkeeping_is_not(tmp_path: Path) -> None:
    found = session(tmp_path, event("hook.start"), event("assistant.turn_end"), event("dream.begun"), {"type": "x"})
    assert found.unknown_records == 2


@pytest.mark.parametrize(
    "line",
    [
        {"type": "session", "version": 0, "id": "s", "cwd": "/repo"},
        {"type": "assistant/message", "seq": 5, "time": 1, "data": {}},
        {"type": "user.message", "data": {"content": "hi"}},
        {"type": "user.message", "data": "hi", "parentId": None},
        {"method": "session/update", "params": {"update": {}}},
    ],
)
def test_what_only_looks_similar_is_refused(tmp_path: Path, line: dict[str, Any]) -> None:
    assert not recognises(Source(write_lines(tmp_path / "x.jsonl", [line])))


def test_the_home_can_be_moved() -> None:
    assert roots({}, Path("/h")) == [Path("/h/.copilot/session-state")]
    assert roots({"COPILOT_HOME": "/m", "XDG_STATE_HOME": "/x"}, Path("/h")) == [Path("/m/session-state")]
    assert roots({"XDG_STATE_HOME": "/x"}, Path("/h"))[1:] == [Path("/x/.copilot/session-state")]


KEYS = (
    "type data id timestamp parentId agentId sessionId copilotVersion context cwd branch repository repositoryHost "
    "hostType content transformedContent source isAutopilotContinuation toolRequests toolCallId name arguments "
    "toolName success result error message code parentToolCallId upToEventId"
).split()
KINDS = (
    "session.start session.resume user.message assistant.message tool.execution_start tool.execution_complete "
    "system.message abort session.snapshot_rewind"
).split()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["bash", "command", *KINDS]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)
STRANGE = st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(strange=st.lists(STRANGE, min_size=1, max_size=3), kinds=st.lists(st.sampled_from(KINDS), max_size=4))
def test_no_event_is_too_strange(tmp_path: Path, strange: list[dict[str, Any]], kinds: list[str]) -> None:
    dressed = [{**event(kind), "data": data} for kind in kinds for data in strange]
    path = write_lines(tmp_path / "x.jsonl", [*strange, *dressed])
    assert isinstance(recognises(Source(path)), bool)
    assert read(Source(path))


def test_the_real_events_are_read_whole(shared: Path) -> None:
    folder = shared / "transcripts/other-cli/Mai0313__VibeCodingTracker/tests/fixtures/sessions"
    source = Source(folder / "copilot.jsonl")
    assert recognises(source)
    (found,) = read(source)
    assert (len(found.messages), found.user_messages, found.tool_calls, found.unpaired_calls) == (25, 1, 13, 0)
    assert [r.outcome for r in found.results()] == ["ok"] * 13
    assert [r.exit_code for r in found.results() if r.evidence == "exit-code"] == [0, 0]
    assert (found.version, found.cwd) == ("1.0.34", "/home/wei/repo/VibeCodingTracker")
    assert (found.remote, found.unknown_records) == ("https://github.com/Mai0313/VibeCodingTracker", 0)
    others = [path for path in sorted(folder.rglob("*.json*")) if path.name != "copilot.jsonl"]
    assert others
    assert not any(recognises(Source(path)) for path in others)
