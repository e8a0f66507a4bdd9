"""Lessons of a project are put in order; what was compared once is not compared again. On both engines."""

from __future__ import annotations

from itertools import permutations

import pytest

from hardwon.harvest.upkeep import COMPARISON_VERSION as VERSION
from hardwon.harvest.upkeep import put_in_order
from hardwon.store import lessons, lifecycle
from hardwon.store.database import Database
from hardwon.store.lessons import Cited
from tests.store.test_lifecycle import row

PROJECT = "P1"


@pytest.fixture
def store(db: Database) -> Database:
    with db.transaction():
        for id in (PROJECT, "P2"):
            db.execute("INSERT INTO project (id, key, name) VALUES (?, ?, ?)", (id, id, id))
    return db


def said(
    db: Database, id: str, text: str, *, status: str = "active", project: str = PROJECT, trust: str = "human"
) -> None:
    """As a harvest leaves it."""
    held = row(text, status, id=id, scope="project", project=project, trust=trust, rule="user-correction")
    with db.transaction():
        lessons.add(db, [held], [Cited(id, f"S{id}", 1, f"root {id}", 5, text, "user")])


def ordered(db: Database, project: str = PROJECT) -> None:
    with db.transaction():
        put_in_order(db, project)


def texts(db: Database) -> list[str]:
    return sorted(one.text for one in lessons.listed(db, project=PROJECT))


def test_what_says_the_same_becomes_one_lesson_with_the_sources_of_both(store: Database) -> None:
    said(store, "L1", "Use pnpm, not npm.")
    ordered(store)
    said(store, "L2", "Please use pnpm and not npm in this repo.")
    said(store, "L3", "Always use pnpm instead of npm.")
    ordered(store)
    assert texts(store) == ["Use pnpm, not npm."]
    assert [source.source for source in lessons.sources(store, "L1")] == ["SL1", "SL2", "SL3"]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_users_language_is_one_lesson_however_they_were_answered(store: Database, order: tuple[int, ...]) -> None:
    every = [
        "The user writes Chinese.",
        "The user writes Chinese; answer in Chinese.",
        "The user writes German; answer in German.",
    ]
    for at in order:
        said(store, f"L{at}", every[at])
        ordered(store)
    assert texts(store) == every[1:]
    assert [source.source for source in lessons.sources(store, "L1")] == ["SL0", "SL1"]


@pytest.mark.parametrize("order", list(permutations(range(4)))[::5])
def test_it_does_not_matter_in_how_many_harvests_they_come(store: Database, order: tuple[int, ...]) -> None:
    every = [
        "Indent Makefiles by 4.",
        "Please indent Makefiles by 4, always.",
        "Indent Makefiles by 8.",
        "Never indent Makefiles by 4.",
    ]
    for at in order:
        said(store, f"L{at}", every[at])
        ordered(store)
    assert [one.id for one in lessons.named(store, ["L0", "L1", "L2", "L3"])] == ["L0", "L2", "L3"]
    assert lessons.disputed(store) == {"L0", "L2", "L3"}


def test_what_was_compared_is_not_compared_again(store: Database) -> None:
    said(store, "L1", "Use tabs.")
    said(store, "L2", "Use tabs in Makefiles.", project="P2")
    assert lessons.to_compare(store, PROJECT, VERSION).keys() == {"L1"}
    ordered(store)
    assert lessons.to_compare(store, PROJECT, VERSION) == {}
    said(store, "L3", "Run `make lint`.")
    assert lessons.to_compare(store, PROJECT, VERSION).keys() == {"L3"}
    assert lessons.to_compare(store, PROJECT, VERSION + 1).keys() == {"L1", "L3"}


def test_what_a_person_changed_is_compared_again(store: Database) -> None:
    said(store, "L1", "Indent by 4.")
    said(store, "L2", "Never indent by 4.", status="candidate", trust="untrusted")
    said(store, "L3", "Run `make lint`.")
    ordered(store)
    assert lessons.disputed(store) == set()  # a doubtful one silences nothing
    with store.transaction():
        lifecycle.promote(store, "L2", actor="ada")
        lifecycle.edit(store, "L3", {"text": "Indent by 8."}, actor="ada")
    assert lessons.to_compare(store, PROJECT, VERSION).keys() == {"L2", "L3"}
    ordered(store)
    assert lessons.disputed(store) == {"L1", "L2", "L3"}


def test_what_is_gone_leaves_no_keys(store: Database) -> None:
    said(store, "L1", "Use tabs.")
    ordered(store)
    with store.transaction():
        lessons.remove(store, "L1")
    assert store.query("SELECT key FROM lesson_key UNION SELECT state FROM lesson_compared") == []


def test_lessons_of_two_projects_are_never_compared(store: Database) -> None:
    said(store, "L1", "Use tabs.")
    said(store, "L2", "Never use tabs.", project="P2")
    ordered(store)
    ordered(store, "P2")
    assert lessons.disputed(store) == set()
