"""Whole rows into a store, table by table, as they stood in another one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hardwon.store.database import Database, Row, insert, marks
from hardwon.store.schema import OF_THE_SERVICE, Table, tables

AT_ONCE = 1000


def put(db: Database, table: Table, rows: Sequence[Row]) -> None:
    """Add rows; those whose key is taken are left as they are."""
    db.bulk(insert(table.name, table.columns, "ON CONFLICT DO NOTHING"), rows)


def without_orphans(db: Database, table: Table, rows: Sequence[Row]) -> list[Row]:
    """The rows whose parents are in the store."""
    left = list(rows)
    for column, parent, key in table.refers:
        at = table.columns.index(column)
        there = present(db, parent, key, {row[at] for row in left if row[at] is not None})
        left = [row for row in left if row[at] is None or row[at] in there]
    return left


def present(db: Database, table: str, column: str, values: Iterable[object]) -> set[object]:
    """Those of the values that the table has."""
    wanted = list(values)
    found = set()
    for start in range(0, len(wanted), AT_ONCE):
        part = wanted[start : start + AT_ONCE]
        found |= {row[0] for row in db.query(f"SELECT {column} FROM {table} WHERE {column} IN ({marks(part)})", part)}
    return found


def wipe(db: Database) -> None:
    """Take everything out of a store, its keys as well."""
    db.unindex([row[0] for row in db.query("SELECT item FROM search_item")])
    for table in reversed(tables()):
        if table.name not in OF_THE_SERVICE:
            db.execute(f"DELETE FROM {table.name}")


def count(db: Database, table: str) -> int:
    return int(db.query(f"SELECT count(*) FROM {table}")[0][0])
