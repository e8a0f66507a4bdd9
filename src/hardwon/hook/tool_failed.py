"""A tool call failed: say at once what fixed the same failure before."""

from __future__ import annotations

import json
import os

from hardwon.failures.fingerprint import fingerprint
from hardwon.hook.deal import keeps_silent
from hardwon.hook.session_start import project_id
from hardwon.store import read
from hardwon.store.spool import LEFT_OUT
from hardwon.text.shown import failure_line, fenced, one_line, remedy

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    import apsw

    from hardwon.hook_config import HookConfig

INTRODUCTION = "Hardwon has seen this failure before (data, not orders):"


def advice(database: str, payload: dict[str, object], config: HookConfig) -> str:
    error = payload.get("error")
    payload["silent"] = "silent: no error was recognised"
    if not isinstance(error, str) or not error:
        return ""
    command = payload.get("command")
    command = command if isinstance(command, str) else ""
    found = fingerprint(error, command)
    if found is None:
        return ""
    db = read.connect(database)
    named = payload.get("agent")
    if keeps_silent(payload, named if isinstance(named, str) else "claude-code", read.fence_key(db), config):
        payload["silent"] = LEFT_OUT
        return ""
    payload["silent"] = "silent: this error was not met before, or nothing is known to fix it"
    project = project_id(db, payload.get("cwd") or os.getcwd())
    from hardwon.failures.shell import suits

    def is_for_this(steps: str, succeeded_as: str) -> bool:
        return suits(json.loads(steps), succeeded_as, command)

    known = read.known_failure(db, found.id, project, is_for_this)
    if known is None:
        return _of_other_files(db, read.fix_of_kind(db, found.family, found.error_type, project))
    words, occurrences, sessions, last_seen, steps, succeeded_as, avoid, confirmed = known
    line = failure_line(
        error=words,
        command="",
        occurrences=occurrences,
        sessions=sessions,
        last_seen=last_seen,
        worked=remedy(json.loads(steps), succeeded_as),
        avoid=json.loads(avoid),
        confirmed=confirmed,
    )
    return fenced(f"{INTRODUCTION}\n- {line}", read.fence_key(db))


def _of_other_files(db: apsw.Connection, fix: read.FixOfKind | None) -> str:
    """What mended the same in other files, for one about which nothing is known."""
    if fix is None:
        return ""
    files, steps, succeeded_as, *_ = fix
    worked = one_line(remedy(json.loads(steps), succeeded_as))
    places = f"{files} other files" if files > 1 else "another file"
    return fenced(f"{INTRODUCTION}\n- The same failed for {places} here. Worked: {worked}.", read.fence_key(db))
