"""Put into the store what a session taught, in place of what an earlier reading of it left."""

from __future__ import annotations

from hardwon.harvest import gate
from hardwon.harvest.attempt_rows import attempt_rows
from hardwon.harvest.learn import VERSION, Learned
from hardwon.harvest.quality import shortcoming
from hardwon.store import attempts, failures, lessons, projects, sessions, stale
from hardwon.store.database import Database
from hardwon.store.lessons import Cited


def write(db: Database, learned: Learned, saved: dict[str, str]) -> list[tuple[str, str, str]]:
    """Called inside a transaction; returns (rule, text, reason) of what is not worth keeping.

    `saved` has the project that this transaction last kept for a folder.
    """
    row = learned.row
    touched: set[str] = set()
    project = learned.project
    if project and saved.get(project.root) != project.id:
        touched |= projects.save(db, project)
        saved[project.root] = project.id
    if sessions.held(db, row.id):
        touched |= failures.of_source(db, row.id) | lessons.of_source(db, row.id)
        sessions.remove(db, row.id)
    sessions.add(db, row, learned.calls)
    place = failures.Place(row.id, row.root, row.project, row.agent, row.started_at)
    tokens = {call.position: call.tokens for call in learned.calls}
    touched |= failures.save(db, place, learned.findings, tokens)
    dropped = []
    for draft in learned.drafts:
        admitted = gate.admit(draft)
        reason = draft.dropped or ("our own words" if admitted is None else shortcoming(draft, admitted.trust))
        if reason or admitted is None:
            dropped.append((draft.rule, draft.text, reason))
            continue
        id = lessons.save(db, draft, admitted, project=row.project, agent=row.agent, at=row.started_at, version=VERSION)
        quoted = draft.source
        cited = Cited(id, row.id, quoted.message_index, row.root, row.started_at, quoted.quote, quoted.origin)
        lessons.cite(db, [cited])
        touched.add(id)
    attempts.replace_of_session(db, row.id, attempt_rows(row, learned.attempts))
    stale.mark(db, touched)
    if row.project:
        stale.mark_for_rules(db, [row.project])
    return dropped
