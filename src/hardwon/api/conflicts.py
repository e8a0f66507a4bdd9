"""Lessons that contradict each other: `memory.conflicts`. Neither is told until a person decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hardwon.errors import NotFound
from hardwon.model.lesson import Lesson
from hardwon.store import lessons, lifecycle

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon


class Conflict(Struct, frozen=True):
    id: str
    since: int
    lessons: list[Lesson]
    """The oldest first."""


class Conflicts:
    def __init__(self, memory: Hardwon, actor: str = "reviewer") -> None:
        self._memory = memory
        self._actor = actor

    def pending(self, project: str | None = None) -> list[Conflict]:
        """The oldest first."""
        if not self._memory.exists:
            return []
        db = self._memory.reading()
        return [
            Conflict(
                one.id, one.since, sorted(lessons.named(db, one.lessons), key=lambda each: (each.first_seen, each.id))
            )
            for one in lessons.open_conflicts(db, self._memory.project(project))
        ]

    def keep(self, lesson: str, *, why: str = "") -> list[str]:
        """This one holds: it supersedes all that it is in conflict with. Returns the conflicts that are settled so."""
        return self._settle(lesson, keep=lesson, why=why)

    def both_stand(self, lesson: str, *, why: str = "") -> list[str]:
        """It contradicts none of those that it was held to contradict; all are told again."""
        return self._settle(lesson, keep="", why=why)

    def settle(self, id: str, keep: str = "", *, why: str = "") -> None:
        """Decide on one conflict: the lesson to keep, or none when all may stand."""
        self._memory.review.resolve_conflict(id, keep, why=why)

    def reopen(self, id: str) -> None:
        """Take a decision back: what was superseded by it is believed again, and in dispute."""
        db = self._memory.writing()
        with db.transaction():
            for lesson in lessons.superseded_in(db, id):
                lifecycle.restore(db, lesson, actor=self._actor, why=f"conflict {id} is open again")
            members = [row[0] for row in db.query("SELECT lesson FROM conflict_member WHERE conflict = ?", (id,))]
            lifecycle.open_conflict(db, members, actor=self._actor, why="taken back")
        self._memory.refresh_standing()

    def _settle(self, lesson: str, *, keep: str, why: str) -> list[str]:
        found = [one.id for one in self.pending() if lesson in {each.id for each in one.lessons}]
        if not found:
            raise NotFound(f"{lesson} is in no conflict: `hardwon review --conflicts` lists them")
        for id in found:
            self.settle(id, keep, why=why)
        return found
