"""One event of an agent, answered: which module knows, and whether it may speak."""

from __future__ import annotations

import json
import os

from hardwon.home import DATABASE, MIRROR, home_directory
from hardwon.hook.agents import module
from hardwon.hook.once import done, fired_twice, first

LONGEST_CONTEXT = 10_000
"""Bytes: what the strictest of the agents takes whole."""


def respond(event: str, payload: dict[str, object], agent: str = "") -> str | None:
    """The answer as the JSON that the agent takes, empty if there is nothing to say; None if it is not for us."""
    adapter = module(agent)
    seen = adapter.event(event, payload)
    if seen is None:
        return None
    seen["agent"] = adapter.AGENT if agent in ("", "gemini") else agent
    context = _context(event, seen)
    if context is None:
        return None
    if not context or len(context.encode("utf-8", "replace")) > LONGEST_CONTEXT:
        return ""
    return json.dumps(adapter.answer(event, payload, context))


def _context(event: str, seen: dict[str, object]) -> str | None:
    home = home_directory()
    database = os.path.join(home, MIRROR if on_a_server(home) else DATABASE)
    if event != "session-end" and not os.path.exists(database):
        return ""
    if _fired_twice(home, event, seen):
        return None
    if event == "session-end":
        from hardwon.hook.ended import harvest

        harvest(home, seen)
        return ""
    if event == "session-start":
        return _start(home, database, seen)
    if event == "prompt":
        from hardwon.hook.asked import reminder

        return reminder(database, seen)
    from hardwon.hook.failed import advice

    return advice(database, seen)


def _start(home: str, database: str, seen: dict[str, object]) -> str:
    """The briefing, but for sub-agents, and where the conversation that goes on has it already."""
    session = str(seen.get("session_id") or "")
    if seen.get("subagent") or seen.get("source") == "fork":
        return ""
    if seen.get("source") == "resume" and session and done(home, "briefed", session):
        return ""
    from hardwon.hook.start import briefing

    said = briefing(database, seen)
    if said and session:
        first(home, "briefed", session)
    return said


def _fired_twice(home: str, event: str, seen: dict[str, object]) -> bool:
    """Cursor runs its own hooks and Claude Code's; settings of a user and of a project may both name us."""
    session = seen.get("session_id")
    if not session or not os.path.isdir(home):
        return False
    what = seen.get("call_id") or seen.get("error") or seen.get("prompt") or seen.get("source") or ""
    who = (str(session), str(seen.get("root_session_id")), str(seen.get("subagent")))
    return fired_twice(home, event, *who, str(what))


def on_a_server(home: str) -> bool:
    """Whether the store is on PostgreSQL: a file that it left here may hold what was forgotten since."""
    if os.environ.get("HARDWON_DATABASE"):
        return True
    try:
        with open(os.path.join(home, "config.toml"), encoding="utf-8", errors="replace") as file:
            return "postgres" in file.read()
    except OSError:
        return False
