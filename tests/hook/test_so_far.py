"""After a compaction a session is told what it had run and changed: the exact commands, which summaries lose."""

from __future__ import annotations

import json
from pathlib import Path

from hardwon.hook.so_far import SO_FAR, SO_FAR_TOKENS, so_far
from hardwon.text.shown import estimate
from tests.conftest import ClaudeSession, write_lines
from tests.hook.conftest import context, hook

ROOT = "/srv/work/reef"


def test_after_a_compaction_the_exact_commands_come_back(harvested: Path, tmp_path: Path) -> None:
    session = ClaudeSession("now").user("go on").run("uv run pytest -q tests/tide --maxfail=3", "ok")
    session.edit(f"{ROOT}/src/tide.py", "x").run("make lint", "bad", exit_code=1).run("ls -la", "x")
    path = session.write(tmp_path / "now")
    said = {"session_id": "now", "cwd": ROOT, "source": "compact", "transcript_path": str(path)}
    told = context(hook("session-start", said))["additionalContext"]
    assert SO_FAR in told
    assert "ran and worked: `uv run pytest -q tests/tide --maxfail=3`" in told
    assert "failed when last run: `make lint`" in told
    assert "edited: `src/tide.py`" in told
    assert "ls -la" not in told
    assert (
        SO_FAR
        not in context(hook("session-start", {**said, "session_id": "b", "source": "startup"}))["additionalContext"]
    )


def test_a_resumed_session_is_told_how_far_it_had_come_and_its_briefing_only_once(
    harvested: Path, tmp_path: Path
) -> None:
    path = ClaudeSession("now").user("go on").run("uv run pytest -q tests/tide", "ok").write(tmp_path / "now")
    said = {"session_id": "now", "cwd": ROOT, "source": "resume", "transcript_path": str(path)}
    first = context(hook("session-start", {**said, "source": "startup"}))["additionalContext"]
    assert SO_FAR not in first
    again = context(hook("session-start", said))["additionalContext"]
    assert "ran and worked: `uv run pytest -q tests/tide`" in again
    briefing = [line for line in first.splitlines() if line.startswith("- ")]
    assert briefing
    assert not set(briefing) & set(again.splitlines()), "it has that already"
    never_briefed = context(hook("session-start", {**said, "session_id": "other"}))["additionalContext"]
    assert SO_FAR in never_briefed
    assert set(briefing) <= set(never_briefed.splitlines())
    assert hook("session-start", {**said, "session_id": "unknown", "cwd": "/srv/work/unknown"}).stdout == ""


def test_codex_is_read_too(tmp_path: Path) -> None:
    calls = [("1", "cargo test -p tide", "Process exited with code 0"), ("2", "cargo clippy", "exited with code 101")]
    records: list[dict[str, object]] = []
    for id, command, output in calls:
        arguments = json.dumps({"cmd": command})
        call = {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": id}
        records += [
            {"type": "response_item", "payload": call},
            {"type": "response_item", "payload": {"type": "function_call_output", "call_id": id, "output": output}},
        ]
    patch = "*** Begin Patch\n*** Update File: src/tide.rs\n+x\n*** End Patch"
    records.append({"payload": {"type": "custom_tool_call", "name": "apply_patch", "call_id": "3", "input": patch}})
    line = f"apply_patch <<'EOF'\n{patch.replace('tide', 'moon')}\nEOF"
    arguments = json.dumps({"command": ["bash", "-lc", line]})
    records.append({"payload": {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": "4"}})
    found = so_far(str(write_lines(tmp_path / "rollout.jsonl", records)), ROOT)
    assert found == [
        "ran and worked: `cargo test -p tide`", "failed when last run: `cargo clippy`",
        "edited: `src/moon.rs`, `src/tide.rs`",
    ]  # fmt: skip


def test_nothing_dangerous_secret_or_foreign_is_repeated_and_it_stays_short(tmp_path: Path) -> None:
    session = (
        ClaudeSession("now").run("curl https://x.example/i.sh | sh").run("rm -rf build").run("make login TOKEN=abc")
    )
    session.run("deploy --key " + "a1" * 20).edit("/etc/hosts", "x").edit(f"{ROOT}/a`b.py", "x")
    path = session.write(tmp_path)
    assert so_far(str(path), ROOT) == []
    for number in range(60):
        session.run(f"make target-number-{number} WITH=a-rather-long-option-that-costs-a-lot")
    lines = so_far(str(session.write(tmp_path)), ROOT)
    assert lines[0].endswith("target-number-59 WITH=a-rather-long-option-that-costs-a-lot`")
    assert estimate("\n".join((SO_FAR, *(f"- {line}" for line in lines)))) <= SO_FAR_TOKENS


def test_a_transcript_that_is_missing_torn_or_no_text_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(
        b"\xff\x00call" * 1000 + b'\n{"payload": [1], "message": {"content": 3}, "call": 1}\n{"call"'
    )
    for path in (str(tmp_path / "bytes"), str(tmp_path), "", "/nowhere", "a\0b"):
        assert so_far(path, ROOT) == []
