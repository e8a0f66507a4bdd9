"""What people, agents and tools said, wherever the store keeps it (see `said` in `schema.py`).

Harvesting with the same words forgotten gives the same rows as forgetting them later (harvest/forgotten.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec

from hardwon.store import schema
from hardwon.store.database import Database, Row
from hardwon.store.ddl import ROWS_PER_PAGE, Table

Change = Callable[[str], str]


def holders() -> Iterator[Table]:
    """The tables that hold such text."""
    return (table for table in schema.TABLES if table.free_text)


def texts(table: Table, column: str, value: object) -> list[str]:
    """What a column says: itself, or each text inside it where it holds JSON."""
    if not isinstance(value, str) or not value:
        return []
    return list(_inside(msgspec.json.decode(value))) if table.column(column).json else [value]


def changed(table: Table, column: str, value: str, change: Change) -> str:
    """A column with every text in it changed; JSON stays JSON."""
    if not value or not table.column(column).json:
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
    for table in holders():
        if table.composed:
            continue
        some: list[str] = []
        for _, row in table.walk(db, list(table.free_text)):
            for column, value in zip(table.free_text, row, strict=True):
                some += texts(table, column, value)
            if len(some) >= ROWS_PER_PAGE:
                yield some
                some = []
        yield some


def rows_as_text(db: Database) -> Iterator[list[str]]:
    """Every row as a database file has it: one text right after the other, our own words among them."""
    declared = schema.named()
    for name, columns in db.columns().items():
        found: Iterator[Row] = (
            (row for _, row in declared[name].walk(db, columns))
            if name in declared
            else iter(db.query(f"SELECT {', '.join(columns)} FROM {name}"))
        )
        while some := list(islice(found, ROWS_PER_PAGE)):
            yield ["".join(value for value in row if isinstance(value, str)) for row in some]
