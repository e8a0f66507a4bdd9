"""The store a page at a time, and by id: `memory.browse`. What a service shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hardwon.capture import attempts as intake
from hardwon.errors import NotFound
from hardwon.failures.phrase import remedy
from hardwon.model import wire
from hardwon.model.attempt import Attempt
from hardwon.model.lesson import Lesson
from hardwon.recall.search import Hit
from hardwon.store import attempts, events, failures, lessons, pages, projects
from hardwon.store.events import Event
from hardwon.store.failures import FixRow
from hardwon.store.pages import Key
from hardwon.store.sessions import SessionRow

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

_LESSON_TIMES = ("first_seen", "last_confirmed", "valid_from", "valid_until", "last_referenced")


class Browse:
    """Pages begin behind `after`, the key of the last row that was seen; ids are whole, projects are named by id."""

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def project(self, name: str) -> str:
        """The id of a known project by its id, remote, folder or name; nothing on the disk is looked at."""
        found = projects.find(self._memory.reading(), name)
        if len(found) != 1:
            raise NotFound("no such project" if not found else "several projects are called so: name one by its id")
        return found[0][0]

    def projects(
        self, *, only: Sequence[str] = (), after: Key | None = None, limit: int = 50
    ) -> tuple[list[wire.Project], list[Key]]:
        rows = pages.of_projects(self._memory.reading(), only=only, after=after, limit=limit)
        return [wire.Project(**row._asdict()) for row in rows], [(row.id,) for row in rows]

    def lessons(
        self,
        *,
        project: str | None = None,
        kind: str | None = None,
        status: str | None = None,
        after: Key | None = None,
        limit: int = 50,
    ) -> tuple[list[wire.LessonLine], list[Key]]:
        db = self._memory.reading()
        rows = pages.of_lessons(db, project=project, kind=kind, status=status, after=after, limit=limit)
        return [lesson_line(row) for row in rows], [(row.last_confirmed, row.id) for row in rows]

    def lesson(self, id: str) -> wire.LessonPage:
        db = self._memory.reading()
        lesson = lessons.get(db, id)
        if lesson is None:
            raise NotFound("no such lesson")
        sources = [wire.given(wire.Source, row._asdict(), ("at",)) for row in lessons.sources(db, id)]
        return wire.LessonPage(lesson=lesson_line(lesson), sources=sources)

    def failures(
        self, *, project: str | None = None, after: Key | None = None, limit: int = 50
    ) -> tuple[list[wire.Failure], list[Key]]:
        rows = pages.of_failures(self._memory.reading(), project=project, after=after, limit=limit)
        keys: list[Key] = [(row.sessions, row.occurrences, row.last_seen, row.id) for row in rows]
        return [_failure(row) for row in rows], keys

    def failure(self, id: str, *, project: str | None = None) -> wire.FailurePage:
        """With a project, only what that project has seen of it."""
        db = self._memory.reading()
        row = failures.get(db, id) if project is None else pages.failure_in(db, id, project)
        if row is None:
            raise NotFound("no such failure")
        return wire.FailurePage(
            failure=_failure(row),
            fixes=[_fix(fix) for fix in failures.fixes(db, [id], project, only_here=project is not None)[id]],
            occurrences=[
                wire.given(wire.Occurred, one._asdict(), ("at",))
                for one in failures.occurrences(db, id, project=project)
            ],
        )

    def knows_failure(self, id: str, project: str | None = None) -> bool:
        """Whether it was met, anywhere or in one project."""
        db = self._memory.reading()
        return failures.get(db, id) is not None if project is None else failures.in_project(db, id, project)

    def sessions(
        self, *, project: str | None = None, agent: str | None = None, after: Key | None = None, limit: int = 50
    ) -> tuple[list[wire.Session], list[Key]]:
        rows = pages.of_sessions(self._memory.reading(), project=project, agent=agent, after=after, limit=limit)
        return [_session(row) for row in rows], [(row.started_at, row.id) for row in rows]

    def session(self, id: str) -> wire.SessionPage:
        found = pages.session(self._memory.reading(), id)
        if found is None:
            raise NotFound("no such session")
        calls = [wire.given(wire.Call, call._asdict(), ("at",)) for call in found[1]]
        return wire.SessionPage(session=_session(found[0]), calls=calls)

    def attempts(
        self,
        *,
        project: str | None = None,
        outcomes: Sequence[str] | None = None,
        run: str | None = None,
        after: Key | None = None,
        limit: int = 50,
    ) -> tuple[list[wire.Tried], list[Key]]:
        db = self._memory.reading()
        root = intake.run_name(run) if run is not None else None
        rows = pages.of_attempts(db, project=project, outcomes=outcomes, run=root, after=after, limit=limit)
        before = attempts.numbers(db, [row.retry_of for row in rows if row.retry_of])
        found = [attempt_line(intake.attempt(row, before.get(row.retry_of))) for row in rows]
        return found, [(row.started_at, row.number or 0) for row in rows]

    def documents(
        self, *, project: str | None = None, after: Key | None = None, limit: int = 50
    ) -> tuple[list[wire.Document], list[Key]]:
        rows = pages.of_documents(self._memory.reading(), project=project, after=after, limit=limit)
        return [_document(row) for row in rows], [(row.updated_at, row.id) for row in rows]

    def document(self, id: str) -> wire.DocumentPage:
        found = pages.document(self._memory.reading(), id)
        if found is None:
            raise NotFound("no such document")
        return wire.DocumentPage(
            document=_document(found[0]), chunks=[wire.Chunk(**chunk._asdict()) for chunk in found[1]]
        )

    def events(self, *, after: Key | None = None, limit: int = 50) -> tuple[list[wire.Event], list[Key]]:
        rows = pages.of_events(self._memory.reading(), after=after, limit=limit)
        return [_event(row) for row in rows], [(row.number,) for row in rows]

    def history(self, id: str) -> list[wire.Event]:
        """What happened to an item, oldest first."""
        return [_event(row) for row in events.of_item(self._memory.reading(), id)]


def lesson_line(lesson: Lesson) -> wire.LessonLine:
    fields = {name: getattr(lesson, name) for name in Lesson.__struct_fields__}
    return wire.given(wire.LessonLine, fields, _LESSON_TIMES)


def attempt_line(attempt: Attempt) -> wire.Tried:
    fields = {name: getattr(attempt, name) for name in wire.Tried.__struct_fields__}
    return wire.Tried(**fields)


def hit_line(hit: Hit) -> wire.Found:
    return wire.given(wire.Found, {name: getattr(hit, name) for name in Hit.__struct_fields__}, ("at",))


def _failure(row: pages.FailureLine | failures.FailureRow) -> wire.Failure:
    fields = {**row._asdict(), "agents": [agent for agent in row.agents.split(",") if agent]}
    return wire.given(wire.Failure, fields, ("first_seen", "last_seen"))


def _fix(fix: FixRow) -> wire.Fix:
    return wire.Fix(
        id=fix.id,
        steps=[remedy([step], "") for step in fix.steps],
        worked_as=fix.succeeded_as,
        avoid=[remedy([step], "") for step in fix.avoid],
        status=fix.status,
        confirmed=fix.confirmed,
        failed_again=fix.failed_again,
        last_seen=wire.moment(fix.last_seen),
    )


def _session(row: SessionRow) -> wire.Session:
    fields = {**row._asdict(), "project": row.project or ""}
    return wire.given(wire.Session, fields, ("started_at", "ended_at"))


def _document(row: pages.DocumentRow) -> wire.Document:
    return wire.given(wire.Document, {**row._asdict(), "project": row.project or ""}, ("updated_at",))


def _event(row: Event) -> wire.Event:
    return wire.given(wire.Event, row._asdict(), ("at",))
