"""opencode: our own plugin calls, in our own words (`install/plugins/opencode.js`)."""

from __future__ import annotations

from hardwon.hook.agents.fields import common, text

AGENT = "opencode"


def event(kind: str, payload: dict[str, object]) -> dict[str, object] | None:
    return {**common(payload), "error": text(payload, "error")}


def answer(kind: str, payload: dict[str, object], context: str) -> dict[str, object]:
    return {"context": context}
