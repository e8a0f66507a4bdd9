"""What is to be forgotten: named by a person, found in a store, removed from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from hardwon.clock import now
from hardwon.errors import NotFound
from hardwon.scrub.forgotten import Forgotten, Stone, stone, text_stone
from hardwon.store import events, forget_text, meta, tombstones
from hardwon.store.database import Database, marks
from hardwon.store.events import Happened
from hardwon.store.forget import Removal, batches
from hardwon.store.ids import text_hash
from hardwon.text.paths import tilde

Kind = Literal["lesson", "failure", "session", "attempt", "interaction", "document", "project", "text", "purge"]
What = Literal["sessions", "interactions", "all"]

_NAMED: tuple[Kind, ...] = ("lesson", "failure", "attempt", "session", "interaction", "document")


class Target(Struct, frozen=True):
    """Things of one kind by their ids, or a text; `hashes` are of lessons that say the same elsewhere."""

    kind: Kind
    ids: frozenset[str] = frozenset()
    hashes: frozenset[str] = frozenset()
    text: str = ""
    before: int = 0
    what: What = "all"
    project: str = ""


def by_id(db: Database, name: str) -> Target:
    """The lesson, failure, attempt, session, … whose id begins so."""
    end = name + "\uffff"
    found = [
        (kind, row[0])
        for kind in _NAMED
        for row in db.query(f"SELECT id FROM {kind} WHERE id >= ? AND id < ? ORDER BY id LIMIT 2", (name, end))
    ]
    if len(found) != 1 or not name:
        what = "several ids begin" if found else "nothing has an id that begins"
        raise NotFound(
            f"{what} with '{name}': nothing was forgotten; `hardwon lessons` and `hardwon failures` list ids"
        )
    ((kind, id),) = found
    if kind == "lesson":
        return _lesson(db, id)
    return Target(kind, frozenset(_with_subagents(db, id) if kind == "session" else (id,)))


def by_session(db: Database, name: str, path: str) -> Target:
    """A session by id, the agent's own id, or its transcript; with its sub-agents."""
    rows = db.query(
        "SELECT DISTINCT root FROM session WHERE id = ? OR external_id = ? OR path IN (?, ?)",
        (name, name, tilde(path), path),
    )
    if not rows:
        raise NotFound(f"no session '{name}' is known: nothing was forgotten")
    return Target("session", frozenset(_ids_of_roots(db, [row[0] for row in rows])))


def _lesson(db: Database, id: str) -> Target:
    """With every lesson that says the same words, whoever they are for."""
    said = db.query("SELECT text FROM lesson WHERE id = ?", (id,))[0][0]
    return Target("lesson", frozenset((id,)), frozenset((text_hash(said),)))


def _with_subagents(db: Database, id: str) -> list[str]:
    return _ids_of_roots(db, [row[0] for row in db.query("SELECT root FROM session WHERE id = ?", (id,))])


def _ids_of_roots(db: Database, roots: list[str]) -> list[str]:
    return [row[0] for row in db.query(f"SELECT id FROM session WHERE root IN ({marks(roots)})", roots)]


def remove(db: Database, target: Target, sequences: forget_text.Sequences, actor: str) -> Removal:
    """Take it out of a store and leave tombstones, in a transaction of the caller's.

    What is not there leaves the store as it was.
    """
    key = meta.forget_key(db)
    removal = Removal(db, keep_decided=target.kind == "purge")
    stones = list(_stones(db, key, target, sequences))
    if target.kind == "text":
        forget_text.forget(db, forgotten(db, sequences), removal)
    elif target.kind == "purge":
        _purge(db, target, removal)
    else:
        _take(db, target, removal)
    removal.finish()
    if removal.rows:
        tombstones.add(db, (*stones, *removal.stones), now())
        action = "purge" if target.kind == "purge" else "forget"
        events.record(
            db, actor, now(), [Happened(action, "", {}, {str(target.kind): dict(sorted(removal.rows.items()))})]
        )
    return removal


def is_in(db: Database, target: Target, sequences: forget_text.Sequences) -> bool:
    """Whether a copy of the store has anything of it."""
    if target.kind == "text":
        return forget_text.mentions(db, forgotten(db, sequences))
    return bool(_there(db, target))


def forgotten(db: Database, sequences: forget_text.Sequences) -> Forgotten:
    """What knows these words again."""
    key = meta.forget_key(db)
    return Forgotten(key, (text_stone(key, sequence) for sequence in sequences))


def bury(db: Database, target: Target, sequences: forget_text.Sequences) -> None:
    """Leave tombstones of a text that only copies had."""
    tombstones.add(db, _stones(db, meta.forget_key(db), target, sequences), now())


def _take(db: Database, target: Target, removal: Removal) -> None:
    {
        "lesson": removal.lessons,
        "failure": removal.failures,
        "session": removal.sessions,
        "attempt": removal.attempts,
        "interaction": removal.interactions,
        "document": removal.documents,
        "project": removal.projects,
    }[target.kind](_there(db, target))


def _there(db: Database, target: Target) -> list[str]:
    """The ids of the target that this store has: a copy may be of another time."""
    found = [
        row[0]
        for part in batches(target.ids)
        for row in db.query(f"SELECT id FROM {target.kind} WHERE id IN ({marks(part)})", part)
    ]
    for said in target.hashes:
        found += [row[0] for row in db.query("SELECT id FROM lesson WHERE text_hash = ?", (said,))]
    return found


def _stones(db: Database, key: bytes, target: Target, sequences: Iterable[tuple[str, ...]]) -> Iterator[Stone]:
    """What keeps the target from coming back, made before it is gone."""
    if target.kind == "text":
        yield from (text_stone(key, sequence) for sequence in sorted(sequences))
        return
    for id in _there(db, target) if target.ids else ():
        if target.kind == "lesson":
            yield from (tombstones.lesson(key, text) for text in _wordings(db, id))
        elif target.kind == "session":
            yield tombstones.session(key, id)
            yield from (tombstones.root(key, *row) for row in _rows(db, "agent, external_id", "session", "id", id))
        elif target.kind == "project":
            yield from (stone(key, "project", row[0]) for row in _rows(db, "key", "project", "id", id))
            yield from (stone(key, "project", row[0]) for row in _rows(db, "path", "project_root", "project", id))
        elif target.kind in ("failure", "attempt"):
            yield stone(key, target.kind, id)


def _wordings(db: Database, lesson: str) -> set[str]:
    """A lesson's words as they are and as they were: a session still says what a person has edited since."""
    told = {row[0] for row in _rows(db, "text", "lesson", "id", lesson)}
    for event in events.of_item(db, lesson):
        told.update(fields["text"] for fields in (event.before, event.after) if "text" in fields)
    return told


def _rows(db: Database, columns: str, table: str, by: str, id: str) -> list[tuple[str, ...]]:
    return db.query(f"SELECT {columns} FROM {table} WHERE {by} = ?", (id,))


def _purge(db: Database, target: Target, removal: Removal) -> None:
    """What is older than a moment; lessons and fixes that a person decided on stay."""

    def old(table: str, column: str) -> list[str]:
        where = f"{column} < ? AND (? = '' OR project = ?)"
        rows = db.query(f"SELECT id FROM {table} WHERE {where}", (target.before, target.project, target.project))
        return [row[0] for row in rows]

    if target.what in ("sessions", "all"):
        removal.sessions(old("session", "ended_at"))
    if target.what in ("interactions", "all"):
        removal.interactions(old("interaction", "created_at"))
    if target.what == "all":
        removal.attempts(old("attempt", "started_at"))
        removal.bootstraps(old("bootstrap", "created_at"))
        if not target.project:
            removal.rows_of("hook_run", "at < ?", (target.before,))
