"""Passages of sessions: what was said and done, some hundred characters at a time, for a person to find it by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hardwon.store import fulltext, meta, sessions
from hardwon.store.database import Database, insert
from hardwon.text.normalise import derived


class Passage(NamedTuple):
    """A stretch of a session: its lines, each marked with whose it is."""

    nth: int
    message_index: int
    """Where it begins."""
    at: int | None
    text: str


_COLUMNS = ("id", "source", *Passage._fields)


def add(db: Database, source: str, said: Iterable[Passage], started_at: int) -> None:
    """What one session left; what an earlier reading of it left must have been removed. Inside a transaction."""
    rows = [(derived("W", source, str(one.nth)), source, *one._replace(at=one.at or started_at)) for one in said]
    db.bulk(insert("passage", _COLUMNS), rows)
    db.index(fulltext.entry(row[0], "passage", row[-1]) for row in rows)


def are_kept(db: Database) -> bool:
    return meta.note(db, "passages") != "off"


def follow_setting(db: Database, *, wanted: bool) -> None:
    """Remove all of them once they are not wanted; when they are wanted again, all transcripts are to be read anew."""
    if are_kept(db) is wanted:
        return
    with db.transaction():
        if wanted:
            sessions.read_again(db)
        else:
            db.unindex([row[0] for row in db.query("SELECT id FROM passage")])
            db.execute("DELETE FROM passage")
        meta.set_note(db, "passages", "on" if wanted else "off")
