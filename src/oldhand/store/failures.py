"""Failures, their occurrences and fixes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from oldhand.failures.fingerprint import VERSION
from oldhand.model.failure import Fix, Occurrence, Step
from oldhand.store import index
from oldhand.store.ids import derived
from oldhand.store.sqlite import Database

MOST_AVOIDED = 3


class FailureRow(NamedTuple):
    """A failure as it stands in one project, or everywhere."""

    id: str
    family: str
    signature: str
    occurrences: int
    sessions: int
    first_seen: int
    last_seen: int
    command: str
    agents: str
    """The agents that met it, comma-separated."""


class FixRow(NamedTuple):
    id: str
    failure: str
    steps: tuple[Step, ...]
    succeeded_as: str
    avoid: tuple[Step, ...]
    status: str
    untrusted: str
    confirmed: int
    last_seen: int


class OccurrenceRow(NamedTuple):
    session: str
    path: str
    agent: str
    project: str
    message_index: int
    at: int
    command: str
    exit_code: int | None
    excerpt: str


def of_session(db: Database, session: str) -> set[str]:
    return {row[0] for row in db.query("SELECT failure FROM occurrence WHERE session = ?", (session,))}


def save(
    db: Database,
    session: str,
    project: str | None,
    occurrences: Iterable[Occurrence],
    fixes: Iterable[Fix],
    fallback_time: int,
) -> set[str]:
    """Add a session's failures; returns their ids. Counts are brought up to date by `refresh`."""
    ids = set()
    for found in occurrences:
        ids.add(found.fingerprint)
        at = found.at or fallback_time
        db.execute(
            "INSERT INTO failure VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT (id) DO NOTHING",
            (found.fingerprint, VERSION, found.family, found.error_type, found.signature, at, at),
        )
        db.execute(
            "INSERT INTO occurrence VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session,
                found.call_index,
                found.fingerprint,
                project,
                found.message_index,
                at,
                found.command,
                found.exit_code,
                found.excerpt,
            ),
        )
    for fix in fixes:
        _save_fix(db, session, fix, fallback_time)
    return ids


def _save_fix(db: Database, session: str, fix: Fix, fallback_time: int) -> None:
    steps = _encode(fix.steps)
    id = derived("X", fix.occurrence.fingerprint, steps, fix.succeeded_as)
    at = fix.occurrence.at or fallback_time
    db.execute(
        "INSERT INTO fix VALUES (?, ?, ?, ?, '[]', 'candidate', '', 0, ?) ON CONFLICT (id) DO NOTHING",
        (id, fix.occurrence.fingerprint, steps, fix.succeeded_as, at),
    )
    db.execute(
        "INSERT INTO fix_evidence VALUES (?, ?, ?, ?, ?) ON CONFLICT (fix, session) DO NOTHING",
        (id, session, at, _encode(fix.avoid), fix.untrusted),
    )


def refresh(db: Database, ids: Iterable[str]) -> None:
    """Recount the failures touched by a session; what has no occurrence left is gone."""
    for id in sorted(ids):
        for (fix,) in db.query("SELECT id FROM fix WHERE failure = ?", (id,)):
            _refresh_fix(db, fix)
        row = db.query(
            "SELECT count(*), count(DISTINCT s.agent || s.external_id), min(o.at), max(o.at), min(f.signature) "
            "FROM occurrence o JOIN session s ON s.id = o.session JOIN failure f ON f.id = o.failure "
            "WHERE o.failure = ?",
            (id,),
        )[0]
        if row[0] == 0:
            db.execute("DELETE FROM failure WHERE id = ?", (id,))
            index.remove(db, id)
            continue
        db.execute(
            "UPDATE failure SET occurrences = ?, sessions = ?, first_seen = ?, last_seen = ? WHERE id = ?",
            (*row[:4], id),
        )
        index.add(db, id, "failure", f"{row[4]} {_example(db, id)}")


def _refresh_fix(db: Database, id: str) -> None:
    """A fix is what its sessions say together; one that had it from an untrusted place taints it."""
    rows = db.query(
        "SELECT e.at, e.avoid, e.untrusted, s.agent || s.external_id FROM fix_evidence e "
        "JOIN session s ON s.id = e.session WHERE e.fix = ? ORDER BY e.at, e.session",
        (id,),
    )
    if not rows:
        db.execute("DELETE FROM fix WHERE id = ?", (id,))
        return
    avoid = dict.fromkeys(step for row in rows for step in _decode(row[1]))
    untrusted = next((row[2] for row in rows if row[2]), "")
    db.execute(
        "UPDATE fix SET avoid = ?, status = ?, untrusted = ?, confirmed = ?, last_seen = ? WHERE id = ?",
        (
            _encode(tuple(avoid)[:MOST_AVOIDED]),
            "candidate" if untrusted else "active",
            untrusted,
            len({row[3] for row in rows}),
            rows[-1][0],
            id,
        ),
    )


def _example(db: Database, id: str) -> str:
    return str(db.query("SELECT command FROM occurrence WHERE failure = ? ORDER BY at, session LIMIT 1", (id,))[0][0])


_COLUMNS = (
    "f.id, f.family, f.signature, count(*), count(DISTINCT s.agent || s.external_id), min(o.at), max(o.at), "
    "(SELECT c.command FROM occurrence c WHERE c.failure = f.id ORDER BY c.at DESC, c.session LIMIT 1), "
    "group_concat(DISTINCT s.agent)"
)


def listed(db: Database, project: str | None = None, since: int = 0, limit: int = 1000) -> list[FailureRow]:
    """Failures of a project (or of all), the most widespread first."""
    rows = db.query(
        f"SELECT {_COLUMNS} FROM failure f JOIN occurrence o ON o.failure = f.id "
        "JOIN session s ON s.id = o.session WHERE (? IS NULL OR o.project = ?) AND o.at >= ? "
        "GROUP BY f.id ORDER BY count(DISTINCT s.agent || s.external_id) DESC, count(*) DESC, max(o.at) DESC, f.id "
        "LIMIT ?",
        (project, project, since, limit),
    )
    return [FailureRow(*row) for row in rows]


def get(db: Database, id: str) -> FailureRow | None:
    rows = db.query(
        f"SELECT {_COLUMNS} FROM failure f JOIN occurrence o ON o.failure = f.id "
        "JOIN session s ON s.id = o.session WHERE f.id = ? GROUP BY f.id",
        (id,),
    )
    return FailureRow(*rows[0]) if rows else None


def projects_of(db: Database, ids: Sequence[str]) -> set[str]:
    marks = ", ".join("?" * len(ids))
    rows = db.query(f"SELECT DISTINCT project FROM occurrence WHERE failure IN ({marks}) AND project IS NOT NULL", ids)
    return {row[0] for row in rows}


def in_project(db: Database, id: str, project: str) -> bool:
    return bool(db.query("SELECT 1 FROM occurrence WHERE project = ? AND failure = ? LIMIT 1", (project, id)))


def fixes(db: Database, ids: Iterable[str]) -> dict[str, list[FixRow]]:
    """The fixes of each failure, the best confirmed and newest first."""
    wanted = list(ids)
    found: dict[str, list[FixRow]] = {id: [] for id in wanted}
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        rows = db.query(
            "SELECT id, failure, steps, succeeded_as, avoid, status, untrusted, confirmed, last_seen FROM fix "
            f"WHERE failure IN ({', '.join('?' * len(part))}) "
            "ORDER BY failure, status, confirmed DESC, last_seen DESC, id",
            part,
        )
        for row in rows:
            fix = FixRow(*row)
            found[fix.failure].append(fix._replace(steps=_decode(row[2]), avoid=_decode(row[4])))
    return found


def occurrences(db: Database, id: str, limit: int = 20) -> list[OccurrenceRow]:
    rows = db.query(
        "SELECT o.session, s.path, s.agent, coalesce(p.name, ''), o.message_index, o.at, o.command, o.exit_code, "
        "o.excerpt FROM occurrence o JOIN session s ON s.id = o.session LEFT JOIN project p ON p.id = o.project "
        "WHERE o.failure = ? ORDER BY o.at DESC, o.session LIMIT ?",
        (id, limit),
    )
    return [OccurrenceRow(*row) for row in rows]


def seen_before(db: Database) -> tuple[int, int]:
    """(distinct errors per session, those that an earlier session had seen already)."""
    row = db.query(
        "WITH one AS (SELECT o.failure, s.agent || s.external_id AS root, min(o.at) AS at FROM occurrence o "
        "JOIN session s ON s.id = o.session GROUP BY o.failure, root), "
        "ranked AS (SELECT at, min(at) OVER (PARTITION BY failure) AS first FROM one) "
        "SELECT count(*), coalesce(sum(at > first), 0) FROM ranked"
    )[0]
    return row[0], row[1]


def totals(db: Database) -> dict[str, int]:
    return {
        "failures": db.query("SELECT count(*) FROM failure")[0][0],
        "fixes": db.query("SELECT count(*) FROM fix")[0][0],
    }


def _encode(steps: tuple[Step, ...]) -> str:
    return msgspec.json.encode(steps).decode()


def _decode(text: str) -> tuple[Step, ...]:
    return msgspec.json.decode(text, type=tuple[Step, ...])
