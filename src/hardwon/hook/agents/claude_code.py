"""Claude Code: a failed tool call is an event of its own, with the error as text."""

from __future__ import annotations

from hardwon.hook.agents.fields import common, envelope, text

AGENT = "claude-code"
_NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "tool-failed": "PostToolUseFailure"}


def event(kind: str, payload: dict[str, object]) -> dict[str, object] | None:
    if kind == "tool-failed" and payload.get("is_interrupt") is True:
        return None
    return {**common(payload), "error": text(payload, "error")}


def answer(kind: str, payload: dict[str, object], context: str) -> dict[str, object]:
    return envelope(payload, _NAMES.get(kind, ""), context)
