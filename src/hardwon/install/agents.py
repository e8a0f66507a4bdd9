"""The agents: where each keeps its settings, and what stands in them for us."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hardwon.errors import NotAllowed
from hardwon.install.command import McpServer, Where, command
from hardwon.install.files import BriefingBlock, File, OwnFile, SharedFile, WantedHook, plugin

_HOOK_TIMEOUT_SECONDS = 10
_CODEX_SESSION_END_TIMEOUT_SECONDS = 3  # Codex grants no more
_GEMINI_TOOLS = "run_shell_command|replace|write_file"


class Agent(NamedTuple):
    name: str
    title: str
    program: str
    afterwards: str
    """What is left for the user to do."""
    folder: Callable[[Where], Path]
    """The user's settings folder: where it is, the agent is."""
    files: Callable[[Where], list[File]]
    """What is written, of the user or of a project."""


def _claude_folder(where: Where) -> Path:
    return where.folder("CLAUDE_CONFIG_DIR", ".claude")


def _claude_files(where: Where) -> list[File]:
    """Hooks in `settings.json`; of a project, in the file that is not committed."""
    project = where.project
    path = project / ".claude" / "settings.local.json" if project else _claude_folder(where) / "settings.json"
    events = {
        "SessionStart": "session-start",
        "UserPromptSubmit": "prompt",
        "PostToolUseFailure": "tool-failed",
        "SessionEnd": "session-end",
    }
    return [SharedFile(path, [_hook("claude-code", name, event, where) for name, event in events.items()])]


def _codex_folder(where: Where) -> Path:
    return where.folder("CODEX_HOME", ".codex")


def _codex_files(where: Where) -> list[File]:
    """`hooks.json` beside its configuration; ours go last, for a hook's place is part of what a user trusts."""
    path = (where.project / ".codex" if where.project else _codex_folder(where)) / "hooks.json"
    ending = _hook("codex", "SessionEnd", "session-end", where, timeout=_CODEX_SESSION_END_TIMEOUT_SECONDS)
    return [
        SharedFile(
            path,
            [
                _hook("codex", "SessionStart", "session-start", where),
                _hook("codex", "UserPromptSubmit", "prompt", where),
                _hook("codex", "PostToolUse", "tool-failed", where, group={"matcher": "Bash"}),
                ending,
            ],
        )
    ]


def _gemini_folder(where: Where) -> Path:
    return where.folder("GEMINI_CLI_HOME") / ".gemini"


def _gemini_files(where: Where) -> list[File]:
    """Hooks with a name in `settings.json`, whose time-outs are milliseconds."""

    def hook(name: str, event: str, **group: str) -> WantedHook:
        more = {"name": f"hardwon-{event}", "timeout": _HOOK_TIMEOUT_SECONDS * 1000}
        return _hook("gemini", name, event, where, group=group, **more)

    path = (where.project / ".gemini" if where.project else _gemini_folder(where)) / "settings.json"
    return [
        SharedFile(
            path,
            [
                hook("SessionStart", "session-start"),
                hook("BeforeAgent", "prompt"),
                hook("AfterTool", "tool-failed", matcher=_GEMINI_TOOLS),
                hook("SessionEnd", "session-end"),
            ],
        )
    ]


def _hook(
    agent: str, name: str, event: str, where: Where, /, *, group: Mapping[str, str] | None = None, **more: Any
) -> WantedHook:
    """In a group of its own, as Claude Code, Codex and Gemini CLI want it."""
    line = {"type": "command", "command": command(event, agent, where), "timeout": _HOOK_TIMEOUT_SECONDS}
    return WantedHook(name, {**(group or {}), "hooks": [{**line, **more}]})


def _opencode_folder(where: Where) -> Path:
    base = where.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return where.folder("OPENCODE_CONFIG_DIR", *base.parts)


def _opencode_files(where: Where) -> list[File]:
    """A plugin of our own, for both of its plugin interfaces; it calls the hook."""
    base = where.project / ".opencode" if where.project else _opencode_folder(where)
    return [OwnFile(base / "plugins" / "hardwon.js", "opencode", plugin("opencode.js", "opencode", where))]


def _cursor_folder(where: Where) -> Path:
    return where.home / ".cursor"


def _cursor_files(where: Where) -> list[File]:
    """`hooks.json` in a flat form of its own."""

    def hook(name: str, event: str, **more: str) -> WantedHook:
        entry = {"command": command(event, "cursor", where), "timeout": _HOOK_TIMEOUT_SECONDS, **more}
        return WantedHook(name, entry)

    wanted = [
        hook("sessionStart", "session-start"),
        hook("beforeSubmitPrompt", "prompt"),
        hook("postToolUse", "tool-failed", matcher="Shell"),
        hook("postToolUseFailure", "tool-failed"),
        hook("sessionEnd", "session-end"),
    ]
    base = where.project / ".cursor" if where.project else _cursor_folder(where)
    return [SharedFile(base / "hooks.json", wanted, {"version": 1})]


def _hermes_folder(where: Where) -> Path:
    if where.windows and (local := where.environment.get("LOCALAPPDATA")):
        return where.folder("HERMES_HOME", local, "hermes")
    return where.folder("HERMES_HOME", ".hermes")


def _hermes_files(where: Where) -> list[File]:
    """A plugin of our own, for its shell hooks cannot answer a failed tool call; the user enables it."""
    if where.project:
        raise NotAllowed("Hermes loads no plugins of a project by itself: install without --project")
    base = _hermes_folder(where) / "plugins" / "hardwon"
    return [
        OwnFile(base / name, "hermes", plugin(source, "hermes", where))
        for name, source in (("plugin.yaml", "hermes.yaml"), ("__init__.py", "hermes.py"))
    ]


def _cline_folder(where: Where) -> Path:
    return where.folder("CLINE_DIR", ".cline")


def _cline_files(where: Where) -> list[File]:
    """Its hooks cannot brief a session, so it gets the MCP server, and in a project the block in AGENTS.md."""
    if where.project:
        return [BriefingBlock(where.project / "AGENTS.md", where.briefing())]
    data = where.folder("CLINE_DATA_DIR", *(_cline_folder(where) / "data").parts)
    default = data / "settings" / "cline_mcp_settings.json"
    return [McpServer(where.folder("CLINE_MCP_SETTINGS_PATH", *default.parts), where)]


CLAUDE_CODE = Agent(
    "claude-code",
    "Claude Code",
    "claude",
    "Running sessions pick it up. Hooks run only in folders that you have trusted.",
    _claude_folder,
    _claude_files,
)
CODEX = Agent(
    "codex",
    "Codex",
    "codex",
    "Codex waits for your yes: start `codex`, open /hooks and approve them. Until then it does not use Hardwon.",
    _codex_folder,
    _codex_files,
)
GEMINI = Agent(
    "gemini",
    "Gemini CLI",
    "gemini",
    "Gemini runs hooks only in trusted folders: /permissions shows whether this one is.",
    _gemini_folder,
    _gemini_files,
)
OPENCODE = Agent(
    "opencode",
    "opencode",
    "opencode",
    "opencode loads it the next time it starts.",
    _opencode_folder,
    _opencode_files,
)
CURSOR = Agent(
    "cursor",
    "Cursor",
    "cursor-agent",
    "Cursor reads it on save; Settings → Hooks lists what it runs.",
    _cursor_folder,
    _cursor_files,
)
HERMES = Agent(
    "hermes",
    "Hermes",
    "hermes",
    "Hermes uses it once it is enabled: run `hermes plugins enable hardwon`; it replaces no tools.",
    _hermes_folder,
    _hermes_files,
)
CLINE = Agent(
    "cline",
    "Cline",
    "cline",
    "The server needs `hardwon extras add mcp`; `hardwon watch` reads its sessions as they finish.",
    _cline_folder,
    _cline_files,
)
AGENTS = {agent.name: agent for agent in (CLAUDE_CODE, CODEX, GEMINI, OPENCODE, CURSOR, HERMES, CLINE)}
