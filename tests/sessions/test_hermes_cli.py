"""Hermes CLI documents: read as the gateway's lines are, with what only the document knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardwon.sessions.discover import hermes_cli as roots
from hardwon.sessions.hermes_cli import read, recognises
from hardwon.sessions.reader import Source

DOCUMENT: dict[str, Any] = {
    "session_id": "20261001_100000_ab12",
    "model": "m",
    "base_url": "https://h",
    "platform": "cli",
    "session_start": "2026-10-01T10:00:00",
    "last_updated": "2026-10-01T10:05:00",
    "system_prompt": "You are Hermes.",
    "tools": [],
    "message_count": 3,
    "messages": [
        {"role": "user", "content": "fix it"},
        {
            "role": "assistant",
            "content": None,
            "reasoning": "hm",
            "tool_calls": [{"id": "k", "function": {"name": "terminal", "arguments": '{"command": "make"}'}}],
        },
        {"role": "tool", "tool_call_id": "k", "content": '{"output": "boom", "exit_code": 2, "error": null}'},
    ],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def written(tmp_path: Path, document: object) -> Source:
    path = tmp_path / "session_20261001_100000_ab12.json"
    path.write_text(json.dumps(document, indent=2))
    return Source(path)


def test_a_document_is_one_session(tmp_path: Path) -> None:
    source = written(tmp_path, DOCUMENT)
    assert recognises(source)
    (session,) = read(source)
    assert [(message.role, message.origin, message.text) for message in session.messages] == [
        ("system", "injected", "You are Hermes."),
        ("user", "user", "fix it"),
        ("assistant", "agent", ""),
        ("tool", "tool", ""),
    ]
    (result,) = session.results()
    assert (result.outcome, result.exit_code, result.text) == ("error", 2, "boom")
    assert (session.agent, session.format, session.external_id) == ("hermes", "hermes-cli", "20261001_100000_ab12")
    assert (session.started_at, session.ended_at) == (1_790_848_800_000_000, 1_790_849_100_000_000)


def test_the_prompt_is_not_told_twice(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "You are Hermes."}, *DOCUMENT["messages"]]
    (session,) = read(written(tmp_path, {**DOCUMENT, "messages": messages}))
    assert [message.role for message in session.messages].count("system") == 1


def test_messages_of_no_known_shape_are_counted(tmp_path: Path) -> None:
    messages = [*DOCUMENT["messages"], None, {"content": "x"}, {"role": ["user"]}, {"role": "wizard"}]
    (session,) = read(written(tmp_path, {**DOCUMENT, "messages": messages}))
    assert session.unknown_records == 4


@pytest.mark.parametrize(
    "document",
    [
        {"producer": "hermes/0.9.0", "session_id": "s", "messages": [{"role": "user", "content": "x"}]},
        {"producer": "athena/0.9.0", "session_id": "s", "messages": [{"role": "user", "text": "x"}]},
        {**DOCUMENT, "messages": [{"role": "user", "text": "x"}]},
        {**DOCUMENT, "session_id": 1},
        {"session_id": "s", "messages": [{"role": "user", "content": "x"}]},
        {"session_start": "s", "last_updated": "x"},
        [DOCUMENT],
    ],
)
def test_other_documents_are_refused(tmp_path: Path, document: object) -> None:
    assert not recognises(written(tmp_path, document))


def test_the_place_can_be_moved(tmp_path: Path) -> None:
    assert roots({}, tmp_path) == [tmp_path / ".hermes" / "sessions"]
    assert roots({"HERMES_HOME": "/h"}, tmp_path) == [Path("/h/sessions")]
    assert Path("/l/hermes/sessions") in roots({"LOCALAPPDATA": "/l"}, tmp_path)


KEYS = "role content tool_calls tool_call_id timestamp".split()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    messages=st.lists(JSON | st.dictionaries(st.sampled_from(KEYS), JSON | st.sampled_from(["user", "tool"]))),
    other=JSON,
)
def test_no_content_is_too_strange(tmp_path: Path, messages: list[Any], other: Any) -> None:
    for document in (
        {**DOCUMENT, "messages": messages},
        {**dict.fromkeys(DOCUMENT, other), "messages": messages},
        other,
    ):
        source = written(tmp_path, document)
        assert isinstance(recognises(source), bool)
        assert isinstance(read(source), list)


def test_the_real_archive_is_read_without_what_was_rewound(shared: Path) -> None:
    source = Source(next((shared / "transcripts" / "hermes").rglob("example-session.json")))
    assert recognises(source)
    (session,) = read(source)
    assert (session.external_id, session.version) == ("hermes-session-example-001", "0.9.0")
    assert (session.cwd, session.branch) == ("/realm/project/example-repo", "feature/fix-parser")
    assert [message.role for message in session.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert [(one.outcome, one.evidence, one.exit_code) for one in session.results()] == [("ok", "exit-code", 0)]
    assert session.unpaired_calls == 0
