"""Lessons and where they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from hardwon.clock import now
from hardwon.model.lesson import TRUSTS, Draft, Status, StoredLesson, Trust
from hardwon.store import fulltext, integrity
from hardwon.store.database import Database, Row, batches, insert, marks
from hardwon.store.integrity import Happened
from hardwon.text.normalise import derived, normalised, text_hash

CONFIDENCE_PER_SESSION = 0.08
HIGHEST_CONFIDENCE = 0.95
CONFIDENCE_PER_USE = 0.02
"""For every answer that made use of it, up to 1."""
_COLUMNS = ", ".join(
    "coalesce(l.project, '')" if name == "project" else f"l.{name}" for name in StoredLesson.__struct_fields__
)
_PUT_KEY = insert("lesson_key", ("key", "lesson"), "ON CONFLICT (key, lesson) DO NOTHING")
_PUT_STATE = insert("lesson_compared", ("lesson", "state"), "ON CONFLICT (lesson) DO UPDATE SET state = excluded.state")
_STATE = "? || ' ' || l.status || ' ' || l.trust || ' ' || l.kept || ' ' || l.kind || ' ' || l.text_hash"
"""Whatever it depends on how a lesson is compared; with the project, for its keys name it."""
_DISPUTED = (
    "SELECT m.conflict, m.lesson, c.opened_at FROM conflict_member m JOIN conflict c ON c.id = m.conflict "
    "JOIN lesson l ON l.id = m.lesson WHERE c.status = 'open' AND l.status = 'active'"
)


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


def harvested_id(kind: str, scope: str, project: str, agent: str, text: str) -> str:
    holder = {"project": project, "agent": agent, "global": ""}[scope]
    return derived("L", kind, scope, holder, normalised(text))


_INSERT = insert("lesson", (*LessonRow._fields, "text_hash", "seal"))
_CITE = insert("lesson_source", Cited._fields, "ON CONFLICT (lesson, source, message_index) DO NOTHING")


def add(db: Database, rows: Sequence[LessonRow], sources: Iterable[Cited]) -> None:
    """Write new lessons with their sources and index entries."""
    db.bulk(_INSERT, [(*row, text_hash(row.text), _seal(row)) for row in rows])
    cite(db, sources)
    db.index(fulltext.entry(row.id, "lesson", row.text) for row in rows)


def drawn_from(db: Database, failure: str, *, active: bool = True) -> list[str]:
    """The lessons that tell what mended a failure."""
    wanted = "AND status = 'active'" if active else ""
    rows = db.query(f"SELECT id FROM lesson WHERE failure = ? AND rule = 'fixed-by-command' {wanted}", (failure,))
    return [row[0] for row in rows] if failure else []


def cite(db: Database, sources: Iterable[Cited]) -> None:
    """Give lessons more sources; one that is there already stays as it is."""
    db.bulk(_CITE, sources)


def _seal(row: LessonRow) -> str:
    return integrity.seal_of_fields("lesson", row._asdict())


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
    known = db.query("SELECT trust, kept, harvester_version, first_seen FROM lesson WHERE id = ?", (id,))
    if known:
        held, kept, made_by, since = known[0]
        says = draft.source.origin != "foreign"  # somebody else changes nothing about a lesson that is there
        if not says or kept:
            return id
        better = TRUSTS.index(held) - TRUSTS.index(trust)
        if made_by != version or better > 0 or (better == 0 and at < since):
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
        if at < since:  # in whatever order sessions come, the words are those of the first
            tags = msgspec.json.encode(draft.tags).decode()
            settle(db, id, why="said before", text=draft.text, failure=draft.failure, tags=tags)
            fulltext.keep(db, id, "lesson", draft.text)
            db.execute("UPDATE lesson SET first_seen = ? WHERE id = ?", (at, id))
            integrity.reseal(db, "lesson", [id])
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
        tags=msgspec.json.encode(draft.tags).decode(),
    )
    add(db, [row], [])
    made = Happened("create", id, {}, {"text": draft.text, "status": status, "trust": trust}, f"rule {draft.rule}")
    integrity.record_events(db, "harvest", now(), [made])
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
    integrity.reseal(db, "lesson", [id])
    told = changed.keys() - {"harvester_version"}
    if told:
        was = {name: before[name] for name in told}
        integrity.record_events(
            db, "harvest", now(), [Happened("settle", id, was, {name: changed[name] for name in told}, why)]
        )


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
        fulltext.remove(db, id)
        fulltext.add(db, target, "lesson", text)
        integrity.reseal(db, "lesson", [target])
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
    fulltext.remove(db, id)


def refresh(db: Database, ids: Iterable[str]) -> None:
    """Recount sources and confidence; a harvested lesson that nothing supports any more is gone.

    What only somebody else's sessions support waits for a person, and they make nothing surer.
    """
    for id in sorted(ids):
        count, roots, own, first, last = db.query(
            "SELECT count(*), count(DISTINCT root), count(DISTINCT root) FILTER (WHERE origin <> 'foreign'), "
            "min(at), max(at) FROM lesson_source WHERE lesson = ?",
            (id,),
        )[0]
        rows = db.query("SELECT base_confidence, kept FROM lesson WHERE id = ?", (id,))
        if not rows:
            continue
        base, kept = rows[0]
        if count == 0:
            if not kept:
                remove(db, id)
            continue
        if not own:
            settle(db, id, why="only somebody else's sessions say so", status="candidate", trust="untrusted")
        counted = max(1, own)
        confidence = max(base, min(HIGHEST_CONFIDENCE, base + CONFIDENCE_PER_SESSION * (counted - 1)))
        confidence = min(1.0, confidence + CONFIDENCE_PER_USE * _uses(db, id))
        db.execute(
            "UPDATE lesson SET source_count = ?, first_seen = ?, last_confirmed = ?, confidence = ? WHERE id = ?",
            (roots, first, last, confidence, id),
        )
        integrity.reseal(db, "lesson", [id])


def _uses(db: Database, id: str) -> int:
    return int(db.query("SELECT count(*) FROM reinforcement WHERE lesson = ?", (id,))[0][0])


def project_of(db: Database, id: str) -> str | None:
    """None for a lesson of no project, and for none."""
    rows = db.query("SELECT project FROM lesson WHERE id = ?", (id,))
    return rows[0][0] if rows else None


def projects_of(db: Database, ids: Sequence[str]) -> set[str]:
    rows = db.query(f"SELECT DISTINCT project FROM lesson WHERE id IN ({marks(ids)}) AND project IS NOT NULL", ids)
    return {row[0] for row in rows}


TAKEN_BACK = (
    "(status = 'archived' AND id IN (SELECT u.item FROM event u JOIN event c ON c.number = u.undoes "
    "WHERE u.action = 'undo' AND c.action = 'create'))"
)
"""Of lessons that somebody added and undid: kept for the history, and nowhere else."""


def taught_by(db: Database, source: str) -> set[str]:
    """The lessons drawn from a session, without those that were taken back."""
    gone = f"SELECT id FROM lesson WHERE {TAKEN_BACK}"
    rows = db.query(f"SELECT lesson FROM lesson_source WHERE source = ? AND lesson NOT IN ({gone})", (source,))
    return {row[0] for row in rows}


def listed(
    db: Database,
    *,
    project: str | None = None,
    kind: str | None = None,
    status: str | None = None,
    taken_back: bool = True,
    limit: int = 1_000_000_000,
) -> list[StoredLesson]:
    """Lessons, the best known first. With a project, also the global ones."""
    filters = [(column, value) for column, value in (("kind", kind), ("status", status)) if value is not None]
    more = "".join(f" AND l.{column} = ?" for column, _ in filters)
    more += "" if taken_back else f" AND NOT {TAKEN_BACK}"
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


def get(db: Database, id: str) -> StoredLesson | None:
    return next(iter(named(db, [id])), None)


def named(db: Database, ids: Sequence[str], project: str | None = None) -> list[StoredLesson]:
    """Those of these ids; with a project, only its own and the global ones."""
    if not ids:
        return []
    here = "" if project is None else " AND (l.project = ? OR l.project IS NULL)"
    values = ids if project is None else [*ids, project]
    rows = db.query(f"SELECT {_COLUMNS} FROM lesson l WHERE l.id IN ({marks(ids)}){here} ORDER BY l.id", values)
    return [_lesson(row) for row in rows]


def sources(db: Database, id: str) -> list[SourceRow]:
    return sources_of(db, [id])[id]


def sources_of(db: Database, ids: Sequence[str]) -> dict[str, list[SourceRow]]:
    """The sources of each lesson, the earliest first."""
    found: dict[str, list[SourceRow]] = {id: [] for id in ids}
    if not ids:
        return found
    rows = db.query(
        "SELECT o.lesson, o.source, coalesce(s.path, d.path || CASE WHEN c.heading_path = '' THEN '' ELSE ' > ' || "
        "c.heading_path END, ''), coalesce(s.agent, a.agent, ''), o.at, o.message_index, o.quote, o.origin "
        "FROM lesson_source o LEFT JOIN session s ON s.id = o.source LEFT JOIN attempt a ON a.id = o.source "
        "LEFT JOIN chunk c ON c.id = o.source LEFT JOIN document d ON d.id = c.document "
        f"WHERE o.lesson IN ({marks(ids)}) "
        "ORDER BY o.at, o.source, o.message_index",
        ids,
    )
    for lesson, *rest in rows:
        found[lesson].append(SourceRow(*rest))
    return found


def counted(db: Database, column: Literal["kind", "status"]) -> dict[str, int]:
    return dict(db.query(f"SELECT {column}, count(*) FROM lesson GROUP BY {column} ORDER BY {column}"))


def count(db: Database, status: str | None = None) -> int:
    where, values = (f" WHERE NOT {TAKEN_BACK}", ()) if status is None else (" WHERE status = ?", (status,))
    return int(db.query(f"SELECT count(*) FROM lesson{where}", values)[0][0])


def _lesson(row: Row) -> StoredLesson:
    fields: dict[str, Any] = dict(zip(StoredLesson.__struct_fields__, row, strict=True))
    fields["tags"] = msgspec.json.decode(fields["tags"], type=tuple[str, ...])
    if (fields["scope"] == "project") != bool(fields["project"]):  # an older version changed the one alone
        fields["scope"] = "project" if fields["project"] else "global"
    fields["pinned"], fields["kept"] = bool(fields["pinned"]), bool(fields["kept"])
    return StoredLesson(**fields)


# The file that a lesson speaks of, and what it looked like then.


class Anchor(NamedTuple):
    lesson: str
    path: str
    """Below the project's root."""
    sketch: str


def anchors_of(db: Database, project: str) -> list[Anchor]:
    rows = db.query(
        "SELECT id, anchor_path, anchor_hash FROM lesson WHERE project = ? AND anchor_path <> '' ORDER BY id",
        (project,),
    )
    return [Anchor(*row) for row in rows]


def without_anchor(db: Database, project: str) -> list[tuple[str, str]]:
    """(id, text) of the project's lessons that no file is known for."""
    return db.query(
        "SELECT id, text FROM lesson WHERE project = ? AND anchor_path = '' AND status IN ('active', 'candidate') "
        "ORDER BY id",
        (project,),
    )


def save_anchors(db: Database, anchors: list[Anchor]) -> None:
    """Inside a transaction."""
    db.bulk(
        "UPDATE lesson SET anchor_path = ?, anchor_hash = ? WHERE id = ?",
        ((path, hash, id) for id, path, hash in anchors),
    )


def roots_of(db: Database, project: str) -> list[str]:
    return [row[0] for row in db.query("SELECT path FROM project_root WHERE project = ? ORDER BY path", (project,))]


# Which lessons are to be compared: new or changed ones, each with those it has a key in common with.


def to_compare(db: Database, project: str, version: int) -> dict[str, str]:
    """Lessons of a project, or of none, that are not yet compared as they are now, each with its state."""
    mark = f"{version} {project}"
    here, held = ("l.project = ?", [project]) if project else ("l.project IS NULL", [])
    return dict(
        db.query(
            f"SELECT l.id, {_STATE} FROM lesson l LEFT JOIN lesson_compared c ON c.lesson = l.id "
            f"WHERE {here} AND (c.state IS NULL OR c.state <> {_STATE}) ORDER BY l.id",
            (mark, *held, mark),
        )
    )


def mark_compared(db: Database, states: dict[str, str], keys: Iterable[tuple[str, str]]) -> None:
    """Note lessons as compared in this state, with their keys: (key, lesson)."""
    put_keys(db, states, keys)
    db.bulk(_PUT_STATE, states.items())


def put_keys(db: Database, ids: Iterable[str], keys: Iterable[tuple[str, str]]) -> None:
    """The keys of these lessons, (key, lesson), in place of those that they had."""
    db.bulk("DELETE FROM lesson_key WHERE lesson = ?", ((lesson,) for lesson in ids))
    db.bulk(_PUT_KEY, keys)


def sharing_a_key(db: Database, keys: Iterable[str], most: int) -> Iterator[tuple[str, list[str]]]:
    """The lessons that have each key, the first of them in order of their ids."""
    for some in batches(sorted(set(keys))):
        found: dict[str, list[str]] = {}
        for key, lesson in _holders(db, some):
            found.setdefault(key, []).append(lesson)
        yield from ((key, lessons[:most]) for key, lessons in found.items())


def _holders(db: Database, keys: Sequence[str]) -> list[tuple[str, str]]:
    rows = db.query(f"SELECT key, lesson FROM lesson_key WHERE key IN ({marks(keys)}) ORDER BY key, lesson", keys)
    return [(row[0], row[1]) for row in rows]


# Lessons that contradict each other and are not told until a person decides.


class OpenConflict(NamedTuple):
    id: str
    since: int
    lessons: tuple[str, ...]


def open_conflicts(db: Database, project: str | None = None) -> list[OpenConflict]:
    """The oldest first; one of which less than two lessons are believed has settled itself."""
    held = " AND (l.project = ? OR l.project IS NULL)" if project else ""
    members: dict[str, list[str]] = {}
    since: dict[str, int] = {}
    for id, lesson, at in db.query(
        f"{_DISPUTED}{held} ORDER BY c.opened_at, m.conflict, m.lesson", [project] if project else []
    ):
        members.setdefault(id, []).append(lesson)
        since[id] = at
    return [OpenConflict(id, since[id], tuple(lessons)) for id, lessons in members.items() if len(lessons) > 1]


def disputed(db: Database) -> set[str]:
    """Lessons that are believed and contradict another that is."""
    return {lesson for one in open_conflicts(db) for lesson in one.lessons}


def superseded_in(db: Database, id: str) -> list[str]:
    """The lessons of a conflict that gave way to another of it."""
    rows = db.query("SELECT lesson FROM conflict_member WHERE conflict = ? ORDER BY lesson", (id,))
    members: Sequence[str] = [row[0] for row in rows]
    if not members:
        return []
    rows = db.query(
        f"SELECT id FROM lesson WHERE id IN ({marks(members)}) AND status = 'superseded' "
        f"AND superseded_by IN ({marks(members)}) ORDER BY id",
        [*members, *members],
    )
    return [row[0] for row in rows]


def contradicted(db: Database, id: str) -> list[str]:
    """Lessons that are believed and say the opposite of this one."""
    rows = db.query(
        "SELECT l.id FROM (SELECT other AS id FROM lesson_link WHERE lesson = ? AND relation = 'contradicts' UNION "
        "SELECT lesson FROM lesson_link WHERE other = ? AND relation = 'contradicts') k "
        "CROSS JOIN lesson l WHERE l.id = k.id AND l.status = 'active' ORDER BY l.id",
        (id, id),
    )
    return [row[0] for row in rows]
