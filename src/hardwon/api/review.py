"""What a person decides about lessons; each decision is on record and can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hardwon.clock import now
from hardwon.errors import NotAllowed
from hardwon.model.lesson import KINDS, Kind, Relation, Scope
from hardwon.store import events, lessons, lifecycle
from hardwon.store.database import Database
from hardwon.store.events import Event
from hardwon.store.lessons import LessonRow

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

T = TypeVar("T")


class Review:
    """`memory.review`: lessons made, promoted, rejected, edited, linked; by `actor`."""

    def __init__(self, memory: Hardwon, actor: str = "reviewer") -> None:
        self._memory = memory
        self._actor = actor

    def add(
        self,
        text: str,
        *,
        kind: Kind = "fact",
        scope: Scope = "project",
        project: str = "",
        agent: str = "",
        confidence: float = 1.0,
        why: str = "",
    ) -> str:
        """A lesson in a person's own words, active at once; returns its id."""
        if not text.strip():
            raise NotAllowed("a lesson cannot be empty")
        if kind not in KINDS:
            raise NotAllowed(f"no kind '{kind}'; known: {', '.join(KINDS)}")
        if (scope == "project") != bool(project):
            raise NotAllowed("a lesson of a project needs one: name it, or make the lesson global")
        at = now()
        row = LessonRow(
            id="",
            kind=kind,
            text=self._memory.scrub.scrubber().scrub(text.strip()),
            scope=scope,
            project=self._memory.project(project) if project else None,
            agent=agent,
            base_confidence=confidence,
            confidence=confidence,
            status="active",
            trust="human",
            rule="",
            failure="",
            first_seen=at,
            last_confirmed=at,
            source_count=0,
            harvester_version=0,
        )
        return self._do(lambda db: lifecycle.create(db, row, [], actor=self._actor, why=self._clean(why)))

    def promote(self, id: str, *, why: str = "") -> int:
        """Believe a lesson; if it contradicts one that is believed, neither is told until one of them is kept."""
        return self._do(lambda db: self._promoted(db, id, self._clean(why)))

    def _promoted(self, db: Database, id: str, why: str) -> int:
        event = lifecycle.promote(db, id, actor=self._actor, why=why)
        for other in lessons.contradicted(db, id):
            lifecycle.note_conflict(db, [id, other], actor=self._actor, why="they say the opposite of each other")
        return event

    def reject(self, id: str, *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.reject(db, id, actor=self._actor, why=self._clean(why)))

    def invalidate(self, id: str, *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.invalidate(db, id, actor=self._actor, why=self._clean(why)))

    def archive(self, id: str, *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.archive(db, id, actor=self._actor, why=self._clean(why)))

    def restore(self, id: str, *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.restore(db, id, actor=self._actor, why=self._clean(why)))

    def merge(self, id: str, into: str, *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.merge(db, id, into, actor=self._actor, why=self._clean(why)))

    def supersede(self, id: str, by: str, *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.supersede(db, id, by, actor=self._actor, why=self._clean(why)))

    def edit(self, id: str, *, why: str = "", **changes: Any) -> int:
        clean = {name: self._clean(value) for name, value in changes.items()}
        return self._do(lambda db: lifecycle.edit(db, id, clean, actor=self._actor, why=self._clean(why)))

    def link(self, id: str, relation: Relation, other: str, *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.link(db, id, relation, other, actor=self._actor, why=self._clean(why)))

    def open_conflict(self, ids: Sequence[str], *, why: str = "") -> str:
        return self._do(lambda db: lifecycle.open_conflict(db, ids, actor=self._actor, why=self._clean(why)))

    def resolve_conflict(self, id: str, keep: str = "", *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.resolve_conflict(db, id, keep, actor=self._actor, why=self._clean(why)))

    def undo(self, number: int, *, why: str = "") -> int:
        return self._do(lambda db: lifecycle.undo(db, number, actor=self._actor, why=self._clean(why)))

    def history(self, id: str = "", *, limit: int = 50) -> list[Event]:
        """What happened to an item, oldest first; without one, what happened last, newest first."""
        db = self._memory.reading()
        return events.of_item(db, id) if id else events.recent(db, limit)

    def _do(self, step: Callable[[Database], T]) -> T:
        """One transaction, and then what the hooks hand out is brought up to date."""
        db = self._memory.writing()
        with db.transaction():
            done = step(db)
        self._memory.refresh_standing()
        return done

    def _clean(self, value: Any) -> Any:
        """A text, or a list of them, without secrets."""
        if isinstance(value, list | tuple):
            return [self._clean(each) for each in value]
        return self._memory.scrub.scrubber().scrub(value) if isinstance(value, str) else value
