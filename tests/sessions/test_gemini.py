"""Gemini CLI: the last version of a message counts, call and result are one record, a status says how it went."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon import Session, ToolResult
from hardwon.sessions.discover import gemini as roots
from hardwon.sessions.gemini import read, recognises
from hardwon.sessions.origin import INTERRUPTED
from hardwon.sessions.reader import Source
from tests.conftest import write_lines

ROOT = "/srv/work/reef"
HEADER = {
    "sessionId": "g-1",
    "projectHash": sha256(ROOT.encode()).hexdigest(),
    "startTime": "2026-10-01T10:00:00Z",
    "lastUpdated": "2026-10-01T10:00:00Z",
    "kind": "main",
}


def message(id: str, kind: str, content: object, **more: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-10-01T10:00:01Z", "type": kind, "content": content, **more}


def tool(id: str, name: str, args: dict[str, Any], status: str, **response: Any) -> dict[str, Any]:
    answer = {"functionResponse": {"id": id, "name": name, "response": response}}
    return {"id": id, "name": name, "args": args, "status": status, "result": [answer] if response else None}


def opened(source: Source) -> Session:
    assert recognises(source)
    (session,) = read(source)
    return session


def log(tmp_path: Path, *records: dict[str, Any]) -> Session:
    return opened(Source(write_lines(tmp_path / "session-x.jsonl", [HEADER, *records])))


def shell(tmp_path: Path, status: str, **response: Any) -> ToolResult:
    call = tool("c", "run_shell_command", {"command": "make"}, status, **response)
    (result,) = log(tmp_path, message("m", "gemini", "", toolCalls=[call])).results()
    return result


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_is_read_written_on_one_line_or_on_many(tmp_path: Path, indent: int | None) -> None:
    call = tool("c", "read_file", {"file_path": "a.py"}, "success", output="x = 1")
    turns = [message("u", "user", "fix it"), message("g", "gemini", "done", toolCalls=[call])]
    path = tmp_path / "session-x.json"
    path.write_text(json.dumps({**HEADER, "messages": turns}, indent=indent))
    session = opened(Source(path))
    assert [(m.role, m.text) for m in session.messages] == [("user", "fix it"), ("assistant", "done"), ("tool", "")]
    assert (session.external_id, session.unpaired_calls) == ("g-1", 0)
    assert session.results()[0].origin == "file"


def test_a_message_written_again_replaces_the_first(tmp_path: Path) -> None:
    call = tool("c", "run_shell_command", {"command": "make"}, "success", output="Output: fine")
    session = log(
        tmp_path,
        message("g", "gemini", "running"),
        {"$set": {"lastUpdated": "2026-10-01T11:00:00Z"}},
        message("u", "user", "and then?"),
        message("g", "gemini", "running", toolCalls=[call]),
    )
    assert [m.role for m in session.messages] == ["assistant", "tool", "user"]
    assert session.ended_at is not None
    assert session.started_at is not None
    assert session.ended_at - session.started_at == 3_600_000_000


def test_a_rewind_takes_back_its_message_and_all_after_it(tmp_path: Path) -> None:
    turns = [message(name, "user", name) for name in ("first", "second", "third")]
    session = log(tmp_path, *turns, {"$rewindTo": "second"}, message("fourth", "user", "fourth"))
    assert [m.text for m in session.messages] == ["first", "fourth"]


def test_a_rewind_to_a_lost_message_takes_nothing(tmp_path: Path) -> None:
    assert log(tmp_path, message("a", "user", "stay"), {"$rewindTo": "gone"}).user_messages == 1


def test_a_history_written_again_adds_only_what_is_new(tmp_path: Path) -> None:
    call = tool("c", "read_file", {}, "success", output="the whole file")
    masked = tool("c", "read_file", {}, "success", output="[masked]")
    history = [
        message("sum", "user", "<state_snapshot>we read a file</state_snapshot>"),
        message("g", "gemini", "", toolCalls=[masked]),
    ]
    session = log(tmp_path, message("g", "gemini", "", toolCalls=[call]), {"$set": {"messages": history}})
    assert [r.text for r in session.results()] == ["the whole file"]
    assert session.user_messages == 0


def test_each_call_takes_its_own_answer_out_of_a_shared_list(tmp_path: Path) -> None:
    good = tool("a", "update_topic", {}, "success", output="topic")
    bad = tool(
        "b",
        "run_shell_command",
        {"command": "git push"},
        "cancelled",
        error="[Operation Cancelled] Reason: User denied execution.",
    )
    good["result"] = bad["result"] = good["result"] + bad["result"]
    repeat = message("r", "user", good["result"])
    calls = [{"functionCall": {"id": call["id"], "name": call["name"], "args": call["args"]}} for call in (good, bad)]
    session = log(tmp_path, message("g", "gemini", calls, toolCalls=[good, bad]), repeat)
    assert [(r.call_id, r.outcome, r.evidence) for r in session.results()] == [
        ("a", "ok", "flag"),
        ("b", "error", "rejected"),
    ]
    assert (session.tool_calls, [m.role for m in session.messages]) == (2, ["assistant", "tool"])


def test_calls_and_answers_are_found_in_the_history_alone(tmp_path: Path) -> None:
    session = log(
        tmp_path,
        message(
            "g", "gemini", [{"functionCall": {"id": "c", "name": "run_shell_command", "args": {"command": "make"}}}]
        ),
        message(
            "u", "user", [{"functionResponse": {"id": "c", "name": "run_shell_command", "response": {"error": "no"}}}]
        ),
    )
    (result,) = session.results()
    assert (result.outcome, result.evidence, session.unpaired_calls) == ("error", "flag", 0)


SHELLS: list[tuple[str, dict[str, str], tuple[str, str, int | None, str]]] = [
    ("success", {"output": "Output: boom\nExit Code: 2\nProcess Group PGID: 7"}, ("error", "exit-code", 2, "boom")),
    ("success", {"output": "Output: (empty)\nExit Code: 1\nProcess Group PGID: 7"}, ("error", "exit-code", 1, "")),
    ("success", {"output": "Output: fine\nProcess Group PGID: 7"}, ("ok", "flag", None, "fine")),
    (
        "success",
        {"output": "Output: a\nError: lost module\nExit Code: 1\nProcess Group PGID: 7"},
        ("error", "exit-code", 1, "a\nError: lost module"),
    ),
    (
        "success",
        {
            "output": "Command: a\nb\nDirectory: (root)\nOutput: fine\nError: (none)\nExit Code: 0\nSignal: (none)\n"
            "Background PIDs: (none)\nProcess Group PGID: 7"
        },
        ("ok", "exit-code", 0, "fine"),
    ),
    (
        "success",
        {
            "output": "Command: a\nDirectory: b\nStdout: one\nStderr: two\nError: (none)\nExit Code: 3\n"
            "Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 7"
        },
        ("error", "exit-code", 3, "one\ntwo"),
    ),
    (
        "success",
        {"output": "<untrusted_context>\nOutput: boom\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>"},
        ("error", "exit-code", 1, "boom"),
    ),
    (
        "success",
        {
            "output": "<untrusted_context>\nOutput: boom\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>\n\n"
            "<hook_context>try again</hook_context>"
        },
        ("error", "exit-code", 1, "boom\n\n<hook_context>try again</hook_context>"),
    ),
    ("error", {"error": "no such command"}, ("error", "flag", None, "no such command")),
    ("error", {"error": "Output: x\nExit Code: 0"}, ("error", "flag", 0, "x")),
    ("success", {"output": "a log of Exit Code: 1"}, ("ok", "flag", None, "a log of Exit Code: 1")),
    ("", {"output": "fine"}, ("ok", "no-flag", None, "fine")),
    ("", {"other": "what"}, ("unknown", "none", None, "")),
]


@pytest.mark.parametrize(("status", "response", "expected"), SHELLS)
def test_the_status_or_the_exit_code_tells_the_outcome(
    tmp_path: Path, status: str, response: dict[str, str], expected: tuple[str, str, int | None, str]
) -> None:
    result = shell(tmp_path, status, **response)
    assert (result.outcome, result.evidence, result.exit_code, result.text) == expected


@pytest.mark.parametrize(
    ("status", "text", "evidence"),
    [
        ("cancelled", "[Operation Cancelled] Reason: User denied execution.", "rejected"),
        ("cancelled", "[Operation Cancelled] Reason: User did not allow tool call", "rejected"),
        ("cancelled", "[Operation Cancelled] Reason: Operation cancelled", "interrupted"),
        ("success", "Command was cancelled by user before it could complete.", "interrupted"),
        ("success", "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes", "text"),
    ],
)
def test_a_refused_a_stopped_and_a_timed_out_call_are_told_apart(
    tmp_path: Path, status: str, text: str, evidence: str
) -> None:
    result = shell(tmp_path, status, **({"error": text} if status == "cancelled" else {"output": text}))
    assert (result.outcome, result.evidence) == ("error", evidence)


def test_no_call_takes_the_answers_of_others(tmp_path: Path) -> None:
    others = [tool(name, "read_file", {}, "success", output=name)["result"][0] for name in ("a", "b")]
    call = {**tool("c", "run_shell_command", {"command": "make"}, "success"), "result": others}
    (result,) = log(tmp_path, message("g", "gemini", "", toolCalls=[call])).results()
    assert (result.call_id, result.outcome, result.text) == ("c", "ok", "")


def test_a_call_that_never_ended_has_no_result(tmp_path: Path) -> None:
    call = tool("c", "run_shell_command", {"command": "make"}, "executing")
    assert log(tmp_path, message("g", "gemini", "", toolCalls=[call])).unpaired_calls == 1


def test_a_call_without_id_or_answer_is_paired_by_its_status(tmp_path: Path) -> None:
    call = {"name": "read_file", "args": {"file_path": "a.py"}, "status": "success", "resultDisplay": "Read 3 lines"}
    session = log(tmp_path, message("g", "gemini", "", toolCalls=[call, call]))
    assert (session.tool_calls, session.unpaired_calls) == (2, 0)
    assert [r.text for r in session.results()] == ["Read 3 lines", "Read 3 lines"]


def test_only_what_the_user_typed_is_the_users(tmp_path: Path) -> None:
    session = log(
        tmp_path,
        message("a", "user", [{"text": "A long prompt of the command"}], displayContent=[{"text": "/init"}]),
        message("b", "user", [{"text": "go on"}], displayContent=[{"functionResponse": {"id": "x"}}]),
        message("c", "user", [{"text": "<session_context>\ndate</session_context>"}]),
        message("d", "user", "I ran the following shell command:\n```sh\nls\n```"),
        message("e", "user", {"text": "fix it"}),
        message("f", "info", "Loaded"),
    )
    assert [m.text for m in session.messages if m.origin == "user"] == ["/init", "fix it"]
    assert [m.role for m in session.messages] == ["user"] * 5 + ["system"]


def test_a_command_the_user_ran_is_a_call_not_words(tmp_path: Path) -> None:
    ran = "I ran the following shell command:\n```sh\n{}\n```\n\nThis produced the following result:\n```\n{}\n```"
    session = log(
        tmp_path,
        message("a", "user", ran.format("python app.py", "Command exited with code 1.\nNo module named 'flask'")),
        message("b", "user", [{"text": ran.format("ls", "(Command produced no output)")}]),
    )
    assert [call.command for m in session.messages for call in m.calls] == ["python app.py", "ls"]
    assert [(r.outcome, r.evidence, r.exit_code, r.text) for r in session.results()] == [
        ("error", "exit-code", 1, "No module named 'flask'"),
        ("ok", "no-flag", None, ""),
    ]
    assert session.user_messages == 0


def test_thoughts_are_not_read(tmp_path: Path) -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "Done."}]
    assert log(tmp_path, message("g", "gemini", parts, thoughts=[{"subject": "hm"}])).messages[0].text == "Done."


def test_a_cancelled_request_is_an_interruption(tmp_path: Path) -> None:
    (said,) = log(tmp_path, message("i", "info", "Request cancelled.")).messages
    assert (said.role, said.origin, said.text) == ("user", "injected", INTERRUPTED)


def test_a_sub_agents_prompt_is_its_agents(tmp_path: Path) -> None:
    session = log(tmp_path, {"$set": {"kind": "subagent"}}, message("u", "user", "look around"))
    assert (session.subagent, session.messages[0].origin) == ("g-1", "agent")


@pytest.mark.parametrize(
    "told",
    [
        message("g", "gemini", "", toolCalls=[tool("c", "read_file", {"file_path": ROOT + "/src/a.py"}, "success")]),
        message("g", "gemini", "", toolCalls=[{"name": "w", "resultDisplay": {"filePath": ROOT + "/b.py"}}]),
        message("u", "user", f"<session_context>\n- **Workspace Directories:**\n  - {ROOT}\n</session_context>"),
        {"$set": {"directories": ["/elsewhere", ROOT]}},
    ],
)
def test_the_folder_is_the_one_whose_hash_the_project_has(tmp_path: Path, told: dict[str, Any]) -> None:
    assert log(tmp_path, message("a", "gemini", "", toolCalls=[{"args": {"path": "/etc/hosts"}}]), told).cwd == ROOT


def test_the_folder_is_found_in_the_file_beside_the_chats(tmp_path: Path) -> None:
    (tmp_path / ".project_root").write_text(ROOT + "\n")
    chat = write_lines(tmp_path / "chats" / "session-x.jsonl", [HEADER])
    assert opened(Source(chat)).cwd == ROOT
    (tmp_path / ".project_root").write_text("/srv/other\n")
    assert opened(Source(chat)).cwd == ""


@pytest.mark.parametrize(
    "record",
    [
        {"sessionId": "x", "projectHash": "y"},
        {"$set": {"lastUpdated": "2026-10-01"}},
        {"sessionId": "x", "messageId": 0, "type": "user", "message": "hi"},
        {"id": "m", "type": "user", "content": "hi"},
        {**HEADER, "messages": [message("q", "qwen", "hi")]},
    ],
)
def test_what_only_looks_similar_is_refused(tmp_path: Path, record: dict[str, Any]) -> None:
    assert not recognises(Source(write_lines(tmp_path / "x.jsonl", [record])))


def test_a_log_that_lost_its_first_line_is_still_read(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "session-y.jsonl", [b'{"sessionId": "g-', message("g", "gemini", "hi")])
    assert opened(Source(path)).external_id == "session-y"


def test_unknown_records_are_counted(tmp_path: Path) -> None:
    session = log(tmp_path, {"what": 1}, message("a", "telepathy", "hm"), {"$set": {"messages": [1]}})
    assert session.unknown_records == 3


def test_the_home_can_be_moved() -> None:
    assert roots({}, Path("/h")) == [Path("/h/.gemini/tmp")]
    assert roots({"GEMINI_CLI_HOME": "/m"}, Path("/h")) == [Path("/m/.gemini/tmp")]


KEYS = (
    "sessionId projectHash startTime kind directories messages id type timestamp content displayContent toolCalls "
    "name args status result resultDisplay functionResponse functionCall response output error text thought "
    "$set $rewindTo"
).split()
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["user", "gemini", "success"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records=st.lists(st.dictionaries(st.sampled_from(KEYS), ANYTHING, max_size=6), min_size=1, max_size=3))
def test_no_record_is_too_strange(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    for name, lines in (
        ("log.jsonl", [HEADER, *records, message("m", "gemini", records, toolCalls=records)]),
        ("bare.jsonl", records),
        ("chat.json", [{**HEADER, "messages": records}]),
    ):
        path = write_lines(tmp_path / name, lines)
        assert isinstance(recognises(Source(path)), bool)
        assert read(Source(path))


def test_the_real_chats_are_read_whole(shared: Path) -> None:
    folder = shared / "transcripts"
    log = opened(Source(folder / "gemini-cli/Mai0313__VibeCodingTracker/tests/fixtures/sessions/gemini.jsonl"))
    assert (len(log.messages), log.tool_calls, log.user_messages, log.unpaired_calls) == (16, 12, 2, 0)
    assert {r.outcome for r in log.results()} == {"ok"}
    assert (log.cwd, log.unknown_records) == ("/home/wei/repo/discordbot", 0)
    documents = folder / "fixtures-multi/wesm__agentsview/internal/parser/testdata/gemini"
    counts = {}
    for path in sorted(documents.glob("*.json")):
        session = opened(Source(path))
        counts[path.stem] = (len(session.messages), session.user_messages, session.tool_calls)
    assert counts == {
        "standard_session": (4, 2, 0),
        "system_messages": (3, 0, 0),
        "thinking_only": (2, 1, 0),
        "tool_calls": (3, 1, 1),
    }
