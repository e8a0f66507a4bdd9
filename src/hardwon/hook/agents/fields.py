"""Fields of a payload that may hold anything."""

from __future__ import annotations

_OURS = ("root_session_id", "experiment")


def text(payload: object, *names: str) -> str:
    """The first of the fields that is a text, or an empty one."""
    if isinstance(payload, dict):
        for name in names:
            value = payload.get(name)
            if isinstance(value, str) and value:
                return value
    return ""


def part(payload: object, name: str) -> dict[str, object]:
    value = payload.get(name) if isinstance(payload, dict) else None
    return value if isinstance(value, dict) else {}


def common(payload: dict[str, object]) -> dict[str, object]:
    """The fields that agents who follow Claude Code share, and those that our own callers may add."""
    ours = {name: payload[name] for name in _OURS if name in payload}
    return {
        **ours,
        "session_id": text(payload, "session_id"),
        "cwd": text(payload, "cwd"),
        "transcript_path": text(payload, "transcript_path"),
        "source": text(payload, "source"),
        "prompt": text(payload, "prompt"),
        "call_id": text(payload, "tool_use_id"),
        "subagent": text(payload, "agent_id"),
        "command": text(part(payload, "tool_input"), "command", "cmd"),
        "error": "",
    }


def envelope(payload: dict[str, object], usual: str, context: str) -> dict[str, object]:
    """The answer that most agents take; it must echo the name that came."""
    name = text(payload, "hook_event_name") or usual
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}}
