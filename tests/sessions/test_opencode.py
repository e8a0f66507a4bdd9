"""opencode: the same session exported, stored in folders and in a database; failures as status or exit code."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hardwon import Session
from hardwon.sessions import discover, opencode
from hardwon.sessions.origin import INTERRUPTED
from hardwon.sessions.reader import Source

INFO = {
    "id": "ses_a",
    "projectID": "p",
    "directory": "/srv/work/reef",
    "title": "Fix the tide",
    "version": "1.2.5",
    "time": {"created": 1790848800000, "updated": 1790848900000},
}


def message(role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"role": role, "time": {"created": 1790848801000}, **info}, "parts": list(parts)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(name: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "callID": "k", "tool": name, "state": {"input": {}, **state}}


def bash(output: str, **metadata: Any) -> dict[str, Any]:
    return tool("bash", status="completed", input={"command": "make"}, output=output, metadata=metadata)


def exported(tmp_path: Path, *messages: dict[str, Any], **info: Any) -> Session:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"info": {**INFO, **info}, "messages": messages}, indent=2))
    assert opencode.recognises(Source(path))
    (session,) = opencode.read(Source(path))
    return session


def store(storage: Path, session_id: str, messages: tuple[dict[str, Any], ...]) -> Path:
    """The folders that opencode keeps: one small file each for the session, its messages and their parts."""
    path = storage / "session" / "p" / f"{session_id}.json"
    files: dict[Path, Any] = {path: {**INFO, "id": session_id}}
    for number, entry in enumerate(messages):
        name = f"msg_{session_id}_{number:03}"
        files[storage / "message" / session_id / f"{name}.json"] = {"id": name, **entry["info"]}
        for count, part in enumerate(entry["parts"]):
            files[storage / "part" / name / f"prt_{count:03}.json"] = part
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    return path


def database(path: Path, sessions: dict[str, tuple[dict[str, Any], ...]], parent: str | None = None) -> Path:
    db = apsw.Connection(str(path))
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(
        "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,"
        " version TEXT, time_created INTEGER, time_updated INTEGER);"
        "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);"
        "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"
    )
    for name, messages in sessions.items():
        row = (name, "p", parent, INFO["directory"], "t", INFO["version"], 1790848800000, 1790848900000)
        db.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        for number, entry in enumerate(messages):
            id = f"{name}-{number:03}"
            data = json.dumps(entry["info"])
            db.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (id, name, 1790848801000, data))
            for count, part in enumerate(entry["parts"]):
                db.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (f"{id}-{count:03}", id, name, json.dumps(part)))
    db.close()
    return path


CONVERSATION = (
    message("user", text("fix the tide"), text("Called the Read tool", synthetic=True)),
    message("assistant", {"type": "step-start"}, text("I look."), bash("boom", exit=2), path={"cwd": "/srv/work/reef"}),
    message("assistant", tool("read", status="completed", input={"filePath": "a.py"}, output="x = 1"), text("Done.")),
)


def test_a_session_is_the_same_from_an_export_from_folders_and_from_a_database(tmp_path: Path) -> None:
    one = exported(tmp_path, *CONVERSATION)
    stored = Source(store(tmp_path / "storage", "ses_a", CONVERSATION))
    kept = Source(database(tmp_path / "opencode.db", {"ses_a": CONVERSATION}))
    assert opencode.recognises(stored)
    assert opencode.recognises(kept)
    assert opencode.read(stored) == [one]
    assert opencode.read(kept) == [one]
    assert [m.role for m in one.messages] == ["user", "user", "assistant", "tool", "assistant", "tool"]
    assert (one.external_id, one.cwd, one.version) == ("ses_a", "/srv/work/reef", "1.2.5")
    assert (one.started_at, one.ended_at) == (1790848800000000, 1790848900000000)


def test_a_database_is_left_as_it_was(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", {"ses_a": CONVERSATION})
    before = {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    opencode.read(Source(path))
    assert {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before


def test_a_database_holds_many_sessions_each_with_its_own_messages(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", {"ses_a": CONVERSATION, "ses_b": CONVERSATION[:1]})
    first, second = opencode.read(Source(path))
    assert (first.external_id, len(first.messages)) == ("ses_a", 6)
    assert (second.external_id, len(second.messages)) == ("ses_b", 2)


def test_a_damaged_database_gives_what_it_still_holds_and_says_so(tmp_path: Path) -> None:
    sessions = {f"ses_{n:03}": CONVERSATION * 20 for n in range(20)}
    path = database(tmp_path / "opencode.db", sessions)
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = b"\xff" * (len(content) - len(content) // 2)
    path.write_bytes(content)
    source = Source(path)
    opencode.recognises(source)
    assert len(opencode.read(source)) < 20
    assert source.damaged


OUTPUTS = [
    ("boom\n", {"exit": 2}, ("error", "exit-code", 2, "boom\n")),
    ("fine\n", {"exit": 0}, ("ok", "exit-code", 0, "fine\n")),
    ("killed", {"exit": None}, ("unknown", "none", None, "killed")),
    ("an error: failed", {}, ("unknown", "none", None, "an error: failed")),
    (
        "up\n\n<bash_metadata>\nbash tool terminated command after exceeding timeout 4000 ms\n</bash_metadata>",
        {"exit": None},
        ("error", "text", None, "up\nbash tool terminated command after exceeding timeout 4000 ms"),
    ),
    (
        "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>",
        {"exit": None},
        ("error", "interrupted", None, ""),
    ),
    ("half\n\n(Command was aborted)", {"exit": None}, ("error", "interrupted", None, "half")),
    ("a page on <bash_metadata>", {"exit": 0}, ("ok", "exit-code", 0, "a page on <bash_metadata>")),
    ("x", {"exit": True}, ("unknown", "none", None, "x")),
]


@pytest.mark.parametrize(("output", "metadata", "expected"), OUTPUTS)
def test_a_command_is_judged_by_its_exit_code_or_the_clients_note(
    tmp_path: Path, output: str, metadata: dict[str, Any], expected: tuple[object, ...]
) -> None:
    (result,) = exported(tmp_path, message("assistant", bash(output, **metadata))).results()
    assert (result.outcome, result.evidence, result.exit_code, result.text) == expected


ERRORS = [
    ("File not found: a.py", "flag"),
    ("Error: The user rejected permission to use this specific tool call.", "rejected"),
    ("The user rejected permission to use this specific tool call with the following feedback: no", "rejected"),
    ("The user has specified a rule which prevents you from using this specific tool call.", "rejected"),
    ("The user dismissed this question", "rejected"),
    ("Tool execution aborted", "interrupted"),
    ("A test says: The user rejected permission", "flag"),
]


@pytest.mark.parametrize(("error", "evidence"), ERRORS)
def test_a_tool_that_failed_is_an_error_and_a_refusal_is_told_from_it(
    tmp_path: Path, error: str, evidence: str
) -> None:
    (result,) = exported(tmp_path, message("assistant", tool("read", status="error", error=error))).results()
    assert (result.outcome, result.evidence, result.text) == ("error", evidence, error)


def test_a_call_that_was_still_running_has_no_result(tmp_path: Path) -> None:
    running = tool("bash", status="running", metadata={"output": "half"})
    session = exported(tmp_path, message("assistant", running, tool("read", status="pending")))
    assert (session.tool_calls, session.results()) == (2, [])


def test_only_what_was_typed_are_the_users_words(tmp_path: Path) -> None:
    session = exported(
        tmp_path,
        message("user", text("fix @a.py"), text("<path>a.py</path>", synthetic=True), {"type": "file"}),
        message("user", text("<system-reminder>plan mode</system-reminder>", synthetic=True)),
        message("user", text("not sent", ignored=True)),
    )
    assert [(m.origin, m.text) for m in session.messages] == [
        ("user", "fix @a.py"),
        ("injected", "<path>a.py</path>"),
        ("injected", "<system-reminder>plan mode</system-reminder>"),
    ]


def test_what_a_sub_agent_is_told_comes_from_an_agent(tmp_path: Path) -> None:
    session = exported(tmp_path, message("user", text("look around")), parentID="ses_root")
    assert session.subagent == "ses_a"
    assert [m.origin for m in session.messages] == ["agent"]


def test_an_interruption_stands_where_it_came(tmp_path: Path) -> None:
    stopped = message("assistant", text("I will"), error={"name": "MessageAbortedError", "data": {}})
    failed = message("assistant", text("I will"), error={"name": "APIError", "data": {}})
    assert exported(tmp_path, stopped).messages[-1].text == INTERRUPTED
    assert exported(tmp_path, failed).messages[-1].text == "I will"


def test_a_summary_of_compacted_messages_is_not_the_agents_answer(tmp_path: Path) -> None:
    session = exported(
        tmp_path, message("user", {"type": "compaction"}), message("assistant", text("So far: …"), summary=True)
    )
    assert [(m.role, m.origin) for m in session.messages] == [("assistant", "injected")]


def test_the_folder_is_taken_from_a_message_where_the_session_has_none(tmp_path: Path) -> None:
    session = exported(tmp_path, message("assistant", text("hi"), path={"cwd": "/srv/old"}), directory=None)
    assert session.cwd == "/srv/old"


def test_a_broken_message_or_part_is_counted_and_costs_no_other(tmp_path: Path) -> None:
    path = store(tmp_path / "storage", "ses_a", CONVERSATION)
    (tmp_path / "storage/message/ses_a/msg_zzz.json").write_text('{"role": "us')
    (tmp_path / "storage/part/msg_ses_a_000/prt_zzz.json").write_bytes(b"\xff\x00")
    (tmp_path / "storage/part/msg_ses_a_001/prt_zzz.json").write_text('{"type": "hologram"}')
    (session,) = opencode.read(Source(path))
    assert session.unknown_records == 3
    assert replace(session, unknown_records=0) == exported(tmp_path, *CONVERSATION)


def test_a_session_file_is_read_by_its_own_name_and_never_leaves_its_folders(tmp_path: Path) -> None:
    path = store(tmp_path / "storage", "ses_a", ())
    path.write_text(json.dumps({**INFO, "id": "ses_../../../outside"}))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "m.json").write_text('{"role": "user"}')
    (session,) = opencode.read(Source(path))
    assert session.messages == ()


LOOK_ALIKES = [
    {"id": "msg_a", "sessionID": "ses_a", "role": "user", "time": {"created": 1}},
    {"id": "prt_a", "sessionID": "ses_a", "messageID": "msg_a", "type": "text", "text": "hi"},
    {"info": {"exit_status": "submitted", "note": "ses_a"}, "messages": [], "trajectory_format": "mini-swe-agent-1"},
    {"info": {"id": "ses_a"}, "messages": [{"role": "user", "content": "hi"}]},
    {"id": "ses_a", "messages": [], "title": "t", "directory": "/", "time": {}},
    ["ses_a"],
]


@pytest.mark.parametrize("content", LOOK_ALIKES)
def test_what_only_looks_similar_is_not_recognised(tmp_path: Path, content: object) -> None:
    path = tmp_path / "ses_a.json"
    path.write_text(json.dumps(content))
    assert not opencode.recognises(Source(path))


def test_another_database_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE session (id); CREATE VIEW message AS SELECT 1; CREATE TABLE part (id)")
    db.close()
    assert not opencode.recognises(Source(path))
    path.write_bytes(b"SQLite format 3\x00" + b"\x10\x00\x02" * 400)
    assert not opencode.recognises(Source(path))


def test_the_store_is_where_the_environment_says(tmp_path: Path) -> None:
    data = tmp_path / ".local/share/opencode"
    assert discover.opencode({}, tmp_path) == [data / "storage/session", data / "opencode.db"]
    moved = discover.opencode({"XDG_DATA_HOME": "/d", "OPENCODE_DB": "/x/y.db"}, tmp_path)
    assert moved == [Path("/d/opencode/storage/session"), Path("/x/y.db")]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
STATES = st.fixed_dictionaries(
    {"status": st.sampled_from(["completed", "error", "running"]) | ANYTHING},
    optional=dict.fromkeys(("input", "output", "error", "metadata", "time"), ANYTHING),
)
PARTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool", "file"]) | ANYTHING},
    optional={"state": STATES | ANYTHING, **dict.fromkeys(("text", "callID", "tool", "synthetic"), ANYTHING)},
)
INFOS = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]) | ANYTHING},
    optional=dict.fromkeys(("time", "error", "path", "summary", "id"), ANYTHING),
)
MESSAGES = st.fixed_dictionaries({"info": INFOS, "parts": st.lists(PARTS | ANYTHING, max_size=4) | ANYTHING})


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    info=st.dictionaries(st.sampled_from([*INFO, "parentID"]), ANYTHING),
    messages=st.lists(MESSAGES | ANYTHING, max_size=3) | ANYTHING,
    stored=st.booleans(),
)
def test_no_value_in_any_field_stops_the_reader(tmp_path: Path, info: Any, messages: Any, stored: bool) -> None:
    content = {**info, "note": "ses_"} if stored else {"info": {"id": "ses_a", **info}, "messages": messages}
    path = tmp_path / "strange.json"
    path.write_text(json.dumps(content))
    opencode.recognises(Source(path))
    assert len(opencode.read(Source(path))) == 1


def test_the_real_sessions_are_read_whole(shared: Path) -> None:
    files = sorted((shared / "transcripts/opencode").rglob("*.json"))
    counts: Counter[str] = Counter()
    for path in files:
        assert opencode.recognises(Source(path))
        assert not opencode.recognises(Source(path.with_suffix(".md")))
        (session,) = opencode.read(Source(path))
        counts["users"] += session.user_messages
        counts["messages"] += len(session.messages)
        counts["calls"] += session.tool_calls
        counts["unpaired"] += session.unpaired_calls
        counts["unknown"] += session.unknown_records
        counts.update(f"{result.outcome} {result.evidence}" for result in session.results())
    assert len(files) == 8
    assert counts == {
        "users": 32,
        "messages": 348,
        "calls": 202,
        "unpaired": 1,
        "unknown": 0,
        "ok flag": 174,
        "ok exit-code": 13,
        "error exit-code": 10,
        "error text": 4,
    }
