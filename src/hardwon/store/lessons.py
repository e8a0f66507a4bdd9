"""Lessons and where they come from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from hardwon.clock import now
from hardwon.model.lesson import TRUSTS, Draft, Lesson, Status, Trust
from hardwon.store import events, index, seal
from hardwon.store.database import Database, Row, insert, marks
from hardwon.store.events import Happened
from hardwon.store.ids import derived, normalised, text_hash

PER_SESSION = 0.08
HIGHEST = 0.95
PER_USE = 0.02
"""For every answer that made use of it, up to 1."""


class LessonRow(NamedTuple):
    """Everything that is written when a lesson is made."""

    id: str
    kind: str
    text: str
    scope: str
    project: str | None
    agent: str
    base_confidence: float
    confidence: float
    status: str
    trust: str
    rule: str
    failure: str
    first_seen: int
    last_confirmed: int
    source_count: int
    harvester_version: int
    tags: str = "[]"
    valid_from: int | None = None
    valid_until: int | None = None
    superseded_by: str = ""
    last_referenced: int | None = None
    reference_count: int = 0
    pinned: int = 0
    kept: int = 0


class SourceRow(NamedTuple):
    source: str
    path: str
    agent: str
    at: int
    message_index: int
    quote: str
    origin: str


class Cited(NamedTuple):
    """A source of a lesson, as it is stored."""

    lesson: str
    source: str
    message_index: int
    root: str
    at: int
    quote: str
    origin: str


_COLUMNS = (
    "l.id, l.kind, l.text, l.scope, coalesce(l.project, ''), l.agent, l.confidence, l.status, l.trust, l.rule, "
    "l.first_seen, l.last_confirmed, l.source_count, l.failure, l.tags, l.valid_from, l.valid_until, l.superseded_by, "
    "l.last_referenced, l.reference_count, l.pinned, l.kept"
)


def harvested_id(kind: str, scope: str, project: str, agent: str, text: str) -> str:
    holder = {"project": project, "agent": agent, "global": ""}[scope]
    return derived("L", kind, scope, holder, normalised(text))


_INSERT = insert("lesson", (*LessonRow._fields, "text_hash", "seal"))
_CITE = insert("lesson_source", Cited._fields, "ON CONFLICT (lesson, source, message_index) DO NOTHING")


def add(db: Database, rows: Sequence[LessonRow], sources: Iterable[Cited]) -> None:
    """Write new lessons with their sources and index entries."""
    db.bulk(_INSERT, [(*row, text_hash(row.text), _seal(row)) for row in rows])
    cite(db, sources)
    db.index(index.entry(row.id, "lesson", row.text) for row in rows)


def cite(db: Database, sources: Iterable[Cited]) -> None:
    """Give lessons more sources; one that is there already stays as it is."""
    db.bulk(_CITE, sources)


def _seal(row: LessonRow) -> str:
    return seal.of_fields("lesson", row._asdict())


def of_source(db: Database, source: str) -> set[str]:
    return {row[0] for row in db.query("SELECT lesson FROM lesson_source WHERE source = ?", (source,))}


def save(
    db: Database,
    draft: Draft,
    admitted: tuple[Status, Trust],
    *,
    project: str | None,
    agent: str,
    at: int,
    version: int,
) -> str:
    """The id of the lesson that says what a draft says; it is made if there is none. Counts come with `refresh`."""
    id = harvested_id(draft.kind, draft.scope, project or "", agent, draft.text)
    status, trust = admitted
    known = db.query("SELECT trust, kept, harvester_version FROM lesson WHERE id = ?", (id,))
    if known:
        held, kept, made_by = known[0]
        if not kept and (made_by != version or TRUSTS.index(trust) < TRUSTS.index(held)):
            settle(
                db,
                id,
                why=f"rule {draft.rule}",
                status=status,
                trust=trust,
                base_confidence=draft.confidence,
                rule=draft.rule,
                harvester_version=version,
            )
        return id
    row = LessonRow(
        id=id,
        kind=draft.kind,
        text=draft.text,
        scope=draft.scope,
        project=project if draft.scope == "project" else None,
        agent=agent if draft.scope == "agent" else "",
        base_confidence=draft.confidence,
        confidence=draft.confidence,
        status=status,
        trust=trust,
        rule=draft.rule,
        failure=draft.failure,
        first_seen=at,
        last_confirmed=at,
        source_count=0,
        harvester_version=version,
    )
    add(db, [row], [])
    made = Happened("create", id, {}, {"text": draft.text, "status": status, "trust": trust}, f"rule {draft.rule}")
    events.record(db, "harvest", now(), [made])
    return id


def settle(db: Database, id: str, *, why: str, **fields: Any) -> None:
    """Change what harvesting itself decided on a lesson; what a person decided on is left alone."""
    names = sorted(fields)
    rows = db.query(f"SELECT kept, {', '.join(names)} FROM lesson WHERE id = ?", (id,))
    if not rows or rows[0][0]:
        return
    before = dict(zip(names, rows[0][1:], strict=True))
    changed = {name: fields[name] for name in names if before[name] != fields[name]}
    if not changed:
        return
    sets = ", ".join(f"{name} = ?" for name in changed)
    db.execute(f"UPDATE lesson SET {sets} WHERE id = ?", (*changed.values(), id))
    seal.renew(db, "lesson", [id])
    told = changed.keys() - {"harvester_version"}
    if told:
        was = {name: before[name] for name in told}
        events.record(db, "harvest", now(), [Happened("settle", id, was, {name: changed[name] for name in told}, why)])


def move(db: Database, old: str, new: str) -> set[str]:
    """Give a project's lessons to another, joining those that it has already; returns their ids."""
    moved = set()
    rows = db.query("SELECT id, kind, scope, agent, text, kept FROM lesson WHERE project = ?", (old,))
    for id, kind, scope, agent, text, kept in rows:
        target = id if kept else harvested_id(kind, scope, new, agent, text)
        moved.add(target)
        if target != id and db.query("SELECT 1 FROM lesson WHERE id = ?", (target,)):
            join(db, id, target)
            continue
        db.execute("UPDATE lesson SET id = ?, project = ? WHERE id = ?", (target, new, id))
        index.remove(db, id)
        index.add(db, target, "lesson", text)
        seal.renew(db, "lesson", [target])
    return moved


def join(db: Database, id: str, target: str) -> None:
    """Give a lesson's sources to the one that says the same, which alone remains."""
    share_sources(db, id, target)
    remove(db, id)


def share_sources(db: Database, id: str, target: str) -> None:
    db.execute(
        "INSERT INTO lesson_source (lesson, source, message_index, root, at, quote, origin) "
        "SELECT ?, source, message_index, root, at, quote, origin FROM lesson_source WHERE lesson = ? "
        "ON CONFLICT (lesson, source, message_index) DO NOTHING",
        (target, id),
    )


def part_sources(db: Database, id: str, target: str) -> None:
    """Take from a lesson the sources that another shared with it."""
    db.execute(
        "DELETE FROM lesson_source WHERE lesson = ? AND EXISTS (SELECT 1 FROM lesson_source o WHERE o.lesson = ? "
        "AND o.source = lesson_source.source AND o.message_index = lesson_source.message_index "
        "AND o.quote = lesson_source.quote)",
        (target, id),
    )


def remove(db: Database, id: str) -> None:
    db.execute("DELETE FROM lesson WHERE id = ?", (id,))
    index.remove(db, id)


def refresh(db: Database, ids: Iterable[str]) -> None:
    """Recount sources and confidence; a harvested lesson that nothing supports any more is gone."""
    for id in sorted(ids):
        count, roots, first, last = db.query(
            "SELECT count(*), count(DISTINCT root), min(at), max(at) FROM lesson_source WHERE lesson = ?", (id,)
        )[0]
        rows = db.query("SELECT base_confidence, kept FROM lesson WHERE id = ?", (id,))
        if not rows:
            continue
        base, kept = rows[0]
        if count == 0:
            if not kept:
                remove(db, id)
            continue
        confidence = max(base, min(HIGHEST, base + PER_SESSION * (roots - 1)))
        confidence = min(1.0, confidence + PER_USE * _uses(db, id))
        db.execute(
            "UPDATE lesson SET source_count = ?, first_seen = ?, last_confirmed = ?, confidence = ? WHERE id = ?",
            (roots, first, last, confidence, id),
        )
        seal.renew(db, "lesson", [id])


def _uses(db: Database, id: str) -> int:
    return int(db.query("SELECT count(*) FROM reinforcement WHERE lesson = ?", (id,))[0][0])


def projects_of(db: Database, ids: Sequence[str]) -> set[str]:
    rows = db.query(f"SELECT DISTINCT project FROM lesson WHERE id IN ({marks(ids)}) AND project IS NOT NULL", ids)
    return {row[0] for row in rows}


def listed(
    db: Database,
    *,
    project: str | None = None,
    kind: str | None = None,
    status: str | None = None,
    limit: int = 1_000_000_000,
) -> list[Lesson]:
    """Lessons, the best known first. With a project, also the global ones."""
    filters = [(column, value) for column, value in (("kind", kind), ("status", status)) if value is not None]
    more = "".join(f" AND l.{column} = ?" for column, _ in filters)
    places: list[tuple[str, list[str]]] = [("1 = 1", [])]
    if project is not None:  # each of the two can follow its index
        places = [("l.project = ?", [project]), ("l.project IS NULL", [])]
    rows: list[Row] = []
    for place, values in places:
        rows += db.query(
            f"SELECT {_COLUMNS} FROM lesson l WHERE {place}{more} "
            "ORDER BY l.confidence DESC, l.last_confirmed DESC, l.id LIMIT ?",
            [*values, *(value for _, value in filters), limit],
        )
    found = [_lesson(row) for row in rows]
    if len(places) > 1:
        found.sort(key=lambda lesson: (-lesson.confidence, -lesson.last_confirmed, lesson.id))
    return found[:limit]


def get(db: Database, id: str) -> Lesson | None:
    return next(iter(named(db, [id])), None)


def named(db: Database, ids: Sequence[str]) -> list[Lesson]:
    if not ids:
        return []
    rows = db.query(f"SELECT {_COLUMNS} FROM lesson l WHERE l.id IN ({marks(ids)}) ORDER BY l.id", ids)
    return [_lesson(row) for row in rows]


def sources(db: Database, id: str) -> list[SourceRow]:
    return sources_of(db, [id])[id]


def sources_of(db: Database, ids: Sequence[str]) -> dict[str, list[SourceRow]]:
    """The sources of each lesson, the earliest first."""
    found: dict[str, list[SourceRow]] = {id: [] for id in ids}
    if not ids:
        return found
    rows = db.query(
        "SELECT o.lesson, o.source, coalesce(s.path, ''), coalesce(s.agent, ''), o.at, o.message_index, o.quote, "
        f"o.origin FROM lesson_source o LEFT JOIN session s ON s.id = o.source WHERE o.lesson IN ({marks(ids)}) "
        "ORDER BY o.at, o.source, o.message_index",
        ids,
    )
    for lesson, *rest in rows:
        found[lesson].append(SourceRow(*rest))
    return found


def counted(db: Database, column: Literal["kind", "status"]) -> dict[str, int]:
    return dict(db.query(f"SELECT {column}, count(*) FROM lesson GROUP BY {column} ORDER BY {column}"))


def count(db: Database) -> int:
    return int(db.query("SELECT count(*) FROM lesson")[0][0])


def _lesson(row: Row) -> Lesson:
    fields: dict[str, Any] = dict(zip(Lesson.__struct_fields__, row, strict=True))
    fields["tags"] = msgspec.json.decode(fields["tags"], type=tuple[str, ...])
    fields["pinned"], fields["kept"] = bool(fields["pinned"]), bool(fields["kept"])
    return Lesson(**fields)
