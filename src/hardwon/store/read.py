"""What the hook reads, on plain tuples: it starts cold and imports only apsw."""

from __future__ import annotations

import os
import re

import apsw

from hardwon.home import LINKED
from hardwon.store.spool import told_in

TYPE_CHECKING = False  # of `typing`, which is slow to load
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from hardwon.store.spool import Prepared

_BUSY_MILLISECONDS = 200
_LESSON = (
    "l.status, l.trust, l.rule, l.scope, coalesce(l.project, ''), l.agent, l.confidence, l.valid_from, l.valid_until"
)
_PREPARED = (
    f"SELECT s.section, s.item, s.text, s.tokens, s.exempt, s.score, {_LESSON} "
    "FROM standing s LEFT JOIN lesson l ON l.id = s.item WHERE s.project = ? AND s.agent = ? ORDER BY s.rank"
)
_PREPARED_AT_FIRST = _PREPARED.replace("s.tokens, s.exempt, s.score", "0, 0, 0.0").replace(
    "l.valid_from, l.valid_until", "NULL, NULL"
)
"""For a store of the first schema, before anybody writes to it."""


def connect(path: str) -> apsw.Connection:
    """Raises what SQLite does where the write-ahead log holds something and cannot be read; a link is an OSError."""
    if os.path.islink(path):
        raise OSError(0, LINKED)
    writable = os.access(os.path.dirname(path), os.W_OK)
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    try:
        connection.execute("PRAGMA query_only = ON; PRAGMA schema_version").fetchall()
    except (apsw.FullError, apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError):
        journal = path + "-wal"
        if os.path.exists(journal) and os.path.getsize(journal):
            raise
        return _as_it_is(path)  # the disk is full or read-only, and all there is stands in the file itself
    return connection


def _as_it_is(path: str) -> apsw.Connection:
    """Without the files beside it that WAL wants to write, even to read."""
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return apsw.Connection(f"file:{name}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def fence_key(db: apsw.Connection) -> bytes:
    row = db.execute("SELECT value FROM meta WHERE key = 'fence_key'").fetchone()
    return bytes.fromhex(row[0]) if row else b""


def project_of(db: apsw.Connection, roots: list[str]) -> str:
    """The project that is known to live in the first of the folders in which one does.

    What a folder says of itself, such as a remote, is nobody's word: anybody can pack an archive that says it.
    """
    for root in roots:
        try:
            row = db.execute("SELECT project FROM project_root WHERE path = ?", (root,)).fetchone()
        except apsw.SQLError:
            return ""  # a store of the first schema knows no folders
        if row:
            return str(row[0])
    return ""


class Lesson:
    """What decides whether a lesson may be told; an empty project is every project."""

    __slots__ = ("agent", "confidence", "project", "rule", "scope", "status", "trust", "valid_from", "valid_until")

    def __init__(
        self,
        status: str,
        trust: str,
        rule: str,
        scope: str,
        project: str,
        agent: str,
        confidence: float,
        valid_from: int | None,
        valid_until: int | None,
    ) -> None:
        self.status = status
        self.trust = trust
        self.rule = rule
        self.scope = scope
        self.project = project
        self.agent = agent
        self.confidence = confidence
        self.valid_from = valid_from
        self.valid_until = valid_until


def prepared_lines(db: apsw.Connection, project: str, agent: str) -> list[tuple[Prepared, Lesson | None]]:
    """In reading order, each with the lesson that it is of; an agent that was never seen here gets what holds for any.

    A failure has no lesson; a line whose lesson is gone is not told.
    """
    rows: list[tuple[Any, ...]]
    for name in (agent, ""):
        try:
            rows = db.execute(_PREPARED, (project, name)).fetchall()
        except apsw.SQLError:
            rows = db.execute(_PREPARED_AT_FIRST, (project, name)).fetchall()
        if rows:
            return [
                (row[:6], None if row[6] is None else Lesson(*row[6:]))
                for row in rows
                if row[6] is not None or row[1].startswith("F")
            ]
    return []


def disputed(db: apsw.Connection) -> set[str]:
    """Lessons that are believed and contradict another that is."""
    members: dict[str, list[str]] = {}
    try:
        for conflict, lesson in db.execute(
            "SELECT m.conflict, m.lesson FROM conflict c JOIN conflict_member m ON m.conflict = c.id "
            "JOIN lesson l ON l.id = m.lesson WHERE c.status = 'open' AND l.status = 'active'"
        ):
            members.setdefault(conflict, []).append(lesson)
    except apsw.SQLError:
        return set()  # the first schema knew of no conflicts
    return {lesson for several in members.values() if len(several) > 1 for lesson in several}


KnownFailure = tuple[str, int, int, int, str, str, str, int]
"""(the error, occurrences, sessions, last seen; of its fix: steps as JSON, the call that worked, avoid as JSON, in how
many sessions it worked)"""


def known_failure(
    db: apsw.Connection, id: str, project: str, suits: Callable[[str, str], bool] = lambda *_: True
) -> KnownFailure | None:
    """A failure with its best fix, as it may be told in a project; None if no fix may be, or a better one waits.

    `suits` says of steps (as JSON) and the call that worked whether they are for what failed now.
    """
    try:
        row = db.execute(
            "SELECT coalesce(nullif(p.words, ''), f.signature), f.occurrences, f.sessions, f.last_seen "
            "FROM failure f LEFT JOIN failure_in_project p ON p.failure = f.id AND p.project = ? "
            "WHERE f.id = ? AND f.status = 'active' AND f.family <> 'agent'",
            (project, id),
        ).fetchone()
        fix = _best_fix(db, id, project, suits) if row else None
    except apsw.SQLError:
        return None  # an older schema, until the next harvest
    return (*row, *fix) if row and fix else None


def _best_fix(
    db: apsw.Connection, id: str, project: str, suits: Callable[[str, str], bool]
) -> tuple[str, str, str, int] | None:
    waiting = 0
    for steps, succeeded_as, avoid, confirmed, status, worth, projects in db.execute(
        "SELECT steps, succeeded_as, avoid, confirmed, status, confirmed - failed_again, projects FROM fix "
        "WHERE failure = ? AND status IN ('active', 'candidate') "
        "ORDER BY confirmed - failed_again DESC, last_seen DESC, id",
        (id,),
    ):
        if not told_in(project, projects) or not suits(steps, succeeded_as):
            continue
        if status == "active":
            return (steps, succeeded_as, avoid, confirmed) if worth >= waiting else None
        waiting = max(waiting, worth if worth > 1 else 0)
    return None


SHOWN_BY_KIND = (
    "(family = 'eslint' OR (family = 'lint' AND (upper(error_type) = error_type OR error_type IN "
    "('ruff format', 'black', 'unsorted'))) OR (family = 'rust' AND error_type = 'rustfmt') OR (family = 'git' AND "
    "error_type = 'conflict') OR (family = 'dotnet' AND substr(error_type, 1, 3) = 'IDE'))"
)
"""What a formatter or one rule of a linter says of each file, and files that git cannot merge: one row of a list."""
ROW_OF_A_LIST = f"CASE WHEN {SHOWN_BY_KIND} THEN family || ' ' || error_type ELSE id END"
"""What is the same for failures that a list shows as one row."""
FAMILIES_BY_KIND = frozenset(("eslint", "lint", "rust", "git", "dotnet"))
"""Those that `SHOWN_BY_KIND` names: errors of others need not be looked up, which takes longer the more are known."""
FIXES_OF_KIND = (
    "SELECT count(DISTINCT f.id), x.steps, x.succeeded_as, min(x.id), sum(x.confirmed), sum(x.failed_again) "
    "FROM failure_in_project p JOIN (SELECT id FROM failure WHERE family = ? AND error_type = ? AND status = 'active' "
    f"AND {SHOWN_BY_KIND}) f ON f.id = p.failure JOIN fix x ON x.failure = f.id AND x.status = 'active' "
    "WHERE p.project = ? GROUP BY x.steps, x.succeeded_as HAVING sum(x.confirmed - x.failed_again) > 1 "
    "ORDER BY sum(x.confirmed - x.failed_again) DESC, x.steps LIMIT 8"
)
"""What mended failures of a kind (family, type of error) in a project, whichever file they were about."""
FixOfKind = tuple[int, str, str, str, int, int]
"""(failures of its kind that it mended, steps as JSON, the call that worked, id, confirmed, failed again)"""


def for_any_file(fixes: Iterable[FixOfKind]) -> FixOfKind | None:
    """The first that names no file, and so may be told of another one."""
    return next((fix for fix in fixes if not _NAMES_A_FILE.search(f"{fix[1]} {fix[2]}")), None)


_NAMES_A_FILE = re.compile(r"/|\w\.\w|<file>")


def fix_of_kind(db: apsw.Connection, family: str, error_type: str, project: str) -> FixOfKind | None:
    """What mended the same in other files of a project."""
    if family not in FAMILIES_BY_KIND:
        return None
    try:
        return for_any_file(db.execute(FIXES_OF_KIND, (family, error_type, project)))
    except apsw.SQLError:
        return None  # an older schema, until the next harvest


def index_size(db: apsw.Connection) -> int:
    """About how many items the index has."""
    row = db.execute("SELECT max(id) FROM search_item").fetchone()
    return int(row[0] or 0) if row else 0


def holding(db: apsw.Connection, term: str, most: int) -> list[int]:
    """Entries with a term, no more than `most`: a term that more have tells little."""
    quoted = '"' + term.replace('"', '""') + '"'
    rows = db.execute("SELECT rowid FROM search_index WHERE search_index MATCH ? LIMIT ?", (quoted, most))
    return [row[0] for row in rows]


def indexed_items(db: apsw.Connection, entries: Sequence[int]) -> dict[int, str]:
    """Entry → the lesson or failure that it stands for."""
    marks = ",".join("?" * len(entries))
    return dict(
        db.execute(
            f"SELECT id, item FROM search_item WHERE id IN ({marks}) AND type IN ('lesson', 'failure')", tuple(entries)
        )
    )


def lesson(db: apsw.Connection, id: str) -> tuple[str, str, Lesson] | None:
    """(its words, the failure it comes from, what decides whether it may be told)."""
    row = db.execute(f"SELECT l.text, l.failure, {_LESSON} FROM lesson l WHERE l.id = ?", (id,)).fetchone()
    return (row[0], row[1], Lesson(*row[2:])) if row else None


def failure(db: apsw.Connection, id: str, project: str) -> KnownFailure | None:
    """As `known_failure` gives it; None if it came once only in this project."""
    came_back = db.execute(
        "SELECT 1 FROM failure_in_project WHERE project = ? AND failure = ? AND sessions > 1", (project, id)
    ).fetchone()
    return known_failure(db, id, project) if came_back else None


_MAP = (
    "SELECT at, branch, title, terms, norm, outcome, told, came_true FROM map_visit WHERE project = ? ORDER BY number",
    "SELECT path, edited, looked, terms, path_terms, symbols FROM map_file WHERE project = ? ORDER BY path",
    "SELECT command, text, purpose, worked, failed, broken FROM map_command WHERE project = ?",
)


def drawn_map(db: apsw.Connection, project: str) -> tuple[list[Any], list[Any], list[Any]]:
    """(visits, files, commands) of a project; nothing in a store that knows of no maps yet."""
    try:
        visits, files, commands = (db.execute(sql, (project,)).fetchall() for sql in _MAP)
    except apsw.SQLError:
        return [], [], []
    return visits, files, commands
