"""Gemini CLI: hooks in `settings.json`, whose time-outs are milliseconds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hardwon.install.command import command
from hardwon.install.files import File, Settings, Wanted
from hardwon.install.where import Where

NAME = "gemini"
TITLE = "Gemini CLI"
PROGRAM = "gemini"
AFTERWARDS = "Gemini drops hooks in folders that are not trusted: /permissions shows whether this one is."
_HOOK_TIMEOUT_MILLISECONDS = 10_000
_TOOLS = "run_shell_command|replace|write_file"
_EVENTS = {
    "SessionStart": "session-start",
    "BeforeAgent": "prompt",
    "AfterTool": "tool-failed",
    "SessionEnd": "session-end",
}


def folder(where: Where) -> Path:
    return where.folder("GEMINI_CLI_HOME") / ".gemini"


def files(where: Where) -> list[File]:
    base = where.project / ".gemini" if where.project else folder(where)
    return [Settings(base / "settings.json", [_hook(name, event, where) for name, event in _EVENTS.items()])]


def _hook(name: str, event: str, where: Where) -> Wanted:
    line = command(event, NAME, where)
    hook = {"type": "command", "command": line, "name": f"hardwon-{event}", "timeout": _HOOK_TIMEOUT_MILLISECONDS}
    group: dict[str, Any] = {"hooks": [hook]}
    return Wanted(name, {"matcher": _TOOLS, **group} if event == "tool-failed" else group)
