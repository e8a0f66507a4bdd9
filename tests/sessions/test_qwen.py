"""Qwen Code: records with a status beside each tool's result; what was rewound is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session
from hardwon.sessions import gemini
from hardwon.sessions.discover import qwen as roots
from hardwon.sessions.qwen import read, recognises
from hardwon.sessions.reader import Source
from tests.conftest import write_lines


def record(uuid: str, kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": "q-1",
        "timestamp": "2026-10-01T10:00:00Z",
        "type": kind,
        "cwd": "/srv/work/reef",
        "version": "0.24.7",
        "gitBranch": "main",
        "message": {"role": "model" if kind == "assistant" else "user", "parts": list(parts)},
        **more,
    }


def user(uuid: str, text: str, **more: Any) -> dict[str, Any]:
    return record(uuid, "user", {"text": text}, **more)


def call(name: str = "run_shell_command", **arguments: Any) -> dict[str, Any]:
    return record("call", "assistant", {"functionCall": {"id": "c", "name": name, "args": arguments}})


def answer(status: str, response: dict[str, Any], **more: Any) -> dict[str, Any]:
    part = {"functionResponse": {"id": "c", "name": "run_shell_command", "response": response}}
    verdict = {"callId": "c", "status": status, **more}
    return record("answer", "tool_result", part, toolCallResult=verdict if status else None)


def system(uuid: str, subtype: str, **more: Any) -> dict[str, Any]:
    return record(uuid, "system", subtype=subtype, systemPayload={}, **more)


def sessions(tmp_path: Path, *records: dict[str, Any]) -> list[Session]:
    source = Source(write_lines(tmp_path / "chat.jsonl", records))
    assert recognises(source)
    return read(source)


def session(tmp_path: Path, *records: dict[str, Any]) -> Session:
    (only,) = sessions(tmp_path, *records)
    return only


def test_the_envelope_tells_where_and_what(tmp_path: Path) -> None:
    found = session(tmp_path, user("u", "fix it"))
    assert (found.external_id, found.cwd, found.branch, found.version) == ("q-1", "/srv/work/reef", "main", "0.24.7")


def test_thoughts_are_not_read(tmp_path: Path) -> None:
    parts = ({"text": "hm", "thought": True}, {"text": "Done."})
    assert session(tmp_path, record("a", "assistant", *parts)).messages[0].text == "Done."


WRAPPED = "Command: make\nDirectory: (root)\nOutput: boom\nError: (none)\nExit Code: 2\nSignal: (none)"
ANSWERS: list[tuple[dict[str, Any], tuple[str, str, int | None, str]]] = [
    (answer("success", {"output": "fine"}), ("ok", "flag", None, "fine")),
    (answer("error", {"error": "no such file"}), ("error", "flag", None, "no such file")),
    (answer("error", {"error": WRAPPED}), ("error", "exit-code", 2, "boom")),
    (answer("success", {"output": WRAPPED}), ("error", "exit-code", 2, "boom")),
    (answer("", {"error": "no"}), ("error", "flag", None, "no")),
    (answer("", {"output": "fine"}), ("ok", "no-flag", None, "fine")),
    (
        answer("success", {"output": "boom"}, resultDisplay={"type": "shell_result", "exitCode": 3}),
        ("error", "exit-code", 3, "boom"),
    ),
    (
        answer("success", {"output": "fine"}, resultDisplay={"type": "shell_result", "exitCode": 0}),
        ("ok", "exit-code", 0, "fine"),
    ),
    (
        answer("cancelled", {"error": "[Operation Cancelled] Reason: User did not allow tool call"}),
        ("error", "rejected", None, "[Operation Cancelled] Reason: User did not allow tool call"),
    ),
    (
        answer("cancelled", {"error": "[Operation Cancelled] Reason: Interrupted"}, resultDisplay={"exitCode": 130}),
        ("error", "interrupted", None, "[Operation Cancelled] Reason: Interrupted"),
    ),
]


@pytest.mark.parametrize(("told", "expected"), ANSWERS)
def test_the_status_or_the_exit_code_tells_the_outcome(
    tmp_path: Path, told: dict[str, Any], expected: tuple[str, str, int | None, str]
) -> None:
    found = session(tmp_path, call(command="make"), told)
    (result,) = found.results()
    assert (result.outcome, result.evidence, result.exit_code, result.text) == expected
    assert found.unpaired_calls == 0


def test_a_result_without_its_message_is_taken_from_what_was_shown(tmp_path: Path) -> None:
    told = {**answer("success", {}, resultDisplay="12 passing"), "message": None}
    found = session(tmp_path, call(command="make"), told)
    assert (found.results()[0].text, found.unpaired_calls) == ("12 passing", 0)


def test_a_result_is_paired_by_the_call_id_when_its_own_is_strange(tmp_path: Path) -> None:
    told = answer("success", {"output": "x"})
    told["message"]["parts"][0]["functionResponse"]["id"] = "other"
    found = session(tmp_path, call("read_file", path="a.py"), told)
    assert (found.unpaired_calls, found.results()[0].origin) == (0, "file")


def test_only_what_the_user_typed_is_the_users(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        user("a", "look at @a.py\n--- the whole file ---", systemPayload={"displayText": "look at @a.py"}),
        user("b", "a task ended", subtype="notification", provenance="system"),
        user("c", "tick", subtype="cron"),
        user("d", "keep going", subtype="goal_runtime"),
        user("e", "stop that", subtype="mid_turn_user_message"),
        user("f", "<system-reminder>be brief</system-reminder>"),
    )
    assert [m.text for m in found.messages if m.origin == "user"] == ["look at @a.py", "stop that"]
    assert len(found.messages) == 6


def test_a_sub_agent_is_a_session_of_its_own(tmp_path: Path) -> None:
    main, sub = sessions(tmp_path, user("a", "go"), user("b", "look around", agentId="explore-1", isSidechain=True))
    assert (main.subagent, sub.external_id, sub.subagent) == ("", "q-1", "explore-1")
    assert sub.messages[0].origin == "agent"


def test_a_rewind_takes_back_all_behind_its_parent(tmp_path: Path) -> None:
    told = (user("a", "first"), user("b", "second"), user("c", "third"))
    again = user("d", "fourth")
    assert [m.text for m in session(tmp_path, *told, system("r", "rewind", parentUuid="a"), again).messages] == [
        "first",
        "fourth",
    ]
    assert [m.text for m in session(tmp_path, *told, system("r", "rewind"), again).messages] == ["fourth"]
    assert len(session(tmp_path, *told, system("r", "rewind", parentUuid="gone")).messages) == 3


def test_a_record_written_twice_is_read_once(tmp_path: Path) -> None:
    assert len(session(tmp_path, user("a", "go"), user("a", "go")).messages) == 1


def test_unknown_records_are_counted_and_bookkeeping_is_not(tmp_path: Path) -> None:
    assert session(tmp_path, user("a", "go"), system("b", "ui_telemetry"), {"type": "dream"}).unknown_records == 1


def test_a_document_of_2025_is_read_as_qwens(tmp_path: Path) -> None:
    header = {"sessionId": "q-0", "projectHash": "a" * 64, "startTime": "2025-10-01T10:00:00Z"}
    turns = [{"id": "u", "type": "user", "content": "hi"}, {"id": "q", "type": "qwen", "content": "hello"}]
    path = write_lines(tmp_path / "session-x.json", [{**header, "messages": turns}])
    assert not gemini.recognises(Source(path))
    assert recognises(Source(path))
    (found,) = read(Source(path))
    assert (found.agent, [m.text for m in found.messages]) == ("qwen-code", ["hi", "hello"])


def test_a_first_prompt_longer_than_the_head_is_no_hindrance(tmp_path: Path) -> None:
    assert session(tmp_path, user("a", "x" * 100_000)).user_messages == 1


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user", "message": {"role": "user", "parts": []}},
        {"type": "user", "uuid": "a", "sessionId": "s", "message": {"role": "user", "content": "hi"}},
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "system", "uuid": "a", "sessionId": "s", "subtype": "compact_boundary", "content": "x"},
        {"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "hi"}},
        {"id": 10, "v": 1, "type": "session_update", "data": {}},
    ],
)
def test_what_only_looks_similar_is_refused(tmp_path: Path, line: dict[str, Any]) -> None:
    assert not recognises(Source(write_lines(tmp_path / "x.jsonl", [line])))


def test_the_home_can_be_moved() -> None:
    assert roots({}, Path("/h")) == [Path("/h/.qwen/projects"), Path("/h/.qwen/tmp")]
    assert roots({"QWEN_HOME": "/q"}, Path("/h")) == [Path("/q/projects"), Path("/q/tmp")]
    assert roots({"QWEN_RUNTIME_DIR": "/r", "QWEN_HOME": "/q"}, Path("/h")) == [Path("/r/projects"), Path("/r/tmp")]


KEYS = (
    "uuid parentUuid sessionId timestamp type subtype provenance cwd version gitBranch message role parts text thought "
    "functionCall functionResponse id name args response output error toolCallResult callId status resultDisplay "
    "exitCode systemPayload displayText agentId isSidechain"
).split()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["user", "assistant", "rewind"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)
STRANGE = st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records=st.lists(STRANGE, min_size=1, max_size=3), kind=st.sampled_from(["user", "assistant", "tool_result"]))
def test_no_record_is_too_strange(tmp_path: Path, records: list[dict[str, Any]], kind: str) -> None:
    dressed = [{**record("u", kind, *records), **strange} for strange in records]
    path = write_lines(tmp_path / "x.jsonl", [*records, *dressed, record("v", kind, *records)])
    assert isinstance(recognises(Source(path)), bool)
    assert read(Source(path))


def test_the_real_records_are_read_whole(shared: Path) -> None:
    folder = shared / "transcripts/qwen-code/QwenLM__qwen-code/integration-tests/fixtures"
    cases = folder / "chat-transcript-contract/v1/cases/representative"
    source = Source(cases / "chat-records.jsonl")
    assert recognises(source)
    (found,) = read(source)
    assert (len(found.messages), found.user_messages, found.tool_calls, found.unpaired_calls) == (4, 1, 1, 0)
    assert [(r.outcome, r.text) for r in found.results()] == [("ok", "hidden raw output")]
    assert (found.external_id, found.cwd) == ("session-test", "/workspace/project")
    others = [path for path in sorted(cases.iterdir()) if path.name != "chat-records.jsonl"]
    assert others
    assert not any(recognises(Source(path)) for path in others)
