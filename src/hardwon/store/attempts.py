"""Attempts: the modification journal's entries, a runner's episodes, what sessions tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from hardwon.clock import now
from hardwon.store import fulltext, integrity, meta
from hardwon.store.database import Database, Entry, Row, batches, insert, marks
from hardwon.store.integrity import Happened
from hardwon.text.normalise import derived

_POOL = 100
_TRIES_LOOKED_BACK = 50
"""How many of the best matches are looked at closely."""
_MOST_TASKS_READ = 20_000
_DAY = 86_400_000_000
_HIGHEST_NUMBER = 2**53
_ORDER = "started_at DESC, number DESC"


class FileRow(NamedTuple):
    path: str
    role: str = "modified"
    """`read`, `modified`, `created` or `deleted`."""


class AttemptRow(NamedTuple):
    """An attempt as it is stored, already scrubbed."""

    id: str
    source: str
    """`log`, `run`, `crash`, `session` or `import`."""
    session: str
    root: str
    """The run that it was part of."""
    project: str | None
    agent: str
    task: str
    approach: str
    phase: str
    outcome: str
    evidence: str
    exit_code: int | None
    diff: str
    test_results: str
    failure_analysis: str
    reflection: str
    retry_count: int
    retry_of: str
    git_commit: str
    tokens: int | None
    started_at: int
    duration: int | None
    """Microseconds."""
    files: tuple[FileRow, ...] = ()
    number: int = 0
    """The journal's own count; 0 until it is given by `save`."""


_COLUMNS = AttemptRow._fields[:-2]


def save(db: Database, row: AttemptRow) -> int:
    """Add an attempt; returns its number. One whose id is there already stays as it is."""
    return save_all(db, [row])[0]


def save_all(db: Database, rows: Sequence[AttemptRow]) -> list[int]:
    """Add attempts in order; returns their numbers. Called inside a transaction.

    One that brings a number keeps it, if it is free.
    """
    given = numbers(db, [row.id for row in rows])
    free = _free(db, [row.number for row in rows if row.number > 0])
    fresh: list[AttemptRow] = []
    for row in rows:
        if row.id not in given:
            given[row.id] = row.number if row.number in free else 0
            free.discard(row.number)
            fresh.append(row._replace(number=given[row.id]))
    _insert(db, [row for row in fresh if row.number])
    rest = [row for row in fresh if not row.number]
    following = _next_numbers(db, len(rest))
    numbered = [row._replace(number=number) for row, number in zip(rest, following, strict=True)]
    _insert(db, numbered)
    given |= {row.id: row.number for row in numbered}
    return [given[row.id] for row in rows]


_RETIRED = "attempts numbered to"


def highest_number(db: Database) -> int:
    """The highest that was ever given, as far as it is known."""
    ((there, gone),) = db.query(
        "SELECT (SELECT coalesce(max(number), 0) FROM attempt), (SELECT value FROM meta WHERE key = ?)", (_RETIRED,)
    )
    return max(int(there), int(gone or 0))


def retire_numbers(db: Database, ids: Iterable[str]) -> None:
    """These attempts will be gone: their numbers are given to no other, for who kept one would open another's."""
    if last := max(numbers(db, sorted(ids)).values(), default=0):
        meta.set_note(db, _RETIRED, str(max(last, int(meta.note(db, _RETIRED) or 0))))


def _next_numbers(db: Database, count: int) -> list[int]:
    given, gone = db.next_numbers("attempt", count, f"(SELECT value FROM meta WHERE key = '{_RETIRED}')")
    skipped = max(0, int(gone or 0) + 1 - given[0]) if given else 0
    return [number + skipped for number in given]


def id_in_session(session: str, position: int) -> str:
    """The same for every harvest of the session."""
    return derived("A", session, str(position))


def replace_of_session(db: Database, session: str, rows: Sequence[AttemptRow]) -> list[int]:
    """What a session tried, in place of what an earlier reading of it left; returns the numbers.

    An attempt that is there again keeps its number, and the reflection that was added since. A row
    without an id gets it from its place in `rows`.
    """
    before = {row.id: row for row in _select(db, "WHERE session = ? AND source = 'session'", (session,))}
    ids = [row.id or id_in_session(session, position) for position, row in enumerate(rows)]
    following = iter(_next_numbers(db, sum(id not in before for id in ids)))
    retire_numbers(db, before.keys() - set(ids))
    for id in before:
        remove(db, id)
    placed: list[AttemptRow] = []
    for id, row in zip(ids, rows, strict=True):
        old = before.get(id)
        placed.append(
            row._replace(
                id=id,
                source="session",
                session=session,
                reflection=row.reflection or (old.reflection if old else ""),
                number=old.number if old else next(following),
            )
        )
    _insert(db, placed)
    return [row.number for row in placed]


def remove(db: Database, id: str) -> None:
    db.execute("DELETE FROM attempt WHERE id = ?", (id,))
    fulltext.remove(db, id)


def update_reflection(db: Database, number: int, text: str, *, actor: str, undoes: int | None = None) -> int:
    """Write what was learned from an attempt; what stood there before is kept in the audit trail.

    Returns the event, 0 where there is no such attempt.
    """
    row = get(db, number)
    if row is None:
        return 0
    db.execute("UPDATE attempt SET reflection = ? WHERE id = ?", (text, row.id))
    integrity.reseal(db, "attempt", [row.id])
    db.index([_entry(row._replace(reflection=text))])
    action, was, now_is = "undo" if undoes else "reflect", {"reflection": row.reflection}, {"reflection": text}
    return integrity.record_events(db, actor, now(), [Happened(action, row.id, was, now_is, "", undoes)])[0]


def give_project(db: Database, id: str, project: str) -> None:
    """An attempt that had no project has this one, and so has what failed in it."""
    db.execute("UPDATE attempt SET project = ? WHERE id = ?", (project, id))
    db.execute("UPDATE occurrence SET project = ? WHERE source = ?", (project, id))


def get(db: Database, name: int | str) -> AttemptRow | None:
    """An attempt by the number that the journal gave it, or by its id."""
    column, value = ("id", name) if _is_id(name) else ("number", min(int(name), _HIGHEST_NUMBER))
    rows = _select(db, f"WHERE {column} = ?", (value,))
    return rows[0] if rows else None


def id_of(db: Database, name: int | str) -> str:
    """The id of whatever is named; of an attempt also by its number."""
    if _is_id(name):
        return str(name)
    rows = db.query("SELECT id FROM attempt WHERE number = ?", (min(int(name), _HIGHEST_NUMBER),))
    return rows[0][0] if rows else str(name)


def _is_id(name: int | str) -> bool:
    return isinstance(name, str) and not name.isdecimal()


def by_id(db: Database, ids: Sequence[str]) -> dict[str, AttemptRow]:
    found: dict[str, AttemptRow] = {}
    for part in batches(ids):
        found |= {row.id: row for row in _select(db, f"WHERE id IN ({marks(part)})", part)}
    return found


def listed(
    db: Database,
    *,
    outcomes: Sequence[str] | None = None,
    project: str | None = None,
    root: str | None = None,
    limit: int | None = None,
) -> list[AttemptRow]:
    """Attempts, the newest first. No outcomes given means any; none named means none."""
    if (limit is not None and limit <= 0) or (outcomes is not None and not outcomes):
        return []
    wanted, values = _filter(outcomes, project)
    if root is not None:
        wanted, values = f"{wanted} AND root = ?", [*values, root]
    bound, values = ("LIMIT ?", [*values, limit]) if limit is not None else ("", values)
    return _select(db, f"WHERE {wanted} ORDER BY {_ORDER} {bound}", values)


def of_file(db: Database, spellings: Sequence[str], *, project: str | None = None, limit: int = 10) -> list[AttemptRow]:
    """Attempts that touched a file, or any file below a folder, the newest first.

    `spellings` are the ways the path may have been written; an empty one stands for every file.
    """
    if limit <= 0 or not spellings:
        return []
    inside, values = _at_or_below(spellings)
    wanted, more = _filter(None, project)
    return _select(
        db,
        f"WHERE id IN (SELECT attempt FROM attempt_file WHERE {inside}) AND {wanted} ORDER BY {_ORDER} LIMIT ?",
        [*values, *more, limit],
    )


def files_called(db: Database, name: str) -> list[str]:
    """The paths of touched files with this last name, wherever they lie."""
    ending = f"/{name}"
    rows = db.query(
        "SELECT DISTINCT path FROM attempt_file WHERE substr(path, length(path) - length(?) + 1) = ? ORDER BY path",
        (ending, ending),
    )
    return [row[0] for row in rows] if name else []


def _at_or_below(spellings: Sequence[str]) -> tuple[str, list[str]]:
    """A path itself, or what begins with it and a separator; as ranges, so that no character is special."""
    if "" in spellings:
        return "path >= ?", [""]
    either: list[str] = []
    values: list[str] = []
    for path in spellings:
        either.append("path = ?")
        values.append(path)
        for separator in "/\\":
            either.append("(path >= ? AND path < ?)")
            values += [path + separator, path + chr(ord(separator) + 1)]
    return " OR ".join(either), values


class SimilarAttempt(NamedTuple):
    """An attempt that holds some of the words, without its long texts."""

    id: str
    score: float
    """As the index ranks it; a higher one is better."""
    task: str
    approach: str
    failure_analysis: str
    reflection: str
    started_at: int
    number: int
    files: tuple[FileRow, ...]


def count(db: Database) -> int:
    return int(db.query("SELECT count(*) FROM attempt")[0][0])


def crashed_at(db: Database, at: int, said: str) -> int:
    """The number of a crash on record; 0 where it is not."""
    rows = db.query(
        "SELECT min(number) FROM attempt WHERE source = 'crash' AND started_at = ? AND failure_analysis = ?", (at, said)
    )
    return rows[0][0] or 0


def any_there(db: Database) -> bool:
    return bool(db.query("SELECT 1 FROM attempt LIMIT 1"))


def matching(
    db: Database, terms: Sequence[str], *, outcomes: Sequence[str] | None = None, project: str | None = None
) -> list[SimilarAttempt]:
    """Those of all attempts that hold the rarest and most of the terms, best first."""
    if outcomes is not None and not outcomes:
        return []
    wanted = _POOL
    while True:
        scores = {item: score for item, _, score in db.matches(terms, wanted, types=("attempt",))}
        found = _matches(db, scores, outcomes, project)
        if len(found) >= _POOL // 2 or len(scores) < wanted:
            return found
        wanted *= 100  # the filter left too few of them


def _matches(
    db: Database, scores: dict[str, float], outcomes: Sequence[str] | None, project: str | None
) -> list[SimilarAttempt]:
    condition, values = _filter(outcomes, project)
    found: dict[str, Row] = {}
    for part in batches(scores):
        rows = db.query(
            "SELECT id, task, approach, failure_analysis, reflection, started_at, number FROM attempt "
            f"WHERE id IN ({marks(part)}) AND {condition}",
            [*part, *values],
        )
        found |= {row[0]: row[1:] for row in rows}
    kept = [id for id in scores if id in found][:_POOL]
    files = _files(db, kept)
    return [SimilarAttempt._make((id, scores[id], *found[id], files.get(id, ()))) for id in kept]


_OF_STRANGER = (
    "(a.source = 'import' OR EXISTS (SELECT 1 FROM event e WHERE e.item = a.id AND e.action IN ('log', 'reflect') "
    "AND e.actor LIKE 'token %'))"
)
"""Whether words of it came from a file, or from somebody with a token."""


class Failed(NamedTuple):
    """A failed attempt of a run, with the failure that its error was recognised as, if it was."""

    id: str
    source: str
    outcome: str
    task: str
    approach: str
    failure_analysis: str
    reflection: str
    started_at: int
    of_stranger: bool
    failure: str | None
    signature: str | None


def failed_in_run(db: Database, root: str) -> list[Failed]:
    """Everything that failed in a run, the newest first."""
    rows = db.query(
        "SELECT a.id, a.source, a.outcome, a.task, a.approach, a.failure_analysis, a.reflection, a.started_at, "
        f"{_OF_STRANGER}, f.id, coalesce(nullif(o.words, ''), f.signature) "
        "FROM attempt a LEFT JOIN occurrence o ON o.source = a.id LEFT JOIN failure f ON f.id = o.failure "
        "WHERE a.root = ? AND a.outcome IN ('failure', 'rollback') ORDER BY a.started_at DESC, a.number DESC",
        (root,),
    )
    return [Failed(*row) for row in rows]


class Mended(NamedTuple):
    """A try that worked where an earlier one had failed."""

    failed: str
    approach: str
    reflection: str
    of_stranger: bool


def mended_in_run(db: Database, root: str) -> dict[str, Mended]:
    """The failed attempts that a later one of the same run repeated with success, each with the last that did."""
    rows = db.query(
        f"SELECT a.retry_of, CASE WHEN a.source = 'run' THEN '' ELSE a.approach END, a.reflection, {_OF_STRANGER} "
        "FROM attempt a WHERE a.root = ? AND a.outcome = 'success' AND a.retry_of <> '' "
        "ORDER BY a.started_at, a.number",
        (root,),
    )
    return {row[0]: Mended(*row) for row in rows}


def short_tasks(db: Database, project: str | None, longest: int) -> list[tuple[str, str]]:
    """(what was asked for in at most so many characters, the conversation), of one's own sessions, the newest first."""
    rows = db.query(
        "SELECT a.task, a.root FROM attempt a JOIN session s ON s.id = a.session WHERE a.source = 'session' "
        "AND s.owner = 'own' AND (? IS NULL OR a.project = ?) AND length(a.task) <= ? "
        "ORDER BY a.started_at DESC, a.id LIMIT ?",
        (project, project, longest, _MOST_TASKS_READ),
    )
    return [(task, root) for task, root in rows]


class FailedTry(NamedTuple):
    """A failed attempt whose error was recognised: what it tried, and what came of it."""

    id: str
    root: str
    project: str | None
    agent: str
    source: str
    approach: str
    started_at: int
    failure: str
    family: str
    excerpt: str
    test_results: str


def failed_before(db: Database, row: AttemptRow) -> list[FailedTry]:
    """What an attempt may repeat: the one that it names, else what its run, or its project, tried; the newest first."""
    where, value = (
        ("a.id = ?", row.retry_of)
        if row.retry_of
        else ("a.root = ?", row.root)
        if row.root
        else ("a.project = ?", row.project)
    )
    rows = db.query(
        "SELECT a.id, a.root, a.project, a.agent, a.source, a.approach, a.started_at, o.failure, f.family, o.excerpt, "
        "a.test_results FROM attempt a JOIN occurrence o ON o.source = a.id JOIN failure f ON f.id = o.failure "
        f"WHERE {where} AND a.outcome <> 'success' AND a.started_at <= ? ORDER BY a.started_at DESC, a.number DESC "
        "LIMIT ?",
        (value, row.started_at, _TRIES_LOOKED_BACK),
    )
    return [FailedTry(*found) for found in rows]


class AttemptLine(NamedTuple):
    """What a line about an attempt is made of."""

    id: str
    number: int
    task: str
    approach: str
    outcome: str
    evidence: str
    failure_analysis: str
    reflection: str
    started_at: int
    of_stranger: bool
    signature: str
    files: tuple[str, ...]


def told(db: Database, ids: Sequence[str]) -> list[AttemptLine]:
    files = _files(db, ids)
    rows: list[Row] = []
    for part in batches(ids):
        rows += db.query(
            "SELECT a.id, a.number, a.task, a.approach, a.outcome, a.evidence, a.failure_analysis, a.reflection, "
            f"a.started_at, {_OF_STRANGER}, coalesce((SELECT f.signature FROM "
            "occurrence o JOIN failure f ON f.id = o.failure WHERE o.source = a.id ORDER BY o.at, f.id LIMIT 1), '') "
            f"FROM attempt a WHERE a.id IN ({marks(part)}) ORDER BY a.id",
            part,
        )
    return [AttemptLine._make((*row, tuple(file.path for file in files.get(row[0], ())))) for row in rows]


class AttemptTally(NamedTuple):
    """How many attempts of a group had an outcome."""

    group: str
    outcome: str
    evidence: str
    attempts: int


def tallies(db: Database, by: str, *, project: str | None = None, since: int = 0) -> list[AttemptTally]:
    """Counts for each value of `by`: `project`, `agent`, `phase`, `day` (since 1970), or empty for all."""
    group = {
        "": "''",
        "project": "coalesce(project, '')",
        "agent": "agent",
        "phase": "phase",
        "day": f"started_at / {_DAY}",
    }[by]
    wanted, values = _filter(None, project)
    rows = db.query(
        f"SELECT {group}, outcome, evidence, count(*) FROM attempt WHERE {wanted} AND started_at >= ? "
        "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
        [*values, since],
    )
    return [AttemptTally(str(row[0]), row[1], row[2], row[3]) for row in rows]


def _filter(outcomes: Sequence[str] | None, project: str | None) -> tuple[str, list[object]]:
    wanted, values = ["1 = 1"], list[object]()
    if outcomes is not None:
        wanted.append(f"outcome IN ({marks(outcomes)})")
        values += map(str, outcomes)
    if project is not None:
        wanted.append("project = ?")
        values.append(project)
    return " AND ".join(wanted), values


def _free(db: Database, wanted: Sequence[int]) -> set[int]:
    free = set(wanted)
    for part in batches(wanted):
        free -= {row[0] for row in db.query(f"SELECT number FROM attempt WHERE number IN ({marks(part)})", part)}
    return free


def numbers(db: Database, ids: Sequence[str]) -> dict[str, int]:
    """Id → number of those that are there."""
    found: dict[str, int] = {}
    for part in batches(ids):
        found |= dict(db.query(f"SELECT id, number FROM attempt WHERE id IN ({marks(part)})", part))
    return found


def _insert(db: Database, rows: Sequence[AttemptRow]) -> None:
    db.bulk(
        insert("attempt", (*_COLUMNS, "number", "seal")),
        ((*row[: len(_COLUMNS)], row.number, _seal(row)) for row in rows),
    )
    db.bulk(
        insert("attempt_file", ("attempt", "path", "role", "position"), "ON CONFLICT (attempt, path, role) DO NOTHING"),
        ((row.id, file.path, file.role, at) for row in rows for at, file in enumerate(row.files)),
    )
    db.index(_entry(row) for row in rows)


def _seal(row: AttemptRow) -> str:
    return integrity.seal_of_fields("attempt", row._asdict())


def _entry(row: AttemptRow) -> Entry:
    words = (row.task, row.approach, row.failure_analysis, row.reflection, row.test_results)
    return fulltext.entry(row.id, "attempt", " ".join((*words, *(file.path for file in row.files))))


def _select(db: Database, rest: str, values: Sequence[object] = ()) -> list[AttemptRow]:
    found = db.query(f"SELECT {', '.join(_COLUMNS)}, number FROM attempt {rest}", values)
    files = _files(db, [row[0] for row in found])
    return [AttemptRow._make((*row[:-1], files.get(row[0], ()), row[-1])) for row in found]


def _files(db: Database, ids: Sequence[str]) -> dict[str, tuple[FileRow, ...]]:
    rows: list[Row] = []
    for part in batches(ids):
        rows += db.query(
            f"SELECT attempt, path, role FROM attempt_file WHERE attempt IN ({marks(part)}) ORDER BY attempt, position",
            part,
        )
    return {id: tuple(FileRow(*row[1:]) for row in some) for id, some in groupby(rows, key=lambda row: row[0])}
