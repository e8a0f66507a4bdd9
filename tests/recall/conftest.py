"""A small memory of everything that can be found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from hardwon import Hardwon
from hardwon.sessions.project import Project
from hardwon.store import fulltext, lessons, projects
from hardwon.store.database import Database, insert
from hardwon.store.lessons import LessonRow

DAY = 86_400_000_000
NOW = 1_790_000_000_000_000

INTERACTION = (
    "id session project client prompt response response_summary context lessons_used chunks_used created_at seal"
).split()

Learn = Callable[..., str]


@pytest.fixture
def memory(home: Path) -> Iterator[Hardwon]:
    with Hardwon(home) as memory:
        yield memory


@pytest.fixture
def db(memory: Hardwon) -> Database:
    return memory.writing()


@pytest.fixture
def reef(db: Database) -> str:
    """The id of a project."""
    project = Project("git.example/reef", "")
    with db.transaction():
        projects.save(db, project)
    return project.id


@pytest.fixture
def learn(db: Database) -> Learn:
    """Adds a lesson; returns its id."""

    def learn(text: str, **more: object) -> str:
        fields: dict[str, object] = {
            "kind": "fact",
            "text": text,
            "scope": "global",
            "project": None,
            "agent": "",
            "base_confidence": 0.8,
            "confidence": 0.8,
            "status": "active",
            "trust": "human",
            "rule": "",
            "failure": "",
            "first_seen": NOW,
            "last_confirmed": NOW,
            "source_count": 1,
            "harvester_version": 1,
            **more,
        }
        fields.setdefault("id", lessons.harvested_id(str(fields["kind"]), "global", "", "", text))
        with db.transaction():
            lessons.add(db, [LessonRow(**fields)], [])  # type: ignore[arg-type]
        return str(fields["id"])

    return learn


@pytest.fixture
def talk(db: Database) -> Callable[[Sequence[str]], list[str]]:
    """Adds the turns of a talk; returns their ids."""

    def talk(turns: Sequence[str]) -> list[str]:
        ids = [f"I{at:04}" for at in range(len(turns))]
        with db.transaction():
            for at, (id, text) in enumerate(zip(ids, turns, strict=True)):
                values = (id, "talk", None, "cli", text, "", "", "", "[]", "[]", NOW + at, "")
                db.execute(insert("interaction", INTERACTION), values)
                fulltext.add(db, id, "interaction", text)
        return ids

    return talk


class Axes:
    """A model that knows three things, and answers at once."""

    name = "axes"
    _KNOWN = (("car", "automobile", "engine"), ("boat", "ship", "harbour"), ("tree", "forest", "oak"))

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        return [
            [*(float(sum(word in text.casefold() for word in words)) for words in self._KNOWN), 0.05] for text in texts
        ]
