"""The steps by which a store of any older schema becomes one of today's. A new store is made from the declaration.

A step says what must be done beyond adding what `schema.py` declares as new since then: `Upgrade` has the verbs, which
are the same on both engines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from msgspec.structs import replace

from hardwon.errors import HardwonError, StoreError, StoreTooNew
from hardwon.store import database, integrity, schema
from hardwon.store.database import CASCADE, Column, Database, Index, Reference, Row, Table, integer, ours, table
from hardwon.text.normalise import text_hash

# The verbs that a step of an upgrade is written with: the same on both engines.

Tables = Mapping[str, Table]


class Upgrade:
    """A store on its way from one schema to the next, inside one transaction."""

    def __init__(self, db: Database, tables: Tables) -> None:
        self._db = db
        self.tables = dict(tables)
        """As they are now."""

    def create_table(self, table: Table) -> None:
        for statement in database.create_sql(table, self._db.engine):
            self._db.execute(statement)
        self.tables[table.name] = table

    def add_column(self, table: str, column: Column) -> None:
        """It goes behind the others; needs a default, or to be `null`, for the rows that are there."""
        self._db.execute(f"ALTER TABLE {table} ADD COLUMN {database.column_sql(column, self._db.engine)}")
        was = self.tables[table]
        self.tables[table] = replace(was, columns=(*was.columns, column))

    def create_index(self, table: str, index: Index) -> None:
        self._db.execute(database.index_sql(table, index))
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

    def execute(self, sql: str, values: Sequence[Any] = ()) -> None:
        """SQL that both engines understand."""
        self._db.execute(sql, values)

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


def run_steps(db: Database, steps: Sequence[Step], tables_at: Callable[[int], Tables]) -> None:
    """Run steps inside a transaction of the caller's; a StoreError if one fails, and nothing must be kept then."""
    now, then = tables_at(steps[0].to - 1), tables_at(steps[-1].to)
    touched = _to_seal_again(now, then, anything=any(step.run for step in steps))
    broken = {name: {row.id for row in integrity.stored_seals(db, name, now) if row.broken} for name in touched}
    upgrade = Upgrade(db, now)
    for step in steps:
        try:
            with db.transaction():  # at whose end all of its errors are known
                _run(upgrade, step, tables_at(step.to - 1), tables_at(step.to))
        except Exception as error:
            kind = type(error) if isinstance(error, HardwonError) else StoreError
            why = str(error).strip().partition("\n")[0] or type(error).__name__
            raise kind(
                f"{db.place} could not be upgraded to schema {step.to} ({step.name}) and is as it was: {why}"
            ) from error
    for name in touched:
        for row in integrity.stored_seals(db, name, then):
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


def _whole_data_model(to: Upgrade) -> None:
    to.execute("UPDATE session SET root = agent || ':' || external_id")
    to.fill("lesson", "text_hash", text_hash, "text")
    declared = tables_at(2)
    to.rebuild_table(
        declared["occurrence"],
        "SELECT o.session, o.position, o.failure, o.project, s.root, s.agent, o.message_index, o.at, o.command, "
        "o.exit_code, '', '', 0, o.excerpt FROM old_occurrence o JOIN session s ON s.id = o.session",
    )
    to.rebuild_table(
        declared["fix"],
        "SELECT id, failure, steps, succeeded_as, avoid, status, 0, untrusted, confirmed, 0, last_seen FROM old_fix",
    )
    to.rebuild_table(
        declared["fix_evidence"],
        "SELECT e.fix, e.session, s.root, e.at, e.avoid, e.untrusted, 0 "
        "FROM old_fix_evidence e JOIN session s ON s.id = e.session",
    )
    to.rebuild_table(
        declared["lesson_source"],
        "SELECT o.lesson, o.session, o.message_index, s.root, s.started_at, o.quote, o.origin "
        "FROM old_lesson_source o JOIN session s ON s.id = o.session",
    )
    to.rebuild_table(
        declared["standing"],
        "SELECT project, agent, rank, section, item, text, 0, 0, 0, 0.0 FROM old_standing",
    )
    for counted in ("failure", "project"):
        to.execute(f"INSERT INTO stale SELECT id FROM {counted} WHERE true ON CONFLICT (item) DO NOTHING")


def _errors_in_their_own_words(to: Upgrade) -> None:
    """What older code kept has no words of its own yet: `hardwon failures --refingerprint` finds them in the text."""
    to.execute("UPDATE fix_evidence SET cause = 'kept by an older version' WHERE untrusted = ''")


STEPS = (
    Step(2, "the whole data model", _whole_data_model),
    Step(
        3,
        "errors in their own words, both ends of a fix, whose words a session holds, maps of projects",
        _errors_in_their_own_words,
    ),
    Step(4, "what was said and done in sessions, to be found again"),
    Step(5, "an audit trail for each of those who write at the same time"),
    Step(6, "what was pushed to a team"),
    Step(7, "which commit took a file, and what is left of it where a session was copied"),
)
NEWEST = STEPS[-1].to
"""The schema of the stores that this Hardwon makes."""


def refuse_newer(current: int, place: str) -> None:
    """Raises StoreTooNew of a store that only a newer Hardwon knows."""
    if current > NEWEST:
        raise StoreTooNew(
            f"{place} was written by a newer Hardwon (schema {current}, this one knows {NEWEST}): upgrade Hardwon"
        )


def upgrade(db: Database, current: int) -> None:
    """Upgrade a store inside a transaction of the caller's; a StoreError if that fails."""
    run_steps(db, [step for step in STEPS if step.to > current], tables_at)


_UNTIL_1: tuple[Table, ...] = (
    table(
        "occurrence",
        ours("session", refers=Reference("session", on_delete=CASCADE)),
        integer("position"),
        ours("failure", refers=Reference("failure")),
        ours("project", null=True),
        integer("message_index"),
        integer("at"),
        ours("command"),
        integer("exit_code", null=True),
        ours("excerpt"),
        key="session position",
        indexes=(
            Index("occurrence_by_failure", "failure at"),
            Index("occurrence_by_project", "project failure"),
        ),
        rowid=False,
    ),
    table(
        "fix",
        ours("id"),
        ours("failure", refers=Reference("failure")),
        ours("steps"),
        ours("succeeded_as"),
        ours("avoid"),
        ours("status", one_of=("active", "candidate")),
        ours("untrusted"),
        integer("confirmed"),
        integer("last_seen"),
        indexes=(Index("fix_by_failure", "failure status"),),
    ),
    table(
        "fix_evidence",
        ours("fix", refers=Reference("fix", on_delete=CASCADE)),
        ours("session", refers=Reference("session", on_delete=CASCADE)),
        integer("at"),
        ours("avoid"),
        ours("untrusted"),
        key="fix session",
        indexes=(Index("fix_evidence_by_session", "session"),),
        rowid=False,
    ),
    table(
        "lesson_source",
        ours("lesson", refers=Reference("lesson", on_delete=CASCADE, on_update=CASCADE)),
        ours("session", refers=Reference("session", on_delete=CASCADE)),
        integer("message_index"),
        ours("quote"),
        ours("origin"),
        key="lesson session message_index",
        indexes=(Index("lesson_source_by_session", "session"),),
        rowid=False,
    ),
    table(
        "standing",
        ours("project", refers=Reference("project")),
        ours("agent"),
        integer("rank"),
        ours("section"),
        ours("item"),
        ours("text"),
        key="project agent rank",
        rowid=False,
    ),
)

_REBUILT: dict[int, tuple[Table, ...]] = {1: _UNTIL_1}
"""Tables that a later step made anew, as they were up to a schema."""


@cache
def tables_at(version: int) -> dict[str, Table]:
    """The tables of a schema, those that others refer to first."""
    found = {table.name: table.at(version) for table in schema.TABLES.in_order if table.since <= version}
    for until in sorted(_REBUILT, reverse=True):
        found |= {table.name: table.at(version) for table in _REBUILT[until] if until >= version}
    return found
