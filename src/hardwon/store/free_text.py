"""Where the store keeps what people, agents and tools said; every other column holds words of our own.

What becomes of a row when such a column has words in it that are to be forgotten:
`mask` puts a mark in their place, `row` drops the row, `erase` empties an event, and a noun drops the whole
thing that the row belongs to. Harvesting with the same words forgotten gives the same rows (harvest/forgotten.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from hardwon.store.database import Database, Row

EFFECTS: dict[str, dict[str, str]] = {
    "project": {"key": "project", "name": "project", "description": "mask"},
    "project_root": {"path": "row"},
    "project_alias": {"name": "row"},
    "source": {"path": "row", "refused": "mask"},
    "session": {
        "external_id": "session", "subagent": "session", "path": "session", "root": "session",
        "branch": "mask", "version": "mask", "client": "mask", "task": "mask",
    },
    "call": {"tool": "mask", "subject": "mask"},
    "failure": {"signature": "failure", "error_type": "failure"},
    "occurrence": {"command": "row", "excerpt": "row", "phase": "mask", "friction": "mask"},
    "fix": {"steps": "fix", "succeeded_as": "fix", "avoid": "avoid"},
    "fix_evidence": {"avoid": "avoid"},
    "tried": {"steps": "row", "tried_as": "row"},
    "failure_in_project": {"command": "row", "place": "row"},
    "lesson": {"text": "lesson", "tags": "lesson", "anchor_path": "lesson"},
    "lesson_source": {"quote": "row"},
    "distilled_window": {"claims": "row"},
    "conflict": {"resolution": "mask"},
    "attempt": dict.fromkeys(
        "session root task approach phase evidence diff test_results failure_analysis reflection git_commit".split(),
        "attempt",
    ),
    "attempt_file": {"path": "attempt"},
    "document": {"path": "document", "title": "document", "tags": "document"},
    "chunk": {"heading_path": "chunk", "content": "chunk", "metadata": "chunk"},
    "interaction": dict.fromkeys(
        "session client prompt response response_summary context".split(), "interaction"
    ),
    "bootstrap": {"session": "mask", "task": "mask"},
    "exposure": {"parts": "mask"},
    "event": {"actor": "erase", "before": "erase", "after": "erase", "why": "erase"},
    "standing": {"text": "row"},
    "metric_snapshot": {"scope": "row"},
    "hook_run": {"error": "mask"},
    "token": {"name": "mask"},
}  # fmt: skip
"""Table → column that may hold anything → what becomes of it."""

KEYS: dict[str, tuple[str, ...]] = {
    "project_root": ("path",),
    "project_alias": ("name",),
    "source": ("path",),
    "call": ("session", "position"),
    "occurrence": ("source", "position"),
    "fix_evidence": ("fix", "source"),
    "tried": ("source", "failure", "steps", "tried_as"),
    "failure_in_project": ("project", "failure"),
    "lesson_source": ("lesson", "source", "message_index"),
    "distilled_window": ("session", "window_hash"),
    "attempt_file": ("attempt", "path", "role"),
    "exposure": ("bootstrap", "item"),
    "event": ("number",),
    "standing": ("project", "agent", "rank"),
    "metric_snapshot": ("at", "scope", "name"),
}
"""Table → primary key, where it is not `id`."""

JSON = frozenset(
    (
        ("fix", "steps"),
        ("fix", "avoid"),
        ("fix_evidence", "avoid"),
        ("tried", "steps"),
        ("lesson", "tags"),
        ("distilled_window", "claims"),
        ("event", "before"),
        ("event", "after"),
    )
)
"""(table, column) of texts inside JSON."""

COMPOSED = frozenset(("failure_in_project", "standing"))
"""Tables that are made from the others: what those do not say are words of our own."""

Change = Callable[[str], str]

_AT_ONCE = 2000


def key_of(table: str) -> tuple[str, ...]:
    return KEYS.get(table, ("id",))


def walk(db: Database, table: str, columns: Sequence[str]) -> Iterator[tuple[Row, Row]]:
    """Every row of a table as (key, columns), some at a time: a store may be larger than the memory."""
    key = key_of(table)
    names = ", ".join((*key, *columns))
    after: Row = ()
    while True:
        where = f"WHERE ({', '.join(key)}) > ({', '.join('?' * len(key))})" if after else ""
        rows = db.query(f"SELECT {names} FROM {table} {where} ORDER BY {', '.join(key)} LIMIT {_AT_ONCE}", after)
        for row in rows:
            yield row[: len(key)], row[len(key) :]
        if len(rows) < _AT_ONCE:
            return
        after = rows[-1][: len(key)]


def texts(table: str, column: str, value: object) -> list[str]:
    """What a column says: itself, or each text inside it where it holds JSON."""
    if not isinstance(value, str) or not value:
        return []
    return list(_inside(msgspec.json.decode(value))) if (table, column) in JSON else [value]


def changed(table: str, column: str, value: str, change: Change) -> str:
    """A column with every text in it changed; JSON stays JSON."""
    if not value or (table, column) not in JSON:
        return change(value)
    return msgspec.json.encode(_mapped(msgspec.json.decode(value), change)).decode()


def _inside(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _inside(part)


def _mapped(value: Any, change: Change) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _mapped(part, change) for name, part in value.items()}
    return [_mapped(part, change) for part in value] if isinstance(value, list) else value


def spoken(db: Database) -> Iterator[list[str]]:
    """All that the store was told, some at a time."""
    for table, columns in EFFECTS.items():
        if table in COMPOSED:
            continue
        some: list[str] = []
        for _, row in walk(db, table, list(columns)):
            some += (said for column, value in zip(columns, row, strict=True) for said in texts(table, column, value))
            if len(some) >= _AT_ONCE:
                yield some
                some = []
        yield some


def rows(db: Database) -> Iterator[list[str]]:
    """Every row as a database file has it: one text right after the other, our own words among them."""
    for table, columns in db.columns().items():
        known = table in EFFECTS
        found: Iterator[Row] = (
            (row for _, row in walk(db, table, columns))
            if known
            else iter(db.query(f"SELECT {', '.join(columns)} FROM {table}"))
        )
        while some := list(islice(found, _AT_ONCE)):
            yield ["".join(value for value in row if isinstance(value, str)) for row in some]
