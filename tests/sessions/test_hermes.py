"""Hermes gateway sessions: one chat message a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardwon.sessions.reader import read
from hardwon.text.shown import fenced
from tests.conftest import write_lines

AT = "2026-10-01T10:00:00Z"


def call(id: str, name: str, arguments: dict[str, Any], *, flat: bool = False) -> dict[str, Any]:
    body = {"name": name, "arguments": json.dumps(arguments)}
    return {"call_id": id, **body} if flat else {"id": id, "type": "function", "function": body}


OUTPUTS = [
    ({"output": "boom", "exit_code": 1, "error": None}, "error", "boom"),
    ({"output": "fine", "exit_code": 0}, "ok", "fine"),
    ({"success": False, "error": "no such file"}, "error", "no such file"),
    ({"success": True, "output": "written"}, "ok", "written"),
    (f'{{"output": "boom", "exit_code": 1}}\n\n{fenced("known", b"k")}', "error", f"boom\n\n{fenced('known', b'k')}"),
    ("Error: tool crashed", "error", "Error: tool crashed"),
    ("Errors are documented in errors.py", "unknown", "Errors are documented in errors.py"),
    ("plain text", "unknown", "plain text"),
]


@pytest.mark.parametrize(("output", "outcome", "text"), OUTPUTS)
def test_a_tools_verdict_is_read_from_its_output(tmp_path: Path, output: object, outcome: str, text: str) -> None:
    content = output if isinstance(output, str) else json.dumps(output)
    records = [
        {"role": "assistant", "content": None, "tool_calls": [call("k", "terminal", {"command": "make"})]},
        {"role": "tool", "tool_call_id": "k", "tool_name": "terminal", "content": content, "timestamp": AT},
    ]
    (session,) = read(write_lines(tmp_path / "s.jsonl", records)).sessions
    (result,) = session.results()
    assert (result.outcome, result.text) == (outcome, text)


def test_both_shapes_of_a_call_are_read(tmp_path: Path) -> None:
    calls = [call("a", "terminal", {"command": "ls"}), call("b", "terminal", {"command": "pwd"}, flat=True)]
    records = [{"role": "assistant", "content": "", "tool_calls": calls, "timestamp": AT}]
    (session,) = read(write_lines(tmp_path / "s.jsonl", records)).sessions
    assert [c.command for c in session.messages[0].calls] == ["ls", "pwd"]


def test_the_name_tells_the_start_when_nothing_else_does(tmp_path: Path) -> None:
    records = [{"role": "session_meta", "model": "x"}, {"role": "user", "content": "hi"}]
    (session,) = read(write_lines(tmp_path / "session_20261001_101112_ab12.jsonl", records)).sessions
    assert session.external_id == "20261001_101112_ab12"
    assert session.started_at == 1_790_849_472_000_000


def test_the_folder_is_where_its_commands_ran(tmp_path: Path) -> None:
    commands = [{"command": "cd /srv/work/reef && make"}, {"command": "cd /srv/work/reef; ls"}, {"command": "cd /tmp"}]
    made = [call(str(n), "terminal", arguments) for n, arguments in enumerate(commands)]
    records = [{"role": "assistant", "content": "", "tool_calls": made, "timestamp": AT}]
    (session,) = read(write_lines(tmp_path / "s.jsonl", records)).sessions
    assert session.cwd == "/srv/work/reef"
