"""What the hook reads when a prompt is submitted: a few look-ups in the full-text index, on plain tuples."""

from __future__ import annotations

import time

TYPE_CHECKING = False  # of `typing`, which takes long to load
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

_SURE = 0.75
"""Confidence that a lesson must have to be brought up unasked."""


def size(db: apsw.Connection) -> int:
    """About how many items the index has."""
    row = db.execute("SELECT max(id) FROM search_item").fetchone()
    return int(row[0] or 0) if row else 0


def holding(db: apsw.Connection, term: str, most: int) -> list[int]:
    """Entries with a term, no more than `most`: a term that more have tells little."""
    quoted = '"' + term.replace('"', '""') + '"'
    rows = db.execute("SELECT rowid FROM search_index WHERE search_index MATCH ? LIMIT ?", (quoted, most))
    return [row[0] for row in rows]


def items(db: apsw.Connection, entries: Sequence[int]) -> dict[int, str]:
    """Entry → the lesson or failure that it stands for."""
    marks = ",".join("?" * len(entries))
    return dict(
        db.execute(
            f"SELECT id, item FROM search_item WHERE id IN ({marks}) AND type IN ('lesson', 'failure')", tuple(entries)
        )
    )


def lesson(db: apsw.Connection, id: str, project: str, agent: str) -> tuple[str, str] | None:
    """(its words, the failure it comes from), if it may be told here and a briefing would not have told it."""
    now = time.time_ns() // 1000
    return db.execute(
        "SELECT l.text, l.failure FROM lesson l WHERE l.id = ? AND l.status = 'active' AND l.confidence >= ? "
        "AND (l.project = ? OR l.scope <> 'project') AND (l.scope <> 'agent' OR l.agent = ?) "
        "AND coalesce(l.valid_from, ?) <= ? AND coalesce(l.valid_until, ?) >= ? "
        "AND NOT EXISTS (SELECT 1 FROM standing s WHERE s.project = ? AND s.item IN (l.id, l.failure)) "
        "AND NOT EXISTS (SELECT 1 FROM conflict_member m JOIN conflict c ON c.id = m.conflict "
        "WHERE m.lesson = l.id AND c.status = 'open' AND EXISTS (SELECT 1 FROM conflict_member o JOIN lesson x "
        "ON x.id = o.lesson WHERE o.conflict = c.id AND o.lesson <> l.id AND x.status = 'active'))",
        (id, _SURE, project, agent, now, now, now, now, project),
    ).fetchone()


def failure(db: apsw.Connection, id: str, project: str) -> tuple[str, int, int, int, str, str, str] | None:
    """A failure that keeps coming back in this project and its fix, as `read.known_failure` gives it.

    None if it came once only, says too little of what went wrong, or stands in the briefing.
    """
    return db.execute(
        "SELECT f.signature, p.occurrences, p.sessions, p.last_seen, x.steps, x.succeeded_as, x.avoid "
        "FROM failure_in_project p JOIN failure f ON f.id = p.failure JOIN fix x ON x.failure = f.id "
        "WHERE p.project = ? AND p.failure = ? AND p.sessions > 1 AND f.status = 'active' AND f.family <> 'generic' "
        "AND x.status = 'active' "
        "AND NOT EXISTS (SELECT 1 FROM standing s WHERE s.project = p.project AND s.item = f.id) "
        "ORDER BY x.confirmed - x.failed_again DESC, x.last_seen DESC, x.id LIMIT 1",
        (project, id),
    ).fetchone()
