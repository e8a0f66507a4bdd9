"""What was learned: `memory.lessons`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hardwon.api import convert
from hardwon.api.connection import Part, need_switched_on
from hardwon.briefing.policy import SAID_BY
from hardwon.clock import now, to_microseconds
from hardwon.errors import NotAllowed, NotFound
from hardwon.harvest.upkeep import notice
from hardwon.model.attempt import AttemptId
from hardwon.model.lesson import KINDS, Kind, Scope, Status, need_fitting_holder, need_known, need_share, status_called
from hardwon.model.nouns import Lesson, LessonDetails, Reinforced
from hardwon.store import attempts, check, failures, fulltext, integrity, lessons, lifecycle, meta, sessions
from hardwon.store.database import Database
from hardwon.store.integrity import Happened
from hardwon.store.lessons import Cited, LessonRow
from hardwon.text.normalise import made
from hardwon.text.shown import one_line

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

PROPOSED_CONFIDENCE = 0.5
MAX_TEXT_CHARACTERS = 2_000
_MAX_NAME_CHARACTERS = 200
_SECTION = "## What earlier sessions taught"


def untold(memory: Hardwon, found: Sequence[Lesson]) -> dict[str, str]:
    """Those of the lessons that are in use and that no session of their project is told as it starts, with the reason.

    Of what holds everywhere, only what a command showed too long ago.
    """
    from hardwon.briefing.policy import outlived  # noqa: PLC0415 - of this function alone

    used = [one for one in found if one.status == "active"]
    left_out = [
        line for project in sorted({one.project for one in used} - {""}) for line in memory.bootstrap(project).left_out
    ]
    reasons = {line.id: line.reason for line in left_out if not line.reason.startswith(SAID_BY)}
    old = {one.id: outlived(one.rule, to_microseconds(one.last_confirmed), now()) for one in used}
    return {id: why for id, too_old in old.items() if (why := too_old or reasons.get(id, ""))}


class Lessons(Part):
    """What was learned: listed, added, proposed. `memory.review` decides on what is proposed."""

    def section(self, project: str) -> str:
        """What agents are told of a project, for a file that a team commits: rules and facts, no failures, no counts.

        Empty where nothing is believed. Raises `NotFound` for an unknown project.
        """
        from hardwon.briefing.rank import reading_order  # noqa: PLC0415 - of this method alone, and slow to load

        told = {line.id for line in self._memory.bootstrap(project).lines}
        found = [
            one
            for one in lessons.named(self._memory.reading(), sorted(told))
            if one.kind != "question" and one.status == "active"
        ]
        found.sort(key=lambda one: (reading_order(one.kind), -one.confidence, one.text))
        return "\n".join([_SECTION, "", *(f"- {one_line(one.text)}" for one in found)]) if found else ""

    def list(self, *, project: str | None = None, kind: str | None = None, status: str | None = None) -> list[Lesson]:
        """Lessons, the best known first; with a project, also the global ones.

        What was added and taken back is listed by its status alone, `archived`. A rejected one is `invalid`, which
        `rejected` finds as well. Raises `NotFound` for an unknown project, `NotAllowed` for an unknown kind or status.
        """
        need_known("kind", kind, KINDS)
        status = status_called(status)
        if self._memory.is_new:
            return []
        db, holder = self._memory.reading(), self._memory.project(project)
        found = lessons.listed(db, project=holder, kind=kind, status=status, taken_back=status is not None)
        return [convert.lesson(each) for each in found]

    def get(self, id: str) -> LessonDetails:
        """A lesson and where it comes from. Raises `NotFound`."""
        db = self._memory.reading()
        found = lessons.get(db, id)
        if found is None:
            raise NotFound(f"no lesson {id}: `hardwon lessons` lists them")
        return LessonDetails(lesson=convert.lesson(found), sources=[*map(convert.source, lessons.sources(db, id))])

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
        """A lesson in a person's own words, active at once; returns its id.

        If it contradicts one that is believed there, neither is told until a person decides (`review.conflicts`).
        Raises `NotAllowed` for an empty text, an unknown kind, or a scope that does not fit the project or agent.
        """
        return self._add(text, [], kind=kind, scope=scope, project=project, agent=agent, confidence=confidence, why=why)

    def _add(
        self,
        text: str,
        cited: Sequence[Cited],
        *,
        kind: Kind,
        scope: Scope,
        project: str,
        agent: str = "",
        confidence: float = 1.0,
        why: str = "",
        status: Status = "active",
    ) -> str:
        """The same with where it was said."""
        need_fitting_holder(scope, project, agent)
        need_share("confidence", confidence)
        row = self._row(_checked(text, kind), kind, project)._replace(
            id="",
            scope=scope,
            agent=agent,
            base_confidence=confidence,
            confidence=confidence,
            status=status,
            trust="human",
            rule="",
            source_count=len(cited),
        )
        clean = self._memory.scrubber().scrub(why)

        def step(db: Database) -> str:
            id = lifecycle.create(db, row, list(cited), actor=self._actor(), why=clean)
            notice(db, [id], actor=self._actor())
            return id

        return self._change(step, row.project)

    def propose(
        self, text: str, *, kind: Kind = "fact", project: str = "", agent: str = "", session: str = "", why: str = ""
    ) -> str:
        """A sentence worth keeping, as a candidate until a person agrees; returns its id.

        What a person has rejected in the same words is not proposed again: its id is returned. A session that a harvest
        reads confirms it, too, if it says the same by itself; one that is merely named here does not.
        Raises `NotAllowed` for an empty text or an unknown kind.
        """
        need_switched_on()
        scrub = self._memory.scrubber().scrub
        row = self._row(_checked(text[:MAX_TEXT_CHARACTERS], kind), kind, project)
        said_in = scrub(session[:_MAX_NAME_CHARACTERS]) or made("I")
        if check.names_a_source(said_in) and not sessions.held(self._memory.reading(), said_in):
            said_in = f"session {said_in}"  # somebody's word, which must not look like a row that was lost
        root = f"{scrub(agent[:_MAX_NAME_CHARACTERS])}:{said_in}"
        source = Cited(row.id, said_in, 0, root, row.first_seen, row.text, "agent")
        db = self._memory.writing()
        meta.need_room(db)
        if decided := lifecycle.duplicate(db, row._replace(status="invalid")):
            return decided
        with db.transaction(row.project):
            id = lifecycle.create(db, row, [source], actor=self._actor("agent"), why=scrub(why))
            notice(db, [id], actor=self._actor("agent"))
        return id

    def reinforce(self, id: str, *, why: str = "") -> Reinforced:
        """This lesson proved its worth: a step more confidence, up to 1; returns what it was and is.

        Raises `NotFound`, and `NotAllowed` for one that is not believed.
        """
        words = self._memory.scrubber().scrub(why[:MAX_TEXT_CHARACTERS])
        before, after = self._change_lesson(id, lambda db: lifecycle.reinforce(db, id, actor=self._actor(), why=words))
        return Reinforced(lesson=id, text=self.get(id).lesson.text, overlap=1.0, before=before, after=after)

    def feedback(self, id: AttemptId, *, helped: bool, why: str = "") -> None:
        """This lesson, failure, attempt or whatever else a search found helped, or was wrong.

        Counted for the review; it changes nothing by itself. An attempt may be named by its number, too.

        Raises `NotFound`.
        """
        need_switched_on()
        db = self._memory.writing()
        id = attempts.id_of(db, id)
        words = self._memory.scrubber().scrub(why[:MAX_TEXT_CHARACTERS])
        with db.transaction(lessons.project_of(db, id)):
            lesson = lessons.get(db, id)
            if lesson is None and failures.get(db, id) is None and not fulltext.holds(db, id):
                raise NotFound(f"nothing found with id {id}: `hardwon lessons` lists lessons")
            if lesson is not None:
                column = "helpful" if helped else "harmful"
                db.execute(f"UPDATE lesson SET {column} = {column} + 1 WHERE id = ?", (id,))
            told = Happened("helped" if helped else "wrong", id, {}, {}, words)
            integrity.record_events(db, self._actor("agent"), now(), [told])

    def _row(self, text: str, kind: Kind, project: str) -> LessonRow:
        """A candidate that an agent claims."""
        holder = self._memory.project_to_keep(project) or None
        at = now()
        return LessonRow(
            id=made("L"),
            kind=kind,
            text=self._memory.scrubber().scrub(text),
            scope="project" if holder else "global",
            project=holder,
            agent="",
            base_confidence=PROPOSED_CONFIDENCE,
            confidence=PROPOSED_CONFIDENCE,
            status="candidate",
            trust="claimed",
            rule="remember",
            failure="",
            first_seen=at,
            last_confirmed=at,
            source_count=1,
            harvester_version=0,
        )


def _checked(text: str, kind: str) -> str:
    words = text.strip()
    if not words:
        raise NotAllowed("a lesson cannot be empty")
    need_known("kind", kind, KINDS)
    return words
