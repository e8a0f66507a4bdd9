"""`oldhand-hook EVENT`: the agent's payload on stdin, context for the agent on stdout, always exit 0."""

from __future__ import annotations

import json
import os
import sys
import time

from oldhand.home import DATABASE, home_directory, switched_off

HARD_STOP_SECONDS = 2.0
LONGEST_PAYLOAD = 16 * 1024 * 1024

_BEGAN = time.perf_counter_ns()
_EVENTS = {"session-start": "SessionStart", "tool-failed": "PostToolUseFailure"}


def main() -> None:
    """Say something useful or nothing; never fail, never hang."""
    event = sys.argv[1] if len(sys.argv) > 1 else ""
    agent = error = ""
    try:
        _stop_in_time(event)
        payload = _payload(sys.stdin.buffer.read(LONGEST_PAYLOAD))
        agent = _agent(payload)
        said = respond(event, payload)
        if said:
            sys.stdout.write(said + "\n")
            sys.stdout.flush()
    except Exception as problem:  # whatever it is, the agent's work is more important
        error = _named(problem)
    _leave(event, agent, error)
    os._exit(0)  # nothing is left to write: spare the agent the interpreter's goodbye


def respond(event: str, payload: dict[str, object]) -> str:
    """The answer to one event as the JSON that agents take, or an empty string."""
    database = _database()
    if not database or event not in _EVENTS:
        return ""
    if event == "session-start":
        from oldhand.hook.start import briefing as answer
    else:
        from oldhand.hook.failed import advice as answer
    context = answer(database, payload)
    if not context:
        return ""
    name = payload.get("hook_event_name") or _EVENTS[event]
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}})


def _database() -> str:
    """Where the store is, or an empty string if there is none or nothing may be done."""
    path = os.path.join(home_directory(), DATABASE)
    return path if not switched_off() and os.path.exists(path) else ""


def _payload(raw: bytes) -> dict[str, object]:
    payload = json.loads(raw.decode("utf-8-sig", "replace") or "{}")
    return payload if isinstance(payload, dict) else {}


def _agent(payload: dict[str, object]) -> str:
    name = payload.get("agent", "claude-code")
    return name if isinstance(name, str) and len(name) <= 40 and name.replace("-", "").isalnum() else ""


def _stop_in_time(event: str) -> None:
    """End when something takes too long. Windows has no such alarm; its agents time out."""
    import signal

    def stop(*_: object) -> None:
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, 0.1)  # telling it may hang for the same reason
        _leave(event, "", f"stopped after {HARD_STOP_SECONDS:g} s")
        os._exit(0)

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, HARD_STOP_SECONDS)


def _leave(event: str, agent: str, error: str) -> None:
    """Tell `oldhand doctor` how long it took and what went wrong."""
    try:
        if event in _EVENTS and _database():
            from oldhand.store.spool import leave

            leave(home_directory(), event, agent, (time.perf_counter_ns() - _BEGAN) // 1000, error)
    except Exception:  # noqa: S110 - nobody is left to tell
        pass


def _named(problem: Exception) -> str:
    """An error without any text of the payload: its kind, where it was raised, and what the system says."""
    at, place = problem.__traceback__, ""
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        if file.endswith(".py"):  # apsw adds lines of its C code
            place = f"{os.path.basename(file)}:{at.tb_lineno}"
        at = at.tb_next
    kind = type(problem)
    said = f": {problem.strerror}" if isinstance(problem, OSError) else ""
    if kind.__module__ == "apsw":
        said = f": {problem}"
    return f"{kind.__name__} at {place}{said}"
