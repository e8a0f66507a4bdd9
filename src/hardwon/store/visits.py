"""The files that sessions touched, what each session was opened with, and the map that is drawn of them for hooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hardwon.store.database import Database, Row, batches, insert, marks

DRAWN = ("map_visit", "map_file", "map_command")
"""Tables that are drawn anew from the others for each project."""


class TouchRow(NamedTuple):
    source: str
    path: str
    used: str
    position: int
    times: int
    symbols: str = ""
    """Marks of words that stood in it (`map/signals.mark`)."""


class OpenedRow(NamedTuple):
    source: str
    words: str
    calls_before_edit: int | None
    looks_before_edit: int | None


class Visit(NamedTuple):
    """A session as the map needs it; its sub-agents have rows of their own with the same root."""

    id: str
    root: str
    subagent: str
    agent: str
    branch: str
    task: str
    outcome: str
    started_at: int
    ended_at: int
    words: str
    looks_before_edit: int | None


class RanRow(NamedTuple):
    """A command of a session, however often it ran."""

    source: str
    command: str
    text: str
    """The form in which it was last called and worked; empty if it never did."""
    purpose: str
    worked: int
    failed: int
    proposed: int
    """1 if the output of an earlier call named it as it was written, 2 if it named the command only."""
    broken: int = 0
    """Whether it failed when it ran last."""


def add(db: Database, touched: Iterable[TouchRow], ran: Iterable[RanRow], opened: OpenedRow | None) -> None:
    """What one session left; what an earlier reading of it left must have been removed. Inside a transaction."""
    db.bulk(insert("touched", TouchRow._fields), touched)
    db.bulk(insert("ran", RanRow._fields), ran)
    if opened is not None:
        db.bulk(insert("opened", OpenedRow._fields), [opened])


_OWN = "s.owner = 'own'"
"""Where somebody else's session went leads nobody, and what it ran is told to nobody."""
_VISIT = (
    "SELECT s.id, s.root, s.subagent, s.agent, s.branch, s.task, s.outcome, s.started_at, s.ended_at, "
    "coalesce(o.words, ''), o.looks_before_edit FROM session s LEFT JOIN opened o ON o.source = s.id "
    f"WHERE s.project = ? AND {_OWN}"
)


def newest_visits(db: Database, project: str, limit: int) -> list[Visit]:
    """The newest sessions of a project, the earliest of them first."""
    rows = db.query(f"{_VISIT} ORDER BY s.started_at DESC, s.id DESC LIMIT ?", (project, limit))
    return [Visit(*row) for row in reversed(rows)]


def touches(db: Database, sessions: Sequence[str]) -> list[TouchRow]:
    return [
        TouchRow(*row)
        for part in batches(sessions)
        for row in db.query(
            f"SELECT {', '.join(TouchRow._fields)} FROM touched WHERE source IN ({marks(part)}) ORDER BY 1, 4, 2", part
        )
    ]


def runs(db: Database, sessions: Sequence[str]) -> list[RanRow]:
    return [
        RanRow(*row)
        for part in batches(sessions)
        for row in db.query(
            f"SELECT {', '.join(RanRow._fields)} FROM ran WHERE source IN ({marks(part)}) ORDER BY 1, 2", part
        )
    ]


# The map as hooks read it: lists of numbers of the sessions in which something was done, as texts.

Drawn = tuple[Sequence[Row], Sequence[Row], Sequence[Row]]
"""(visits, files, commands), each row without its project."""

_COLUMNS = {
    "map_visit": "project number at branch title terms norm outcome told came_true".split(),
    "map_file": "project path edited looked terms path_terms symbols".split(),
    "map_command": "project command text purpose worked failed broken".split(),
}


def replace_map(db: Database, project: str, drawn: Drawn) -> None:
    """Called inside a transaction."""
    for table, rows in zip(DRAWN, drawn, strict=True):
        db.execute(f"DELETE FROM {table} WHERE project = ?", (project,))
        db.bulk(insert(table, _COLUMNS[table]), ((project, *row) for row in rows))


# Who was at a file.


class Toucher(NamedTuple):
    session: str
    root: str
    agent: str
    external_id: str
    branch: str
    started_at: int
    task: str
    words: str
    path: str
    used: str
    times: int


def of_path(db: Database, project: str, path: str, limit: int) -> list[Toucher]:
    """The sessions that touched a file, or a file below a folder, the newest first."""
    return [
        Toucher(*row)
        for row in db.query(
            "SELECT s.id, s.root, s.agent, s.external_id, s.branch, s.started_at, s.task, coalesce(o.words, ''), "
            "t.path, t.used, t.times FROM touched t JOIN session s ON s.id = t.source "
            "LEFT JOIN opened o ON o.source = s.id "
            f"WHERE s.project = ? AND {_OWN} AND (t.path = ? OR (t.path >= ? AND t.path < ?)) "
            "ORDER BY s.started_at DESC, s.id, t.position LIMIT ?",
            (project, path, f"{path}/", f"{path}0", limit),
        )
    ]


def outcomes(db: Database, sessions: Sequence[str], path: str) -> dict[str, tuple[str, str]]:
    """Session → (outcome, commit) of its last attempt that changed a file of this name."""
    found: dict[str, tuple[str, str]] = {}
    name = path.rpartition("/")[2]
    for part in batches(dict.fromkeys(sessions)):
        rows = db.query(
            "SELECT a.session, a.outcome, a.git_commit, f.path FROM attempt a JOIN attempt_file f ON f.attempt = a.id "
            f"WHERE a.session IN ({marks(part)}) ORDER BY a.started_at, a.id",
            part,
        )
        for session, outcome, commit, file in rows:
            if file.replace("\\", "/").rpartition("/")[2] == name:
                found[session] = outcome, commit or found.get(session, ("", ""))[1]
    return found


class Worked(NamedTuple):
    root: str
    at: int
    command: str
    text: str
    purpose: str


def worked(db: Database, project: str, limit: int) -> list[Worked]:
    """The commands that worked in a project, the newest first."""
    return [
        Worked(*row)
        for row in db.query(
            "SELECT s.root, s.started_at, r.command, r.text, r.purpose FROM session s JOIN ran r ON r.source = s.id "
            f"WHERE s.project = ? AND {_OWN} AND r.worked > 0 AND r.text <> '' AND r.proposed <> 1 "
            "ORDER BY s.started_at DESC, s.id, r.command LIMIT ?",
            (project, limit),
        )
    ]


class Standing(NamedTuple):
    """Where a passage stands."""

    message_index: int
    owner: str
    agent: str
    external_id: str
    subagent: str
    path: str


def of_passages(db: Database, ids: Sequence[str]) -> dict[str, Standing]:
    columns = "p.message_index, s.owner, s.agent, s.external_id, s.subagent, s.path"
    joined = "passage p JOIN session s ON s.id = p.source"
    rows = db.query(f"SELECT p.id, {columns} FROM {joined} WHERE p.id IN ({marks(ids)})", ids) if ids else []
    return {row[0]: Standing(*row[1:]) for row in rows}


def sessions_called(db: Database, id: str) -> list[tuple[str, str, str, str]]:
    """(id, agent, the agent's own id, folder) of the sessions that a person may mean: no agent here has others'."""
    return db.query(
        "SELECT s.id, s.agent, s.external_id, coalesce((SELECT min(r.path) FROM project_root r "
        "WHERE r.project = s.project), '') FROM session s "
        f"WHERE s.subagent = '' AND {_OWN} AND (s.external_id = ? OR substr(s.id, 1, ?) = ?) ORDER BY s.id LIMIT 6",
        (id, len(id), id),
    )
