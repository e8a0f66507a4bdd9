"""Codex: no event for failures, and no exit code in the event after a command; the rollout has it, a moment later."""

from __future__ import annotations

from hardwon.hook.agents.fields import common, envelope, text

AGENT = "codex"
_NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "tool-failed": "PostToolUse"}
_EXITS = r"\s*(?:Error: )?(?:Exit code:?|Process exited with code|Command exited with code) (-?\d+)"
# Commands whose output is somebody else's: an error in it is no failure of theirs.
_READERS = frozenset("cat head tail less more bat grep rg ag ack sed awk find ls jq journalctl diff strings".split())
_GIT_READERS = frozenset("log show diff blame grep".split())


def event(kind: str, payload: dict[str, object]) -> dict[str, object] | None:
    seen = common(payload)
    if kind == "tool-failed":
        response = payload.get("tool_response")
        output = response if isinstance(response, str) else text(response, "output", "stderr", "stdout")
        if not output or not _may_have_failed(output, text(seen, "command")):
            return None
        seen["error"] = output
    return seen


def _may_have_failed(output: str, command: str) -> bool:
    """By its exit code where one is told; without it, unless the command only shows what others wrote."""
    import re

    told = re.match(_EXITS, output)
    if told:
        return told[1] != "0"
    words = command.split()
    if not words:
        return True
    program = words[0].rpartition("/")[2]
    return program not in _READERS and not (program == "git" and len(words) > 1 and words[1] in _GIT_READERS)


def answer(kind: str, payload: dict[str, object], context: str) -> dict[str, object]:
    return envelope(payload, _NAMES.get(kind, ""), context)
