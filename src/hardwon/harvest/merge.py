"""Bring a project's lessons in order: one of those that say the same, conflicts named, old measurements retired.

Only what is new or has changed is compared, and only with lessons that are about the same things but for one, so that
the work grows with what is new.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

from hardwon.clock import now
from hardwon.harvest.alike import VERSION, Gist, gist, keys, relation
from hardwon.harvest.rules import catalogue
from hardwon.model.lesson import TRUSTS, Lesson
from hardwon.store import events, lessons, lifecycle, likeness, stale
from hardwon.store.database import Database
from hardwon.store.events import Happened
from hardwon.text.digest import digest

_MEASURED_FACT = "verified-by-command"
_MEASURED_VALUE = re.compile(r"(?<= version )\S+|(?<= on port )\S+|(?<=alias of )`[^`]+`|(?<=machine runs ).+")
_MOST_IN_A_GROUP = 50
_AT_ONCE = 500
_CORROBORATED = 0.66
"""Two sessions make it 0.74: suggested by one, implied by several."""


def put_in_order(db: Database, project: str) -> None:
    """Called inside a transaction, once the counts are up to date. What was compared before is not compared again."""
    _retire_old_measurements(db, project)
    states = likeness.changed(db, project, VERSION)
    fresh = {one.id: one for one in _named(db, list(states)) if _comparable(one, project)}
    gists = {id: gist(one.text) for id, one in fresh.items()}
    keyed = {id: {_key(project, things) for things in keys(one) if things} for id, one in gists.items()}
    likeness.compared(db, states, ((key, id) for id, found in keyed.items() for key in sorted(found)))
    _compare(db, fresh, gists, _neighbours(db, keyed))
    _corroborate(db, project)


def _compare(db: Database, known: dict[str, Lesson], gists: dict[str, Gist], pairs: list[tuple[str, str]]) -> None:
    others = {id for pair in pairs for id in pair} - known.keys()
    known |= {one.id: one for one in _named(db, sorted(others))}
    gone: set[str] = set()
    for a, b in pairs:
        if a in gone or b in gone:
            continue
        first, second = known[a], known[b]
        match relation(_gist_of(first, gists), _gist_of(second, gists)):
            case "same" if _may_join(first, second):
                gone.add(_join(db, first, second))
            case "opposite" | "other value":
                _contradict(db, first, second)
            case _:
                pass


def _gist_of(lesson: Lesson, gists: dict[str, Gist]) -> Gist:
    if lesson.id not in gists:
        gists[lesson.id] = gist(lesson.text)
    return gists[lesson.id]


def _named(db: Database, ids: Sequence[str]) -> list[Lesson]:
    return [one for at in range(0, len(ids), _AT_ONCE) for one in lessons.named(db, ids[at : at + _AT_ONCE])]


def _comparable(lesson: Lesson, project: str) -> bool:
    settled = lesson.status in ("superseded", "archived") or lesson.rule == _MEASURED_FACT
    return lesson.project == project and not settled and lesson.rule not in catalogue.OVER_STORE


def _key(project: str, things: frozenset[str]) -> str:
    return digest(project, *sorted(things))


def _neighbours(db: Database, keyed: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Pairs that have a key in common, at least one of each new; of very many with the same key only the first."""
    holders: dict[str, list[str]] = defaultdict(list)
    for id, found in keyed.items():
        for key in found:
            holders[key].append(id)
    pairs: set[tuple[str, str]] = set()
    for key, group in likeness.groups(db, holders, _MOST_IN_A_GROUP):
        pairs.update(
            (min(id, other), max(id, other)) for id in holders[key][:_MOST_IN_A_GROUP] for other in group if other != id
        )
    return sorted(pairs)


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


def _corroborate(db: Database, project: str) -> None:
    """An agent's claim that a second session makes on its own, without having been told, may be believed."""
    rows = db.query(
        "SELECT l.id FROM lesson l WHERE l.project = ? AND l.trust = 'claimed' AND l.status = 'candidate' "
        "AND l.kept = 0 AND (SELECT count(DISTINCT o.root) FROM lesson_source o WHERE o.lesson = l.id "
        "AND o.origin = 'agent') > 1 ORDER BY l.id",
        (project,),
    )
    for one in _named(db, [row[0] for row in rows]):
        if _comparable(one, project) and _is_corroborated(db, one.id):
            believed = {"status": "active", "trust": "corroborated", "base_confidence": _CORROBORATED}
            lessons.settle(db, one.id, why="a second session says so", **believed)
            stale.mark(db, [one.id])


def _is_corroborated(db: Database, lesson: str) -> bool:
    """Whether two root sessions say so, neither having been shown it, that looked at nothing in common.

    What two agents say after they read the same page, file or output may be its words in theirs: one piece of evidence.
    """
    rows = db.query(
        "SELECT DISTINCT o.root, coalesce(c.tool, ''), coalesce(c.subject, '') FROM lesson_source o "
        "JOIN session s ON s.id = o.source AND s.root = o.root JOIN session t ON t.root = o.root "
        "LEFT JOIN call c ON c.session = t.id AND c.action <> 'edit' "
        "WHERE o.lesson = ? AND o.origin = 'agent' AND NOT EXISTS ("
        "SELECT 1 FROM exposure e JOIN bootstrap b ON b.id = e.bootstrap JOIN session u ON u.root = o.root "
        "WHERE e.item = o.lesson AND e.shown = 1 AND b.session IN (u.id, u.external_id, u.root))",
        (lesson,),
    )
    seen: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for root, tool, subject in rows:
        seen[root].update({(tool, subject)} if tool else ())
    return any(one.isdisjoint(other) for one, other in combinations(seen.values(), 2))
