"""What earlier sessions taught, for this one. Runs inside Hermes: standard library only."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

COMMAND = []  # type: list[str]
LONGEST_WAIT = 5


def register(ctx: Any) -> None:
    ctx.register_hook("pre_llm_call", before_turn)
    ctx.register_hook("transform_tool_result", after_tool)
    ctx.register_hook("on_session_finalize", after_session)


def before_turn(
    session_id: str = "", user_message: str = "", is_first_turn: bool = False, **more: Any
) -> dict[str, str] | None:
    event = "session-start" if is_first_turn else "prompt"
    text = ask(event, session_id, prompt=user_message, agent_id=more.get("parent_session_id") or "")
    return {"context": text} if text else None


def after_tool(
    result: str = "",
    session_id: str = "",
    status: str = "",
    error_message: str = "",
    tool_call_id: str = "",
    **_: Any,
) -> str | None:
    error = failed(result, status, error_message)
    text = ask("tool-failed", session_id, error=error, tool_use_id=tool_call_id) if error else ""
    return f"{result}\n\n{text}" if text else None


def after_session(session_id: str = "", **_: Any) -> None:
    ask("session-end", session_id)


def failed(result: str, status: str, error_message: str) -> str:
    """What a failed call said, or nothing: a command that ended with an error counts as done for Hermes."""
    try:
        told = json.loads(result)
    except (TypeError, ValueError):
        told = None
    if isinstance(told, dict) and (told.get("exit_code") or told.get("returncode")):
        return str(told.get("output") or told.get("error") or "")
    return str(error_message or result or "") if status in ("error", "failed") else ""


def ask(event: str, session_id: str, **more: str) -> str:
    """What Oldhand has to say, or nothing: whatever goes wrong, the session goes on."""
    try:
        payload = {"agent": "hermes", "session_id": session_id or "", "cwd": os.getcwd(), **more}
        done = subprocess.run(
            [*COMMAND, event, "--agent", "hermes"],
            input=json.dumps(payload, default=str),
            capture_output=True,
            text=True,
            timeout=LONGEST_WAIT,
            check=False,
        )
        return str(json.loads(done.stdout)["context"]) if done.stdout else ""
    except Exception:
        return ""
