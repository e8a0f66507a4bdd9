"""Cursor: `hooks.json` in a flat form of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hardwon.install.command import command
from hardwon.install.files import File, Settings, Wanted
from hardwon.install.where import Where

NAME = "cursor"
TITLE = "Cursor"
PROGRAM = "cursor-agent"
AFTERWARDS = "Cursor reads it on save; Settings → Hooks lists what it runs."
_HOOK_TIMEOUT_SECONDS = 10
_EVENTS = (
    ("sessionStart", "session-start", ""),
    ("beforeSubmitPrompt", "prompt", ""),
    ("postToolUse", "tool-failed", "Shell"),
    ("postToolUseFailure", "tool-failed", ""),
    ("sessionEnd", "session-end", ""),
)


def folder(where: Where) -> Path:
    return where.home / ".cursor"


def files(where: Where) -> list[File]:
    base = where.project / ".cursor" if where.project else folder(where)
    wanted = [_hook(name, event, tool, where) for name, event, tool in _EVENTS]
    return [Settings(base / "hooks.json", wanted, {"version": 1})]


def _hook(name: str, event: str, tool: str, where: Where) -> Wanted:
    line = command(event, NAME, where)
    entry: dict[str, Any] = {"command": line, "timeout": _HOOK_TIMEOUT_SECONDS}
    return Wanted(name, {**entry, "matcher": tool} if tool else entry)
