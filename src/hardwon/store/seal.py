"""A hash in every row that cannot be made again, so that a flipped bit on the disk is noticed.

What is counted (failures, fixes) needs none: it is recounted from the rows of the sessions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hardwon.store import schema
from hardwon.store.database import Database
from hardwon.store.ddl import Table
from hardwon.text.digest import digest

Tables = Mapping[str, Table]


class Sealed(NamedTuple):
    id: str
    was: str
    """The seal as it stands; rows from before there were seals have none."""
    now: str
    """As it should be."""

    @property
    def broken(self) -> bool:
        return self.was not in ("", self.now)


def of(values: Iterable[Any]) -> str:
    return digest(*[f"{value:.9g}" if value.__class__ is float else repr(value) for value in values])


def of_fields(table: str, fields: Mapping[str, Any], more: Iterable[Any] = ()) -> str:
    """The seal of a row that is about to be written; `more` are the values of rows that it covers as well."""
    declared = schema.named()[table]
    own = {**declared.defaults, **fields}
    return of((*map(own.get, declared.sealed), *more))


def renew(db: Database, table: str, ids: Iterable[str]) -> None:
    """Seal rows again after a change that was meant."""
    for id in ids:
        for row in stored(db, table, schema.named(), "WHERE id = ?", (id,)):
            db.execute(f"UPDATE {table} SET seal = ? WHERE id = ?", (row.now, id))


def broken(db: Database, table: str) -> list[str]:
    """The ids of the rows that are not what was written."""
    return [row.id for row in stored(db, table, schema.named()) if row.broken]


def stored(db: Database, name: str, tables: Tables, where: str = "", values: Sequence[str] = ()) -> Iterator[Sealed]:
    """Every row with its seal as it stands and as it should be, by the declaration that is given."""
    table = tables[name]
    covered = tables[table.sealed_with] if table.sealed_with else None
    for seal, *own in db.query(f"SELECT seal, {', '.join(table.sealed)} FROM {name} {where} ORDER BY id", values):
        more = [value for row in _covered(db, covered, name, own[0]) for value in row] if covered else []
        yield Sealed(own[0], seal, of((*own, *more)))


def _covered(db: Database, table: Table, by: str, id: str) -> list[tuple[Any, ...]]:
    key = ", ".join(table.key)
    return db.query(f"SELECT {', '.join(table.names)} FROM {table.name} WHERE {by} = ? ORDER BY {key}", (id,))
