"""Rules over all sessions of a project, applied once a harvest has written them.

Only projects with new sessions are looked at. What a rule finds is compared with what it found the last time:
what is new is added, what is gone is taken back, and nothing is written when nothing changed.
"""

from __future__ import annotations

from hardwon.harvest import gate
from hardwon.harvest.answers import close_answered
from hardwon.harvest.forgotten import is_forgotten_lesson
from hardwon.harvest.learn import VERSION
from hardwon.harvest.merge import put_in_order
from hardwon.harvest.rules import catalogue
from hardwon.harvest.rules.found import Found
from hardwon.scrub.forgotten import Forgotten
from hardwon.store import lessons, meta, stale, tombstones
from hardwon.store.database import Database, marks
from hardwon.store.lessons import Cited


def look_over(db: Database) -> None:
    """Apply the rules over the store to every project that has new sessions; to all, when the rules are new."""
    if meta.rules_version(db) != catalogue.VERSION:
        with db.transaction():
            stale.mark_for_rules(db, [row[0] for row in db.query("SELECT id FROM project ORDER BY id")])
            meta.remember_rules(db, catalogue.VERSION)
    for project in stale.for_rules(db):
        with db.transaction():
            forgotten = tombstones.load(db)
            _apply(db, project, [one for one in catalogue.of_project(db, project) if not _gone(one, forgotten)])
        stale.recount(db)
        with db.transaction():
            put_in_order(db, project)
            close_answered(db, project)
            stale.rules_done(db, project)
            stale.mark(db, [project])  # what its next session is told may be another


def _gone(found: Found, forgotten: Forgotten) -> bool:
    return bool(forgotten) and is_forgotten_lesson(found.draft, forgotten)


def _apply(db: Database, project: str, found: list[Found]) -> None:
    held = _held(db, project)
    wanted: dict[str, set[Cited]] = {}
    for one in found:
        admitted = gate.admit(one.draft)
        if admitted is None:
            continue
        at = min(source.at for source in one.cited)
        id = lessons.save(db, one.draft, admitted, project=project, agent="", at=at, version=VERSION)
        wanted.setdefault(id, set()).update(source._replace(lesson=id) for source in one.cited)
    for id in sorted({*held, *wanted}):
        before, after = held.get(id, set()), wanted.get(id, set())
        if before != after:
            db.bulk(
                "DELETE FROM lesson_source WHERE lesson = ? AND source = ? AND message_index = ?",
                [source[:3] for source in sorted(before - after)],
            )
            lessons.cite(db, sorted(after))
            stale.mark(db, [id])


def _held(db: Database, project: str) -> dict[str, set[Cited]]:
    """The sources of every lesson that these rules left in the project."""
    names = sorted(catalogue.OVER_STORE)
    found: dict[str, set[Cited]] = {
        row[0]: set()
        for row in db.query(
            f"SELECT id FROM lesson WHERE project = ? AND kept = 0 AND rule IN ({marks(names)})", (project, *names)
        )
    }
    columns = ", ".join(f"o.{name}" for name in Cited._fields)
    for row in db.query(
        f"SELECT {columns} FROM lesson_source o JOIN lesson l ON l.id = o.lesson "
        f"WHERE l.project = ? AND l.rule IN ({marks(names)})",
        (project, *names),
    ):
        found.setdefault(row[0], set()).add(Cited(*row))
    return found
