"""goose: the same messages as lines and as rows; an old shell's success says nothing of how a command ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hardwon import Session
from hardwon.sessions import discover, goose
from hardwon.sessions.reader import Source
from tests.conftest import write_lines

HEADER = {"working_dir": "/srv/work/reef", "description": "Fix the tide", "message_count": 2, "total_tokens": None}


def said(role: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": role, "created": 1790848800, "content": list(content), **more}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def request(name: str, **arguments: Any) -> dict[str, Any]:
    value = {"name": name, "arguments": arguments}
    return {"type": "toolRequest", "id": "k", "toolCall": {"status": "success", "value": value}}


def response(value: Any = None, **result: Any) -> dict[str, Any]:
    return {"type": "toolResponse", "id": "k", "toolResult": {"status": "success", "value": value, **result}}


def session(tmp_path: Path, *records: dict[str, Any]) -> Session:
    path = write_lines(tmp_path / "20261001_100000.jsonl", [HEADER, *records])
    assert goose.recognises(Source(path))
    (found,) = goose.read(Source(path))
    return found


def database(path: Path, *records: dict[str, Any], kind: str = "user", version: int = 5) -> Path:
    """The tables as goose makes them; earlier schemas have fewer columns."""
    db = apsw.Connection(str(path))
    db.execute(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT, working_dir TEXT NOT NULL,"
        f" created_at TIMESTAMP, updated_at TIMESTAMP{', session_type TEXT' if version >= 5 else ''});"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT,"
        f" created_timestamp INTEGER{', metadata_json TEXT' if version >= 3 else ''});"
    )
    row = ("20261001_1", "t", "/srv/work/reef", "2026-10-01 10:00:00", "2026-10-01 10:00:00", kind)
    row = row if version >= 5 else row[:5]
    db.execute(f"INSERT INTO sessions VALUES ({', '.join('?' * len(row))})", row)
    for record in records:
        values: tuple[Any, ...] = ("20261001_1", record["role"], json.dumps(record["content"]), record["created"])
        if version >= 3:
            values += (json.dumps(record.get("metadata", {})),)
        db.execute(f"INSERT INTO messages VALUES (NULL, {', '.join('?' * len(values))})", values)
    db.close()
    return path


CONVERSATION = (
    said("user", text("fix the tide")),
    said("assistant", text("I look."), request("developer__shell", command="make")),
    said("user", response({"content": [text("boom")], "isError": True, "structuredContent": {"exit_code": 2}})),
    said("user", text("<summary>"), metadata={"userVisible": False, "agentVisible": True}),
)


@pytest.mark.parametrize("version", [1, 3, 5])
def test_a_session_is_the_same_from_lines_and_from_a_database(tmp_path: Path, version: int) -> None:
    lines = session(tmp_path, *CONVERSATION[: 4 if version >= 3 else 3])
    kept = Source(database(tmp_path / "sessions.db", *CONVERSATION[: 4 if version >= 3 else 3], version=version))
    assert goose.recognises(kept)
    assert goose.read(kept) == [replace(lines, external_id="20261001_1")]
    assert [(m.role, m.origin) for m in lines.messages][:3] == [
        ("user", "user"),
        ("assistant", "agent"),
        ("tool", "tool"),
    ]
    assert (lines.external_id, lines.cwd, lines.started_at) == ("20261001_100000", "/srv/work/reef", 1790848800000000)


def test_what_only_the_model_sees_is_not_the_users(tmp_path: Path) -> None:
    assert [m.origin for m in session(tmp_path, *CONVERSATION).messages if m.role == "user"] == ["user", "injected"]


def test_what_a_sub_agent_is_told_comes_from_an_agent(tmp_path: Path) -> None:
    (found,) = goose.read(Source(database(tmp_path / "s.db", *CONVERSATION[:1], kind="sub_agent")))
    assert (found.subagent, found.messages[0].origin) == ("20261001_1", "agent")


def test_a_session_without_its_header_is_recognised_by_its_messages(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", CONVERSATION)
    assert goose.recognises(Source(path))
    assert len(goose.read(Source(path))[0].messages) == 4


RESPONSES = [
    ("shell", response([text("fine")]), ("unknown", "none", None, "fine")),
    ("shell", response({"content": [text("fine")], "isError": False}), ("unknown", "none", None, "fine")),
    (
        "shell",
        response({"content": [text("(no output)")], "structuredContent": {"exit_code": 0}}),
        ("ok", "exit-code", 0, ""),
    ),
    (
        "shell",
        response(
            {
                "content": [text("boom\n\nCommand exited with code 7")],
                "isError": True,
                "structuredContent": {"exit_code": 7},
            }
        ),
        ("error", "exit-code", 7, "boom"),
    ),
    ("shell", response({"content": [text("timed out")], "isError": True}), ("error", "flag", None, "timed out")),
    ("shell", response(status="error", error="-32603: no such tool"), ("error", "flag", None, "-32603: no such tool")),
    (
        "shell",
        response([text("The user has declined to run this tool. DO NOT attempt to call this tool again.")]),
        (
            "error",
            "rejected",
            None,
            "The user has declined to run this tool. DO NOT attempt to call this tool again.",
        ),
    ),
    ("read", response([text("an error: failed")]), ("ok", "flag", None, "an error: failed")),
    (
        "read",
        response(
            [text("x", annotations={"audience": ["assistant"]}), text("x", annotations={"audience": ["user"]})],
        ),
        ("ok", "flag", None, "x"),
    ),
    ("read", {"type": "toolResponse", "id": "k"}, ("unknown", "none", None, "")),
]


@pytest.mark.parametrize(("tool", "answer", "expected"), RESPONSES)
def test_each_response_gives_its_outcome_and_its_plain_text(
    tmp_path: Path, tool: str, answer: dict[str, Any], expected: tuple[object, ...]
) -> None:
    called = request(f"developer__{tool}", command="make") if tool == "shell" else request(tool, path="a.py")
    found = session(tmp_path, said("assistant", called), said("user", answer))
    (result,) = found.results()
    assert (result.outcome, result.evidence, result.exit_code, result.text) == expected
    assert found.unpaired_calls == 0


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("developer__shell", {"command": "make"}, "run"),
        ("developer__text_editor", {"command": "view", "path": "a.py"}, "read"),
        ("developer__text_editor", {"command": "str_replace", "path": "a.py", "new_str": "x = 1"}, "edit"),
        ("write", {"path": "a.py", "content": "x = 1"}, "edit"),
        ("github__create_issue", {"title": "t"}, "other"),
    ],
)
def test_a_tool_does_what_its_name_says_behind_the_extension(
    tmp_path: Path, name: str, arguments: dict[str, Any], action: str
) -> None:
    (call,) = session(tmp_path, said("assistant", request(name, **arguments))).messages[0].calls
    assert (call.name, call.action) == (name, action)


def test_a_call_that_could_not_be_parsed_is_still_paired(tmp_path: Path) -> None:
    broken = {"type": "toolRequest", "id": "k", "toolCall": {"status": "error", "error": "-32602: bad arguments"}}
    found = session(tmp_path, said("assistant", broken), said("user", response(status="error", error="bad arguments")))
    assert (found.tool_calls, found.unpaired_calls) == (1, 0)


def test_thinking_is_not_read_and_what_is_unknown_is_counted(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        said("assistant", {"type": "thinking", "thinking": "hm"}, text("I see."), {"type": "hologram"}),
        {"role": "oracle", "created": 1, "content": []},
    )
    assert [m.text for m in found.messages] == ["I see."]
    assert found.unknown_records == 2


LOOK_ALIKES: list[list[dict[str, Any]]] = [
    [{"description": "t", "message_count": 1}],
    [HEADER, {"role": "user", "content": "hi"}],
    [{"role": "user", "content": [text("hi")], "timestamp": 1}],
    [{"role": "user", "created": 1, "content": "hi"}],
    [{"type": "message", "role": "user", "created": 1, "content": [text("hi")]}],
    [{"role": "user", "created": 1, "content": [{"type": "input_text", "text": "hi"}]}],
]


@pytest.mark.parametrize("records", LOOK_ALIKES)
def test_what_only_looks_similar_is_not_recognised(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    assert not goose.recognises(Source(write_lines(tmp_path / "s.jsonl", records)))


def test_another_database_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE sessions (id, source, started_at); CREATE TABLE messages (id, session_id, role, content)")
    db.close()
    assert not goose.recognises(Source(path))
    path.write_bytes(b"SQLite format 3\x00" + b"\x10\x00\x02" * 400)
    assert not goose.recognises(Source(path))


def test_a_row_with_bad_text_is_lost_alone(tmp_path: Path) -> None:
    path = database(tmp_path / "sessions.db", *CONVERSATION)
    db = apsw.Connection(str(path))
    db.execute("UPDATE messages SET content_json = CAST(x'5bff' AS TEXT) WHERE id = 2")
    db.close()
    (found,) = goose.read(Source(path))
    assert (len(found.messages), found.unknown_records) == (3, 1)


def test_sessions_are_where_the_environment_says(tmp_path: Path) -> None:
    home = [tmp_path / ".local/share/goose/sessions", tmp_path / "AppData/Roaming/Block/goose/data/sessions"]
    assert discover.goose({}, tmp_path) == home
    assert discover.goose({"GOOSE_PATH_ROOT": "/g"}, tmp_path) == [Path("/g/data/sessions")]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
VALUES = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("content", "isError", "structuredContent", "name", "arguments"), ANYTHING)
)
WRAPPED = st.fixed_dictionaries(
    {"status": st.sampled_from(["success", "error"]) | ANYTHING},
    optional={"value": VALUES | ANYTHING, "error": ANYTHING},
)
ITEMS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "toolRequest", "toolResponse"]) | ANYTHING},
    optional={"text": ANYTHING, "id": ANYTHING, "toolCall": WRAPPED | ANYTHING, "toolResult": WRAPPED | ANYTHING},
)
RECORDS = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]) | ANYTHING},
    optional={"content": st.lists(ITEMS | ANYTHING, max_size=3) | ANYTHING, "created": ANYTHING, "metadata": ANYTHING},
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(header=st.dictionaries(st.sampled_from(sorted(HEADER)), ANYTHING), records=st.lists(RECORDS, max_size=4))
def test_no_value_in_any_field_stops_the_reader(tmp_path: Path, header: Any, records: Any) -> None:
    path = tmp_path / "strange.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (header, *records)))
    goose.recognises(Source(path))
    assert len(goose.read(Source(path))) == 1


def test_no_real_session_of_another_agent_is_taken_for_one(shared: Path) -> None:
    assert not [path for path in (shared / "transcripts").rglob("*.json*") if goose.recognises(Source(path))]
