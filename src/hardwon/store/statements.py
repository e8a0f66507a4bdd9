"""What people typed that sounds like a rule: evidence of what they say again, and what waits to be looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hardwon.store.database import Database, insert

_MOST_READ = 20_000


class Said(NamedTuple):
    """A sentence of a session, as it is kept."""

    message_index: int
    nth: int
    text: str
    """As a lesson would tell it."""
    quote: str
    worth: float


class Row(NamedTuple):
    source: str
    root: str
    at: int
    message_index: int
    nth: int
    text: str
    quote: str
    worth: float


_ADD = insert("statement", ("source", *Said._fields))
_COLUMNS = "t.source, s.root, s.started_at, t.message_index, t.nth, t.text, t.quote, t.worth"


def add(db: Database, source: str, said: Iterable[Said]) -> None:
    """What one session left; what an earlier reading of it left must have been removed. Inside a transaction."""
    db.bulk(_ADD, ((source, *one) for one in said))


def of_project(db: Database, project: str) -> list[Row]:
    """Of one's own sessions, the earliest first."""
    rows = db.query(
        f"SELECT {_COLUMNS} FROM statement t JOIN session s ON s.id = t.source WHERE s.project = ? "
        "AND s.owner = 'own' ORDER BY s.started_at, t.source, t.message_index, t.nth LIMIT ?",
        (project, _MOST_READ),
    )
    return [Row(*row) for row in rows]


def one(db: Database, source: str, message_index: int, nth: int) -> Row | None:
    rows = db.query(
        f"SELECT {_COLUMNS} FROM statement t JOIN session s ON s.id = t.source "
        "WHERE t.source = ? AND t.message_index = ? AND t.nth = ?",
        (source, message_index, nth),
    )
    return Row(*rows[0]) if rows else None


def best(db: Database, project: str | None, limit: int) -> list[Row]:
    """Those that no lesson says, the most worth first."""
    where, values = ("s.project = ? AND ", [project]) if project else ("", [])
    rows = db.query(
        f"SELECT {_COLUMNS} FROM statement t JOIN session s ON s.id = t.source WHERE {where}s.owner = 'own' "
        "AND NOT EXISTS (SELECT 1 FROM lesson_source o WHERE o.source = t.source AND o.quote = t.quote) "
        "ORDER BY t.worth DESC, s.started_at DESC, t.source, t.message_index, t.nth LIMIT ?",
        (*values, limit),
    )
    return [Row(*row) for row in rows]
