"""Kiro CLI: records of kinds and blocks; place and time in the document beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardwon import Session
from hardwon.sessions import kiro
from hardwon.sessions.discover import installed
from hardwon.sessions.reader import Source, read
from tests.conftest import write_lines
from tests.sessions.mutations import mutants


def record(kind: str, *content: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": "v1", "kind": kind, "data": {"message_id": "m", "content": list(content), **more}}


def block(kind: str, data: Any) -> dict[str, Any]:
    return {"kind": kind, "data": data}


def use(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return block("toolUse", {"toolUseId": id, "name": name, "input": arguments})


def result(id: str, status: str, *content: dict[str, Any]) -> dict[str, Any]:
    return block("toolResult", {"toolUseId": id, "status": status, "content": list(content)})


RECORDS = [
    record("Prompt", block("text", "Fix the tide."), meta={"timestamp": 1790848801}),
    record(
        "AssistantMessage",
        block("thinking", {"text": "secret", "signature": None}),
        block("text", "I look."),
        use("k1", "shell", command="make test"),
        use("k2", "fs_write", command="str_replace", path="a.ts", old_str="3", new_str="4"),
        use("k3", "fs_read", operations=[{"mode": "Line", "path": "b.ts"}]),
        use("k4", "shell", command="ls"),
    ),
    record(
        "ToolResults",
        result("k1", "success", block("json", {"exit_status": "exit status: 2", "stdout": "boom", "stderr": "bang"})),
        result("k2", "success", block("text", "")),
        result("k3", "error", block("text", "no such file")),
        result("k4", "success", block("json", {"stdout": "a.ts", "stderr": ""})),
    ),
    {"version": "v1", "kind": "Compaction", "data": {}},
    {"version": "v1", "kind": "of tomorrow", "data": {}},
]
NOTES = {"session_id": "k-1", "cwd": "/srv/work/reef", "created_at": "2026-10-01T10:00:00Z", "updated_at": 1790848900}


def session(path: Path, notes: dict[str, Any] | None = None) -> Session:
    if notes is not None:
        path.with_suffix(".json").write_text(json.dumps(notes))
    assert kiro.recognises(Source(path))
    (found,) = read(path).sessions
    return found


def test_a_session_is_read_whole(tmp_path: Path) -> None:
    found = session(write_lines(tmp_path / "k-1.jsonl", RECORDS), NOTES)
    assert (found.external_id, found.agent, found.format, found.cwd) == (
        "k-1",
        "kiro-cli",
        "kiro-cli",
        "/srv/work/reef",
    )
    assert (found.started_at, found.ended_at) == (1790848800000000, 1790848900000000)
    assert [message.text for message in found.messages if message.origin == "user"] == ["Fix the tide."]
    calls = [call for message in found.messages for call in message.calls]
    assert [(call.action, call.command or call.target) for call in calls] == [
        ("run", "make test"),
        ("edit", "a.ts"),
        ("read", "b.ts"),
        ("run", "ls"),
    ]
    assert [(one.outcome, one.evidence, one.exit_code, one.text) for one in found.results()] == [
        ("error", "exit-code", 2, "boom\nbang"),
        ("ok", "flag", None, ""),
        ("error", "flag", None, "no such file"),
        ("unknown", "none", None, "a.ts"),
    ]
    assert found.unknown_records == 1
    assert "secret" not in str(found)


@pytest.mark.parametrize(
    ("status", "code"), [("0", 0), (1, 1), ("exit code: -1", -1), ("signal: 9", None), (True, None)]
)
def test_an_exit_code_is_read_in_each_of_its_forms(tmp_path: Path, status: Any, code: int | None) -> None:
    output = block("json", {"exit_status": status, "stdout": "x"})
    path = write_lines(tmp_path / "k.jsonl", [RECORDS[1], record("ToolResults", result("k1", "success", output))])
    assert [one.exit_code for one in session(path).results()] == [code]


def test_a_sub_agent_s_prompt_is_the_agent_s(tmp_path: Path) -> None:
    found = session(write_lines(tmp_path / "k-1.jsonl", RECORDS), {**NOTES, "parent_session_id": "k-0"})
    assert (found.external_id, found.subagent, found.user_messages) == ("k-0", "k-1", 0)


def test_damage_and_quoted_records_cost_and_forge_nothing(tmp_path: Path) -> None:
    forged = json.dumps(RECORDS[0])
    quoted = record("ToolResults", result("k1", "success", block("text", f"x\n{forged}\n")))
    path = write_lines(tmp_path / "k-1.jsonl", [*RECORDS, quoted])
    path.write_bytes(path.read_bytes() + b'{"version": "v1", "ki')
    assert session(path).user_messages == 1
    assert len(read(path).damaged) == 1
    for mutant in mutants([*RECORDS, NOTES], 300):
        if isinstance(mutant, list) and mutant:
            *records, notes = mutant
            path.write_text("\n".join(map(json.dumps, records)))
            path.with_suffix(".json").write_text(json.dumps(notes))
            kiro.recognises(Source(path))
            kiro.read(Source(path))


def test_sessions_are_found_without_the_documents_beside_them(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "home/.kiro/sessions/cli/k-1.jsonl", RECORDS)
    session(path, NOTES)
    assert installed({}, tmp_path / "home") == [path]
    assert installed({"KIRO_HOME": str(tmp_path / "home/.kiro")}, tmp_path) == [path]
