"""Codex: `hooks.json` beside its configuration; ours go last, for a hook's place is part of what a user trusts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hardwon.install.command import command
from hardwon.install.files import File, Settings, Wanted
from hardwon.install.where import Where

NAME = "codex"
TITLE = "Codex"
PROGRAM = "codex"
AFTERWARDS = "Codex runs a new hook only after you have reviewed it: start `codex` and open /hooks."
_HOOK_TIMEOUT_SECONDS = 10
_SESSION_END_TIMEOUT_SECONDS = 3  # Codex grants no more
_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "PostToolUse": "tool-failed",
    "SessionEnd": "session-end",
}


def folder(where: Where) -> Path:
    return where.folder("CODEX_HOME", ".codex")


def files(where: Where) -> list[File]:
    base = where.project / ".codex" if where.project else folder(where)
    return [Settings(base / "hooks.json", [_hook(name, event, where) for name, event in _EVENTS.items()])]


def _hook(name: str, event: str, where: Where) -> Wanted:
    line = command(event, NAME, where)
    seconds = _SESSION_END_TIMEOUT_SECONDS if event == "session-end" else _HOOK_TIMEOUT_SECONDS
    group: dict[str, Any] = {"hooks": [{"type": "command", "command": line, "timeout": seconds}]}
    return Wanted(name, {"matcher": "Bash", **group} if event == "tool-failed" else group)
