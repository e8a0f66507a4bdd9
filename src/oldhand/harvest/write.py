"""Put into the store what a session taught, in place of what an earlier reading of it left."""

from __future__ import annotations

from oldhand.harvest import gate
from oldhand.harvest.learn import Learned
from oldhand.store import failures, lessons, projects, sessions, stale
from oldhand.store.sqlite import Database


def write(db: Database, learned: Learned) -> None:
    """Called inside a transaction."""
    row = learned.row
    touched = projects.save(db, learned.project) if learned.project else set()
    touched |= failures.of_session(db, row.id) | lessons.of_session(db, row.id)
    sessions.replace(db, row, learned.calls)
    found = learned.findings
    touched |= failures.save(db, row.id, row.project, found.occurrences, found.fixes, row.started_at)
    for draft in learned.drafts:
        status, trust = gate.admit(draft)
        touched.add(
            lessons.save(
                db,
                draft,
                session=row.id,
                project=row.project,
                agent=row.agent,
                status=status,
                trust=trust,
                at=row.started_at,
                harvester_version=row.harvester_version,
            )
        )
    stale.mark(db, touched)
