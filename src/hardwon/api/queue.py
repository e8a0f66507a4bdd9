"""What waits for a person: candidates, the best first, each with all that is needed to decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hardwon.clock import now
from hardwon.errors import HardwonError
from hardwon.failures.tools import danger
from hardwon.harvest.merge import Relation, relation
from hardwon.harvest.trust import quality
from hardwon.model.lesson import Lesson
from hardwon.recall.embedder import choose
from hardwon.store import lessons
from hardwon.store.lessons import SourceRow
from hardwon.text.words import overlap, unique_terms

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

NOTICE, WARNING = 20, 50
_ALIKE = 0.35
_ALIKE_IN_MEANING = 0.8
"""Of pairs of STS-B that agree in negation and numbers, 94 % above it were rated as at least roughly the same."""
_NEAREST = 40
_MOST_ALIKE = 5


class Pending(Struct, frozen=True):
    lesson: Lesson
    score: float
    """Of its quality; the best is looked at first."""


class Similar(Struct, frozen=True):
    id: str
    text: str
    status: str
    share: float
    """Of the words of both, those that both have."""
    meaning: float = 0.0
    """How near they are in meaning, where there are vectors; above 0.8 they say at least roughly the same."""
    relation: Relation = "unrelated"
    """What their words tell: the same, the opposite, another value."""


class Considered(Struct, frozen=True):
    """A candidate with what is needed to decide on it."""

    lesson: Lesson
    score: float
    sources: list[SourceRow]
    similar: list[Similar]
    contradicts: list[str]
    """Ids of lessons that say the opposite."""
    effect: str
    """What promoting it would change."""


class Queue:
    """`memory.queue`: candidates in the order in which they are worth a look."""

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def count(self) -> int:
        return lessons.counted(self._memory.reading(), "status").get("candidate", 0) if self._memory.exists else 0

    def notice(self) -> str:
        """A word when many wait, or lessons contradict each other; empty when few do."""
        waiting, disputed = self.count(), self._disputed()
        if waiting >= WARNING:
            said = f"warning: {waiting} lessons wait for review, more than anybody will read; `hardwon review` decides"
        else:
            said = f"{waiting} lessons wait for review: `hardwon review`" if waiting >= NOTICE else ""
        told = (
            f"{disputed} lessons contradict each other and are not told: `hardwon review` decides" if disputed else ""
        )
        return "\n".join(filter(None, (said, told)))

    def _disputed(self) -> int:
        return len(lessons.disputed(self._memory.reading())) if self._memory.exists else 0

    def pending(
        self, *, project: str | None = None, kind: str | None = None, rule: str | None = None, trust: str | None = None
    ) -> list[Pending]:
        found = self._memory.lessons(project=project, kind=kind, status="candidate")
        wanted = [one for one in found if (rule is None or one.rule == rule) and (trust is None or one.trust == trust)]
        scored = [Pending(one, _score(one)) for one in wanted]
        return sorted(scored, key=lambda entry: (-entry.score, entry.lesson.id))

    def consider(self, id: str) -> Considered:
        lesson, sources = self._memory.lesson(id)
        return Considered(
            lesson, _score(lesson), sources, self._similar(lesson), self._contradicts(id), self._effect(lesson)
        )

    def _similar(self, lesson: Lesson) -> list[Similar]:
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
        return sorted(near, key=lambda one: (-max(one.share, one.meaning), one.id))[:_MOST_ALIKE]

    def _near_in_meaning(self, lesson: Lesson) -> dict[str, float]:
        """Nothing where there is no model, or no vector to compare with."""
        db, embedder = self._memory.reading(), choose(self._memory.config).embedder
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

    def _effect(self, lesson: Lesson) -> str:
        names = {id: name for id, name, _ in self._memory.projects()}
        where = {
            "project": f"sessions of {names.get(lesson.project, 'no project')}",
            "agent": f"sessions of {lesson.agent}",
            "global": "every session",
        }[lesson.scope]
        warning = danger(lesson.text)
        against = lessons.contradicted(self._memory.reading(), lesson.id)
        if against:
            others = ", ".join(id[:9] for id in against)
            told = f"promoted, it is in conflict with {others}: none of them is told until one is kept"
        else:
            told = f"promoted, it is told to {where}"
        return f"{told}; look twice: it {warning}" if warning else told


def _compared(lesson: Lesson, other: Lesson, meaning: float) -> Similar:
    share = round(overlap(lesson.text, other.text), 2)
    return Similar(other.id, other.text, other.status, share, meaning, relation(lesson.text, other.text))


def _score(lesson: Lesson) -> float:
    age = now() - lesson.last_confirmed
    return quality(lesson.text, lesson.kind, lesson.trust, sources=lesson.source_count, age=age).score
