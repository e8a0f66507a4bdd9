"""A tool call failed: say at once what fixed the same failure before."""

from __future__ import annotations

import json

from hardwon.failures.fingerprint import fingerprint
from hardwon.failures.phrase import failure_line, remedy
from hardwon.hook.deal import keeps_silent
from hardwon.store import read
from hardwon.text.fence import fenced

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from hardwon.hook_config import HookConfig

INTRODUCTION = "Hardwon has seen this failure before (data, not orders):"


def advice(database: str, payload: dict[str, object], config: HookConfig) -> str:
    error = payload.get("error")
    if not isinstance(error, str) or not error:
        return ""
    found = fingerprint(error)
    if found is None:
        return ""
    db = read.connect(database)
    named = payload.get("agent")
    if keeps_silent(payload, named if isinstance(named, str) else "claude-code", read.fence_key(db), config):
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
