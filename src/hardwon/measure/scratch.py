"""A store in memory that knows just what was known at a moment: sessions are added to it as they end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardwon.measure.history import SESSION_COLUMNS, Past
from hardwon.store import events, failures, lessons, meta, stale
from hardwon.store.database import Database, Row, insert
from hardwon.store.lessons import Cited, LessonRow
from hardwon.store.sqlite import SqliteDatabase

_TRIED = ("source", "failure", "position", "steps", "tried_as", "root")


class _Remembering(SqliteDatabase):
    """Answers the same question once between two changes: every session is briefed several times."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, tuple[Any, ...]], list[Row]] = {}
        self._changing = True
        super().__init__(Path(":memory:"), write=True)
        self._changing = False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self._changing = True
        self._answers.clear()
        try:
            with super().transaction():
                yield
        finally:
            self._changing = False

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        if self._changing:
            return super().query(sql, parameters)
        asked = (sql, tuple(parameters))
        if asked not in self._answers:
            self._answers[asked] = super().query(sql, parameters)
        return list(self._answers[asked])


class Scratch:
    """Filled from a store's own rows, session by session."""

    def __init__(self, source: Database) -> None:
        self.db = _Remembering()
        meta.prepare(self.db)
        self._failures = _by_id(source, "failure", failures.FAILURE_COLUMNS)
        self._fixes = _by_id(source, "fix", failures.FIX_COLUMNS)
        self._lessons = _by_id(source, "lesson", LessonRow._fields)
        self._first_status = {
            event.item: event.after["status"]
            for event in events.recent(source, 1_000_000)
            if event.action == "create" and event.item  # a forgotten one says no more than that it was
        }
        with self.db.transaction():
            for table, columns in (("project", ("id", "key", "name")), ("project_root", ("path", "project"))):
                self.db.bulk(insert(table, columns), source.query(f"SELECT {', '.join(columns)} FROM {table}"))

    def add(self, sessions: Iterable[Past]) -> None:
        """What these sessions taught is known from now on."""
        added = list(sessions)
        if not added:
            return
        with self.db.transaction():
            for past in added:
                self._add(past)
        stale.recount(self.db)

    def _add(self, past: Past) -> None:
        db, left = self.db, past.left
        db.bulk(insert("session", SESSION_COLUMNS), past.sessions)
        known = "ON CONFLICT (id) DO NOTHING"
        met = {row[2] for row in left["occurrence"]} | {row[1] for row in left["tried"]}
        db.bulk(insert("failure", failures.FAILURE_COLUMNS, known), (self._failures[id] for id in sorted(met)))
        db.bulk(insert("occurrence", failures.OCCURRENCE_COLUMNS), left["occurrence"])
        worked = sorted({row[0] for row in left["fix_evidence"]})
        db.bulk(insert("fix", failures.FIX_COLUMNS, known), (self._fixes[id] for id in worked))
        db.bulk(insert("fix_evidence", failures.FIX_EVIDENCE_COLUMNS), left["fix_evidence"])
        db.bulk(insert("tried", _TRIED), left["tried"])
        taught = sorted({row[0] for row in left["lesson_source"]})
        fresh = [self._lesson(id) for id in taught if lessons.get(db, id) is None]
        lessons.add(db, fresh, [])
        lessons.cite(db, (Cited(*row) for row in left["lesson_source"]))
        stale.mark(db, [*met, *taught])

    def _lesson(self, id: str) -> LessonRow:
        """As it was when it was first harvested, before anybody decided on it."""
        row = LessonRow(*self._lessons[id])
        return row._replace(status=self._first_status.get(id, row.status), confidence=row.base_confidence, kept=0)

    def close(self) -> None:
        self.db.close()


def _by_id(db: Database, table: str, columns: Iterable[str]) -> dict[str, Row]:
    return {row[0]: row for row in db.query(f"SELECT {', '.join(columns)} FROM {table}")}
