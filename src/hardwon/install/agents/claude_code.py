"""Claude Code: hooks in `settings.json`; of a project, in the file that is not committed."""

from __future__ import annotations

from pathlib import Path

from hardwon.install.command import command
from hardwon.install.files import File, Settings, Wanted
from hardwon.install.where import Where

NAME = "claude-code"
TITLE = "Claude Code"
PROGRAM = "claude"
AFTERWARDS = "Running sessions notice it; a new folder must be trusted before any hook runs in it."
_HOOK_TIMEOUT_SECONDS = 10
_EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "prompt",
    "PostToolUseFailure": "tool-failed",
    "SessionEnd": "session-end",
}


def folder(where: Where) -> Path:
    return where.folder("CLAUDE_CONFIG_DIR", ".claude")


def files(where: Where) -> list[File]:
    project = where.project
    path = project / ".claude" / "settings.local.json" if project else folder(where) / "settings.json"
    return [Settings(path, [_hook(name, event, where) for name, event in _EVENTS.items()])]


def _hook(name: str, event: str, where: Where) -> Wanted:
    line = command(event, NAME, where)
    return Wanted(name, {"hooks": [{"type": "command", "command": line, "timeout": _HOOK_TIMEOUT_SECONDS}]})
