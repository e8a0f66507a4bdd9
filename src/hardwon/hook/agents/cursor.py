"""Cursor: names of its own, an exit code inside a JSON string, and one flat field for context."""

from __future__ import annotations

from hardwon.hook.agents.fields import common, text

AGENT = "cursor"
_SILENT = frozenset(("permission_denied", "timeout"))


def event(kind: str, payload: dict[str, object]) -> dict[str, object] | None:
    seen = common(payload)
    seen["session_id"] = text(payload, "conversation_id", "session_id")
    seen["cwd"] = seen["cwd"] or _first_root(payload.get("workspace_roots"))
    if payload.get("is_background_agent") is True:
        seen["subagent"] = seen["subagent"] or "background"
    if kind == "tool-failed":
        if payload.get("is_interrupt") is True or payload.get("failure_type") in _SILENT:
            return None
        error = text(payload, "error_message", "error") or _failed_output(payload.get("tool_output"))
        if not error:
            return None
        seen["error"] = error
    return seen


def _first_root(roots: object) -> str:
    return next((root for root in roots if isinstance(root, str)), "") if isinstance(roots, list) else ""


def _failed_output(told: object) -> str:
    """The output of a command that ended with an error, from the JSON that the tool answered with."""
    import json

    try:
        result = json.loads(told) if isinstance(told, str) else told
    except ValueError:
        return ""
    if not isinstance(result, dict) or result.get("exitCode") in (None, 0):
        return ""
    return "\n".join(filter(None, (text(result, "output"), text(result, "stdout"), text(result, "stderr"))))


def answer(kind: str, payload: dict[str, object], context: str) -> dict[str, object]:
    said: dict[str, object] = {"additional_context": context}
    return {"continue": True, **said} if kind == "prompt" else said
