"""Deciding on what was learned: `memory.review`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from hardwon.api import convert
from hardwon.api.connection import Part
from hardwon.api.lessons import Lessons
from hardwon.briefing.asked import waiting_fixes
from hardwon.capture import reflections
from hardwon.clock import moment, now, to_microseconds
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.failures.tools import danger
from hardwon.harvest.rules.pitfalls import sentence_of
from hardwon.harvest.rules.said import for_the_moment
from hardwon.harvest.trust import quality
from hardwon.harvest.upkeep import Relation as Likeness
from hardwon.harvest.upkeep import notice, relation
from hardwon.model.attempt import AttemptId
from hardwon.model.lesson import Kind, Relation, Scope, Status
from hardwon.model.lesson import StoredLesson as Inner
from hardwon.model.nouns import Event, Lesson, Source, each_name
from hardwon.store import attempts, failures, integrity, lessons, lifecycle, meta, projects, sessions
from hardwon.store.database import Database
from hardwon.store.integrity import Happened
from hardwon.store.meta import short_id
from hardwon.text.normalise import digest
from hardwon.text.words import overlap, unique_terms

NOTICE, WARNING = 20, 50
_LEFT_OPEN = "\"'`”’)]}"
"""Signs that a sentence begins with when its beginning was cut off."""
_ALIKE = 0.35
_ALIKE_IN_MEANING = 0.8
"""Of pairs of STS-B that agree in negation and numbers, 94 % above it were rated as at least roughly the same."""
_NEAREST = 40
_MAX_ALIKE_SHOWN = 5
_FIXES_NAMED = 3
_TOGETHER = "rejected with {}"
"""Why a fix was rejected that a lesson tells of, or a lesson of a fix."""


class Pending(Struct, frozen=True):
    """A candidate that waits for a decision."""

    lesson: Lesson
    score: float
    """Of its quality; the best is looked at first."""


class Waiting(Struct, frozen=True):
    """A sentence that somebody typed, which sounds like a rule."""

    id: str
    text: str
    """As a lesson would tell it."""
    quote: str
    worth: float
    """How likely it is worth keeping, by its form."""
    skipped: bool = False
    """Somebody left it for later."""


_FIRST_OF_A_MESSAGE = 2
_SENTENCES_PASTED = 15
"""Nobody types so many at once: a report, a log or a document was pasted."""
_SKIPPED, _MOST_SKIPPED, _BYTES_OF_SKIPPED = "said skipped", 2_000, 5
"""Of what was skipped no id is kept, which may have to be forgotten."""


class ToDecide(Struct, frozen=True):
    """How much waits for a person."""

    lessons: int
    """Candidates, and contradictions between lessons."""
    fixes: int

    @property
    def all(self) -> int:
        return self.lessons + self.fixes

    @property
    def said(self) -> str:
        """As every screen says it."""
        of = [
            f"{number:,} {noun if number == 1 else plural}"
            for number, noun, plural in ((self.lessons, "lesson", "lessons"), (self.fixes, "fix", "fixes"))
            if number
        ]
        return " and ".join(of) or "nothing"


class SimilarLesson(Struct, frozen=True):
    """Another lesson that says something like it."""

    id: str
    text: str
    status: str
    share: float
    """Of the words of both, those that both have."""
    meaning: float = 0.0
    """How near they are in meaning, where there are vectors; above 0.8 they say at least roughly the same."""
    relation: Likeness = "unrelated"
    """What their words tell: the same, the opposite, another value."""


class Considered(Struct, frozen=True):
    """A candidate with what is needed to decide on it."""

    lesson: Lesson
    score: float
    sources: list[Source]
    similar: list[SimilarLesson]
    contradicts: list[str]
    """Ids of lessons that say the opposite."""
    effect: str
    """What promoting it would change."""


class Conflict(Struct, frozen=True):
    """Lessons that contradict each other: none of them is told until somebody decides."""

    id: str
    since: datetime
    lessons: list[Lesson]
    """The oldest first."""


class Review(Part):
    """Candidates, contradictions and what was decided. Every decision returns its event, which `undo` takes."""

    def queue(
        self, *, project: str | None = None, kind: str | None = None, rule: str | None = None, trust: str | None = None
    ) -> list[Pending]:
        """Candidates in the order in which they are worth a look. Raises `NotFound` for an unknown project."""
        found = lessons.listed(
            self._memory.reading(), project=self._memory.project(project), kind=kind, status="candidate"
        )
        wanted = [one for one in found if (rule is None or one.rule == rule) and (trust is None or one.trust == trust)]
        scored = [Pending(convert.lesson(one), score(one)) for one in wanted]
        return sorted(scored, key=lambda entry: (-entry.score, entry.lesson.id))

    def said(self, *, project: str | None = None, limit: int | None = 50) -> list[Waiting]:
        """What people typed that sounds like a rule and is no lesson; without a limit, all of it.

        The likeliest come first, at most two of one message; then fragments and what was asked for once, what was
        pasted, last what was skipped. Raises `NotFound`.
        """
        skipped = meta.note(self._memory.reading(), _SKIPPED).split()
        rows = self._said(project)
        pasted = {(row.source, row.message_index) for row in rows if row.nth >= _SENTENCES_PASTED}
        told: Counter[tuple[str, int]] = Counter()
        found = []
        for row in rows:
            id, message = f"{row.source}/{row.message_index}/{row.nth}", (row.source, row.message_index)
            passing = for_the_moment(row.quote)
            told[message] += not passing
            is_skipped = digest(id, size=_BYTES_OF_SKIPPED) in skipped
            order = is_skipped, message in pasted, passing, told[message] > _FIRST_OF_A_MESSAGE
            found.append((order, Waiting(id, row.text, row.quote, row.worth, is_skipped)))
        return [one for _, one in sorted(found, key=lambda entry: entry[0])][:limit]

    def skip_said(self, id: str) -> None:
        """Left for later: `said` tells it last from now on."""
        db = self._memory.writing()
        with db.transaction():
            kept = [one for one in meta.note(db, _SKIPPED).split() if one != digest(id, size=_BYTES_OF_SKIPPED)]
            meta.set_note(db, _SKIPPED, " ".join([*kept, digest(id, size=_BYTES_OF_SKIPPED)][-_MOST_SKIPPED:]))

    def count_said(self, *, project: str | None = None) -> int:
        """How many there are of these. Raises `NotFound`."""
        return len(self._said(project))

    def _said(self, project: str | None) -> list[sessions.StatementRow]:
        rows = sessions.statements_no_lesson_says(self._memory.reading(), self._memory.project(project))
        return [row for row in rows if row.text[:1] not in _LEFT_OPEN or row.text.count(row.text[:1]) > 1]

    def keep_said(self, id: str, *, kind: Kind = "preference", why: str = "") -> str:
        """Make a lesson of what somebody typed (`said` names it); returns the lesson's id. Raises `NotFound`."""
        return self._lesson_of_said(id, kind, why, "active")

    def drop_said(self, id: str, *, why: str = "") -> int:
        """It is no rule, and waits no more: it becomes a rejected lesson. Raises `NotFound`."""
        return self.reject(self._lesson_of_said(id, "preference", why, "candidate"), why=why)

    def _lesson_of_said(self, id: str, kind: Kind, why: str, status: Status) -> str:
        source, _, place = id.partition("/")
        row = sessions.statement(self._memory.reading(), source, *_numbers(place))
        if row is None:
            raise NotFound(f"no typed sentence with id {id}: `hardwon review --said` lists them")
        project = self._memory.reading().query("SELECT coalesce(project, '') FROM session WHERE id = ?", (source,))
        holder = project[0][0] if project else ""
        scope: Scope = "project" if holder else "global"
        cited = lessons.Cited("", source, row.message_index, row.root, row.at, row.quote, "user")
        return Lessons(self._memory, self._given_actor)._add(
            row.text, [cited], kind=kind, scope=scope, project=holder, why=why or "typed by the user", status=status
        )

    def count(self, *, project: str | None = None) -> int:
        """How many candidates, contradictions and fixes wait for a person: what `hardwon review` goes through."""
        return self.counts(project=project).all

    def counts(self, *, project: str | None = None) -> ToDecide:
        """The same, lessons and fixes apart. Raises `NotFound` for an unknown project."""
        if not self._memory.exists:
            return ToDecide(0, 0)
        db = self._memory.reading()
        fixes = len(waiting_fixes(db, self._memory.project(project)))
        if project:
            return ToDecide(len(self.queue(project=project)) + len(self.conflicts(project=project)), fixes)
        return ToDecide(lessons.count(db, "candidate") + len(lessons.open_conflicts(db)), fixes)

    def notice(self) -> str:
        """A line when many wait, or lessons contradict each other; empty when few do."""
        waits, disputed = self.counts(), self._disputed()
        waiting = waits.all
        many = ", more than anyone will read" if waiting >= WARNING else ""
        said = f"{'warning: ' if many else ''}{waits.said} waiting for review{many}: `hardwon review`"
        told = f"{disputed} lessons contradict each other and are withheld until you decide: `hardwon review`"
        return "\n".join(filter(None, (said if waiting >= NOTICE else "", told if disputed else "")))

    def _disputed(self) -> int:
        return len(lessons.disputed(self._memory.reading())) if self._memory.exists else 0

    def consider(self, id: str) -> Considered:
        """A candidate with its sources, similar lessons and what promoting it would change. Raises `NotFound`."""
        db = self._memory.reading()
        lesson = lifecycle.known(db, id)
        return Considered(
            convert.lesson(lesson),
            score(lesson),
            [*map(convert.source, lessons.sources(db, id))],
            self._similar(lesson),
            self._contradicts(id),
            self._effect(lesson),
        )

    def promote(self, id: str, *, why: str = "") -> int:
        """Believe a lesson; if it contradicts one that is believed, neither is told until one of them is kept.

        Of a fix (`failures.get` has its id): tell it, whatever speaks against it.
        Raises `NotFound`, and `NotAllowed` where the lesson is not a candidate.
        """
        self._need_no_failure(id, "approve")
        if id.startswith("X"):
            return self._change(lambda db: self._decide_on_fix(db, id, "active", "promote", self._clean(why)))
        return self._change(lambda db: self._promoted(db, id, self._clean(why)))

    def _need_no_failure(self, id: str, verb: str) -> None:
        """That something failed is so; what can be decided on is what is told of it."""
        db = self._memory.reading()
        if not id.startswith("F") or failures.get(db, id) is None:
            return
        own, found = short_id(db, id), self._memory.failures.get(id).failure.fixes[:_FIXES_NAMED]
        fixes = ", ".join(f"`hardwon review --{verb} {short_id(db, one.id)}` ({one.text})" for one in found)
        none = "which has no fix" if verb == "approve" else f"to hear no more of it: `hardwon failures mute {own}`"
        raise NotAllowed(f"{own} is a failure; to {verb} its fix: {fixes}" if fixes else f"{own} is a failure, {none}")

    def _decide_on_fix(self, db: Database, id: str, status: str, action: str, why: str) -> int:
        happened = Happened(action, id, {}, {}, why)
        return lifecycle.change_besides(db, "fix", id, {"status": status, "reviewed": 1}, happened, self._actor())

    def _promoted(self, db: Database, id: str, why: str) -> int:
        event = lifecycle.promote(db, id, actor=self._actor(), why=why)
        for other in lessons.contradicted(db, id):
            lifecycle.note_conflict(db, [id, other], actor=self._actor(), why="they say the opposite of each other")
        notice(db, [id], actor=self._actor())
        return event

    def reject(self, id: str, *, why: str = "") -> int:
        """It is not so: a lesson becomes invalid, and with it the fix that it tells of; a fix is never told.

        Raises `NotFound`, `NotAllowed`.
        """
        self._need_no_failure(id, "reject")
        if id.startswith("X"):
            return self._change(lambda db: self._rejected_with_lesson(db, id, self._clean(why)))
        if lifecycle.known(self._memory.reading(), id).failure:
            return self._change(lambda db: self._rejected_with_fix(db, id, self._clean(why)))
        return self._change_lesson(id, lambda db: lifecycle.reject(db, id, actor=self._actor(), why=self._clean(why)))

    def _rejected_with_fix(self, db: Database, id: str, why: str) -> int:
        event = lifecycle.reject(db, id, actor=self._actor(), why=why)
        lesson = lifecycle.known(db, id)
        told = failures.fixes(db, [lesson.failure], lesson.project)[lesson.failure]
        if fix := next((one for one in told if one.status == "active"), None):
            self._decide_on_fix(db, fix.id, "rejected", "reject", _TOGETHER.format(id))
        return event

    def _rejected_with_lesson(self, db: Database, id: str, why: str) -> int:
        failure = failures.failure_of_fix(db, id)
        of_it = self._telling(db, failure, id)
        event = self._decide_on_fix(db, id, "rejected", "reject", why)
        is_last = not any(one.status == "active" for one in failures.fixes(db, [failure])[failure])
        for lesson in lessons.drawn_from(db, failure) if is_last else of_it:
            lifecycle.reject(db, lesson, actor=self._actor(), why=_TOGETHER.format(id))
        return event

    @staticmethod
    def _telling(db: Database, failure: str, fix: str) -> list[str]:
        """The lessons that tell this fix of a failure, and not another."""
        row = failures.get(db, failure)
        said = {sentence_of(row, one) for one in failures.fixes(db, [failure])[failure] if row and one.id == fix}
        return [one.id for one in lessons.named(db, lessons.drawn_from(db, failure)) if one.text in said]

    def invalidate(self, id: str, *, why: str = "") -> int:
        """It is not so any more: an active lesson becomes invalid. Raises `NotFound`, `NotAllowed`."""
        return self._change_lesson(
            id, lambda db: lifecycle.invalidate(db, id, actor=self._actor(), why=self._clean(why))
        )

    def archive(self, id: str, *, why: str = "") -> int:
        """It is of no use any more. Raises `NotFound`, `NotAllowed`."""
        return self._change_lesson(id, lambda db: lifecycle.archive(db, id, actor=self._actor(), why=self._clean(why)))

    def restore(self, id: str, *, why: str = "") -> int:
        """Back to what it was before it was rejected, superseded or archived. Raises `NotFound`, `NotAllowed`."""

        def step(db: Database) -> int:
            event = lifecycle.restore(db, id, actor=self._actor(), why=self._clean(why))
            notice(db, [id], actor=self._actor())
            return event

        return self._change_lesson(id, step)

    def merge(self, id: str, into: str, *, why: str = "") -> int:
        """It says the same as another, which gets its sources. Raises `NotFound`, `NotAllowed`."""
        return self._change(lambda db: lifecycle.merge(db, id, into, actor=self._actor(), why=self._clean(why)))

    def supersede(self, id: str, by: str, *, why: str = "") -> int:
        """A newer lesson takes its place. Raises `NotFound`, `NotAllowed`."""
        return self._change(lambda db: lifecycle.supersede(db, id, by, actor=self._actor(), why=self._clean(why)))

    def edit(
        self,
        id: str,
        *,
        text: str | None = None,
        kind: Kind | None = None,
        tags: str | Sequence[str] | None = None,
        confidence: float | None = None,
        pinned: bool | None = None,
        scope: Scope | None = None,
        project: str | None = None,
        agent: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        why: str = "",
    ) -> int:
        """Change a lesson's words or fields, those that are given; what they were stays in its history.

        With the scope `global` it belongs to no project from then on and is told in all; with `project`, to the one
        that is named, and is told there alone; with `agent`, to that agent in all. Raises `NotFound`, and `NotAllowed`
        for an empty text, nothing to change, a value that cannot be, or a scope that does not fit the project or agent.
        """
        changes: dict[str, Any] = {
            "text": text,
            "kind": kind,
            "tags": None if tags is None else each_name(tags),
            "base_confidence": confidence,
            "pinned": pinned,
            "scope": scope,
            "project": self._memory.project(project) if project else None,
            "agent": agent,
            "valid_from": to_microseconds(valid_from) if valid_from else None,
            "valid_until": to_microseconds(valid_until) if valid_until else None,
        }
        clean = {name: self._clean(value) for name, value in changes.items() if value is not None}

        def step(db: Database) -> int:
            event = lifecycle.edit(db, id, clean, actor=self._actor(), why=self._clean(why))
            notice(db, [id], actor=self._actor())
            return event

        moved = clean.keys() & {"scope", "project", "agent"}
        return self._change(step) if moved else self._change_lesson(id, step)

    def link(self, id: str, relation: Relation, other: str, *, why: str = "") -> int:
        """Say how two lessons relate. Raises `NotFound`."""
        return self._change(
            lambda db: lifecycle.link(db, id, relation, other, actor=self._actor(), why=self._clean(why))
        )

    def undo(self, event: int, *, why: str = "") -> int:
        """Take an event back, if nothing has changed the same since. Raises `NotFound`, `NotAllowed`."""
        return self._change(lambda db: self._undone(db, event, self._clean(why)))

    def _undone(self, db: Database, event: int, why: str) -> int:
        taken_back = integrity.get_event(db, event)
        number = lifecycle.undo(db, event, actor=self._actor(), why=why)
        done = integrity.get_event(db, number)
        notice(db, [done.item] if done and done.item.startswith("L") else [], actor=self._actor())
        rejected = done and taken_back and taken_back.action == "reject"
        for other in self._decided_together(db, done.item) if done and rejected else ():
            *_, last = [None, *integrity.events_of_item(db, other)]
            if done and last and last.why == _TOGETHER.format(done.item):
                lifecycle.undo(db, last.number, actor=self._actor(), why=why)
        if done and done.item.startswith("A") and (row := attempts.by_id(db, [done.item]).get(done.item)):
            reflections.propose(db, row, actor=self._actor())  # the lesson that it was is the lesson that it says now
        return number

    def _decided_together(self, db: Database, id: str) -> list[str]:
        """The fixes that a lesson may tell of, the lessons that tell of a fix."""
        if id.startswith("X"):
            return lessons.drawn_from(db, failures.failure_of_fix(db, id), active=False)
        found = lessons.named(db, [id])
        return failures.fix_ids(db, found[0].failure) if found and found[0].failure else []

    def history(self, id: AttemptId = "", *, limit: int = 50) -> list[Event]:
        """What happened to an item, oldest first; without one, what happened last, newest first.

        An attempt may be named by its number, too.
        """
        db = self._memory.reading()
        named = str(id) and attempts.id_of(db, id)
        found = integrity.events_of_item(db, named) if named else integrity.recent_events(db, limit)
        return [*map(convert.event, found)]

    def conflicts(self, *, project: str | None = None) -> list[Conflict]:
        """Lessons that contradict each other, the oldest conflict first. Raises `NotFound` for an unknown project."""
        if not self._memory.exists:
            return []
        db = self._memory.reading()
        return [
            Conflict(one.id, moment(one.since), [*map(convert.lesson, _oldest_first(lessons.named(db, one.lessons)))])
            for one in lessons.open_conflicts(db, self._memory.project(project))
        ]

    def open_conflict(self, ids: Sequence[str], *, why: str = "") -> str:
        """Say that lessons contradict each other; returns the conflict's id. Raises `NotFound`, `NotAllowed`."""
        return self._change(lambda db: lifecycle.open_conflict(db, ids, actor=self._actor(), why=self._clean(why)))

    def settle(self, conflict: str, keep: str = "", *, why: str = "") -> int:
        """Decide on one conflict: the lesson to keep, or none when all may stand. Raises `NotFound`, `NotAllowed`."""
        return self._change(
            lambda db: lifecycle.resolve_conflict(db, conflict, keep, actor=self._actor(), why=self._clean(why))
        )

    def keep(self, lesson: str, *, why: str = "") -> list[str]:
        """This lesson holds: it supersedes all that it is in conflict with. Returns the conflicts settled so.

        Raises `NotFound` for a lesson in no conflict.
        """
        return self._settled(lesson, keep=lesson, why=why)

    def both_stand(self, lesson: str, *, why: str = "") -> list[str]:
        """It contradicts none of those that it was held to contradict. Returns the conflicts settled so.

        Raises `NotFound` for a lesson in no conflict.
        """
        return self._settled(lesson, keep="", why=why)

    def _settled(self, lesson: str, *, keep: str, why: str) -> list[str]:
        found = [one.id for one in self.conflicts() if lesson in {each.id for each in one.lessons}]
        if not found:
            raise NotFound(f"{lesson} contradicts nothing: `hardwon review --conflicts` lists contradictions")
        for id in found:
            self.settle(id, keep, why=why)
        return found

    def reopen(self, conflict: str) -> None:
        """Take a decision on a conflict back: what was superseded by it is believed again, and in dispute."""

        def step(db: Database) -> None:
            for lesson in lessons.superseded_in(db, conflict):
                lifecycle.restore(db, lesson, actor=self._actor(), why=f"conflict {conflict} is open again")
            rows = db.query("SELECT lesson FROM conflict_member WHERE conflict = ?", (conflict,))
            lifecycle.open_conflict(db, [row[0] for row in rows], actor=self._actor(), why="taken back")

        self._change(step)

    def _clean(self, value: Any) -> Any:
        """A text, or a list of them, without secrets."""
        if isinstance(value, list | tuple):
            return [self._clean(each) for each in value]
        return self._memory.scrubber().scrub(value) if isinstance(value, str) else value

    def _similar(self, lesson: Inner) -> list[SimilarLesson]:
        db = self._memory.reading()
        by_words = [item for item, _, _ in db.matches(unique_terms(lesson.text), 20, types=("lesson",))]
        meaning = self._near_in_meaning(lesson)
        ids = [id for id in dict.fromkeys([*by_words, *meaning]) if id != lesson.id]
        found = [
            _compared(lesson, other, meaning.get(other.id, 0.0))
            for other in lessons.named(db, ids)
            if other.project in (lesson.project, "")
        ]
        near = [one for one in found if one.share >= _ALIKE or one.meaning >= _ALIKE_IN_MEANING]
        return sorted(near, key=lambda one: (-max(one.share, one.meaning), one.id))[:_MAX_ALIKE_SHOWN]

    def _near_in_meaning(self, lesson: Inner) -> dict[str, float]:
        """Nothing where there is no model, or no vector to compare with."""
        db, embedder = self._memory.reading(), self._memory.embedder.embedder
        if embedder is None or not db.query("SELECT 1 FROM embedding WHERE model = ? LIMIT 1", (embedder.name,)):
            return {}
        try:
            (vector,) = embedder.embed([lesson.text])
            found = db.nearest(embedder.name, vector, _NEAREST)
        except HardwonError:
            return {}  # a person can decide without it
        return {near.item: round(near.similarity, 2) for near in found if near.similarity >= _ALIKE_IN_MEANING}

    def _contradicts(self, id: str) -> list[str]:
        rows = self._memory.reading().query(
            "SELECT other FROM lesson_link WHERE lesson = ? AND relation = 'contradicts' UNION "
            "SELECT lesson FROM lesson_link WHERE other = ? AND relation = 'contradicts' ORDER BY 1",
            (id, id),
        )
        return [row[0] for row in rows]

    def _effect(self, lesson: Inner) -> str:
        names = projects.names(self._memory.reading())
        where = {
            "project": f"sessions of {names.get(lesson.project, 'no project')}",
            "agent": f"sessions of {lesson.agent}",
            "global": "every session",
        }[lesson.scope]
        warning = danger(lesson.text)
        against = lessons.contradicted(self._memory.reading(), lesson.id)
        if against:
            others = ", ".join(short_id(self._memory.reading(), id) for id in against)
            told = f"once approved, it contradicts {others}: sessions are told none of them until you keep one"
        else:
            told = f"once approved, it will be told to {where}"
        return f"{told}; careful: it {warning}" if warning else told


def _compared(lesson: Inner, other: Inner, meaning: float) -> SimilarLesson:
    share = round(overlap(lesson.text, other.text), 2)
    return SimilarLesson(other.id, other.text, other.status, share, meaning, relation(lesson.text, other.text))


def score(lesson: Inner) -> float:
    """How much a candidate is worth a look."""
    age = now() - lesson.last_confirmed
    return quality(lesson.text, lesson.kind, lesson.trust, sources=lesson.source_count, age=age).score


def _numbers(place: str) -> tuple[int, int]:
    """Message and number in it; nowhere for what is no such place."""
    first, _, second = place.partition("/")
    return (int(first), int(second)) if first.isdecimal() and second.isdecimal() else (-1, -1)


def _oldest_first(found: Sequence[Inner]) -> list[Inner]:
    return sorted(found, key=lambda each: (each.first_seen, each.id))
