"""The verbs that a step of an upgrade is written with: the same on both engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hardwon.errors import HardwonError, StoreError
from hardwon.store import ddl, seal
from hardwon.store.database import Database, Row
from hardwon.store.ddl import Column, Index, Table

Tables = Mapping[str, Table]


class Upgrade:
    """A store on its way from one schema to the next, inside one transaction."""

    def __init__(self, db: Database, tables: Tables) -> None:
        self._db = db
        self.tables = dict(tables)
        """As they are now."""

    def create_table(self, table: Table) -> None:
        for statement in ddl.create(table, self._db.engine):
            self._db.execute(statement)
        self.tables[table.name] = table

    def add_column(self, table: str, column: Column) -> None:
        """It goes behind the others; needs a default, or to be `null`, for the rows that are there."""
        self._db.execute(f"ALTER TABLE {table} ADD COLUMN {ddl.column_sql(column, self._db.engine)}")
        was = self.tables[table]
        self.tables[table] = replace(was, columns=(*was.columns, column))

    def create_index(self, table: str, index: Index) -> None:
        self._db.execute(ddl.index_sql(table, index))
        was = self.tables[table]
        self.tables[table] = replace(was, indexes=(*was.indexes, index))

    def drop_table(self, name: str) -> None:
        self._db.execute(f"DROP TABLE {name}")
        del self.tables[name]

    def rebuild_table(self, table: Table, rows: str) -> None:
        """Make a table anew; `rows` is a SELECT of all its columns in which the old table is called `old_<name>`."""
        name = table.name
        referring = self._references_to(name)
        for child, constraint, _ in referring:
            self._db.execute(f"ALTER TABLE {child} DROP CONSTRAINT {constraint}")
        self._db.execute(f"CREATE TABLE old_{name} AS SELECT * FROM {name}")
        self.drop_table(name)
        self.create_table(table)
        self._db.execute(f"INSERT INTO {name} ({', '.join(table.names)}) {rows}")
        self._db.execute(f"DROP TABLE old_{name}")
        for child, constraint, definition in referring:
            self._db.execute(f"ALTER TABLE {child} ADD CONSTRAINT {constraint} {definition}")

    def fill(self, table: str, column: str, function: Callable[..., Any], *of: str) -> None:
        """Set a column in every row to what a function says of other columns."""
        was = self.tables[table]
        where = " AND ".join(f"{name} = ?" for name in was.key)
        rows = [(function(*values), *key) for key, values in was.walk(self._db, of)]
        self._db.bulk(f"UPDATE {table} SET {column} = ? WHERE {where}", rows)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        """SQL that both engines understand; returns how many rows were changed."""
        return self._db.execute(sql, values)

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._db.query(sql, values)

    def _references_to(self, name: str) -> list[Row]:
        """(table, constraint, definition); SQLite's refer to a name, whatever table has it."""
        if self._db.engine == "sqlite":
            return []
        return self._db.query(
            "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
            "WHERE contype = 'f' AND confrelid = ?::regclass AND conrelid <> confrelid ORDER BY 1, 2",
            (name,),
        )

    def add_what_is_new(self, wanted: Tables) -> None:
        """Tables, columns and indexes that the declaration has since this schema."""
        for name, declared in wanted.items():
            was = self.tables.get(name)
            if was is None:
                self.create_table(declared)
            elif _extends(was, declared):
                for column in declared.columns[len(was.columns) :]:
                    self.add_column(name, column)
                for index in declared.indexes:
                    if index not in was.indexes:
                        self.create_index(name, index)


class Step(NamedTuple):
    """From the schema before to this one. What the declaration has since then is added first, by itself."""

    to: int
    name: str
    run: Callable[[Upgrade], None] | None = None
    """What else there is to do: filling, rebuilding."""


def run(db: Database, steps: Sequence[Step], tables_at: Callable[[int], Tables]) -> None:
    """Run steps inside a transaction of the caller's; a StoreError if one fails, and nothing must be kept then."""
    now, then = tables_at(steps[0].to - 1), tables_at(steps[-1].to)
    touched = _to_seal_again(now, then, anything=any(step.run for step in steps))
    broken = {name: {row.id for row in seal.stored(db, name, now) if row.broken} for name in touched}
    upgrade = Upgrade(db, now)
    for step in steps:
        try:
            _run(upgrade, step, tables_at(step.to - 1), tables_at(step.to))
        except Exception as error:
            kind = type(error) if isinstance(error, HardwonError) else StoreError
            why = str(error).strip().partition("\n")[0] or type(error).__name__
            raise kind(
                f"{db.place} could not be upgraded to schema {step.to} ({step.name}) and is as it was: {why}"
            ) from error
    for name in touched:
        for row in seal.stored(db, name, then):
            if row.broken and row.id not in broken[name]:
                db.execute(f"UPDATE {name} SET seal = ? WHERE id = ?", (row.now, row.id))


def _run(upgrade: Upgrade, step: Step, was: Tables, wanted: Tables) -> None:
    for name in was.keys() - wanted.keys():
        upgrade.drop_table(name)
    upgrade.add_what_is_new(wanted)
    if step.run:
        step.run(upgrade)
    for name, declared in wanted.items():
        if upgrade.tables[name].names != declared.names:
            raise StoreError(f"the step does not make {name} what it is declared to be")


def _extends(was: Table, table: Table) -> bool:
    """Whether columns and indexes were added, and nothing else changed."""
    same = was.columns == table.columns[: len(was.columns)] and was.key == table.key and was.unique == table.unique
    return same and set(was.indexes) <= set(table.indexes)


def _to_seal_again(now: Tables, then: Tables, *, anything: bool) -> list[str]:
    """Tables whose seals cover other columns afterwards, or other values."""

    def covered(tables: Tables, name: str) -> tuple[object, ...]:
        inner = tables[name].sealed_with
        return (*tables[name].sealed, *(tables[inner].names if inner else ()))

    both = [name for name, table in now.items() if table.sealed and "seal" in table.names and name in then]
    return [name for name in both if anything or covered(now, name) != covered(then, name)]
