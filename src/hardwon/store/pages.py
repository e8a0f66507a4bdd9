"""Rows a page at a time: each page begins behind the last row of the one before, whatever was added meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from hardwon.model.lesson import StoredLesson
from hardwon.store import attempts, integrity, lessons
from hardwon.store.attempts import AttemptRow
from hardwon.store.database import Database, Row, marks
from hardwon.store.database import marks as marks_for
from hardwon.store.failures import FailureRow
from hardwon.store.integrity import EventRow
from hardwon.store.read import ROW_OF_A_LIST, SHOWN_BY_KIND
from hardwon.store.sessions import CallRow, SessionRow
from hardwon.text.shown import remedy

Key = tuple[int | str, ...]
"""The columns of a row that its place in the order depends on."""

_EVERYWHERE = (
    "f.id, f.family, f.signature, coalesce(nullif(f.words, ''), f.signature), f.occurrences, "
    "f.sessions, f.first_seen, f.last_seen, '', ''"
)
_IN_PROJECT = (
    "f.id, f.family, f.signature, coalesce(nullif(p.words, ''), f.signature), p.occurrences, p.sessions, p.first_seen, "
    "p.last_seen, p.command, p.agents "
    "FROM failure_in_project p JOIN failure f ON f.id = p.failure"
)


class ProjectRow(NamedTuple):
    id: str
    key: str
    name: str
    description: str
    status: str
    sessions: int


class Conditions:
    """Conditions that all hold, and their values."""

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self.values: list[Any] = []

    def add(self, condition: str, *values: Any) -> Conditions:
        self._conditions.append(condition)
        self.values += values
        return self

    def equal(self, column: str, value: Any) -> Conditions:
        return self if value is None else self.add(f"{column} = ?", value)

    def behind(self, columns: Sequence[str], key: Key | None) -> Conditions:
        """Further down an order in which the highest come first."""
        return self.add(f"({', '.join(columns)}) < ({marks(columns)})", *key) if key else self

    def both(self, others: Conditions) -> Conditions:
        self._conditions += others._conditions
        self.values += others.values
        return self

    @property
    def sql(self) -> str:
        return f"WHERE {' AND '.join(self._conditions)}" if self._conditions else ""


def of_lessons(
    db: Database, *, project: str | None, kind: str | None, status: str | None, after: Key | None, limit: int
) -> list[StoredLesson]:
    """The newest first; with a project, also the global ones."""
    columns = ("l.last_confirmed", "l.id")

    def some(where: Conditions) -> list[tuple[int, str]]:
        where.equal("l.kind", kind).equal("l.status", status).behind(columns, after)
        if status is None:
            where.add(f"NOT {lessons.TAKEN_BACK}")
        order = "ORDER BY l.last_confirmed DESC, l.id DESC LIMIT ?"
        return db.query(f"SELECT l.last_confirmed, l.id FROM lesson l {where.sql} {order}", (*where.values, limit))

    if project is None:
        found = some(Conditions())
    else:  # each part can follow its index
        found = some(Conditions().add("l.project = ?", project)) + some(Conditions().add("l.project IS NULL"))
    chosen = [id for _, id in sorted(found, reverse=True)[:limit]]
    by_id = {lesson.id: lesson for lesson in lessons.named(db, chosen)}
    return [by_id[id] for id in chosen]


def count_of_lessons(db: Database, *, project: str | None, kind: str | None, status: str | None) -> int:
    where = Conditions().equal("kind", kind).equal("status", status)
    if status is None:
        where.add(f"NOT {lessons.TAKEN_BACK}")
    if project is not None:
        where.add("(project = ? OR project IS NULL)", project)
    return int(db.query(f"SELECT count(*) FROM lesson {where.sql}", where.values)[0][0])


def count_of_sessions(db: Database, *, project: str | None, agent: str | None) -> tuple[int, int]:
    """(sessions, sub-agents)."""
    where = Conditions().equal("project", project).equal("agent", agent)
    counts = "count(*) FILTER (WHERE subagent = ''), count(*) FILTER (WHERE subagent <> '')"
    held, below = db.query(f"SELECT {counts} FROM session {where.sql}", where.values)[0]
    return int(held), int(below)


def of_failures(
    db: Database, *, project: str | None, fixed: bool | None = None, after: Key | None, limit: int
) -> list[FailureRow]:
    """The most widespread first; those with a fix that is known to work, or those without one, if that is asked."""
    table, id = ("failure", "id") if project is None else ("failure_in_project", "failure")
    columns = ("sessions", "occurrences", "last_seen", id)
    where = Conditions().equal("project", project).behind(columns, after)
    if fixed is not None:
        where.add(f"{id} {'IN' if fixed else 'NOT IN'} (SELECT failure FROM fix WHERE status = 'active')")
    order = ", ".join(f"{column} DESC" for column in columns)
    ids = [row[0] for row in db.query(f"SELECT {id} FROM {table} {where.sql} ORDER BY {order} LIMIT ?",
                                      (*where.values, limit))]  # fmt: skip
    if not ids:
        return []
    source = f"{_EVERYWHERE} FROM failure f" if project is None else _IN_PROJECT
    named = Conditions().equal("p.project", project).add(f"f.id IN ({marks(ids)})", *ids)
    rows = {row[0]: FailureRow(*row) for row in db.query(f"SELECT {source} {named.sql}", named.values)}
    return [rows[id] for id in ids]


class FailingRow(NamedTuple):
    """A failure, or failures of one kind, counted between two moments."""

    sessions: int
    occurrences: int
    last_seen: int
    id: str
    """Of a kind, the lowest."""


class Counted(NamedTuple):
    """Which failures are counted, and when."""

    project: str | None
    between: tuple[int, int]
    fixed: bool | None = None
    """With a fix that is known to work, or without one."""
    of_agents: bool | None = None
    """Of agents' own tools, or the others."""
    muted: bool | None = None
    again: bool = False
    """Only what more than one session has met, whenever."""

    @property
    def table(self) -> tuple[str, str]:
        """(the table that has the counts over all time, its column of failures)."""
        return ("failure", "id") if self.project is None else ("failure_in_project", "failure")

    def met(self) -> Conditions:
        """Of occurrences."""
        return Conditions().add("at BETWEEN ? AND ?", *self.between).equal("project", self.project)

    def those(self, id: str) -> Conditions:
        """Of failures."""
        where = Conditions()
        if self.fixed is not None:
            where.add(f"{id} {'' if self.fixed else 'NOT '}IN (SELECT failure FROM fix WHERE status = 'active')")
        if self.of_agents is not None:
            where.add(f"{id} {'' if self.of_agents else 'NOT '}IN (SELECT id FROM failure WHERE family = 'agent')")
        if self.muted is not None:
            where.add(f"{id} {'' if self.muted else 'NOT '}IN (SELECT id FROM failure WHERE status = 'muted')")
        return where


def failing(db: Database, which: Counted, *, after: Key | None, limit: int) -> list[FailingRow]:
    """What was met between two moments, the most widespread first; what is shown by kind is one row."""
    table, id = which.table
    since, until = which.between
    by_kind = f"SELECT id FROM failure WHERE {SHOWN_BY_KIND}"
    # Of what was met in no other time the counts are kept; only the others' occurrences must be looked at.
    whole = Conditions().equal("project", which.project).add("first_seen >= ? AND last_seen <= ?", since, until)
    partly = Conditions().equal("project", which.project).add("last_seen >= ? AND first_seen <= ?", since, until)
    partly.add("NOT (first_seen >= ? AND last_seen <= ?)", since, until)
    met = which.met().add(f"failure IN (SELECT {id} FROM {table} {partly.sql})", *partly.values)
    alone = which.those("id").add(f"id NOT IN ({by_kind})")
    if which.again:
        met_again = Conditions().equal("project", which.project).add("sessions > 1")
        alone.add(f"id IN (SELECT {id} FROM {table} {met_again.sql})", *met_again.values)
    kinds = which.met().add(f"failure IN ({by_kind})").both(which.those("failure"))
    more = "HAVING count(DISTINCT o.root) > 1 OR max(f.sessions) > 1 " if which.again else ""
    where = Conditions().behind(FailingRow._fields, after)
    rows = db.query(
        "SELECT sessions, occurrences, last_seen, id FROM (SELECT * FROM ("
        f"SELECT {id} AS id, sessions, occurrences, last_seen FROM {table} {whole.sql} UNION ALL "
        f"SELECT failure, count(DISTINCT root), count(*), max(at) FROM occurrence {met.sql} GROUP BY failure) one "
        f"{alone.sql} UNION ALL SELECT min(o.failure), count(DISTINCT o.root), count(*), max(o.at) FROM "
        f"(SELECT failure, root, at FROM occurrence {kinds.sql}) o JOIN failure f ON f.id = o.failure "
        f"GROUP BY f.family, f.error_type {more}) found {where.sql} "
        "ORDER BY sessions DESC, occurrences DESC, last_seen DESC, id DESC LIMIT ?",
        (*whole.values, *met.values, *alone.values, *kinds.values, *where.values, limit),
    )
    return [FailingRow(*row) for row in rows]


def of_kind(db: Database, kind: tuple[str, str], which: Counted, limit: int) -> list[FailingRow]:
    """The failures that are shown as one row, the most widespread first."""
    where = _met_of_kind(kind, which)
    rows = db.query(
        f"SELECT count(DISTINCT root), count(*), max(at), failure FROM occurrence {where.sql} GROUP BY failure "
        "ORDER BY 1 DESC, 2 DESC, 3 DESC, 4 DESC LIMIT ?",
        (*where.values, limit),
    )
    return [FailingRow(*row) for row in rows]


def count_of_kind(db: Database, kind: tuple[str, str], which: Counted) -> FailingRow:
    """These failures counted together; at least one must have been met."""
    where = _met_of_kind(kind, which)
    counts = "count(DISTINCT root), count(*), max(at), min(failure)"
    return FailingRow(*db.query(f"SELECT {counts} FROM occurrence {where.sql}", where.values)[0])


def _met_of_kind(kind: tuple[str, str], which: Counted) -> Conditions:
    where = which.met().both(which.those("failure"))
    return where.add("failure IN (SELECT id FROM failure WHERE family = ? AND error_type = ?)", *kind)


def when_met(
    db: Database, ids: Sequence[str], project: str | None, between: tuple[int, int]
) -> list[tuple[str, int, int]]:
    """(failure, when, tokens) of each time that one of these was met between two moments."""
    where = Conditions().add(f"failure IN ({marks(ids)})", *ids).add("at BETWEEN ? AND ?", *between)
    where.equal("project", project)
    return db.query(f"SELECT failure, at, tokens FROM occurrence {where.sql}", where.values) if ids else []


def failure_in(db: Database, id: str, project: str) -> FailureRow | None:
    rows = db.query(f"SELECT {_IN_PROJECT} WHERE p.project = ? AND p.failure = ?", (project, id))
    return FailureRow(*rows[0]) if rows else None


def of_sessions(
    db: Database, *, project: str | None, agent: str | None, after: Key | None, limit: int
) -> list[SessionRow]:
    """The newest first."""
    where = Conditions().equal("project", project).equal("agent", agent).behind(("started_at", "id"), after)
    return [SessionRow(*row) for row in _sessions(db, f"{where.sql} ORDER BY started_at DESC, id DESC LIMIT ?",
                                                  (*where.values, limit))]  # fmt: skip


def opened_with(db: Database, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Session → (what a person first asked for, the words that it was opened with, whoever put them there)."""
    words = "SELECT s.id, s.task, coalesce(o.words, '') FROM session s LEFT JOIN opened o ON o.source = s.id"
    rows = db.query(f"{words} WHERE s.id IN ({marks(ids)})", ids) if ids else []
    return {id: (task, opening) for id, task, opening in rows}


def session(db: Database, id: str) -> tuple[SessionRow, list[CallRow]] | None:
    rows = _sessions(db, "WHERE id = ?", (id,))
    calls = db.query(f"SELECT {', '.join(CallRow._fields)} FROM call WHERE session = ? ORDER BY position", (id,))
    return (SessionRow(*rows[0]), [CallRow(*call) for call in calls]) if rows else None


def _sessions(db: Database, rest: str, values: Sequence[Any]) -> list[Row]:
    return db.query(f"SELECT {', '.join(SessionRow._fields)} FROM session {rest}", values)


def of_attempts(
    db: Database,
    *,
    project: str | None,
    outcomes: Sequence[str] | None,
    run: str | None,
    after: Key | None,
    limit: int,
) -> list[AttemptRow]:
    """The newest first."""
    where = Conditions().equal("project", project).equal("root", run).behind(("started_at", "number"), after)
    if outcomes:
        where.add(f"outcome IN ({marks(outcomes)})", *outcomes)
    order = "ORDER BY started_at DESC, number DESC LIMIT ?"
    ids = [row[0] for row in db.query(f"SELECT id FROM attempt {where.sql} {order}", (*where.values, limit))]
    by_id = attempts.by_id(db, ids)
    return [by_id[id] for id in ids]


def attempts_of_session(db: Database, session: str, limit: int) -> list[AttemptRow]:
    order = "ORDER BY started_at, number LIMIT ?"
    rows = db.query(f"SELECT id FROM attempt WHERE session = ? AND source = 'session' {order}", (session, limit))
    by_id = attempts.by_id(db, [id for (id,) in rows])
    return [by_id[id] for (id,) in rows]


def of_projects(db: Database, *, only: Sequence[str], after: Key | None, limit: int) -> list[ProjectRow]:
    """By id; `only` these, if any are named."""
    where = Conditions()
    if only:
        where.add(f"p.id IN ({marks(only)})", *only)
    if after:
        where.add("p.id > ?", *after)
    rows = db.query(
        "SELECT p.id, p.key, p.name, p.description, p.status, (SELECT count(*) FROM session s WHERE s.project = p.id "
        f"AND s.subagent = '') FROM project p {where.sql} ORDER BY p.id LIMIT ?",
        (*where.values, limit),
    )
    return [ProjectRow(*row) for row in rows]


def of_events(db: Database, *, after: Key | None, limit: int) -> list[EventRow]:
    """The newest first."""
    return integrity.recent_events(db, limit, before=int(after[0]) if after else None)


# What a page shows at a glance: a few rows and counts, never all of them.


class ExposureRow(NamedTuple):
    """A session that was to be told something."""

    session: str
    """Its id here; empty where it was not harvested."""
    agent: str
    project: str
    at: int
    shown: int
    used: int | None
    """Whether the session made use of it, where that can be told."""
    met: int
    """Of a failure: how often the session met it afterwards."""
    item: str
    text: str


def takes_part(db: Database) -> bool:
    """Whether any line was ever dealt out at random."""
    return bool(db.query("SELECT 1 FROM exposure WHERE chance < 1 LIMIT 1"))


def holds_nothing(db: Database) -> bool:
    return not any(db.query(f"SELECT 1 FROM {name} LIMIT 1") for name in ("session", "attempt", "failure", "lesson"))


def last_session(db: Database, project: str | None) -> int:
    """When the newest session began; 0 without any."""
    where = Conditions().equal("project", project)
    rows = db.query(f"SELECT started_at FROM session {where.sql} ORDER BY started_at DESC LIMIT 1", where.values)
    return int(rows[0][0]) if rows else 0


def last_error(db: Database, project: str | None) -> int:
    """When a session last met an error, but for those of agents' own tools; 0 if none did."""
    where = Conditions().add("f.family <> 'agent'").equal("p.project", project)
    seen = "f.last_seen" if project is None else "p.last_seen"
    held = "" if project is None else "JOIN failure_in_project p ON p.failure = f.id"
    rows = db.query(f"SELECT max({seen}) FROM failure f {held} {where.sql}", where.values)
    return int(rows[0][0] or 0)


def totals(db: Database, project: str | None) -> dict[str, int]:
    """Failures are counted as `failures` lists them: without those of agents' own tools and those that are muted."""
    listed = "WHERE family <> 'agent' AND status = 'active'"
    rows_of = f"SELECT count(DISTINCT {ROW_OF_A_LIST}) FROM failure {listed}"
    if project is None:
        counted = {
            "session": "session WHERE subagent = ''",
            "fix": "fix",
            "lesson": "lesson WHERE status = 'active'",
        }
        found = {name: int(db.query(f"SELECT count(*) FROM {rows}")[0][0]) for name, rows in counted.items()}
        return {**found, "failure": int(db.query(rows_of)[0][0])}
    held = db.query("SELECT count(*) FROM session WHERE project = ? AND subagent = ''", (project,))[0][0]
    here = "AND id IN (SELECT failure FROM failure_in_project WHERE project = ?)"
    failed = db.query(f"{rows_of} {here}", (project,))[0][0]
    met = "SELECT 1 FROM failure_in_project p WHERE p.project = ? AND p.failure = x.failure"
    fixed = f"SELECT count(*) FROM fix x WHERE EXISTS ({met})"
    used = db.query("SELECT count(*) FROM lesson WHERE project = ? AND status = 'active'", (project,))[0][0]
    fixes = db.query(fixed, (project,))[0][0]
    return {"session": int(held), "failure": int(failed), "fix": int(fixes), "lesson": int(used)}


def said_again(db: Database, project: str | None, limit: int) -> list[StoredLesson]:
    """What people told agents again, in another session or in the same, the most often said first."""
    where = Conditions().equal("project", project)
    where.add("status = 'active' AND trust = 'human' AND (source_count > 1 OR rule = 'said-again')")
    order = "ORDER BY source_count DESC, last_confirmed DESC, id LIMIT ?"
    return _lessons(db, f"{where.sql} {order}", [*where.values, limit])


def learned(db: Database, project: str | None, since: int, limit: int) -> tuple[int, list[StoredLesson]]:
    """(how many lessons are new since then and believed, the newest of these or, without any, of all)."""
    where = Conditions().equal("project", project).add("status = 'active' AND first_seen >= ?", since)
    rest = "ORDER BY first_seen DESC, id LIMIT ?"
    rows = db.query(f"SELECT id, count(*) OVER () FROM lesson {where.sql} {rest}", [*where.values, limit])
    if rows:
        return int(rows[0][1]), _in_order(db, [row[0] for row in rows])
    where = Conditions().equal("project", project).add("status = 'active'")
    return 0, _lessons(db, f"{where.sql} {rest}", [*where.values, limit])


def candidates(db: Database, project: str | None, rule: str, session: str, limit: int) -> list[StoredLesson]:
    """What waits for a person, the surest first; of one rule or one session, if they are named."""
    where = _waiting(project, rule, session)
    return _lessons(
        db, f"{where.sql} ORDER BY confidence DESC, last_confirmed DESC, id LIMIT ?", [*where.values, limit]
    )


def waiting(db: Database, project: str | None, rule: str, session: str) -> int:
    where = _waiting(project, rule, session)
    return int(db.query(f"SELECT count(*) FROM lesson {where.sql}", where.values)[0][0])


def _waiting(project: str | None, rule: str, session: str) -> Conditions:
    where = Conditions().add("status = 'candidate'").equal("project", project).equal("rule", rule or None)
    if session:
        where.add("id IN (SELECT lesson FROM lesson_source WHERE source = ?)", session)
    return where


def candidates_by_rule(db: Database, project: str | None) -> list[tuple[str, int]]:
    where = Conditions().add("status = 'candidate' AND rule <> ''").equal("project", project)
    rows = db.query(
        f"SELECT rule, count(*) FROM lesson {where.sql} GROUP BY rule ORDER BY count(*) DESC, rule", where.values
    )
    return [(str(rule), int(number)) for rule, number in rows]


def taught(db: Database, sessions: Sequence[str]) -> dict[str, int]:
    """Session → how many lessons and fixes were drawn from it."""
    named = marks_for(sessions)
    rows = db.query(
        f"SELECT source, count(*) FROM (SELECT source, lesson FROM lesson_source WHERE source IN ({named}) "
        f"AND lesson NOT IN (SELECT id FROM lesson WHERE {lessons.TAKEN_BACK}) UNION ALL "
        f"SELECT source, fix FROM fix_evidence WHERE source IN ({named})) taught GROUP BY source",
        [*sessions, *sessions],
    )
    return {str(id): int(number) for id, number in rows}


def lessons_of_failure(db: Database, failure: str, limit: int) -> list[StoredLesson]:
    return _lessons(
        db, "WHERE failure = ? AND status = 'active' ORDER BY confidence DESC, id LIMIT ?", [failure, limit]
    )


class Mark(NamedTuple):
    """Something that was met or learned at a message of a session."""

    message: int
    kind: str
    """`error`, `fix` or `lesson`."""
    item: str
    text: str


def marks_of_session(db: Database, session: str) -> list[Mark]:
    rows = db.query(
        "SELECT o.message_index, 'error', f.id, coalesce(nullif(f.words, ''), f.signature) FROM occurrence o "
        "JOIN failure f ON f.id = o.failure WHERE o.source = ? UNION ALL "
        "SELECT s.message_index, 'lesson', l.id, l.text FROM lesson_source s JOIN lesson l ON l.id = s.lesson "
        f"WHERE s.source = ? AND l.id NOT IN (SELECT id FROM lesson WHERE {lessons.TAKEN_BACK})",
        (session, session),
    )
    fixes = db.query(
        "SELECT e.passing_message, x.failure, x.steps, x.succeeded_as FROM fix_evidence e JOIN fix x ON x.id = e.fix "
        "WHERE e.source = ?",
        (session,),
    )
    mended = (
        Mark(message, "fix", failure, remedy(msgspec.json.decode(steps), succeeded_as))
        for message, failure, steps, succeeded_as in fixes
    )
    return sorted([*(Mark(*row) for row in rows), *mended])


class Step(NamedTuple):
    """A call of a session."""

    message: int
    outcome: str
    tool: str
    subject: str


def steps_of_session(db: Database, session: str, limit: int) -> list[Step]:
    order = "ORDER BY position LIMIT ?"
    rows = db.query(
        f"SELECT message_index, outcome, tool, subject FROM call WHERE session = ? {order}", (session, limit)
    )
    return [Step(*row) for row in rows]


def agents(db: Database) -> list[str]:
    return [row[0] for row in db.query("SELECT DISTINCT agent FROM session ORDER BY agent")]


class Back(NamedTuple):
    """What became of a failure after a fix had first worked, over all projects."""

    again: int
    """Other sessions that met it since."""
    told: int = 0
    """Sessions that were shown it, or a lesson drawn from it, and have been read since."""
    in_vain: int = 0
    """Of these, the ones that met it afterwards."""

    def said(self, worked: int) -> str:
        """Of a fix that worked in some sessions."""
        met = max(self.again + 1, worked)
        where = f"all {met}" if worked == met else f"{worked} of the {met}"
        since = f"It worked in {where} sessions that met the error, from the one on that first found a fix"
        return f"{since}; {self.who_was_told}"

    @property
    def who_was_told(self) -> str:
        if not self.told:
            return "Hardwon had told none of them of it"
        sessions = "1 session" if self.told == 1 else f"{self.told} sessions"
        return f"Hardwon told {sessions} of it, and {self.in_vain or 'none'} of those met it again"


def came_back(db: Database, ids: Sequence[str]) -> dict[str, Back]:
    """Of the failures that a fix is told for."""
    if not ids:
        return {}
    worked = "FROM fix x JOIN fix_evidence e ON e.fix = x.id WHERE x.status = 'active' AND x.failure"
    there = f"SELECT 1 {worked} = w.failure AND e.at = w.at AND e.root = o.root"
    rows = db.query(
        f"SELECT w.failure, count(DISTINCT o.root) FROM (SELECT x.failure, min(e.at) AS at {worked} "
        f"IN ({marks_for(ids)}) GROUP BY x.failure) w LEFT JOIN occurrence o ON o.failure = w.failure AND o.at > w.at "
        f"AND NOT EXISTS ({there}) GROUP BY w.failure",
        list(ids),
    )
    told = {str(id): (int(some), int(in_vain)) for id, some, in_vain in db.query(_TOLD_OF(marks_for(ids)), list(ids))}
    return {str(id): Back(int(number), *told.get(str(id), (0, 0))) for id, number in rows}


_TOLD_OF = (
    "SELECT t.failure, count(DISTINCT t.session), count(DISTINCT CASE WHEN EXISTS (SELECT 1 FROM occurrence o WHERE "
    "o.root = t.session AND o.failure = t.failure AND o.at >= t.at) THEN t.session END) FROM (SELECT b.session, "
    "b.created_at AS at, coalesce(nullif(l.failure, ''), e.item) AS failure FROM exposure e JOIN bootstrap b "
    "ON b.id = e.bootstrap LEFT JOIN lesson l ON l.id = e.item WHERE e.shown = 1 AND EXISTS (SELECT 1 FROM session s "
    "WHERE s.root = b.session AND s.messages > 0)) t WHERE t.failure IN ({}) GROUP BY t.failure"
).format
_MET = "SELECT count(*) FROM occurrence o WHERE o.root = b.session AND o.failure = e.item AND o.at >= b.created_at"
_EXPOSURES = (
    "SELECT coalesce((SELECT min(s.id) FROM session s WHERE s.root = b.session AND s.subagent = ''), ''), b.agent, "
    f"coalesce(p.name, ''), b.created_at, e.shown, e.used, ({_MET}), e.item, coalesce(l.text, f.signature, '') "
    "FROM exposure e JOIN bootstrap b ON b.id = e.bootstrap LEFT JOIN project p ON p.id = b.project "
    "LEFT JOIN lesson l ON l.id = e.item LEFT JOIN failure f ON f.id = e.item WHERE"
)


def exposures(db: Database, item: str, limit: int) -> list[ExposureRow]:
    """Who was shown a lesson or a failure, or was not, the newest first."""
    rows = db.query(f"{_EXPOSURES} e.item = ? ORDER BY b.created_at DESC, b.id LIMIT ?", (item, limit))
    return [ExposureRow(*row) for row in rows]


_IN_EXPERIMENT = "e.chance < 1 AND e.item LIKE 'F%' AND EXISTS (SELECT 1 FROM session s WHERE s.root = b.session)"
TOLD = {
    "all": "1 = 1",
    "used": "e.used = 1",
    "shown": f"e.shown = 1 AND {_IN_EXPERIMENT}",
    "withheld": f"e.shown = 0 AND {_IN_EXPERIMENT}",
    "back": f"({_MET}) > 0 AND {_IN_EXPERIMENT}",
    "pending": "NOT EXISTS (SELECT 1 FROM session s WHERE s.root = b.session)",
}
"""Kind of lines → what holds of them."""


def told(db: Database, project: str | None, which: str, limit: int) -> list[ExposureRow]:
    """The lines that sessions were told, or were not, the newest first."""
    where, values = ("b.project = ? AND ", [project]) if project else ("", [])
    rows = db.query(
        f"{_EXPOSURES} {where}{TOLD[which]} ORDER BY b.created_at DESC, b.id, e.rank LIMIT ?", [*values, limit]
    )
    return [ExposureRow(*row) for row in rows]


class HookRun(NamedTuple):
    at: int
    event: str
    agent: str
    microseconds: int
    error: str


def hook_runs(db: Database, *, failed: bool, limit: int) -> list[HookRun]:
    """The newest first."""
    only = " AND error <> ''" if failed else ""
    rows = db.query(
        f"SELECT at, event, agent, microseconds, error FROM hook_run WHERE event <> 'spool'{only} "
        "ORDER BY at DESC LIMIT ?",
        (limit,),
    )
    return [HookRun(*row) for row in rows]


def _lessons(db: Database, rest: str, values: list[object]) -> list[StoredLesson]:
    return _in_order(db, [row[0] for row in db.query(f"SELECT id FROM lesson {rest}", values)])


def _in_order(db: Database, ids: list[str]) -> list[StoredLesson]:
    by_id = {one.id: one for one in lessons.named(db, ids)}
    return [by_id[id] for id in ids]
