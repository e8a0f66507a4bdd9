"""What earlier sessions taught, for this one. Runs inside Hermes: standard library only."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import Any

COMMAND = []  # type: list[str]
SPOOL = ""
LARGEST_SPOOL = 1024 * 1024
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
    """What Hardwon has to say, or nothing: whatever goes wrong, the session goes on."""
    began = time.time_ns()
    try:
        payload = {"agent": "hermes", "session_id": session_id or "", "cwd": os.getcwd(), **more}
        done = subprocess.run(
            [*COMMAND, event, "--agent", "hermes"],
            input=json.dumps(payload, default=str),
            capture_output=True,
            encoding="utf-8",
            timeout=LONGEST_WAIT,
            check=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        return str(json.loads(done.stdout)["context"]) if done.stdout else ""
    except Exception as problem:
        complain(event, began, problem)
        return ""


def complain(event: str, began: int, problem: Exception) -> None:
    """What went wrong is kept for `hardwon doctor`; the session hears nothing of it."""
    try:
        if os.path.exists(SPOOL) and os.path.getsize(SPOOL) > LARGEST_SPOOL:
            return
        if not os.path.isdir(os.path.dirname(SPOOL)):
            os.mkdir(os.path.dirname(SPOOL), 0o700)
        at = time.time_ns()
        run = {"id": os.urandom(12).hex(), "at": at // 1000, "event": event, "agent": "hermes"}
        run |= {"microseconds": (at - began) // 1000, "error": f"plugin: {type(problem).__name__}: {problem}"[:500]}
        file = os.open(SPOOL, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(file, f"\n{json.dumps(run)}\n".encode())
        finally:
            os.close(file)
    except Exception:
        pass  # there is nobody left to tell
