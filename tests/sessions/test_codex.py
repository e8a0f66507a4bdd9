"""Codex rollouts: three output shapes, one stream out of two, errors only as exit codes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hardwon import NotASession, Session
from hardwon.sessions.reader import read
from hardwon.sessions.scan import summaries, summary
from hardwon.sessions.tool_calls import changes, with_changes
from tests.conftest import write_lines

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

META = {"type": "session_meta", "payload": {"id": "c-1", "cwd": "/srv/work/reef", "cli_version": "0.98.0"}}


def item(**payload: Any) -> dict[str, Any]:
    return {"type": "response_item", "timestamp": "2026-10-01T10:00:00Z", "payload": payload}


def message(role: str, text: str) -> dict[str, Any]:
    return item(type="message", role=role, content=[{"type": "input_text", "text": text}])


def rollout(tmp_path: Path, *records: dict[str, Any]) -> Session:
    (session,) = read(write_lines(tmp_path / "rollout-x.jsonl", [META, *records])).sessions
    return session


OUTPUTS = [
    (json.dumps({"output": "boom", "metadata": {"exit_code": 2}}), "error", 2, "boom"),
    (json.dumps({"output": "fine", "metadata": {"exit_code": 0}}), "ok", 0, "fine"),
    ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nboom\n", "error", 1, "boom\n"),
    ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nfine\n", "ok", 0, "fine\n"),
    ("Chunk ID: 4b\nWall time: 1 seconds\nProcess exited with code 3\nOutput:\nboom", "error", 3, "boom"),
    ("Process exited with code 0\nOriginal token count: 9\nOutput:\nfine", "ok", 0, "fine"),
    ([{"type": "input_text", "text": '{"exit_code":2,"output":"x"}'}], "error", 2, '{"exit_code":2,"output":"x"}'),
    ("Plan updated", "unknown", None, "Plan updated"),
    ("a log that mentions Exit code 1 in passing", "unknown", None, "a log that mentions Exit code 1 in passing"),
]


@pytest.mark.parametrize(("output", "outcome", "code", "text"), OUTPUTS)
def test_each_output_shape_gives_its_outcome(
    tmp_path: Path, output: object, outcome: str, code: int | None, text: str
) -> None:
    call = item(type="function_call", name="shell_command", call_id="k", arguments='{"command":"make"}')
    session = rollout(tmp_path, call, item(type="function_call_output", call_id="k", output=output))
    (result,) = session.results()
    assert (result.outcome, result.exit_code, result.text) == (outcome, code, text)


def test_a_process_that_goes_on_ended_as_its_last_poll_says(tmp_path: Path) -> None:
    def poll(id: str, output: str) -> list[dict[str, Any]]:
        arguments = json.dumps({"session_id": 71, "chars": ""})
        call = item(type="function_call", name="write_stdin", call_id=id, arguments=arguments)
        return [call, item(type="function_call_output", call_id=id, output=output)]

    head = "Chunk ID: 4b\nWall time: 9 seconds\n{}\nOriginal token count: 3\nOutput:\n{}"
    goes_on = "Process running with session ID 71"
    records = [
        item(type="function_call", name="exec_command", call_id="k", arguments='{"cmd":"bun test"}'),
        item(type="function_call_output", call_id="k", output=head.format(goes_on, "one\n")),
        *poll("p", head.format(goes_on, "two\n")),
        *poll("q", head.format("Process exited with code 1", " 3 pass\n 1 fail\n")),
    ]
    session = rollout(tmp_path, *records)
    ended = {result.call_id: result for result in session.results()}
    assert (ended["k"].outcome, ended["k"].exit_code) == ("error", 1)
    assert ended["k"].text == "one\ntwo\n 3 pass\n 1 fail\n"
    assert (ended["q"].outcome, ended["q"].exit_code) == ("ok", None), "the poll itself did not fail"
    (counted,) = summaries(tmp_path / "rollout-x.jsonl")
    assert counted.errors == sum(result.outcome == "error" for result in session.results()) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "command"),
    [
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
        ("shell", {"command": ["powershell.exe", "-NoProfile", "-Command", "make test"]}, "make test"),
        ("shell", {"command": ["C:\\Windows\\System32\\cmd.exe", "/c", "make test"]}, "make test"),
        ("shell", {"command": ["python", "-c", "print(1)"]}, "python -c 'print(1)'"),
        ("shell_command", {"command": "make test", "workdir": "/srv"}, "in /srv: make test"),
        ("exec_command", {"cmd": "make test"}, "make test"),
        ("shell", {"command": ["rg", "a b"]}, "rg 'a b'"),
    ],
)
def test_the_command_is_found_under_each_name(
    tmp_path: Path, name: str, arguments: dict[str, Any], command: str
) -> None:
    session = rollout(tmp_path, item(type="function_call", name=name, call_id="k", arguments=json.dumps(arguments)))
    (call,) = session.messages[0].calls
    assert (call.action, call.command) == ("run", command)


def test_a_patch_names_its_file_and_what_it_added(tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: src/tide.py\n@@\n-old\n+    new = 1\n*** End Patch"
    session = rollout(tmp_path, item(type="custom_tool_call", name="apply_patch", call_id="k", input=patch))
    (call,) = session.messages[0].calls
    assert (call.action, call.target, call.detail) == ("edit", "src/tide.py", "new = 1")


PATCH = """*** Begin Patch
*** Update File: src/tide.py
@@
-old
+    new = 'it'
*** Add File: src/moon.py
+phase = 1
*** Update File: src/sun.py
*** Move to: src/star.py
@@
-a
+b
*** Delete File: src/fog.py
*** End Patch"""


@pytest.mark.parametrize(
    ("command", "workdir"),
    [
        (["bash", "-lc", f"apply_patch << 'PATCH'\n{PATCH}\nPATCH"], "/srv/work/reef"),
        (["bash", "-lc", f"apply_patch <<PATCH\n{PATCH}\nPATCH\n"], None),
        (["bash", "-lc", f"cd /srv/work/reef && apply_patch <<'EOF'\n{PATCH}\nEOF"], None),
        (["bash", "-lc", f'applypatch "{PATCH}\n"'], None),
        (["apply_patch", PATCH], None),
        (f"apply_patch <<'EOF'\n{PATCH}\nEOF", "/srv/work/reef"),
    ],
)
def test_a_patch_that_a_shell_applies_is_the_edit_that_codex_own_call_makes(
    tmp_path: Path, command: object, workdir: str | None
) -> None:
    arguments = json.dumps({"command": command, "workdir": workdir})
    session = rollout(
        tmp_path,
        item(type="function_call", name="shell", call_id="k", arguments=arguments),
        item(type="custom_tool_call", name="apply_patch", call_id="k", input=PATCH),
    )
    (ran,), (own,) = (message.calls for message in session.messages)
    assert replace(ran, name=own.name, folder="") == own
    assert own.files == ("src/tide.py", "src/moon.py", "src/sun.py", "src/star.py", "src/fog.py")
    assert own.gone == ("src/sun.py", "src/fog.py")


def test_a_patch_that_is_applied_elsewhere_names_its_files_from_the_session(tmp_path: Path) -> None:
    there = {"command": ["bash", "-lc", f"cd web && apply_patch <<'EOF'\n{PATCH}\nEOF"], "workdir": "/srv/work/reef"}
    session = rollout(tmp_path, item(type="function_call", name="shell", call_id="k", arguments=json.dumps(there)))
    (call,) = session.messages[0].calls
    assert (call.target, call.gone) == ("web/src/tide.py", ("web/src/sun.py", "web/src/fog.py"))


def test_each_file_of_a_patch_has_its_own_change(tmp_path: Path) -> None:
    with with_changes():
        session = rollout(tmp_path, item(type="custom_tool_call", name="apply_patch", call_id="k", input=PATCH))
    (call,) = session.messages[0].calls
    told = dict(changes(call))
    assert list(told) == list(call.files)
    assert [told[file].split() for file in ("src/moon.py", "src/star.py")] == [
        ["+phase", "=", "1"], ["@@", "-a", "+b"],
    ]  # fmt: skip


def test_a_line_that_does_more_than_patch_stays_a_command(tmp_path: Path) -> None:
    line = f"apply_patch <<'EOF'\n{PATCH}\nEOF\npytest -q"
    arguments = json.dumps({"command": ["bash", "-lc", line]})
    session = rollout(tmp_path, item(type="function_call", name="shell", call_id="k", arguments=arguments))
    (call,) = session.messages[0].calls
    assert (call.action, call.command) == ("run", line)


def test_events_that_repeat_the_items_are_not_counted_again(tmp_path: Path) -> None:
    event = {"type": "event_msg", "payload": {"type": "user_message", "message": "fix it"}}
    assert rollout(tmp_path, message("user", "fix it"), event).user_messages == 1
    assert rollout(tmp_path, event).user_messages == 1


def test_instructions_and_environment_are_not_the_users_words(tmp_path: Path) -> None:
    session = rollout(
        tmp_path,
        message("user", "# AGENTS.md instructions for /srv\n\nAlways lint."),
        message("user", "<environment_context>\n<cwd>/srv</cwd>\n</environment_context>"),
        message("developer", "be brief"),
        message("user", "# Context from my IDE setup:\n\n## My request for Codex:\nfix it"),
    )
    assert [m.text for m in session.messages if m.origin == "user"] == ["fix it"]


def test_the_remote_and_version_come_from_the_first_line(tmp_path: Path) -> None:
    meta = {"type": "session_meta", "payload": {**META["payload"], "git": {"repository_url": "git@h:o/r.git"}}}  # type: ignore[dict-item]
    (session,) = read(write_lines(tmp_path / "r.jsonl", [meta])).sessions
    assert (session.remote, session.version, session.external_id) == ("git@h:o/r.git", "0.98.0", "c-1")


def test_the_oldest_rollouts_have_no_envelope(tmp_path: Path) -> None:
    records = [
        {"id": "old-1", "timestamp": "2025-05-01T10:00:00Z", "instructions": None, "git": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix it"}]},
        {"record_type": "state"},
        {"type": "function_call", "name": "shell", "call_id": "k", "arguments": '{"command":["make"]}'},
        {"type": "function_call_output", "call_id": "k", "output": OUTPUTS[0][0]},
    ]
    (session,) = read(write_lines(tmp_path / "rollout-old.jsonl", records)).sessions
    assert (session.external_id, session.user_messages, session.tool_calls) == ("old-1", 1, 1)
    assert session.results()[0].outcome == "error"
    assert summaries(tmp_path / "rollout-old.jsonl") == [summary(session)]


def test_a_compressed_rollout_is_read_and_a_damaged_one_refused(tmp_path: Path) -> None:
    plain = write_lines(tmp_path / "plain.jsonl", [META, message("user", "fix it")])
    packed = tmp_path / "rollout-x.jsonl.zst"
    with zstd.open(packed, "wb") as file:
        file.write(plain.read_bytes())
    (session,) = read(packed).sessions
    assert session.user_messages == 1
    packed.write_bytes(packed.read_bytes()[:40])
    with pytest.raises(NotASession, match="cannot be read"):
        read(packed)
    packed.write_bytes(b"not compressed at all")
    with pytest.raises(NotASession, match="cannot be read"):
        read(packed)
