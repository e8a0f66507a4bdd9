"""What a page shows at a glance: a few rows and counts, never all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hardwon.model.lesson import StoredLesson
from hardwon.store import lessons
from hardwon.store.database import Database
from hardwon.store.database import marks as marks_for
from hardwon.store.pages import Conditions


class ExposureRow(NamedTuple):
    """A session that was to be told something."""

    session: str
    """Its id here; empty where it was not harvested."""
    agent: str
    project: str
    at: int
    shown: int


def last_session(db: Database) -> int:
    """When the newest session began; 0 without any."""
    rows = db.query("SELECT started_at FROM session ORDER BY started_at DESC LIMIT 1")
    return int(rows[0][0]) if rows else 0


def totals(db: Database, project: str | None) -> dict[str, int]:
    if project is None:
        counted = {name: f"SELECT count(*) FROM {name}" for name in ("session", "failure", "fix")}
        return {name: int(db.query(sql)[0][0]) for name, sql in counted.items()}
    held = db.query("SELECT count(*) FROM session WHERE project = ?", (project,))[0][0]
    failed = db.query("SELECT count(*) FROM failure_in_project WHERE project = ?", (project,))[0][0]
    fixed = "SELECT count(*) FROM fix x JOIN failure_in_project p ON p.failure = x.failure WHERE p.project = ?"
    return {"session": int(held), "failure": int(failed), "fix": int(db.query(fixed, (project,))[0][0])}


def said_again(db: Database, project: str | None, limit: int) -> list[StoredLesson]:
    """What people told agents in more than one session, the most often said first."""
    where = Conditions().equal("project", project)
    where.add("status = 'active' AND trust = 'human' AND source_count > 1")
    order = "ORDER BY source_count DESC, last_confirmed DESC, id LIMIT ?"
    return _lessons(db, f"{where.sql} {order}", [*where.values, limit])


def learned(db: Database, project: str | None, since: int, limit: int) -> tuple[int, list[StoredLesson]]:
    """(how many lessons are new since then and believed, the newest of them)."""
    where = Conditions().equal("project", project).add("status = 'active' AND first_seen >= ?", since)
    number = db.query(f"SELECT count(*) FROM lesson {where.sql}", where.values)[0][0]
    return int(number), _lessons(db, f"{where.sql} ORDER BY first_seen DESC, id LIMIT ?", [*where.values, limit])


def candidates(db: Database, project: str | None, rule: str, session: str, limit: int) -> list[StoredLesson]:
    """What waits for a person, the surest first; of one rule or one session, if they are named."""
    where = Conditions().add("status = 'candidate'").equal("project", project).equal("rule", rule or None)
    if session:
        where.add("id IN (SELECT lesson FROM lesson_source WHERE source = ?)", session)
    return _lessons(
        db, f"{where.sql} ORDER BY confidence DESC, last_confirmed DESC, id LIMIT ?", [*where.values, limit]
    )


def candidates_by_rule(db: Database, project: str | None) -> list[tuple[str, int]]:
    where = Conditions().add("status = 'candidate'").equal("project", project)
    rows = db.query(
        f"SELECT rule, count(*) FROM lesson {where.sql} GROUP BY rule ORDER BY count(*) DESC, rule", where.values
    )
    return [(str(rule), int(number)) for rule, number in rows]


def lessons_of_failure(db: Database, failure: str, limit: int) -> list[StoredLesson]:
    return _lessons(
        db, "WHERE failure = ? AND status = 'active' ORDER BY confidence DESC, id LIMIT ?", [failure, limit]
    )


class Mark(NamedTuple):
    """Something that was met or learned at a message of a session."""

    message: int
    kind: str
    """`error`, `fix` or `lesson`."""
    item: str
    text: str


def marks(db: Database, session: str) -> list[Mark]:
    rows = db.query(
        "SELECT o.message_index, 'error', f.id, coalesce(nullif(f.words, ''), f.signature) FROM occurrence o "
        "JOIN failure f ON f.id = o.failure WHERE o.source = ? UNION ALL "
        "SELECT e.passing_message, 'fix', x.failure, e.passing FROM fix_evidence e JOIN fix x ON x.id = e.fix "
        "WHERE e.source = ? UNION ALL "
        "SELECT s.message_index, 'lesson', l.id, l.text FROM lesson_source s JOIN lesson l ON l.id = s.lesson "
        "WHERE s.source = ? ORDER BY 1, 2, 3",
        (session, session, session),
    )
    return [Mark(*row) for row in rows]


def agents(db: Database) -> list[str]:
    return [row[0] for row in db.query("SELECT DISTINCT agent FROM session ORDER BY agent")]


def came_back(db: Database, ids: Sequence[str]) -> dict[str, int]:
    """Failure that a fix is told for → sessions that met it after the fix had first worked."""
    if not ids:
        return {}
    rows = db.query(
        "SELECT w.failure, count(DISTINCT o.root) FROM (SELECT x.failure, min(e.at) AS at FROM fix x "
        f"JOIN fix_evidence e ON e.fix = x.id WHERE x.status = 'active' AND x.failure IN ({marks_for(ids)}) "
        "GROUP BY x.failure) w LEFT JOIN occurrence o ON o.failure = w.failure AND o.at > w.at GROUP BY w.failure",
        list(ids),
    )
    return {str(id): int(number) for id, number in rows}


def exposures(db: Database, item: str, limit: int) -> list[ExposureRow]:
    """Who was shown a lesson or a failure, or was not, the newest first."""
    rows = db.query(
        "SELECT coalesce((SELECT min(s.id) FROM session s WHERE s.external_id = b.session), ''), b.agent, "
        "coalesce(p.name, ''), b.created_at, e.shown FROM exposure e JOIN bootstrap b ON b.id = e.bootstrap "
        "LEFT JOIN project p ON p.id = b.project WHERE e.item = ? ORDER BY b.created_at DESC, b.id LIMIT ?",
        (item, limit),
    )
    return [ExposureRow(*row) for row in rows]


def _lessons(db: Database, rest: str, values: list[object]) -> list[StoredLesson]:
    ids = [row[0] for row in db.query(f"SELECT id FROM lesson {rest}", values)]
    by_id = {one.id: one for one in lessons.named(db, ids)}
    return [by_id[id] for id in ids]
