"""The one real deletion: things are taken out of every table, with all that speaks of them.

Everything happens inside the caller's transaction, so that a rehearsal is the real thing, rolled back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from hardwon.store import attempts, failures, fulltext, integrity, lessons, meta, schema
from hardwon.store.database import ROWS_PER_PAGE, Database, Row, Table, batches, marks
from hardwon.store.meta import Stone
from hardwon.store.projects import DRAWN

# What people, agents and tools said, wherever the store keeps it (see `said` in `schema.py`).

Change = Callable[[str], str]
_OUTDATED = "NOT EXISTS (SELECT 1 FROM search_item s WHERE s.item = embedding.item AND s.hash = embedding.hash)"
"""Vectors of texts that are gone."""
_GONE = "gone"
_ID = re.compile(r"\b[A-Z][0-9a-f]{16,32}\b")


def free_text_tables() -> Iterator[Table]:
    """The tables that hold such text."""
    return (table for table in schema.TABLES if table.free_text)


def texts_in(table: Table, column: str, value: object) -> list[str]:
    """What a column says: itself, or each text inside it where it holds JSON."""
    if not isinstance(value, str) or not value:
        return []
    return list(_inside(msgspec.json.decode(value))) if table.column(column).json else [value]


def changed_text(table: Table, column: str, value: str, change: Change) -> str:
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


def spoken(db: Database) -> Iterator[tuple[str, list[str]]]:
    """All that the store was told, some of a table at a time."""
    for table in free_text_tables():
        if table.composed:
            continue
        some: list[str] = []
        for _, row in table.walk(db, list(table.free_text)):
            for column, value in zip(table.free_text, row, strict=True):
                some += texts_in(table, column, value)
            if len(some) >= ROWS_PER_PAGE:
                yield table.name, some
                some = []
        yield table.name, some


def rows_as_text(db: Database) -> Iterator[tuple[str, list[str]]]:
    """Every row of each table as a database file has it: one text right after the other, our own words among them."""
    declared = schema.TABLES.named
    for name, columns in db.columns().items():
        found: Iterator[Row] = (
            (row for _, row in declared[name].walk(db, columns))
            if name in declared
            else iter(db.query(f"SELECT {', '.join(columns)} FROM {name}"))
        )
        while some := list(islice(found, ROWS_PER_PAGE)):
            yield name, ["".join(value for value in row if isinstance(value, str)) for row in some]


# The one real deletion: things are taken out of every table, with all that speaks of them.


class Removal:
    """Takes things out, and remembers what went: how many rows, which ids, which words."""

    def __init__(self, db: Database, *, keep_decided: bool = False) -> None:
        self.rows: Counter[str] = Counter()
        self.items: set[str] = set()
        self.vanished: set[str] = set()
        """Those of them that nobody named: nothing that is left speaks of them."""
        self.said: dict[str, set[str]] = {}
        """Table → what its rows said."""
        self.words: set[str] = set()
        """The forgotten words as they stood, where it was words that were to be forgotten."""
        self.transcripts: set[str] = set()
        self.stones: list[Stone] = []
        self._db = db
        self._key = meta.forget_key(db)
        self._keep_decided = keep_decided
        """Leave lessons and fixes that a person decided on, though nothing supports them any more."""
        self._touched: set[str] = set()
        self._projects: set[str] = set()
        self._redrawn: set[str] = set()
        """Projects whose map counts a session that is gone."""

    def lessons(self, ids: Iterable[str]) -> None:
        gone = self._take(ids)
        self._concern(gone)
        for part in batches(gone):
            self._came_from("lesson_source", "lesson", part)
            rows = self._db.query(f"SELECT conflict FROM conflict_member WHERE lesson IN ({marks(part)})", part)
            conflicts = {row[0] for row in rows}
            self._answers_about(self._ids("lesson_source", "lesson", part, wanted="source"))
            for table, column in schema.TABLES.referring("lesson"):
                self.delete(table, column, part)
            self.delete("conflict", "id", self._take(id for id in conflicts if self._settled(id)))
            self.delete("lesson", "id", part)
            self._unlink("lesson", "superseded_by", part)

    def failures(self, ids: Iterable[str]) -> None:
        wanted = sorted(ids)
        for part in batches(wanted):
            self._came_from("occurrence", "failure", part)
            self.lessons(self._ids("lesson", "failure", part))
        self._failures(wanted)

    def _failures(self, ids: Iterable[str]) -> None:
        """A lesson drawn from a failure that is merely not seen any more stands by its own sources."""
        gone = self._take(ids)
        self._concern(gone)
        for part in batches(gone):
            self.fixes(self._ids("fix", "failure", part))
            for table in ("occurrence", "tried"):
                self.delete(table, "failure", part)
            self.delete("failure", "id", part)

    def fixes(self, ids: Iterable[str]) -> None:
        for part in batches(self._take(ids)):
            self.touch(self._ids("fix", "id", part, wanted="failure"))
            self.delete("fix_evidence", "fix", part)
            self.delete("fix", "id", part)

    def sessions(self, ids: Iterable[str]) -> None:
        for part in batches(self._take(ids)):
            where = f"WHERE id IN ({marks(part)})"
            found = self._db.query(f"SELECT path, external_id, root, project FROM session {where}", part)
            paths, names, roots, held_by = ({row[at] for row in found if row[at]} for at in range(4))
            self.transcripts |= paths
            self._left_by(part)
            self._answers_about(part)
            for table in ("call", "trail", "distilled"):
                self.delete(table, "session", part)
            self.delete("session_commit", "external_id", sorted(names))
            self.delete("session", "id", part)
            self._sources(paths)
            called = [*part, *names, *roots]
            self.attempts(self._ids("attempt", "session", called))
            self.interactions(self._ids("interaction", "session", called))
            self.bootstraps(self._ids("bootstrap", "session", called))
            self.redraw(held_by)

    def _answers_about(self, ids: Iterable[str]) -> None:
        """What a model drew from questions in which these sessions are, and others with them."""
        for part in batches(sorted(ids)):
            asked = self._ids("distilled_window", "session", part, wanted="window_hash")
            self.delete("distilled_window", "window_hash", sorted(asked))

    def attempts(self, ids: Iterable[str]) -> None:
        for part in batches(self._take(ids)):
            attempts.retire_numbers(self._db, part)
            self._left_by(part)
            self.delete("attempt_file", "attempt", part)
            self.delete("attempt", "id", part)
            self._unlink("attempt", "retry_of", part)

    def interactions(self, ids: Iterable[str]) -> None:
        for part in batches(self._take(ids)):
            self._left_by(part)
            self.delete("reinforcement", "interaction", part)
            self.delete("interaction", "id", part)

    def bootstraps(self, ids: Iterable[str]) -> None:
        for part in batches(self._take(ids)):
            self.delete("exposure", "bootstrap", part)
            self.delete("bootstrap", "id", part)

    def documents(self, ids: Iterable[str]) -> None:
        for part in batches(self._take(ids)):
            self.chunks(self._ids("chunk", "document", part))
            self.delete("document", "id", part)

    def chunks(self, ids: Iterable[str]) -> None:
        for part in batches(self._take(ids)):
            self._left_by(part)
            self.delete("chunk", "id", part)

    def projects(self, ids: Iterable[str]) -> None:
        for id in self._take(ids):
            self.sessions(self._ids("session", "project", [id]))
            self.lessons(self._ids("lesson", "project", [id]))
            self.attempts(self._ids("attempt", "project", [id]))
            self.interactions(self._ids("interaction", "project", [id]))
            self.documents(self._ids("document", "project", [id]))
            self.bootstraps(self._ids("bootstrap", "project", [id]))
            self._db.execute("UPDATE occurrence SET project = NULL WHERE project = ?", (id,))
            names = self._db.query("SELECT id, key, name FROM project WHERE id = ?", (id,))
            self.delete("metric_snapshot", "scope", [name for row in names for name in row])
            self._drop_project(id)

    def rows_of(self, table: str, where: str, values: Sequence[object]) -> None:
        """Delete any rows, and keep in mind what they said."""
        declared = schema.TABLES.named[table]
        if columns := list(declared.free_text):
            for row in self._db.query(f"SELECT {', '.join(columns)} FROM {table} WHERE {where}", values):
                for column, value in zip(columns, row, strict=True):
                    self.said.setdefault(table, set()).update(texts_in(declared, column, value))
        if gone := self._db.changed(f"DELETE FROM {table} WHERE {where}", values):
            self.rows[table] += gone

    def delete(self, table: str, column: str, ids: Sequence[str]) -> None:
        if ids:
            self.rows_of(table, f"{column} IN ({marks(ids)})", ids)

    def touch(self, ids: Iterable[str]) -> None:
        """These lessons and failures have lost something, and must be counted again."""
        wanted = [id for id in ids if id not in self.items]
        self._touched.update(wanted)
        self._concern(wanted)

    def concern(self, projects: Iterable[str]) -> None:
        """What is prepared for hooks in these projects is behind now."""
        self._projects.update(projects)

    def redraw(self, projects: Iterable[str]) -> None:
        """The maps of these projects count sessions by their place: without one of them, nothing in them is right."""
        self._redrawn.update(projects)
        self.concern(self._redrawn)

    def finish(self) -> None:
        """Count again what is left, and remove what spoke of the things that are gone."""
        self._recount()
        self._drop_empty_projects()
        items = sorted(self.items)
        self._db.unindex(items)
        for part in batches(items):
            self.delete("exposure", "item", part)
            # A request that is sent again is not done again, though what came of it is gone.
            self._db.execute(f"UPDATE answered SET item = '{_GONE}' WHERE item IN ({marks(part)})", part)
        fulltext.complete(self._db)  # by other words now, where some were forgotten
        if self.rows:
            self.rows_of("embedding", _OUTDATED, ())
        self._forget_uses(items)
        self._erase_events()
        meta.clear_stale(self._db, items)
        # Hooks go on with what says nothing of it, until the next who writes prepares the rest anew; a failure's line
        # tells its fixes, too.
        worded = {id for id in self._touched if id.startswith("F")}
        for part in batches(sorted(self.items | worded)):
            self._db.execute(f"DELETE FROM standing WHERE item IN ({marks(part)})", part)
        for table in DRAWN:
            self._db.bulk(f"DELETE FROM {table} WHERE project = ?", ((id,) for id in sorted(self._redrawn)))
        meta.mark_stale(self._db, sorted(self._projects - self.items))

    def _recount(self) -> None:
        left = {id for id in self._touched if id not in self.items}
        found = [id for id in sorted(left) if id.startswith("F")]
        without = [id for id in found if not self._has("occurrence", "failure", id)]
        self.vanished.update(without)
        self._failures(without)
        self.fixes(self._unproven(found))
        found = [id for id in found if id not in self.items]
        self._db.unindex(found)  # a failure is found by the first command that met it, which may be another now
        failures.refresh(self._db, found)
        lost = [id for id in left if id.startswith("L") and not self._has("lesson_source", "lesson", id)]
        decided = {row[0] for row in self._db.query("SELECT id FROM lesson WHERE kept = 1")}
        self.lessons(id for id in lost if not (self._keep_decided and id in decided))
        lessons.refresh(self._db, (id for id in left if id.startswith("L") and id not in self.items))

    def _unproven(self, failures: Sequence[str]) -> list[str]:
        """Fixes that no session proves any more."""
        return [
            row[0]
            for part in batches(failures)
            for row in self._db.query(
                f"SELECT id FROM fix x WHERE failure IN ({marks(part)}) AND (reviewed = 0 OR ? = 0) "
                "AND NOT EXISTS (SELECT 1 FROM fix_evidence e WHERE e.fix = x.id)",
                (*part, int(self._keep_decided)),
            )
        ]

    def _left_by(self, sources: Sequence[str]) -> None:
        """What a reading of a session, attempt, interaction or chunk left in other tables."""
        for source in sources:
            self.touch(failures.of_source(self._db, source) | lessons.of_source(self._db, source))
        for table in schema.TABLES.evidence:
            self.delete(table, "source", sources)

    def _came_from(self, table: str, column: str, ids: Sequence[str]) -> None:
        joined = f"{table} t JOIN session s ON s.id = t.source"
        rows = self._db.query(f"SELECT DISTINCT s.path FROM {joined} WHERE t.{column} IN ({marks(ids)})", ids)
        self.transcripts.update(row[0] for row in rows)

    def _sources(self, paths: set[str]) -> None:
        """Files of which no session is left need not be read again, nor be known by name."""
        for path in sorted(paths):
            if self._has("session", "path", path):
                continue
            for size, modified in self._db.query("SELECT size, modified FROM source WHERE path = ?", (path,)):
                self.stones.append(meta.file_stone(self._key, path, size, modified))
            self.delete("source", "path", [path])

    def _drop_empty_projects(self) -> None:
        """A project of which nothing is left was known only from what is gone."""
        tables = ("session", "lesson", "attempt", "interaction", "document", "occurrence", "project_alias")
        for id in sorted(self._projects - self.items):
            described = self._db.query("SELECT 1 FROM project WHERE id = ? AND description <> ''", (id,))
            if not described and not any(self._has(table, "project", id) for table in tables):
                self._drop_project(id)
                self.items.add(id)

    def _drop_project(self, id: str) -> None:
        for table in ("standing", "project_root", "project_alias"):
            self.delete(table, "project", [id])
        self.delete("project", "id", [id])

    def _forget_uses(self, items: Sequence[str]) -> None:
        """Interactions name the lessons and chunks that they used."""
        gone = set(items)
        for id, *lists in self._db.query(
            "SELECT id, lessons_used, chunks_used FROM interaction WHERE lessons_used <> '[]' OR chunks_used <> '[]'"
        ):
            left = [_without(text, gone) for text in lists]
            if left != lists:
                self._db.execute("UPDATE interaction SET lessons_used = ?, chunks_used = ? WHERE id = ?", (*left, id))
                integrity.reseal(self._db, "interaction", [id])

    def _erase_events(self) -> None:
        """Of the things that are gone, and of others where they are named."""
        numbers, trail = [], schema.TABLES.named["event"]
        for number, item, before, after, why in self._db.query(
            "SELECT number, item, before, after, why FROM event WHERE salt <> ''"
        ):
            if not self.items.isdisjoint((item, *_ID.findall(f"{before} {after} {why}"))):
                numbers.append(number)
                said = self.said.setdefault("event", set())
                said.update((*texts_in(trail, "before", before), *texts_in(trail, "after", after), why))
        self.erase_events(numbers)

    def erase_events(self, numbers: Sequence[int]) -> None:
        if erased := sum(integrity.erase_events(self._db, part) for part in batches(numbers)):
            self.rows["event"] += erased

    def _unlink(self, table: str, column: str, ids: Sequence[str]) -> None:
        """Others of the kind that point to what is gone."""
        pointing = self._ids(table, column, ids)
        self._db.execute(f"UPDATE {table} SET {column} = '' WHERE {column} IN ({marks(ids)})", ids)
        integrity.reseal(self._db, table, pointing)

    def _concern(self, ids: Sequence[str]) -> None:
        """The standing lines of these projects are behind now."""
        for part in batches(ids):
            self._projects |= failures.projects_of(self._db, part) | lessons.projects_of(self._db, part)
            shared = f"SELECT 1 FROM lesson WHERE id IN ({marks(part)}) AND project IS NULL LIMIT 1"
            if self._db.query(shared, part):
                self._projects |= {row[0] for row in self._db.query("SELECT id FROM project")}

    def _settled(self, conflict: str) -> bool:
        members = self._db.query("SELECT count(*) FROM conflict_member WHERE conflict = ?", (conflict,))
        return int(members[0][0]) < 2

    def _take(self, ids: Iterable[str]) -> list[str]:
        fresh = sorted(set(ids) - self.items)
        self.items.update(fresh)
        return fresh

    def _ids(self, table: str, column: str, values: Sequence[str], wanted: str = "id") -> list[str]:
        if not values:
            return []
        rows = self._db.query(f"SELECT DISTINCT {wanted} FROM {table} WHERE {column} IN ({marks(values)})", values)
        return [row[0] for row in rows]

    def _has(self, table: str, column: str, value: str) -> bool:
        return bool(self._db.query(f"SELECT 1 FROM {table} WHERE {column} = ? LIMIT 1", (value,)))


def _without(ids: str, gone: set[str]) -> str:
    if gone.isdisjoint(_ID.findall(ids)):
        return ids
    return msgspec.json.encode([id for id in msgspec.json.decode(ids) if id not in gone]).decode()
