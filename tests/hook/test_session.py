"""A Claude Code session, played through the hooks as they are installed: what one learns, the next is told."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.conftest import ClaudeSession, Run
from tests.hook.conftest import MISSING
from tests.hook.test_session_end import is_idle, wait_for


class ClaudeCode:
    """Does with hooks what Claude Code does: reads its settings, runs what they name, takes what it says."""

    def __init__(self, settings: Path, project: Path) -> None:
        self._hooks = json.loads(settings.read_text())["hooks"]
        self._project = project

    def fire(self, event: str, session: str, **more: Any) -> str:
        payload = {"hook_event_name": event, "session_id": session, "cwd": str(self._project), **more}
        said = []
        for group in self._hooks.get(event, []):
            for hook in group["hooks"]:
                done = subprocess.run(
                    ["sh", "-c", hook["command"]],
                    input=json.dumps(payload),
                    cwd=self._project,
                    capture_output=True,
                    text=True,
                    timeout=hook["timeout"],
                    check=False,
                )
                assert (done.returncode, done.stderr) == (0, "")
                said += [json.loads(done.stdout)["hookSpecificOutput"]] if done.stdout else []
        assert all(each["hookEventName"] == event for each in said)
        told = "\n".join(each["additionalContext"] for each in said)
        print(f"\n--- session {session}: {event}\n{told or '(nothing)'}")  # noqa: T201 - `pytest -s` shows the play
        return told


def test_a_session_starts_fails_is_offered_the_fix_ends_and_teaches_the_next(
    home: Path, tmp_path: Path, hardwon: Run
) -> None:
    user = Path(os.environ["HOME"])
    (user / ".claude").mkdir()
    assert hardwon("install", "claude-code", "--yes").returncode == 0
    project = tmp_path / "reef"
    project.mkdir()
    claude = ClaudeCode(user / ".claude" / "settings.json", project)
    logs = user / ".claude" / "projects" / "reef"

    def ends(session: ClaudeSession, name: str) -> None:
        transcript = str(session.write(logs))
        assert claude.fire("SessionEnd", name, transcript_path=transcript, reason="prompt_input_exit") == ""
        wait_for(lambda: is_idle(home))

    assert claude.fire("SessionStart", "one", source="startup") == ""
    first = ClaudeSession("one", cwd=str(project), day=1).user("Run the tests")
    assert claude.fire("PostToolUseFailure", "one", tool_use_id="t1", error=f"Exit code 1\n{MISSING}") == ""
    ends(
        first.run("pytest -q", MISSING, exit_code=1).run("uv sync --extra postgres", "ok").run("pytest -q", "ok"),
        "one",
    )

    started = claude.fire("SessionStart", "two", source="startup")
    assert "PAST FAILURES TO AVOID:" in started
    assert "asyncpg" in started
    offered = claude.fire("PostToolUseFailure", "two", tool_use_id="t2", error=f"Exit code 1\n{MISSING}")
    assert "uv sync --extra postgres" in offered
    ends(
        ClaudeSession("two", cwd=str(project), day=2)
        .user("Always use uv in this project.")
        .run("pytest -q", MISSING, exit_code=1)
        .run("uv sync --extra postgres", "ok")
        .run("pytest -q", "ok"),
        "two",
    )

    told = claude.fire("SessionStart", "three", source="startup")
    assert "Always use uv in this project." in told
    assert "2x in 2 sessions" in told
    assert claude.fire("UserPromptSubmit", "three", prompt="Please go on with the tests") == ""
    assert claude.fire("SessionStart", "three", source="resume") == ""

    (shown,) = [entry for entry in json.loads(hardwon("status", "--json").stdout) if entry["agent"] == "claude-code"]
    assert {run["event"] for run in shown["runs"]} == {
        "session-start",
        "tool-failed",
        "prompt",
        "session-end",
        "harvest",
    }
    assert [run["error"] for run in shown["runs"] if run["error"]] == []
    assert (shown["installed"], shown["trouble"]) == (True, "")
    assert hardwon("uninstall", "claude-code", "--yes").returncode == 0
    assert not (user / ".claude" / "settings.json").exists()
