"""Bring a project's lessons in order: one of those that say the same, conflicts named, old measurements retired.

Lessons are compared only with those that share their rarest words, so that the work grows with what is there and
not with its square.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import ceil

from oldhand.harvest.alike import SAME, Gist, gist, relation
from oldhand.harvest.rules import catalogue
from oldhand.model.lesson import TRUSTS, Lesson
from oldhand.sessions.clock import now
from oldhand.store import events, lessons, lifecycle, stale
from oldhand.store.database import Database
from oldhand.store.events import Happened

_MEASURED_FACT = "verified-by-command"
_MEASURED_VALUE = re.compile(r"(?<= version )\S+|(?<= on port )\S+|(?<=alias of )`[^`]+`|(?<=machine runs ).+")
_MOST_IN_A_GROUP = 50
_CORROBORATED = 0.66
"""Two sessions make it 0.74: suggested by one, implied by several."""


def put_in_order(db: Database, project: str) -> None:
    """Called inside a transaction, once the counts are up to date."""
    _retire_old_measurements(db, project)
    said = [one for one in lessons.listed(db, project=project) if _comparable(one, project)]
    gists = {one.id: gist(one.text) for one in said}
    by_id = {one.id: one for one in said}
    gone: set[str] = set()
    for a, b in _neighbours(gists):
        if a in gone or b in gone:
            continue
        first, second = by_id[a], by_id[b]
        match relation(gists[a], gists[b]):
            case "same" if _may_join(first, second):
                gone.add(_join(db, first, second))
            case "opposite" | "other value":
                _contradict(db, first, second)
            case _:
                pass
    _corroborate(db, [one for one in said if one.id not in gone])


def _comparable(lesson: Lesson, project: str) -> bool:
    settled = lesson.status in ("superseded", "archived") or lesson.rule == _MEASURED_FACT
    return lesson.project == project and not settled and lesson.rule not in catalogue.OVER_STORE


def _neighbours(gists: dict[str, Gist]) -> Iterator[tuple[str, str]]:
    """Pairs that may say the same (they share one of their rarest words), or the opposite (they share their core)."""
    often = Counter(word for one in gists.values() for word in one.words)
    groups: dict[object, list[str]] = defaultdict(list)
    for id in sorted(gists):
        one = gists[id]
        rarest = sorted(one.words, key=lambda word: (often[word], word))
        for word in rarest[: len(rarest) - ceil(SAME * len(rarest)) + 1]:
            groups[word].append(id)
        groups[one.core].append(id)
    pairs = {pair for group in groups.values() for pair in combinations(group[:_MOST_IN_A_GROUP], 2)}
    return iter(sorted(pairs))


def _rank(lesson: Lesson) -> tuple[bool, int, int, str]:
    """Which of two that say the same stays: what a person decided on, the more trusted, the older."""
    return not lesson.kept, TRUSTS.index(lesson.trust), lesson.first_seen, lesson.id


def _may_join(a: Lesson, b: Lesson) -> bool:
    stays, goes = sorted((a, b), key=_rank)
    if goes.kept or ("question" in (a.kind, b.kind) and a.kind != b.kind):
        return False
    # Words that a page or a tool said must not make a trusted lesson look better supported.
    return goes.trust != "untrusted" or stays.trust == "untrusted" or stays.status == "invalid"


def _join(db: Database, a: Lesson, b: Lesson) -> str:
    stays, goes = sorted((a, b), key=_rank)
    lessons.join(db, goes.id, stays.id)
    events.record(db, "harvest", now(), [Happened("merge", stays.id, {}, {"from": goes.id, "text": goes.text})])
    stale.mark(db, [stays.id])
    return goes.id


def _contradict(db: Database, a: Lesson, b: Lesson) -> None:
    """Only lessons that are both believed are in conflict; a doubtful one must not silence a trusted one."""
    if (a.status, b.status) == ("active", "active"):
        lifecycle.note_conflict(db, [a.id, b.id], actor="harvest", why="they say the opposite of each other")
    elif "invalid" not in (a.status, b.status):
        lifecycle.note_contradiction(db, a.id, b.id, actor="harvest")


def _retire_old_measurements(db: Database, project: str) -> None:
    """Of several measurements of the same thing the newest holds; the others stay, with the time they held."""
    slots: dict[str, list[Lesson]] = defaultdict(list)
    for one in lessons.listed(db, project=project, kind="fact"):
        live = one.status in ("active", "superseded") and not one.kept
        if live and one.rule == _MEASURED_FACT and one.project == project:
            slots[_MEASURED_VALUE.sub("…", one.text)].append(one)
    for group in slots.values():
        group.sort(key=lambda one: (one.last_confirmed, one.id))
        newest = group[-1]
        restored = {"status": "active", "superseded_by": "", "valid_until": None}
        lessons.settle(db, newest.id, why="measured last", **restored)
        for old in group[:-1]:
            since = {"status": "superseded", "superseded_by": newest.id, "valid_until": newest.last_confirmed}
            lessons.settle(db, old.id, why="measured again, with another result", **since)


def _corroborate(db: Database, said: Sequence[Lesson]) -> None:
    """An agent's claim that a second session makes on its own, without having been told, may be believed."""
    for one in said:
        if one.trust == "claimed" and one.status == "candidate" and not one.kept and len(_independent(db, one.id)) > 1:
            believed = {"status": "active", "trust": "corroborated", "base_confidence": _CORROBORATED}
            lessons.settle(db, one.id, why="a second session says so", **believed)
            stale.mark(db, [one.id])


def _independent(db: Database, lesson: str) -> set[str]:
    """The root sessions in which an agent said it of itself, and which had not been shown it."""
    rows = db.query(
        "SELECT DISTINCT o.root FROM lesson_source o WHERE o.lesson = ? AND o.origin = 'agent' AND NOT EXISTS ("
        "SELECT 1 FROM exposure e JOIN bootstrap b ON b.id = e.bootstrap JOIN session s ON s.root = o.root "
        "WHERE e.item = o.lesson AND e.shown = 1 AND b.session IN (s.id, s.external_id, s.root))",
        (lesson,),
    )
    return {row[0] for row in rows}
