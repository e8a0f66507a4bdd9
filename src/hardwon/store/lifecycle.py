"""What may happen to a lesson, in one place. Every change is recorded in the transaction that makes it.

    candidate ──promote──▶ active ──supersede──▶ superseded
        │                    ├──invalidate──▶ invalid
        └──reject──▶ invalid └──archive──▶ archived        restore leads back from each

All functions are called inside a transaction and return the number of the event they recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from hardwon.clock import now
from hardwon.errors import NotAllowed, NotFound
from hardwon.model.lesson import KINDS, Relation, Status, StoredLesson, need_fitting_holder, need_known, need_share
from hardwon.store import attempts, fulltext, integrity, lessons, meta
from hardwon.store.database import Database, batches, insert, marks
from hardwon.store.integrity import EventRow, Happened
from hardwon.store.lessons import Cited, LessonRow
from hardwon.text.normalise import derived, made, text_hash

_MAY_BECOME: dict[str, frozenset[Status]] = {
    "candidate": frozenset(("active", "invalid", "archived")),
    "active": frozenset(("superseded", "invalid", "archived")),
    "superseded": frozenset(("active", "candidate", "archived")),
    "invalid": frozenset(("active", "candidate")),
    "archived": frozenset(("active", "candidate")),
}
LEAST_CONFIDENCE_PROMOTED = 0.8
"""The least confidence of a lesson that a person promoted: enough to be told."""
_EDITABLE = frozenset(
    ("text", "kind", "scope", "project", "agent", "tags", "base_confidence", "valid_from", "valid_until", "pinned")
)
DECAY_ACTOR = "decay"


def create(db: Database, row: LessonRow, sources: Sequence[Cited], *, actor: str, why: str = "") -> str:
    """Add a lesson that a person, an agent or an import brings; the same words may stand once in each status.

    Returns the lesson's id: the new one, or that of the lesson which says the same in the same status.
    """
    return create_many(db, [(row, sources)], actor=actor, why=why)[0]


def create_many(
    db: Database, given: Sequence[tuple[LessonRow, Sequence[Cited]]], *, actor: str, why: str = ""
) -> list[str]:
    """Add lessons with their sources as `create` does, thousands at once; returns their ids in order."""
    said = [_said(row) for row, _ in given]
    ids = _duplicates(db, {one[0] for one in said})
    new: list[LessonRow] = []
    for (row, _), one in zip(given, said, strict=True):
        if one not in ids:
            new.append(row._replace(id=row.id or made("L"), kept=1))
            ids[one] = new[-1].id
    cited = (
        source._replace(lesson=ids[one]) for one, (_, sources) in zip(said, given, strict=True) for source in sources
    )
    lessons.add(db, new, cited)
    meta.mark_projects_stale(db, {row.project for row in new})
    told = [
        Happened("create", row.id, {}, {"text": row.text, "status": row.status, "trust": row.trust}, why) for row in new
    ]
    integrity.record_events(db, actor, now(), told)
    return [ids[one] for one in said]


_Said = tuple[str, str, str, str, str, str]
"""What lessons that say the same have in common: words, status, kind and holder."""


def _said(row: LessonRow) -> _Said:
    return text_hash(row.text), row.status, row.kind, row.scope, row.agent, row.project or ""


def _duplicates(db: Database, hashes: Collection[str]) -> dict[_Said, str]:
    """The lessons in the store with these words."""
    found: dict[_Said, str] = {}
    for some in batches(sorted(hashes)):
        for words, status, kind, scope, agent, project, id in db.query(
            "SELECT text_hash, status, kind, scope, agent, coalesce(project, ''), id FROM lesson "
            f"WHERE text_hash IN ({marks(some)}) ORDER BY id",
            some,
        ):
            found.setdefault((words, status, kind, scope, agent, project), id)
    return found


def duplicate(db: Database, row: LessonRow) -> str:
    """The lesson of the same status, kind and holder that says the same, if there is one."""
    said = _said(row)
    return _duplicates(db, {said[0]}).get(said, "")


def promote(db: Database, id: str, *, actor: str, why: str = "") -> int:
    """A person vouches for it: from now on it is believed as if they had said it."""
    base = db.query("SELECT base_confidence FROM lesson WHERE id = ?", (known(db, id).id,))[0][0]
    vouched = {"base_confidence": LEAST_CONFIDENCE_PROMOTED} if base < LEAST_CONFIDENCE_PROMOTED else {}
    return _become(db, id, "active", "promote", actor, why, trust="human", **vouched)


def vouch(db: Database, id: str, confidence: float, *, actor: str, why: str = "") -> None:
    """Whoever brought a candidate brings it again and says that they have read it; what was decided on stays."""
    if known(db, id).status == "candidate":
        _become(db, id, "active", "promote", actor, why, trust="human", base_confidence=confidence)


def reject(db: Database, id: str, *, actor: str, why: str = "") -> int:
    return _become(db, id, "invalid", "reject", actor, why)


def invalidate(db: Database, id: str, *, actor: str, why: str = "") -> int:
    return _become(db, id, "invalid", "invalidate", actor, why, valid_until=now())


def archive(db: Database, id: str, *, actor: str, why: str = "") -> int:
    return _become(db, id, "archived", "archive", actor, why)


def merge(db: Database, id: str, into: str, *, actor: str, why: str = "") -> int:
    """Two lessons say the same: one gets the other's sources as well, and the other is put away."""
    if into == id:
        raise NotAllowed(f"{id} cannot be merged into itself")
    known(db, into)
    number = _become(db, id, "archived", "merge", actor, why, superseded_by=into)
    lessons.share_sources(db, id, into)
    meta.mark_stale(db, [into])
    return number


def supersede(db: Database, id: str, by: str, *, actor: str, why: str = "") -> int:
    """A newer lesson takes this one's place; the old one stays as history."""
    if by == id:
        raise NotAllowed(f"{id} cannot supersede itself")
    known(db, by)
    number = _become(db, id, "superseded", "supersede", actor, why, superseded_by=by, valid_until=now())
    _put_link(db, by, "supersedes", id)
    return number


def answer(db: Database, id: str, by: str, *, actor: str, why: str) -> int:
    """A question is answered, by a lesson or, without one, as `why` says; it stays as history."""
    if not by:
        return _change(db, id, {"status": "archived"}, "answer", actor, why)
    closed = {"status": "superseded", "superseded_by": by, "valid_until": now()}
    number = _change(db, id, closed, "answer", actor, why)
    _put_link(db, by, "supersedes", id)
    return number


def restore(db: Database, id: str, *, actor: str, why: str = "") -> int:
    """Back to what it was before it was rejected, invalidated, superseded or archived."""
    lesson = known(db, id)
    if lesson.status in ("candidate", "active"):
        raise NotAllowed(f"{id} is {lesson.status}: there is nothing to restore")
    story = integrity.events_of_item(db, id)
    before = [event.before.get("status") for event in story if event.after.get("status") == lesson.status]
    status: Status = "active" if before[-1:] == ["active"] else "candidate"
    return _become(db, id, status, "restore", actor, why, superseded_by="", valid_until=None)


def edit(db: Database, id: str, changes: dict[str, Any], *, actor: str, why: str = "") -> int:
    """Change a lesson's words or fields; its id stays, so that a later harvest finds it again."""
    if unknown := sorted(set(changes) - _EDITABLE):
        raise NotAllowed(f"cannot edit {', '.join(unknown)}; these can be: {', '.join(sorted(_EDITABLE))}")
    if not changes:
        raise NotAllowed("nothing to change: name at least one field")
    if not str(changes.get("text", "x")).strip():
        raise NotAllowed("a lesson cannot be empty")
    need_known("kind", changes.get("kind"), KINDS)
    if "base_confidence" in changes:
        need_share("confidence", changes["base_confidence"])
    if _HOLDER & changes.keys():
        changes = changes | _held_by(known(db, id), changes)
    return _change(db, id, changes, "edit", actor, why)


_HOLDER = {"scope", "project", "agent"}


def _held_by(lesson: StoredLesson, changes: dict[str, Any]) -> dict[str, Any]:
    """Whose a lesson is from now on: its scope is never another than that of the project and agent that it has."""
    scope = changes.get("scope") or ("project" if changes.get("project") else lesson.scope)
    project = changes.get("project") or (lesson.project if scope == "project" else "")
    agent = "" if scope == "global" else changes.get("agent", lesson.agent)
    need_fitting_holder(scope, project, agent)
    return {"scope": scope, "project": project or None, "agent": agent}


def reinforce(db: Database, id: str, *, actor: str, why: str = "") -> tuple[float, float]:
    """Somebody says that a lesson proved its worth: a step more confidence. Returns what it was and is."""
    lesson = known(db, id)
    if lesson.status != "active":
        raise NotAllowed(f"{id} is {lesson.status}: only a lesson that is believed gains confidence")
    after = min(1.0, lesson.confidence + lessons.CONFIDENCE_PER_USE)
    db.execute(
        "UPDATE lesson SET confidence = ?, base_confidence = CASE WHEN base_confidence + ? > 1 THEN 1 "
        "ELSE base_confidence + ? END, reference_count = reference_count + 1, last_referenced = ? WHERE id = ?",
        (after, lessons.CONFIDENCE_PER_USE, lessons.CONFIDENCE_PER_USE, now(), id),
    )
    integrity.reseal(db, "lesson", [id])
    meta.mark_projects_of_lesson(db, id)
    _record(db, actor, Happened("reinforce", id, {"confidence": lesson.confidence}, {"confidence": after}, why))
    return lesson.confidence, after


def link(db: Database, id: str, relation: Relation, other: str, *, actor: str, why: str = "") -> int:
    known(db, id), known(db, other)
    _put_link(db, id, relation, other)
    return _record(db, actor, Happened("link", id, {}, {"relation": relation, "other": other}, why))


def unlink(db: Database, id: str, relation: Relation, other: str, *, actor: str, why: str = "") -> int:
    db.execute(
        "DELETE FROM lesson_link WHERE lesson = ? AND relation = ? AND other = ?",
        (id, relation, other),
    )
    return _record(db, actor, Happened("unlink", id, {"relation": relation, "other": other}, {}, why))


def open_conflict(db: Database, ids: Sequence[str], *, actor: str, why: str = "") -> str:
    """Lessons that cannot all be true; none is handed out until a person decides. Returns the conflict's id."""
    members = sorted({known(db, id).id for id in ids})
    if len(members) < 2:
        raise NotAllowed("a conflict needs two lessons or more")
    id = derived("K", *members)
    reopen = "ON CONFLICT (id) DO UPDATE SET status = 'open', resolution = '', resolved_at = NULL"
    columns = ("id", "status", "resolution", "opened_at")
    db.execute(insert("conflict", columns, reopen), (id, "open", "", now()))
    known_member = "ON CONFLICT (conflict, lesson) DO NOTHING"
    db.bulk(insert("conflict_member", ("conflict", "lesson"), known_member), ((id, member) for member in members))
    _record(db, actor, Happened("conflict", id, {}, {"members": members}, why))
    return id


def note_conflict(db: Database, ids: Sequence[str], *, actor: str, why: str = "") -> None:
    """Open a conflict unless these lessons were found to be in one before, whatever came of it."""
    if not db.query("SELECT 1 FROM conflict WHERE id = ?", (derived("K", *sorted(ids)),)):
        open_conflict(db, ids, actor=actor, why=why)


def note_contradiction(db: Database, id: str, other: str, *, actor: str) -> None:
    """Link two lessons that say the opposite, once."""
    pair = (*sorted((id, other)),)
    known_link = "SELECT 1 FROM lesson_link WHERE lesson = ? AND relation = 'contradicts' AND other = ?"
    if not db.query(known_link, pair):
        link(db, pair[0], "contradicts", pair[1], actor=actor)


def resolve_conflict(db: Database, id: str, keep: str, *, actor: str, why: str = "") -> int:
    """Settle a conflict: the lesson to keep supersedes the others; without one, all may stand."""
    members = [row[0] for row in db.query("SELECT lesson FROM conflict_member WHERE conflict = ?", (id,))]
    if not members:
        raise NotFound(f"no conflict {id}: `hardwon review` lists them")
    if keep and keep not in members:
        raise NotAllowed(f"{keep} is not part of conflict {id}: {', '.join(members)}")
    resolution = f"kept {keep}" if keep else "both may stand"
    db.execute(
        "UPDATE conflict SET status = 'resolved', resolution = ?, resolved_at = ? WHERE id = ?", (resolution, now(), id)
    )
    for other in members:
        if keep and other != keep and known(db, other).status == "active":
            supersede(db, other, keep, actor=actor, why=why or f"conflict {id}")
    return _record(db, actor, Happened("resolve", id, {}, {"resolution": resolution}, why))


def undo(db: Database, number: int, *, actor: str, why: str = "") -> int:
    """Take one event back, if nothing has changed the same fields since."""
    event = integrity.get_event(db, number)
    if event is None:
        raise NotFound(f"no event {number}: `hardwon history` lists them")
    if not event.item:
        raise NotAllowed(f"event {number} was forgotten: there is nothing to go back to")
    _refuse_if_built_upon(db, event)
    if event.action in ("link", "unlink"):
        given = event.after or event.before
        step = unlink if event.action == "link" else link
        return step(db, event.item, given["relation"], given["other"], actor=actor, why=why or f"undo {number}")
    if event.action == "create":
        return _change(db, event.item, {"status": "archived"}, "undo", actor, why, number)
    if event.action == "reinforce":
        raise NotAllowed(f"event {number} only counted a use: edit the lesson's confidence instead")
    if event.action in ("conflict", "resolve"):
        raise NotAllowed(f"event {number} is about a conflict: resolve it, or open it again")
    if not event.before:
        raise NotAllowed(f"event {number} ({event.action}) left nothing that could be put back")
    if event.action == "reflect" and (row := attempts.by_id(db, [event.item]).get(event.item)):
        return attempts.update_reflection(db, row.number or 0, event.before["reflection"], actor=actor, undoes=number)
    if table := _BESIDES.get(event.item[:1]):
        return change_besides(
            db, table, event.item, event.before, Happened("undo", event.item, {}, {}, why, number), actor
        )
    if event.action == "merge":
        lessons.part_sources(db, event.item, event.after["superseded_by"])
        meta.mark_stale(db, [event.after["superseded_by"]])
    return _change(db, event.item, event.before, "undo", actor, why, number)


_BESIDES = {"F": "failure", "P": "project", "X": "fix"}
"""How the ids begin of what else a person decides on."""


def change_besides(db: Database, table: str, id: str, changes: dict[str, Any], happened: Happened, actor: str) -> int:
    """Set columns of a failure, a fix or a project, and keep what they were."""
    names = sorted(changes)
    rows = db.query(f"SELECT {', '.join(names)} FROM {table} WHERE id = ?", (id,))
    if not rows:
        raise NotFound(f"no {table} {id}")
    db.execute(f"UPDATE {table} SET {', '.join(f'{name} = ?' for name in names)} WHERE id = ?",
               (*(changes[name] for name in names), id))  # fmt: skip
    if table in ("failure", "fix"):
        of = "?" if table == "failure" else "(SELECT failure FROM fix WHERE id = ?)"
        held = db.query(f"SELECT DISTINCT project FROM occurrence WHERE failure = {of} AND project IS NOT NULL", (id,))
        meta.mark_projects_stale(db, {row[0] for row in held})
    before = dict(zip(names, rows[0], strict=True))
    return _record(db, actor, happened._replace(before=before, after=changes))


def _refuse_if_built_upon(db: Database, event: EventRow) -> None:
    later = [other for other in integrity.events_of_item(db, event.item) if other.number > event.number]
    undone = {other.undoes for other in later}
    if event.number in undone:
        raise NotAllowed(f"event {event.number} has been undone already")
    for other in later:
        if other.number not in undone and other.action != "undo" and set(other.after) & set(event.after):
            raise NotAllowed(f"event {other.number} changed {event.item} since: undo that first")


def known(db: Database, id: str) -> StoredLesson:
    lesson = lessons.get(db, id)
    if lesson is None:
        raise NotFound(f"no lesson {id}: `hardwon lessons` lists them")
    return lesson


def _become(db: Database, id: str, status: Status, action: str, actor: str, why: str, **more: Any) -> int:
    lesson = known(db, id)
    if lesson.status == status:
        raise NotAllowed(f"{id} is {status} already")
    if status not in _MAY_BECOME[lesson.status]:
        raise NotAllowed(f"{id} is {lesson.status}: it cannot become {status}; restore it first")
    return _change(db, id, {"status": status, **more}, action, actor, why)


def _change(
    db: Database, id: str, changes: dict[str, Any], action: str, actor: str, why: str, undoes: int | None = None
) -> int:
    """Set a lesson's columns, and keep what they were."""
    known(db, id)
    stored = {name: _stored(value) for name, value in changes.items()}
    names = sorted(stored)
    old = db.query(f"SELECT {', '.join(names)} FROM lesson WHERE id = ?", (id,))[0]
    before = dict(zip(names, old, strict=True))
    meta.mark_projects_of_lesson(db, id)  # also of where it belongs no more
    sets = ", ".join(f"{name} = ?" for name in names)
    db.execute(f"UPDATE lesson SET {sets}, kept = 1 WHERE id = ?", (*(stored[name] for name in names), id))
    if "text" in stored:
        db.execute("UPDATE lesson SET text_hash = ? WHERE id = ?", (text_hash(stored["text"]), id))
        fulltext.add(db, id, "lesson", stored["text"])
    if "base_confidence" in stored:
        db.execute("UPDATE lesson SET confidence = base_confidence WHERE id = ?", (id,))  # a person's word counts anew
    integrity.reseal(db, "lesson", [id])
    meta.mark_projects_of_lesson(db, id)
    return _record(db, actor, Happened(action, id, before, stored, why, undoes))


def _stored(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return msgspec.json.encode(value).decode() if isinstance(value, list | tuple) else value


def _put_link(db: Database, id: str, relation: Relation, other: str) -> None:
    columns = ("lesson", "relation", "other", "at")
    known_link = "ON CONFLICT (lesson, relation, other) DO NOTHING"
    db.execute(insert("lesson_link", columns, known_link), (id, relation, other, now()))


def _record(db: Database, actor: str, happened: Happened) -> int:
    return integrity.record_events(db, actor, now(), [happened])[0]
