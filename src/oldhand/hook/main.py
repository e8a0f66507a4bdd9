"""`oldhand-hook EVENT`: the agent's payload on stdin, context for the agent on stdout, always exit 0."""

from __future__ import annotations

import json
import os
import sys

from oldhand.home import DATABASE, home_directory, switched_off

HARD_STOP_SECONDS = 2.0
LONGEST_PAYLOAD = 16 * 1024 * 1024

_EVENTS = {"session-start": "SessionStart", "tool-failed": "PostToolUseFailure"}


def main() -> None:
    """Say something useful or nothing; never fail, never hang."""
    try:
        _stop_in_time()
        event = sys.argv[1] if len(sys.argv) > 1 else ""
        said = respond(event, sys.stdin.buffer.read(LONGEST_PAYLOAD))
        if said:
            sys.stdout.write(said + "\n")
            sys.stdout.flush()
    except Exception as error:  # whatever it is, the agent's work is more important
        _note(error)
    os._exit(0)  # nothing is left to write: spare the agent the interpreter's goodbye


def respond(event: str, raw: bytes) -> str:
    """The answer to one event as the JSON that agents take, or an empty string."""
    if switched_off() or event not in _EVENTS:
        return ""
    database = os.path.join(home_directory(), DATABASE)
    if not os.path.exists(database):
        return ""
    payload = json.loads(raw.decode("utf-8-sig", "replace") or "{}")
    if not isinstance(payload, dict):
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


def _stop_in_time() -> None:
    """End silently when something takes too long. Windows has no such alarm; its agents time out."""
    import signal

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, HARD_STOP_SECONDS)


def _note(error: Exception) -> None:
    """Keep what went wrong for `oldhand doctor`: one line, replaced each time."""
    try:
        with open(os.path.join(home_directory(), "hook-error.txt"), "w", encoding="utf-8") as file:
            file.write(f"{type(error).__name__}: {error}"[:500] + "\n")
    except OSError:
        return  # no home, nobody to tell
