"""One event of an agent, answered: which module knows, and whether it may speak."""

from __future__ import annotations

import json
import os

from hardwon.home import DATABASE, MIRROR, home_directory
from hardwon.hook.agents import module
from hardwon.hook.once import done, fired_twice, first

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from hardwon.hook_config import HookConfig

LONGEST_CONTEXT = 10_000
"""Bytes: what the strictest of the agents takes whole."""


def respond(event: str, payload: dict[str, object], agent: str, config: HookConfig) -> str | None:
    """The answer as the JSON that the agent takes, empty if there is nothing to say; None if it is not for us."""
    adapter = module(agent)
    seen = adapter.event(event, payload)
    if seen is None:
        return None
    seen["agent"] = adapter.AGENT if agent in ("", "gemini") else agent
    context = _context(event, seen, config)
    if context is None:
        return None
    if not context or len(context.encode("utf-8", "replace")) > LONGEST_CONTEXT:
        return ""
    return json.dumps(adapter.answer(event, payload, context))


def _context(event: str, seen: dict[str, object], config: HookConfig) -> str | None:
    home = home_directory()
    database = os.path.join(home, MIRROR if config.is_on_server else DATABASE)
    if event != "session-end" and not os.path.exists(database):
        return ""
    if _fired_twice(home, event, seen):
        return None
    if event == "session-end":
        from hardwon.hook.ended import harvest

        harvest(home, seen)
        return ""
    if event == "session-start":
        return _start(home, database, seen, config)
    if event == "prompt":
        from hardwon.hook.asked import reminder

        return reminder(database, seen, config)
    from hardwon.hook.failed import advice

    return advice(database, seen, config)


def _start(home: str, database: str, seen: dict[str, object], config: HookConfig) -> str:
    """The briefing, but for sub-agents, and where the conversation that goes on has it already."""
    session = str(seen.get("session_id") or "")
    if seen.get("subagent") or seen.get("source") == "fork":
        return ""
    if seen.get("source") == "resume" and session and done(home, "briefed", session):
        return ""
    from hardwon.hook.start import briefing

    said = briefing(database, seen, config)
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
