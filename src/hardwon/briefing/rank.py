"""What could be said to a session, ranked: lessons of its project, failures likely to recur, what fits its task; kept
ready for hooks."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from hardwon.briefing.foreseen import counted, failure_lines, gone
from hardwon.briefing.policy import (
    FAILURES_TOLD,
    LESSONS_TOLD,
    SAID_BY,
    SPARE_OF_EACH,
    against_lesson,
    below_bar,
    best,
    is_by_hand,
    is_noted,
    outlived,
)
from hardwon.config import Config
from hardwon.harvest.upkeep import adrift, written_down
from hardwon.model.lesson import FOR_ONE_PART, StoredLesson
from hardwon.model.nouns import LeftOut, Line
from hardwon.store import failures, lessons, sessions
from hardwon.store.database import Database, kept
from hardwon.store.lessons import SourceRow
from hardwon.store.spool import Prepared, exempt
from hardwon.text.shown import FAILURES, KNOWN, NOTED, day, estimate, one_line
from hardwon.text.words import terms, unique_terms

_HOUR_MICROSECONDS = 3_600_000_000
TaskType = Literal["", "explore", "implement", "debug", "review", "refactor"]

_LESSONS_CONSIDERED = 500
_MIN_RECENCY = 0.2
_WEIGHT_OF_TWICE_THE_SESSIONS = 0.1
"""What a lesson gains that twice as many sessions taught."""
_WEIGHT_OF_A_NOTE, _WEIGHT_OF_OWN_WORDS = 0.8, 1.5
_WEIGHT_OF_ONE_PART = 0.6
_LESSONS_COMPARED = 150
_MIN_FIT = 0.4
"""How well a lesson must fit a task, against the one that fits it best."""
_SESSIONS_THAT_ARE_RECENT = 3
"""What these left open is told, though only work on one part needs it."""
_LESSONS_TOLD_FOR_ANY_TASK = 12
"""So few lessons are told whatever the task is: the best fitting come first."""
_KIND_WEIGHT = {
    "preference": 1.2,
    "decision": 1.0,
    "pitfall": 1.0,
    "pattern": 0.9,
    "tool-quirk": 0.8,
    "fact": 0.9,
    "identity": 0.8,
    "question": 0.4,
}


class Request(NamedTuple):
    """Who is to be briefed. An empty agent or task is one that is not known."""

    project: str
    agent: str = ""
    task: str = ""
    only_here: bool = False
    """Told nothing that only other projects have seen."""
    once_is_enough: bool = False
    """Told of failures that one session met, too, whatever is known of the project: a loop asks for them."""

    @property
    def kind(self) -> TaskType:
        return task_type(self.task)


class Candidates(NamedTuple):
    lessons: list[Line]
    failures: list[Line]
    left_out: list[LeftOut]
    task_type: TaskType = ""
    spare: Sequence[Line] = ()
    """The next best of each lane, for when one of the others is withheld."""


class Scored(NamedTuple):
    """A lesson, and what its score is made of."""

    score: float
    lesson: StoredLesson
    fresh: float
    fit: float


def candidates(db: Database, request: Request, config: Config, now: int) -> Candidates:
    """Everything that clears the bar for this request, best first."""
    left_out: list[LeftOut] = []
    scored, likely = ranked(db, request, config.half_life_days, now, left_out)
    unsure = {one.lesson.id: below_bar(one.lesson.confidence, config.min_confidence) for one in scored}
    left_out.extend(LeftOut(id=id, reason=reason) for id, reason in unsure.items() if reason)
    sure = [one for one in scored if not unsure[one.lesson.id]]
    left_out.extend(LeftOut(id=one.lesson.id, reason="better lessons fill the block") for one in sure[LESSONS_TOLD:])
    told, spare = best(_lines(db, sure[: LESSONS_TOLD + SPARE_OF_EACH]), likely)
    of_lessons = [line for line in told if line.kind != "failure"]
    if request.task.strip():
        from hardwon.briefing.tried import attempt_lines  # noqa: PLC0415 - for a task alone

        of_lessons += attempt_lines(
            db, request.project, request.task, lambda at: _recency(at, config.half_life_days, now)
        )
        of_lessons += chunk_lines(db, request.project, request.task)
    of_failures = [line for line in told if line.kind == "failure"]
    return Candidates(of_lessons, of_failures, left_out, request.kind, spare)


def _fitting(db: Database, task: str) -> dict[str, float]:
    from hardwon.recall.search import relevance  # noqa: PLC0415 - for a task alone

    return relevance(db, task)


def ranked(
    db: Database, request: Request, half_life_days: float, now: int, left_out: list[LeftOut]
) -> tuple[list[Scored], list[Line]]:
    """(lessons, failures) that may be told, best first, whatever the bar and the budget are."""
    fits = _fitting(db, request.task) if request.task.strip() else {}
    likely = failure_lines(
        db,
        request.project,
        fits,
        left_out,
        now=now,
        only_here=request.only_here,
        once_is_enough=request.once_is_enough,
    )
    said = {line.id: line.id for line in likely[:FAILURES_TOLD]}
    echoes = {one.id: one.reason.removeprefix(SAID_BY) for one in left_out if one.reason.startswith(SAID_BY)}
    said |= {id: told for id, told in echoes.items() if told in said}
    over = gone(db, request.project, only_here=request.only_here)
    silenced = kept(db, failures.muted)
    disputed = kept(db, lessons.disputed)
    known = _known_lessons(db, request, fits)
    lost = adrift(db, request.project) | written_down(db, request.project, known)
    many = len(known) > _LESSONS_TOLD_FOR_ANY_TASK
    least = _MIN_FIT * max((fits.get(lesson.id, 0.0) for lesson in known), default=0.0) if many else 0.0
    lately = min(sessions.starts(db, request.project, _SESSIONS_THAT_ARE_RECENT), default=now)
    scored = []
    for lesson in known:
        reason = against_lesson(
            lesson, project=request.project, agent=request.agent, now=now, disputed=lesson.id in disputed
        )
        if not reason and lesson.failure in said:
            reason = f"{SAID_BY}{said[lesson.failure]}"
        if not reason and lesson.failure in silenced:
            reason = f"the failure {lesson.failure} is muted"
        if not reason and lesson.failure in over:
            reason = f"the failure {lesson.failure} has not come back for many sessions"
        reason = reason or lost.get(lesson.id, "") or outlived(lesson.rule, lesson.last_confirmed, now)
        fit = fits.get(lesson.id, 0.0)
        if not reason and fit < least and not _always_told(lesson):
            reason = "does not fit the task"
        is_recent = lesson.last_confirmed >= lately
        if not reason and lesson.kind == "question" and FOR_ONE_PART in lesson.tags and not (fit or is_recent):
            reason = "only work on one part needs it"
        if reason:
            left_out.append(LeftOut(id=lesson.id, reason=reason))
            continue
        fresh = _recency(lesson.last_confirmed, half_life_days, now)
        worth = (
            (_WEIGHT_OF_A_NOTE if is_noted(lesson) else _WEIGHT_OF_OWN_WORDS if is_by_hand(lesson) else 1.0)
            * (_WEIGHT_OF_ONE_PART if FOR_ONE_PART in lesson.tags else 1.0)
            * lesson.confidence
            * (1 + _WEIGHT_OF_TWICE_THE_SESSIONS * math.log2(max(1, lesson.source_count)))
            * _KIND_WEIGHT[lesson.kind]
            * task_weight(request.kind, lesson.kind)
        )
        scored.append(Scored(round(worth * fresh * (1 + fit), 9), lesson, fresh, fit))
    scored.sort(key=lambda one: (-one.score, one.lesson.id))
    return _without_echoes(scored, left_out), likely


def _without_echoes(scored: list[Scored], left_out: list[LeftOut]) -> list[Scored]:
    """Without those whose words all stand in a better one."""
    kept: list[Scored] = []
    holding: dict[str, list[int]] = {}
    for one in scored[:_LESSONS_COMPARED]:
        own = _terms_of(one.lesson.text)
        shared = Counter(at for term in own for at in holding.get(term, ()))
        same = next((at for at, count in shared.items() if count == len(own)), None)
        if same is not None and not one.lesson.pinned:
            left_out.append(LeftOut(id=one.lesson.id, reason=f"says what {kept[same].lesson.id} says"))
            continue
        for term in own:
            holding.setdefault(term, []).append(len(kept))
        kept.append(one)
    return kept + scored[_LESSONS_COMPARED:]


@lru_cache(maxsize=1024)  # a replay asks again for every session
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _lines(db: Database, scored: list[Scored]) -> list[Line]:
    sources = kept(db, lessons.sources_of, tuple(one.lesson.id for one in scored))
    return [_line(one, sources[one.lesson.id]) for one in scored]


def _always_told(lesson: StoredLesson) -> bool:
    """What a person laid down holds for every task."""
    return lesson.pinned or lesson.kind in ("preference", "decision", "identity")


def _known_lessons(db: Database, request: Request, fits: dict[str, float]) -> list[StoredLesson]:
    """The best known ones, and those that fit the task; never all there are."""
    best = kept(db, _best_known, request.project)
    known = {lesson.id for lesson in best}
    if len(best) < _LESSONS_CONSIDERED:
        return best
    return best + lessons.named(db, [id for id in fits if id.startswith("L") and id not in known], request.project)


def _best_known(db: Database, project: str) -> list[StoredLesson]:
    return lessons.listed(db, project=project, taken_back=False, limit=_LESSONS_CONSIDERED)


def _line(one: Scored, sources: list[SourceRow]) -> Line:
    score, lesson, fresh, fit = one
    return Line(
        id=lesson.id,
        kind=lesson.kind,
        text=told_text(lesson),
        score=score,
        why=f"{lesson.trust} {lesson.kind}, confidence {lesson.confidence:.2f} × recency {fresh:.2f} × "
        f"fit {1 + fit:.2f}; {counted(lesson.source_count, 'session')}, last {day(lesson.last_confirmed)}",
        source=_source(sources),
        noted=is_noted(lesson),
    )


def told_text(lesson: StoredLesson) -> str:
    """What a person said in several sessions says so: they are tired of repeating it. A question says it is one."""
    said = lesson.trust == "human" and lesson.source_count > 1
    text = one_line(lesson.text)
    if lesson.kind == "question" and text.endswith(("?", "？")):
        text = f"Open question: {text}"
    return f"{text} (said in {lesson.source_count} sessions)" if said else text


def _source(sources: list[SourceRow]) -> str:
    """The first one; what a person wrote into the store has none."""
    if not sources:
        return "a person"
    first = sources[0]
    return f"{first.path} message {first.message_index}" if first.path else first.source


def _recency(stamp: int, half_life_days: float, now: int) -> float:
    days = max(0, (now - stamp) // _HOUR_MICROSECONDS) / 24  # whole hours, so that asking twice gives the same answer
    return max(_MIN_RECENCY, math.exp2(-days / half_life_days))


# What kind of work a task is, and which lines help with that kind.

_TASK_CUES: dict[TaskType, str] = {
    "debug": "fix bug debug error fail failing failure crash broken traceback exception regression flaky hang wrong "
    "investigate diagnose reproduce stack panic",
    "review": "review audit check verify approve critique inspect pr pull lint security",
    "refactor": "refactor rename extract split move simplify clean cleanup restructure deduplicate tidy migrate "
    "upgrade",
    "explore": "explain explore understand how why what where find describe overview document learn summarize read "
    "tell",
    "implement": "add implement build create write support make introduce integrate feature extend enable expose",
}
_TASK_WEIGHTS: dict[TaskType, dict[str, float]] = {
    "debug": {"failure": 1.5, "pitfall": 1.4, "tool-quirk": 1.2, "question": 0.8},
    "review": {"preference": 1.3, "decision": 1.3, "pattern": 1.1, "failure": 0.8},
    "refactor": {"pattern": 1.3, "decision": 1.2, "preference": 1.1, "pitfall": 1.1},
    "explore": {"fact": 1.3, "decision": 1.2, "question": 1.5, "failure": 0.7},
    "implement": {"pattern": 1.2, "preference": 1.1, "pitfall": 1.1},
}
_TASK_STEMS = {kind: frozenset(terms(words)) for kind, words in _TASK_CUES.items()}
_WORDS_THAT_COUNT_DOUBLE = 12


@lru_cache(maxsize=64)
def task_type(task: str) -> TaskType:
    """By the words it is made of, those at its beginning counting double; empty when they do not tell."""
    said = terms(task)
    points = {
        kind: sum((2 if at < _WORDS_THAT_COUNT_DOUBLE else 1) for at, word in enumerate(said) if word in stems)
        for kind, stems in _TASK_STEMS.items()
    }
    best = max(points, key=points.__getitem__)
    return best if points[best] else ""


def task_weight(task: TaskType, kind: str) -> float:
    """How much more a line of this kind is worth for such a task."""
    return _TASK_WEIGHTS.get(task, {}).get(kind, 1.0)


# What only a task brings: earlier tries at something like it (briefing/tried.py), and what documents say about it.

_CHUNKS_TOLD = 3
_LEAST_FIT_OF_A_CHUNK = 0.25
_LEAST_SHARED_TERMS = 2
"""One common word is a coincidence."""
_CHUNKS_CONSIDERED = 20
_TASK_TERMS_SEARCHED = 48
_CHUNK_WEIGHT = 0.5


def chunk_lines(db: Database, project: str, task: str) -> list[Line]:
    """What the project's documents, or those of no project, say about a task."""
    from hardwon.briefing.tried import shortened  # noqa: PLC0415 - for a task alone
    from hardwon.store import documents  # noqa: PLC0415 - for a task alone

    if not documents.any_there(db):
        return []
    wanted = unique_terms(task)[:_TASK_TERMS_SEARCHED]
    found = db.matches(wanted, _CHUNKS_CONSIDERED, types=("chunk",))
    known = documents.chunks(db, [id for id, _, score in found if score >= _LEAST_FIT_OF_A_CHUNK])
    lines = []
    for id, _, score in found:
        if id not in known or known[id][1].project not in (project, None):
            continue
        chunk, document = known[id]
        if len(set(wanted).intersection(terms(f"{chunk.heading_path} {chunk.content}"))) < _LEAST_SHARED_TERMS:
            continue
        place = f"{document.path} > {chunk.heading_path}" if chunk.heading_path else document.path
        text = shortened(f"{one_line(place)}: {one_line(chunk.content)}")
        why = f"a document that fits the task {score:.2f}"
        lines.append(
            Line(id=id, kind="chunk", text=text, score=round(score * _CHUNK_WEIGHT, 9), why=why, source=document.path)
        )
    return lines[:_CHUNKS_TOLD]


# A line in the text: below which heading, in which order, at what cost.

_READING_ORDER = (
    "preference",
    "decision",
    "identity",
    "pattern",
    "fact",
    "tool-quirk",
    "pitfall",
    "question",
    "attempt",
    "chunk",
    "failure",
)


def reading_order(kind: str) -> int:
    """Lessons by their kind, then failures."""
    return _READING_ORDER.index(kind)


def heading(kind: str, *, noted: bool) -> str:
    return FAILURES if kind == "failure" else NOTED if noted else KNOWN


def cost(*lines: str) -> int:
    """What lines cost at the most: the estimate of a text never exceeds its lines' and one each."""
    return sum(map(_line_cost, lines))


@lru_cache(maxsize=4096)
def _line_cost(line: str) -> int:
    return estimate(line) + 1


def priced(kind: str, id: str, text: str, *, noted: bool) -> tuple[str, str, str, int]:
    """(section, item, text, tokens)"""
    return heading(kind, noted=noted), id, text, cost(f"- {text}")


# Lines as hooks need them: with their cost, what is never withheld, and enough of them for other settings.

LESSONS_PREPARED = 200


def prepared_lines(db: Database, request: Request, half_life_days: float, now: int) -> list[Prepared]:
    """All that a session may be told under any bar and budget, in the order they are read."""
    scored, likely = ranked(db, request, half_life_days, now, [])
    kept = sorted(for_any_bar(scored), key=lambda one: reading_order(one.lesson.kind))
    noted = [one for one in kept if is_noted(one.lesson)]
    known = [one for one in kept if not is_noted(one.lesson)]
    return [*map(of_lesson, known), *map(of_failure, likely), *map(of_lesson, noted)]


def for_any_bar(scored: Iterable[Scored]) -> list[Scored]:
    """Without those that have enough better ones at least as sure: these leave them no place, whatever the bar is."""
    kept: list[Scored] = []
    confidences: list[float] = []
    for one in scored:
        as_sure = len(confidences) - bisect_left(confidences, one.lesson.confidence)
        if as_sure < LESSONS_TOLD + SPARE_OF_EACH and len(kept) < LESSONS_PREPARED:
            kept.append(one)
            insort(confidences, one.lesson.confidence)
    return kept


def of_lesson(one: Scored) -> Prepared:
    lesson = one.lesson
    never = exempt(lesson.kind, lesson.trust, pinned=lesson.pinned)
    return (*priced(lesson.kind, lesson.id, told_text(lesson), noted=is_noted(lesson)), int(never), one.score)


def of_failure(line: Line) -> Prepared:
    return (*priced(line.kind, line.id, line.text, noted=False), 0, line.score)
