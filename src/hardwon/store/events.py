"""The audit trail: what was done to an item, by whom and why; append-only, each entry chained to the one before.

The chain covers a salted digest of the payload and not the payload itself: forgetting erases payload and
salt, and the chain still verifies.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from hardwon.store.database import Database, Row, insert, marks
from hardwon.text.normalise import digest

Fields = Mapping[str, Any]

_COLUMNS = "number at action actor item before after why undoes salt digest chain".split()
_FORGOTTEN = {"actor": "", "item": "", "before": "", "after": "", "why": "", "salt": ""}
_SIZE = 16
_MAX_EVENTS_LOST = 10_000
_INSERT = insert("event", _COLUMNS)
_encode = msgspec.json.Encoder().encode


class Happened(NamedTuple):
    """Something to be recorded. `before` and `after` hold the fields that changed."""

    action: str
    item: str
    before: Fields
    after: Fields
    why: str = ""
    undoes: int | None = None


class EventRow(NamedTuple):
    number: int
    at: int
    action: str
    actor: str
    item: str
    before: dict[str, Any]
    after: dict[str, Any]
    why: str
    undoes: int | None


def record(db: Database, actor: str, at: int, happened: Iterable[Happened]) -> list[int]:
    """Append to the trail, inside the transaction that makes the change; returns the events' numbers."""
    last = db.query("SELECT number, chain FROM event ORDER BY number DESC LIMIT 1")
    newest, chain = last[0] if last else (0, "")
    rows = []
    for number, entry in enumerate(happened, start=newest + 1):
        before, after = _encode(entry.before).decode(), _encode(entry.after).decode()
        salt = secrets.token_hex(_SIZE)
        payload = digest(salt, actor, entry.item, before, after, entry.why, size=_SIZE)
        chain = _link(chain, number, at, entry.action, entry.undoes, payload)
        rows.append(
            (number, at, entry.action, actor, entry.item, before, after, entry.why, entry.undoes, salt, payload, chain)
        )
    db.bulk(_INSERT, rows)
    return [row[0] for row in rows]


def of_item(db: Database, item: str) -> list[EventRow]:
    """Everything that happened to an item, oldest first."""
    return [_event(row) for row in _select(db, "WHERE item = ? ORDER BY number", (item,))]


def recent(db: Database, limit: int, *, before: int | None = None) -> list[EventRow]:
    """The newest first; `before` is the number that they must be lower than."""
    if before is None:
        return [_event(row) for row in _select(db, "ORDER BY number DESC LIMIT ?", (limit,))]
    return [_event(row) for row in _select(db, "WHERE number < ? ORDER BY number DESC LIMIT ?", (before, limit))]


def get(db: Database, number: int) -> EventRow | None:
    rows = _select(db, "WHERE number = ?", (number,))
    return _event(rows[0]) if rows else None


def erase(db: Database, numbers: Sequence[int]) -> int:
    """Forget what these events recorded; their links in the chain stay. Returns how many there were."""
    columns = ", ".join(f"{name} = '{value}'" for name, value in _FORGOTTEN.items())
    return db.execute(f"UPDATE event SET {columns} WHERE number IN ({marks(numbers)})", numbers) if numbers else 0


def broken(db: Database) -> list[int]:
    """The numbers of the events that were changed, removed or put in between."""
    wrong, chain, expected = [], "", 1
    for row in _select(db, "ORDER BY number"):
        number, at, action, actor, item, before, after, why, undoes, salt, payload, link = row
        forgotten = salt == ""
        honest = forgotten or payload == digest(salt, actor, item, before, after, why, size=_SIZE)
        if number != expected or not honest or link != _link(chain, number, at, action, undoes, payload):
            wrong.append(number)
        chain, expected = link, number + 1
    return wrong


def close_again(db: Database) -> None:
    """Make the chain whole after damage: what cannot be vouched for loses its payload, what is lost leaves a mark."""
    chain, expected = "", 1
    for row in _select(db, "ORDER BY number"):
        number, at, action, actor, item, before, after, why, undoes, salt, payload, link = row
        if not expected <= number <= expected + _MAX_EVENTS_LOST:  # the number itself is damaged
            db.execute("DELETE FROM event WHERE number = ?", (number,))
            continue
        for missing in range(expected, number):
            chain = _put(db, missing, chain, 0, "lost", None, "")
        honest = salt == "" or payload == digest(salt, actor, item, before, after, why, size=_SIZE)
        if honest and link == _link(chain, number, at, action, undoes, payload):
            chain = link
        elif honest:
            chain = _link(chain, number, at, action, undoes, payload)
            db.execute("UPDATE event SET chain = ? WHERE number = ?", (chain, number))
        else:
            db.execute("DELETE FROM event WHERE number = ?", (number,))
            chain = _put(db, number, chain, at, action, undoes, payload)
        expected = number + 1


def _put(db: Database, number: int, chain: str, at: int, action: str, undoes: int | None, payload: str) -> str:
    """An entry without a payload, as forgetting leaves it; returns its link."""
    chain = _link(chain, number, at, action, undoes, payload)
    db.bulk(_INSERT, [(number, at, action, "", "", "", "", "", undoes, "", payload, chain)])
    return chain


def _link(chain: str, number: int, at: int, action: str, undoes: int | None, payload: str) -> str:
    return digest(chain, str(number), str(at), action, str(undoes), payload, size=_SIZE)


def _select(db: Database, rest: str, values: Sequence[object] = ()) -> list[Row]:
    return db.query(f"SELECT {', '.join(_COLUMNS)} FROM event {rest}", values)


def _event(row: Row) -> EventRow:
    number, at, action, actor, item, before, after, why, undoes, *_ = row
    return EventRow(number, at, action, actor, item, _fields(before), _fields(after), why, undoes)


def _fields(text: str) -> dict[str, Any]:
    return msgspec.json.decode(text, type=dict[str, Any]) if text else {}
