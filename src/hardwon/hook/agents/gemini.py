"""Gemini CLI: one event after every tool; what failed has `error`, or an exit code in the text of a command."""

from __future__ import annotations

from hardwon.hook.agents.fields import common, envelope, part, text

AGENT = "gemini-cli"
_NAMES = {"session-start": "SessionStart", "prompt": "BeforeAgent", "tool-failed": "AfterTool"}
_EXIT = "\nExit Code: "


def event(kind: str, payload: dict[str, object]) -> dict[str, object] | None:
    seen = common(payload)
    if kind == "tool-failed":
        error = _error(part(payload, "tool_response"))
        if not error:
            return None
        seen["error"] = error
    return seen


def _error(response: dict[str, object]) -> str:
    content = _joined(response.get("llmContent"))
    error = response.get("error")
    if error:
        return content or (error if isinstance(error, str) else text(error, "message"))
    before, found, after = ("\n" + content).rpartition(_EXIT)
    code = after.split("\n", 1)[0].strip()
    if not found or code in ("", "0", "(none)"):
        return ""
    return before.partition("\nOutput: ")[2] or before


def _joined(content: object) -> str:
    """Text, or a list of parts with text in them."""
    if isinstance(content, list):
        return "\n".join(filter(None, (part if isinstance(part, str) else text(part, "text") for part in content)))
    return content if isinstance(content, str) else text(content, "text")


def answer(kind: str, payload: dict[str, object], context: str) -> dict[str, object]:
    return envelope(payload, _NAMES.get(kind, ""), context)
