"""The tables as the migrations make them: their columns, their keys, and which must be filled before which."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from typing import NamedTuple

import apsw

from hardwon.store import migrations
from hardwon.store.database import Database, Row
from hardwon.store.sqlite import offer_functions

_AT_ONCE = 1000
OF_THE_SERVICE = frozenset(("token", "answered"))
"""Who may come in is decided where the store is: no copy or dump brings it along."""


class Table(NamedTuple):
    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    types: tuple[str, ...]
    """`TEXT`, `INTEGER`, `REAL` or `BLOB`, as the columns come."""
    refers: tuple[tuple[str, str, str], ...]
    """(column, table and column that it refers to)."""

    def rows(self, db: Database) -> Iterator[list[Row]]:
        """All rows in the order of their key, some at a time; call it inside a snapshot or a transaction."""
        key = ", ".join(self.key)
        select = f"SELECT {', '.join(self.columns)} FROM {self.name}"
        after = f"WHERE ({key}) > ({', '.join('?' * len(self.key))})"
        places = [self.columns.index(name) for name in self.key]
        rows = db.query(f"{select} ORDER BY {key} LIMIT ?", (_AT_ONCE,))
        while rows:
            yield rows
            last = [rows[-1][at] for at in places]
            rows = db.query(f"{select} {after} ORDER BY {key} LIMIT ?", (*last, _AT_ONCE))


@cache
def tables() -> tuple[Table, ...]:
    """Every table but the full-text index, those that others refer to first."""
    model = apsw.Connection(":memory:")
    offer_functions(model)
    for script in migrations.scripts():
        model.execute(script)
    names = [
        str(row[0])
        for row in model.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' "
            "AND name NOT GLOB 'search_*' ORDER BY name"
        )
    ]
    found = {name: _table(model, name) for name in names}
    model.close()
    parents = {name: [parent for _, parent, _ in table.refers] for name, table in found.items()}
    return tuple(found[name] for name in TopologicalSorter(parents).static_order())


@cache
def copied() -> tuple[Table, ...]:
    """The tables that a copy of the store has: all that it knows, and nobody's right to use it.

    Vectors are made again from the texts, as the index is.
    """
    return tuple(table for table in tables() if table.name not in ("embedding", *OF_THE_SERVICE))


def _table(model: apsw.Connection, name: str) -> Table:
    rows = list(model.execute("SELECT name, pk, type FROM pragma_table_info(?) ORDER BY cid", (name,)))
    key = sorted((pk, column) for column, pk, _ in rows if pk)
    refers = model.execute('SELECT "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY 1', (name,))
    return Table(
        name,
        columns=tuple(str(row[0]) for row in rows),
        key=tuple(str(column) for _, column in key),
        types=tuple(str(row[2]) for row in rows),
        refers=tuple((str(column), str(parent), str(to)) for column, parent, to in refers),
    )
