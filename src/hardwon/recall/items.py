"""Everything that can be found, seen alike: lessons, failures, attempts, chunks, interactions and sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hardwon.store.database import Database, marks
from hardwon.store.fulltext import TYPES
from hardwon.text.words import terms

_IDS_PER_QUERY = 500
_MAX_ITEMS_NAMING_A_FILE = 500

_ROWS = {
    "lesson": "SELECT id, 'lesson' AS type, kind, text, coalesce(project, '') AS project, agent, status, trust, "
    "last_confirmed AS at, '' AS thread, 0 AS position, anchor_path AS file FROM lesson",
    "failure": "SELECT f.id, 'failure' AS type, f.family AS kind, coalesce(nullif(f.words, ''), f.signature) AS text, "
    "coalesce((SELECT max(p.project) "
    "FROM failure_in_project p WHERE p.failure = f.id HAVING count(*) = 1), '') AS project, '' AS agent, f.status, "
    "'measured' AS trust, f.last_seen AS at, '' AS thread, 0 AS position, '' AS file FROM failure f",
    "attempt": "SELECT id, 'attempt' AS type, phase AS kind, task || CASE WHEN approach = '' THEN '' ELSE ': ' || "
    "approach END AS text, coalesce(project, '') AS project, agent, outcome AS status, "
    "CASE WHEN source = 'import' THEN 'claimed' ELSE 'measured' END AS trust, started_at AS at, "
    "session AS thread, started_at AS position, '' AS file FROM attempt",
    "chunk": "SELECT c.id, 'chunk' AS type, d.type AS kind, CASE WHEN c.heading_path = '' THEN '' ELSE "
    "c.heading_path || ': ' END || c.content AS text, "
    "coalesce(d.project, '') AS project, '' AS agent, '' AS status, 'claimed' AS trust, "
    "d.updated_at AS at, c.document AS thread, c.position, d.path AS file FROM chunk c "
    "JOIN document d ON d.id = c.document",
    "interaction": "SELECT id, 'interaction' AS type, client AS kind, prompt || CASE WHEN response_summary <> '' "
    "THEN ' → ' || response_summary WHEN response <> '' THEN ' → ' || response ELSE '' END AS text, "
    "coalesce(project, '') AS project, '' AS agent, '' AS status, 'claimed' AS trust, "
    "created_at AS at, session AS thread, created_at AS position, '' AS file FROM interaction",
    "session": "SELECT id, 'session' AS type, agent AS kind, task AS text, coalesce(project, '') AS project, agent, "
    "outcome AS status, 'claimed' AS trust, started_at AS at, '' AS thread, 0 AS position, "
    "'' AS file FROM session",
}
"""Type → its rows in the common shape. A thread is what follows one upon the other: a talk, a document."""


class Item(NamedTuple):
    id: str
    type: str
    kind: str
    text: str
    project: str
    agent: str
    status: str
    trust: str
    at: int
    thread: str
    position: int
    file: str


class Wanted(NamedTuple):
    """What results must be; an empty field asks for nothing."""

    types: tuple[str, ...] = ()
    kind: str = ""
    project: str = ""
    agent: str = ""
    status: str = ""
    since: int = 0
    until: int = 0
    file: str = ""
    naming: tuple[str, ...] = ()
    """Items whose words name the file."""

    @property
    def everything(self) -> bool:
        return self == Wanted(types=self.types)


def naming(db: Database, file: str) -> tuple[str, ...]:
    """Items in whose words the file stands."""
    return tuple(item for item, _, _ in db.matches(terms(file)[:1], _MAX_ITEMS_NAMING_A_FILE))


def load(db: Database, ids: Sequence[str], wanted: Wanted) -> dict[str, Item]:
    """Those of the items that are as wanted."""
    found: dict[str, Item] = {}
    for type in wanted.types or TYPES:
        for start in range(0, len(ids), _IDS_PER_QUERY):
            part = list(ids[start : start + _IDS_PER_QUERY])
            sql, values = _select(type, wanted)
            rows = db.query(f"{sql} AND i.id IN ({marks(part)})", [*values, *part])
            found |= {row[0]: _item(row, wanted) for row in rows}
    return found


def few(db: Database, wanted: Wanted, most: int) -> list[str] | None:
    """The ids of all items that are as wanted, if they are at most so many."""
    ids: list[str] = []
    for type in wanted.types or TYPES:
        sql, values = _select(type, wanted)
        rows = db.query(f"SELECT f.id FROM ({sql}) f LIMIT ?", [*values, most + 1 - len(ids)])
        ids += [row[0] for row in rows]
        if len(ids) > most:
            return None
    return ids


def beside(db: Database, items: Sequence[Item]) -> dict[str, list[str]]:
    """Id → what stands right before and after it in its thread."""
    found: dict[str, list[str]] = {}
    for item in items:
        if item.thread:
            found[item.id] = list(_beside(db, item))
    return found


def _beside(db: Database, item: Item) -> Iterator[str]:
    table, thread, position = {
        "chunk": ("chunk", "document", "position"),
        "attempt": ("attempt", "session", "started_at"),
        "interaction": ("interaction", "session", "created_at"),
    }[item.type]
    for before, order in (("<", "DESC"), (">", "ASC")):
        farther = f"{position} {before} ? OR ({position} = ? AND id {before} ?)"
        rows = db.query(
            f"SELECT id FROM {table} WHERE {thread} = ? AND ({farther}) "
            f"ORDER BY {position} {order}, id {order} LIMIT 1",
            (item.thread, item.position, item.position, item.id),
        )
        yield from (row[0] for row in rows)


def _select(type: str, wanted: Wanted) -> tuple[str, list[object]]:
    conditions, values = ["1 = 1"], list[object]()
    for column, value in (("kind", wanted.kind), ("status", wanted.status)):
        if value:
            conditions.append(f"i.{column} = ?")
            values.append(value)
    for condition, moment in (("i.at >= ?", wanted.since), ("i.at < ?", wanted.until)):
        if moment:
            conditions.append(condition)
            values.append(moment)
    for condition, some in (
        _of_project(type, wanted.project),
        _of_agent(type, wanted.agent),
        _of_file(type, wanted),
    ):
        conditions.append(condition)
        values += some
    return f"SELECT i.* FROM ({_ROWS[type]}) i WHERE {' AND '.join(conditions)}", values


_ANY: tuple[str, list[object]] = ("1 = 1", [])


def _of_project(type: str, project: str) -> tuple[str, list[object]]:
    """Of the project; of lessons and documents also what holds everywhere."""
    if not project:
        return _ANY
    if type == "failure":
        return "EXISTS (SELECT 1 FROM occurrence o WHERE o.failure = i.id AND o.project = ?)", [project]
    either = " OR i.project = ''" if type in ("lesson", "chunk") else ""
    return f"(i.project = ?{either})", [project]


def _of_agent(type: str, agent: str) -> tuple[str, list[object]]:
    """Of the agent: met by it, made by it, or learned in a session of it."""
    if not agent:
        return _ANY
    if type == "failure":
        return "EXISTS (SELECT 1 FROM occurrence o WHERE o.failure = i.id AND o.agent = ?)", [agent]
    if type == "lesson":
        learned = (
            "EXISTS (SELECT 1 FROM lesson_source o JOIN session s ON s.id = o.source "
            "WHERE o.lesson = i.id AND s.agent = ?)"
        )
        return f"(i.agent = ? OR {learned})", [agent, agent]
    if type == "interaction":
        return "(i.kind = ? OR EXISTS (SELECT 1 FROM session s WHERE s.id = i.thread AND s.agent = ?))", [agent, agent]
    return "i.agent = ?", [agent]


def _of_file(type: str, wanted: Wanted) -> tuple[str, list[object]]:
    """Of the file, or about it: an attempt that touched it, a document or lesson of it, words that name it."""
    if not wanted.file:
        return _ANY
    ending = "/" + wanted.file.removeprefix("./").lstrip("/")
    path = [wanted.file, ending, ending]
    conditions, values = [_ends("i.file")], list[object](path)
    if type == "attempt":
        touched = f"SELECT 1 FROM attempt_file t WHERE t.attempt = i.id AND {_ends('t.path')}"
        conditions.append(f"EXISTS ({touched})")
        values += path
    if wanted.naming:
        conditions.append(f"i.id IN ({marks(wanted.naming)})")
        values += wanted.naming
    return f"({' OR '.join(conditions)})", values


def _ends(column: str) -> str:
    return f"({column} = ? OR substr({column}, length({column}) - length(?) + 1) = ?)"


def _item(row: Sequence[object], wanted: Wanted) -> Item:
    item = Item._make(row)
    return item._replace(project=wanted.project) if item.type == "failure" and wanted.project else item
