"""The store's lessons as the tree tells them: which file each stands in, and its entry of the index."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from hardwon.clock import iso
from hardwon.exchange.files import stems
from hardwon.exchange.index import Fact, Holder
from hardwon.model.lesson import Kind, Lesson
from hardwon.store import lessons
from hardwon.store.database import Database

HEADINGS: dict[Kind, str] = {
    "pitfall": "Pitfalls",
    "pattern": "Patterns",
    "tool-quirk": "Tool quirks",
    "fact": "Facts",
    "question": "Questions",
    "preference": "Preferences",
    "decision": "Decisions",
    "identity": "Identity",
}
"""In the order that they stand in a file."""
LIVE = ("candidate", "active")
_ORDER = {kind: rank for rank, kind in enumerate(HEADINGS)}
_CATEGORIES = frozenset(("fact", "pitfall", "pattern", "tool-quirk", "question"))
"""Those that knowledge trees have; what is none of them is a fact there."""


class Item(NamedTuple):
    fact: Fact
    file: str
    title: str
    source: str
    """Where it was first heard, in a word, and how many other sources there are."""


class _Place(NamedTuple):
    holder: Holder
    domain: str
    title: str


def items(db: Database, *, everything: bool = False) -> list[Item]:
    """In the order that they are written; those that are out of use only with `everything`."""
    found = sorted(lessons.listed(db), key=lambda lesson: (lesson.first_seen, lesson.id))
    places = _places(db, found)
    numbers = _numbered(found, places)
    shown = [lesson for lesson in found if everything or lesson.status in LIVE]
    related = _related(db, {lesson.id: numbers[lesson.id] for lesson in shown})
    sources = _sources(db)
    made = [
        Item(
            _fact(lesson, numbers[lesson.id], places[lesson.id], related.get(lesson.id, ())),
            _file(lesson, places[lesson.id].domain),
            places[lesson.id].title,
            sources.get(lesson.id) or ("reviewer" if lesson.trust == "human" else "unknown"),
        )
        for lesson in shown
    ]
    return sorted(made, key=lambda item: (item.file, _ORDER[item.fact.kind]))


def _places(db: Database, found: Sequence[Lesson]) -> dict[str, _Place]:
    projects = {id: (key, name) for id, key, name in db.query("SELECT id, key, name FROM project")}
    repos = stems(dict(projects.values()))
    agents = stems({lesson.agent: lesson.agent for lesson in found if lesson.scope == "agent"})
    places = {}
    for lesson in found:
        if lesson.scope == "project":
            key, name = projects[lesson.project]
            places[lesson.id] = _Place(Holder("project", key), repos[key], name)
        elif lesson.scope == "agent":
            places[lesson.id] = _Place(Holder("agent", lesson.agent), agents[lesson.agent], lesson.agent)
        else:
            places[lesson.id] = _Place(Holder("global"), "global", "global")
    return places


def _numbered(found: Sequence[Lesson], places: dict[str, _Place]) -> dict[str, str]:
    """Also those that are not shown are counted, so that the others keep their numbers."""
    counts: Counter[str] = Counter()
    numbers = {}
    for lesson in found:
        group = f"{places[lesson.id].domain}:{_category(lesson)}"
        counts[group] += 1
        numbers[lesson.id] = f"{group}:{counts[group]:03}"
    return numbers


def _category(lesson: Lesson) -> str:
    return lesson.kind if lesson.kind in _CATEGORIES else "fact"


def _file(lesson: Lesson, domain: str) -> str:
    if lesson.scope == "global":
        return f"global/{HEADINGS[lesson.kind].lower().replace(' ', '-')}.md"
    return f"{'repos' if lesson.scope == 'project' else 'agents'}/{domain}.md"


def _related(db: Database, numbers: dict[str, str]) -> dict[str, tuple[str, ...]]:
    found = defaultdict(set)
    for one, other in db.query("SELECT lesson, other FROM lesson_link"):
        if one in numbers and other in numbers:
            found[one].add(numbers[other])
            found[other].add(numbers[one])
    return {id: tuple(sorted(others)) for id, others in found.items()}


def _sources(db: Database) -> dict[str, str]:
    heard: dict[str, list[str]] = defaultdict(list)
    rows = db.query("SELECT lesson, origin, source FROM lesson_source ORDER BY lesson, at, source, message_index")
    for lesson, origin, source in rows:
        name = re.sub(r"[\s`]", "_", f"{origin}:{source}")
        if name not in heard[lesson]:
            heard[lesson].append(name)
    return {id: names[0] + (f"+{len(names) - 1}" if len(names) > 1 else "") for id, names in heard.items()}


def _fact(lesson: Lesson, number: str, place: _Place, related: tuple[str, ...]) -> Fact:
    return Fact(
        id=number,
        fact=lesson.text,
        category=_category(lesson),
        domain=place.domain,
        confidence=round(lesson.confidence, 4),
        tags=lesson.tags,
        source_count=lesson.source_count,
        first_seen=iso(lesson.first_seen),
        last_confirmed=iso(lesson.last_confirmed),
        expires=iso(lesson.valid_until),
        related=related,
        lesson=lesson.id,
        kind=lesson.kind,
        scope=lesson.scope,
        project=place.holder.name if lesson.scope == "project" else "",
        agent=lesson.agent,
        status=lesson.status,
        trust=lesson.trust,
    )
