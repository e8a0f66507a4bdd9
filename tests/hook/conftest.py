"""A store that has learned something, and the hook as a real process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hardwon import Hardwon
from tests.conftest import REPOSITORY, ClaudeSession

MISSING = "ModuleNotFoundError: No module named 'asyncpg'"
AGENTS = ("claude-code", "codex", "gemini", "opencode", "cursor", "hermes")
EVENTS = ("session-start", "prompt", "tool-failed", "session-end")


def hook(event: str, payload: object, *more: str) -> subprocess.CompletedProcess[str]:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return subprocess.run(
        [sys.executable, "-m", "hardwon.hook", event, *more],
        input=text,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def context(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0
    assert done.stderr == ""
    return json.loads(done.stdout)["hookSpecificOutput"]


def example(
    agent: str,
    event: str,
    *,
    cwd: str = "/srv/work/reef",
    error: str = MISSING,
    prompt: str = "Please go on",
    transcript: str = "",
) -> dict[str, Any]:
    """The payload that the agent would send, with these things in it."""
    found = json.loads((REPOSITORY / "tests" / "data" / "hooks" / f"{agent}.json").read_text())[event]
    meant = {"CWD": cwd, "PROMPT": prompt, "TRANSCRIPT": transcript}
    return _filled(found, meant, error)


def _filled(value: Any, meant: dict[str, str], error: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each, meant, error) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, meant, error) for each in value]
    return meant.get(value, value.replace("ERROR", error)) if isinstance(value, str) else value


@pytest.fixture
def harvested(home: Path, tmp_path: Path) -> Path:
    sessions = [
        ClaudeSession(name, day=day)
        .user("Always use uv in this project.")
        .run("pytest -q", MISSING, exit_code=1)
        .run("uv sync --extra postgres", "ok")
        .run("pytest -q", "ok")
        for name, day in (("a", 1), ("b", 2))
    ]
    with Hardwon(home) as memory:
        memory.harvest([session.write(tmp_path) for session in sessions])
    return home
