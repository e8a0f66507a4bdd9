"""Candidates from one interaction, when somebody asks for them."""

from __future__ import annotations

from oldhand.harvest import gate
from oldhand.harvest.learn import VERSION
from oldhand.harvest.rules import user
from oldhand.model.session import Message, Session
from oldhand.store import lessons
from oldhand.store.database import Database
from oldhand.store.interactions import InteractionRow


def candidates(db: Database, row: InteractionRow) -> set[str]:
    """The lessons that say what the prompt laid down; new ones wait for a person. Inside a transaction."""
    said = Message(role="user", origin="user", text=row.prompt, at=row.created_at)
    answered = Message(role="assistant", origin="agent", text=row.response, at=row.created_at)
    talk = Session(external_id=row.id, agent=row.client, format="interaction", messages=(said, answered))
    return {
        lessons.save(
            db,
            draft,
            source=row.id,
            root=row.session or row.id,
            project=row.project,
            agent=row.client,
            status="candidate",
            trust=gate.admit(draft)[1],
            at=row.created_at,
            harvester_version=VERSION,
        )
        for draft in user.drafts(talk)
        if draft.scope != "project" or row.project
    }
