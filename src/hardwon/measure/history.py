"""The sessions of a store in the order of time, each with everything that the store learned from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from hardwon.measure import judge
from hardwon.store import failures
from hardwon.store.database import Database, Row

_TABLES = {
    "occurrence": failures.OCCURRENCE_COLUMNS,
    "fix_evidence": failures.FIX_EVIDENCE_COLUMNS,
    "tried": ("source", "failure", "position", "steps", "tried_as", "root"),
    "lesson_source": ("lesson", "source", "message_index", "root", "at", "quote", "origin"),
}
"""What a session leaves in the store; each has a column `root`."""


class Met(NamedTuple):
    """One failed call."""

    key: str
    """What the judge calls the error."""
    failure: str
    tokens: int
    at: int


class Past(NamedTuple):
    """One session, with its sub-agents."""

    root: str
    project: str | None
    agent: str
    task: str
    started_at: int
    ended_at: int
    met: tuple[Met, ...]
    left: dict[str, list[Row]]
    """Table → the rows that it left."""
    sessions: list[Row]


SESSION_COLUMNS = (
    "id agent external_id subagent root project format version path branch task started_at ended_at messages "
    "user_messages tool_calls errors unknown_records redactions outcome content_hash harvester_version"
).split()


def load(db: Database, project: str | None = None) -> list[Past]:
    """Every session (of a project), the earliest first."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in db.query(f"SELECT {', '.join(SESSION_COLUMNS)} FROM session ORDER BY started_at, id"):
        rows[row[4]].append(row)
    left = {table: _by_root(db, table, columns) for table, columns in _TABLES.items()}
    found = (_past(root, own, {table: left[table].get(root, []) for table in left}) for root, own in rows.items())
    return sorted(
        (past for past in found if project is None or past.project == project),
        key=lambda past: (past.started_at, past.root),
    )


def _by_root(db: Database, table: str, columns: Iterable[str]) -> dict[str, list[Row]]:
    names = list(columns)
    place = names.index("root")
    found: dict[str, list[Row]] = defaultdict(list)
    for row in db.query(f"SELECT {', '.join(names)} FROM {table} ORDER BY source"):
        found[row[place]].append(row)
    return found


def _past(root: str, rows: list[Row], left: dict[str, list[Row]]) -> Past:
    first = next((row for row in rows if not row[3]), rows[0])
    return Past(
        root=root,
        project=first[5],
        agent=first[1],
        task=first[10],
        started_at=min(row[11] for row in rows),
        ended_at=max(row[12] for row in rows),
        met=tuple(_met(row) for row in left["occurrence"]),
        left=left,
        sessions=rows,
    )


def _met(row: Row) -> Met:
    fields = dict(zip(failures.OCCURRENCE_COLUMNS, row, strict=True))
    return Met(judge.key(fields["excerpt"]), fields["failure"], fields["tokens"], fields["at"])
