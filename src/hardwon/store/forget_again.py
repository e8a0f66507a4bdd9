"""What was forgotten does not come back through an import, either."""

from __future__ import annotations

from hardwon.store import schema, tombstones
from hardwon.store.database import Database
from hardwon.store.forget import Removal
from hardwon.store.ids import normalised

_BROUGHT = ("lesson", "attempt", "interaction", "chunk")
"""What an import may bring, and what goes with the words in it."""


def forget_again(db: Database) -> int:
    """Take out what was forgotten on purpose and has just been brought back; inside that transaction."""
    forgotten = tombstones.load(db)
    if not forgotten:
        return 0
    removal = Removal(db)
    back: dict[str, list[str]] = {}
    for table in _BROUGHT:
        columns = [name for name, effect in schema.named()[table].free_text.items() if effect == table]
        rows = db.query(f"SELECT id, {', '.join(columns)} FROM {table}")
        back[table] = [row[0] for row in rows if forgotten.holds(table, row[0]) or any(map(forgotten.says, row[1:]))]
    back["lesson"] += [
        id for id, text in db.query("SELECT id, text FROM lesson") if forgotten.holds("lesson", normalised(text))
    ]
    back["failure"] = [row[0] for row in db.query("SELECT id FROM failure") if forgotten.holds("failure", row[0])]
    back["session"] = [
        id
        for id, agent, name in db.query("SELECT id, agent, external_id FROM session")
        if forgotten.holds("session", id) or forgotten.holds("session", agent, name)
    ]
    back["project"] = [id for id, key in db.query("SELECT id, key FROM project") if forgotten.holds("project", key)]
    removal.projects(back["project"])
    removal.sessions(back["session"])
    removal.failures(back["failure"])
    removal.lessons(dict.fromkeys(back["lesson"]))
    removal.attempts(back["attempt"])
    removal.interactions(back["interaction"])
    removal.chunks(back["chunk"])
    removal.finish()
    return sum(map(len, back.values()))
