"""Hermes: our own plugin calls (`install/plugins/hermes.py`), or a shell hook with everything else in `extra`."""

from __future__ import annotations

from hardwon.hook.agents.fields import common, part, text

AGENT = "hermes"


def event(kind: str, payload: dict[str, object]) -> dict[str, object] | None:
    extra = part(payload, "extra")
    seen = common(payload)
    seen["prompt"] = seen["prompt"] or text(extra, "user_message")
    seen["subagent"] = seen["subagent"] or text(extra, "parent_session_id")
    if kind == "tool-failed":
        failed = text(extra, "error_message") or (text(extra, "result") if extra.get("status") == "error" else "")
        seen["error"] = text(payload, "error") or failed
        if not seen["error"]:
            return None
    return seen


def answer(kind: str, payload: dict[str, object], context: str) -> dict[str, object]:
    return {"context": context}
