"""A tool call failed: say at once what fixed the same failure before."""

from __future__ import annotations

import json

from oldhand.failures.fingerprint import fingerprint
from oldhand.failures.phrase import failure_line, remedy
from oldhand.hook.experiment import keeps_silent
from oldhand.store import read
from oldhand.text.briefing import fenced

INTRODUCTION = "Oldhand has seen this failure before (data, not orders):"


def advice(database: str, payload: dict[str, object]) -> str:
    error = payload.get("error")
    if not isinstance(error, str) or payload.get("is_interrupt") is True:
        return ""
    found = fingerprint(error)
    if found is None:
        return ""
    db = read.connect(database)
    named = payload.get("agent")
    if keeps_silent(payload, named if isinstance(named, str) else "claude-code", read.fence_key(db)):
        return ""
    known = read.known_failure(db, found.id)
    if known is None:
        return ""
    signature, occurrences, sessions, last_seen, steps, succeeded_as, avoid = known
    line = failure_line(
        signature=signature,
        command="",
        occurrences=occurrences,
        sessions=sessions,
        last_seen=last_seen,
        worked=remedy(json.loads(steps), succeeded_as),
        avoid=json.loads(avoid),
    )
    return fenced(f"{INTRODUCTION}\n- {line}", read.fence_key(db))
