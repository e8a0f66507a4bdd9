"""Sessions that begin with a copy of another, as a resumed or forked one does: what tells."""

from __future__ import annotations

import hashlib

from hardwon.model.session import Message, Session
from hardwon.store.database import Database
from hardwon.store.sessions import SessionRow, Trail

CHARACTERS_PER_DIGEST = 7
"""A letter for who spoke, and 24 bits: enough where every message before was the same."""
_MESSAGES_IN_A_TRAIL = 5_000
_LENGTH_OF_A_UNIQUE_ID = 10
"""Ids of calls that are drawn at random are longer; those that are counted are shorter."""
_CHARACTERS_NO_TWO_AGENTS_SAY = 200


def trail(session: Session) -> Trail:
    """By which a copy of the beginning of this session is known, whatever its times and the ids of its messages are."""
    digests: list[str] = []
    opening = ""
    for message in session.messages[:_MESSAGES_IN_A_TRAIL]:
        digests.append(_digest(message))
        if not opening and _is_unique(message):
            opening = hashlib.blake2b("".join(digests).encode(), digest_size=12).hexdigest()
    return Trail(opening, "".join(digests))


def _is_unique(message: Message) -> bool:
    """Whether no other session can have said this by itself: the same prompt is given often, and answered with `ls`."""
    if any(len(call.id) >= _LENGTH_OF_A_UNIQUE_ID and not call.id.isdigit() for call in message.calls):
        return True
    return message.origin == "agent" and len(message.text) >= _CHARACTERS_NO_TWO_AGENTS_SAY


def _digest(message: Message) -> str:
    parts = [message.role, message.text]
    for call in message.calls:
        parts += (call.id, call.name, call.command or call.target, call.detail)
    for result in message.results:
        parts += (result.call_id, result.text)
    said = "\0".join(parts).encode("utf-8", "surrogatepass")
    return ("u" if message.origin == "user" else ".") + hashlib.blake2b(said, digest_size=3).hexdigest()


def copied(db: Database, row: SessionRow, trail: Trail) -> int:
    """How many messages of a session stand in another, which has their evidence.

    A stranger's log can take nothing from one's own: only own sessions count for those.
    """
    if not trail.opening:
        return 0
    found = db.query(
        "SELECT t.digests, t.copied FROM trail t JOIN session s ON s.id = t.session "
        "WHERE t.opening = ? AND t.session <> ? AND (s.owner = 'own' OR ? = 'foreign')",
        (trail.opening, row.id, row.owner),
    )
    shared = ((_common(trail.digests, digests), theirs) for digests, theirs in found)
    return max((count for count, theirs in shared if count > theirs), default=0)


def _common(one: str, other: str) -> int:
    """How many messages two trails begin with alike."""
    low, high = 0, min(len(one), len(other)) // CHARACTERS_PER_DIGEST
    while low < high:
        middle = (low + high + 1) // 2
        at = middle * CHARACTERS_PER_DIGEST
        low, high = (middle, high) if one[:at] == other[:at] else (low, middle - 1)
    return low
