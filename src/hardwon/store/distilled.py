"""What a model has read: sessions it is done with, and windows of those it is not, each with the claims it drew."""

from __future__ import annotations

from typing import NamedTuple

from hardwon.store.database import Database, insert

_DONE = insert("distilled", ("session", "state"), "ON CONFLICT (session) DO UPDATE SET state = excluded.state")
_WINDOW = insert(
    "distilled_window",
    ("session", "window_hash", "claims", "checked"),
    "ON CONFLICT (session, window_hash) DO UPDATE SET claims = excluded.claims, checked = excluded.checked",
)


class Held(NamedTuple):
    claims: str
    """JSON."""
    checked: bool
    """Whether the model was asked a second time, by quote and claim alone."""


def is_done(db: Database, session: str, state: str) -> bool:
    return bool(db.query("SELECT 1 FROM distilled WHERE session = ? AND state = ?", (session, state)))


def done(db: Database, session: str, state: str) -> None:
    """Called inside a transaction."""
    db.execute(_DONE, (session, state))


def windows(db: Database, session: str) -> dict[str, Held]:
    """What was drawn from a session's windows, by their hashes."""
    rows = db.query("SELECT window_hash, claims, checked FROM distilled_window WHERE session = ?", (session,))
    return {hash: Held(claims, bool(checked)) for hash, claims, checked in rows}


def keep(db: Database, session: str, hash: str, held: Held) -> None:
    """Called inside a transaction."""
    db.execute(_WINDOW, (session, hash, held.claims, int(held.checked)))
