"""What each agent hands to a hook and takes back: one small module an agent, loaded when it is needed.

A module gives `event`, which turns a payload into the fields below or None when it is not for us, and `answer`,
which puts our text into the shape that the agent takes.

    agent            the agent as sessions name it
    session_id       the conversation
    cwd              the folder it works in
    source           of a start: startup, resume, clear, compact, fork
    prompt           what the user typed
    error, call_id   what a failed tool call said, and the call's own id
    transcript_path  the file that the agent keeps of the session
    subagent         the id of the sub-agent it happened in, if it was one
    root_session_id  the session that a person started, where a caller of our own knows it
    experiment       whether this call takes part, where a caller of our own says so
"""

from __future__ import annotations

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from types import ModuleType

MODULES = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "cursor": "cursor",
    "hermes": "hermes",
}
CONTEXT_BYTES = 10_000
"""What the strictest of the agents takes whole."""
_NAME_CHARACTERS = 40


def named(payload: dict[str, object], told: str) -> str:
    """Which agent calls: by what only it says, for Cursor runs Claude Code's hooks too; else as we were told."""
    if "cursor_version" in payload:
        return "cursor"
    name = payload.get("agent", told or "claude-code")
    if not isinstance(name, str) or len(name) > _NAME_CHARACTERS or not name.replace("-", "").isalnum():
        return ""
    return name


def module(agent: str) -> ModuleType:
    """The agent's adapter; one that has none is taken to speak as Claude Code does, like most."""
    from importlib import import_module

    return import_module(f"hardwon.hook.agents.{MODULES.get(agent, 'claude_code')}")
