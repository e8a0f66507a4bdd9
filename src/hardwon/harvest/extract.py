"""Candidates from one interaction, when somebody asks for them."""

from __future__ import annotations

from hardwon.failures.ledger import Findings
from hardwon.harvest import gate
from hardwon.harvest.gate import Admission
from hardwon.harvest.learn import VERSION
from hardwon.harvest.rules import catalogue
from hardwon.model.session import Message, Session
from hardwon.store import lessons
from hardwon.store.database import Database
from hardwon.store.interactions import InteractionRow
from hardwon.store.lessons import Cited


def candidates(db: Database, row: InteractionRow) -> set[str]:
    """The lessons that say what the prompt laid down; new ones wait for a person. Inside a transaction."""
    said = Message(role="user", origin="user", text=row.prompt, at=row.created_at)
    answered = Message(role="assistant", origin="agent", text=row.response, at=row.created_at)
    talk = Session(external_id=row.id, agent=row.client, format="interaction", messages=(said, answered))
    found: set[str] = set()
    for draft in catalogue.of_session(talk, [], Findings([], [], [])):
        admitted = gate.admit(draft)
        if draft.dropped or admitted is None or draft.source.origin != "user" or not row.project:
            continue
        waits = Admission("candidate", admitted.trust)
        id = lessons.save(db, draft, waits, project=row.project, agent=row.client, at=row.created_at, version=VERSION)
        quoted = draft.source
        root = row.session or row.id
        cited = Cited(id, row.id, quoted.message_index, root, row.created_at, quoted.quote, quoted.origin)
        lessons.cite(db, [cited])
        found.add(id)
    return found
