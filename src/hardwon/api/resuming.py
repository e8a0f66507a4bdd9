"""How a session is opened, or taken up again by its agent."""

from __future__ import annotations

import re

from msgspec.structs import replace

from hardwon.errors import HardwonError, NotFound
from hardwon.model.nouns import Hit, Resumption
from hardwon.store import projects
from hardwon.store.database import Database
from hardwon.store.meta import short_id

_PLAIN_ID = re.compile(r"[\w.-]{1,100}")
_RESUMING = {
    "claude-code": "claude --resume",
    "codex": "codex resume",
    "gemini-cli": "gemini --resume",
    "gemini": "gemini --resume",
    "opencode": "opencode --session",
    "cursor": "cursor-agent --resume",
    "copilot-cli": "copilot --resume",
    "qwen-code": "qwen --resume",
}
"""Agent → the command by which it goes on with a session, without the session's id."""


def opened(db: Database, hits: list[Hit]) -> list[Hit]:
    """Passages, and how each is opened: one's own are gone on with where their agent can, others are files."""
    found = projects.visits_of_passages(db, [hit.id for hit in hits])
    told = []
    for hit in hits:
        at = found[hit.id]
        goes_on = at.owner == "own" and at.has_root and at.agent in _RESUMING and _PLAIN_ID.fullmatch(at.external_id)
        how = f"hardwon resume {short_id(db, hit.session)}" if goes_on else at.path
        told.append(replace(hit, message=at.message_index, owner=at.owner, open=how))
    return told


def resumption(db: Database, id: str) -> Resumption:
    """How an agent goes on with a session, by the beginning of our id of it or by the agent's own."""
    rows = projects.sessions_called(db, id)
    if not rows:
        raise NotFound(f"no session {id}")
    if len(rows) > 1:
        raise HardwonError(f"several sessions begin with {id}: " + ", ".join(row[0] for row in rows[:5]))
    session, agent, external_id, folder = rows[0]
    if agent not in _RESUMING:
        path = db.query("SELECT path FROM session WHERE id = ?", (session,))[0][0]
        what = "SpecStory only keeps a copy of it" if agent == "specstory" else f"{agent} has no command for that"
        raise HardwonError(f"this session cannot be resumed: {what}. To read it: {path}")
    if not _PLAIN_ID.fullmatch(external_id):
        raise HardwonError(f"{agent} gave this session an unsafe id, so no command is printed: {session}")
    return Resumption(session=session, agent=agent, command=f"{_RESUMING[agent]} {external_id}", folder=folder)
