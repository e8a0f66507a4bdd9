"""The harvest walk: files → sessions → scrub → failures and rules → trust → store, then rules over whole projects."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from hardwon.clock import now
from hardwon.harvest import trust
from hardwon.harvest.attempts import attempt_rows
from hardwon.harvest.learn import VERSION, Learned, is_forgotten_lesson, remembered
from hardwon.harvest.merge import put_in_order
from hardwon.harvest.pipeline import FileHead, FileResult, SessionResult, Workers, stamp_of
from hardwon.harvest.rules import catalogue
from hardwon.harvest.rules.lesson_rule import Found
from hardwon.harvest.trust import shortcoming
from hardwon.scrub.forgotten import Forgotten
from hardwon.scrub.scrubber import Scrubbing
from hardwon.sessions.project import Project, identify
from hardwon.store import attempts, deletion, failures, lessons, meta, projects, sessions, stale, visits
from hardwon.store.database import Database, marks
from hardwon.store.lessons import Cited
from hardwon.store.sessions import SessionRow
from hardwon.store.visits import RanRow, TouchRow
from hardwon.text.paths import tilde
from hardwon.text.words import terms

_SESSIONS_PER_TRANSACTION = 32
"""Sessions that are written in one transaction: a hook that must write waits no longer than for these."""
_SECONDS_PER_TRANSACTION = 1.0
"""Seconds of work that are lost at the most when a harvest is killed."""

_DROPPED_SENTENCES_REPORTED = 2_000
_SHARED_WITH_AN_ANSWER = 0.6
"""The share of a question's words that a later task has when it is about the same."""
_TASKS_SEARCHED_FOR_ANSWERS = 500

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done, and how much there is."""


class Dropped(Struct, frozen=True):
    """A sentence that a rule looked at and did not keep."""

    rule: str
    text: str
    reason: str


class Report(Struct):
    """What a harvest did. `sessions` are those newly harvested; `skipped` counts unchanged files."""

    sessions: int = 0
    skipped: int = 0
    refused: int = 0
    left_for_later: int = 0
    waiting: int = 0
    """Sessions of which nothing was stored, for scrubbing them took too long; they are tried again next time."""
    messages: int = 0
    tool_calls: int = 0
    errors: int = 0
    damaged: int = 0
    lessons: int = 0
    failures: int = 0
    fixes: int = 0
    redactions: int = 0
    lessons_by_kind: dict[str, int] = {}
    by_status: dict[str, int] = {}
    """Of the lessons that are new, less those that are gone."""
    dropped_by_reason: dict[str, int] = {}
    dropped: list[Dropped] = []
    """The first of what was not worth keeping, for `--explain`."""
    seconds: float = 0.0
    projects: list[str] = []
    """Ids of the projects that something was learned about."""


def harvest(
    db: Database, paths: Iterable[Path], progress: Progress | None = None, scrubbing: Scrubbing | None = None
) -> Report:
    """Harvest every new or changed transcript among `paths`, oldest first."""
    began = time.perf_counter()
    told = progress or (lambda *_: None)
    report = Report()
    before, kinds, statuses = _counts(db), lessons.counted(db, "kind"), lessons.counted(db, "status")
    wanted = list(paths)
    fresh = unread(db, wanted)
    report.skipped = len(wanted) - len(fresh)
    size = sum(stamp_of(path)[0] for path in fresh)
    with Workers(size, scrubbing or Scrubbing(meta.scrub_key(db))) as workers:
        entries = _look(db, workers, fresh, report, told)
        entries.sort(key=lambda entry: (entry.started_at or 0, entry.path))
        roots = projects.known_roots(db) | _declared_roots(entries)
        results = workers.results([Path(entry.path) for entry in entries], _known_contents(db, entries))
        _keep(_Kept(db, roots, report), results, lambda done: told("harvesting", done, len(entries)), report)
    told("counting", len(entries), len(entries))
    touched = stale.recount(db)
    look_over(db)
    touched |= stale.recount(db)
    after = _counts(db)
    report.lessons, report.failures, report.fixes = (new - old for new, old in zip(after, before, strict=True))
    report.lessons_by_kind = _grown(kinds, lessons.counted(db, "kind"))
    report.by_status = _grown(statuses, lessons.counted(db, "status"))
    report.projects = sorted(touched)
    report.seconds = round(time.perf_counter() - began, 3)
    return report


def _counts(db: Database) -> tuple[int, int, int]:
    found = failures.totals(db)
    return lessons.count(db), found["failures"], found["fixes"]


def _grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    names = sorted({*before, *after})
    return {name: more for name in names if (more := after.get(name, 0) - before.get(name, 0))}


def unread(db: Database, paths: Iterable[Path]) -> list[Path]:
    """The files that are new or have changed since they were harvested, but for forgotten ones."""
    known = sessions.known_files(db, VERSION)
    fresh = [path for path in paths if known.get(tilde(str(path))) != stamp_of(path)]
    forgotten = deletion.load_tombstones(db)
    return [path for path in fresh if not is_forgotten(path, forgotten)] if forgotten else fresh


def is_forgotten(path: Path | str, forgotten: Forgotten) -> bool:
    """A file that must not even be known by its name, or has nothing in it that may be known."""
    name = tilde(str(path))
    return forgotten.says(name) or forgotten.holds("file", name, *map(str, stamp_of(path)))


def _look(db: Database, workers: Workers, paths: list[Path], report: Report, told: Progress) -> list[FileHead]:
    """The beginning of each file; those that are no sessions are noted as such."""
    entries: list[FileHead] = []
    refused: list[FileHead] = []
    for done, head in enumerate(workers.heads(paths)):
        told("looking", done, len(paths))
        if head.refused:
            refused.append(head)
        elif head.is_there:  # it was, a moment ago
            entries.append(head)
    report.refused = len(refused)
    if refused:
        with db.transaction():
            for head in refused:
                name = tilde(head.path)
                sessions.save_file(db, name, head.stamp, refused=head.refused, harvester_version=VERSION)
    return entries


def _declared_roots(entries: list[FileHead]) -> dict[str, str]:
    """Folders whose remote some session names, so that sessions that do not name it join them."""
    declared = (identify(entry.cwd, entry.remote) for entry in entries if entry.remote)
    return {project.root: project.key for project in declared if project and project.root}


def _known_contents(db: Database, entries: list[FileHead]) -> dict[str, list[str]]:
    """Path → hashes of the sessions in the store: of a file that changed, most may be as they were."""
    rows = db.query("SELECT path, content_hash FROM session WHERE harvester_version = ?", (VERSION,)) if entries else []
    by_name: dict[str, list[str]] = {}
    for name, content in rows:
        by_name.setdefault(name, []).append(content)
    return {entry.path: by_name[name] for entry in entries if (name := tilde(entry.path)) in by_name}


def _keep(kept: _Kept, results: Iterator[FileResult], told: Callable[[int], None], report: Report) -> None:
    """Write what was learned in short transactions of some sessions; a file's last one marks it as done.

    A file is told as done when that is on the disk, and not before.
    """
    waiting: list[tuple[FileResult, SessionResult | None]] = []
    since = time.monotonic()
    told(0)
    for file in results:
        if not file.is_read:
            report.refused += 1
            continue
        report.damaged += file.damaged
        report.waiting += file.waiting
        for session in [*file.sessions, None]:
            waiting.append((file, session))
            if len(waiting) >= _SESSIONS_PER_TRANSACTION or time.monotonic() - since > _SECONDS_PER_TRANSACTION:
                kept.write(waiting)
                told(kept.files)
                waiting, since = [], time.monotonic()
    kept.write(waiting)
    told(kept.files)


class _Kept:
    """Puts into the store what files taught, but for what was forgotten."""

    def __init__(self, db: Database, roots: dict[str, str], report: Report) -> None:
        self._db = db
        self._roots = roots
        self._report = report
        self._forgotten = deletion.load_tombstones(db)
        self._projects: dict[tuple[str, str], Project | None] = {}
        self._saved: dict[str, str] = {}
        self._left_out: Counter[str] = Counter()
        self.files = 0
        """How many have been written whole."""

    def write(self, waiting: list[tuple[FileResult, SessionResult | None]]) -> None:
        """One transaction; `None` stands for the end of a file."""
        if not waiting:
            return
        with self._db.transaction():
            self._forgotten = deletion.current_tombstones(
                self._db, self._forgotten
            )  # somebody may have forgotten just now
            self._saved = {}
            for file, session in waiting:
                if session is None:
                    self._done(file)
                elif not _is_known(self._db, session.learned.row):
                    self._learn(file, session)
        self.files += sum(session is None for _, session in waiting)

    def _learn(self, file: FileResult, session: SessionResult) -> None:
        project = self._project(session.cwd, session.remote)
        learned = remembered(session.learned.of(project), self._forgotten)
        if learned is None:
            self._left_out[file.path] += 1
            return
        for one in write(self._db, learned, self._saved):
            _drop(self._report, Dropped(*one))
        _count(self._report, learned.row)

    def _project(self, cwd: str, remote: str) -> Project | None:
        """Many sessions share a folder, and looking at the disk is slow."""
        if (cwd, remote) not in self._projects:
            self._projects[cwd, remote] = identify(cwd, remote, self._roots)
        return self._projects[cwd, remote]

    def _done(self, file: FileResult) -> None:
        if file.waiting:
            return  # the next harvest tries again
        name = tilde(file.path)
        left_out = self._left_out.pop(file.path, 0)
        if left_out and left_out == len(file.sessions) and not sessions.of_file(self._db, name):
            # A file that holds nothing else is known by a keyed hash alone.
            deletion.add_tombstones(
                self._db, [deletion.file_stone(meta.forget_key(self._db), name, *file.stamp)], now()
            )
            return
        sessions.save_file(self._db, name, file.stamp, damaged=file.damaged, harvester_version=VERSION)


def _drop(report: Report, one: Dropped) -> None:
    report.dropped_by_reason[one.reason] = report.dropped_by_reason.get(one.reason, 0) + 1
    if len(report.dropped) < _DROPPED_SENTENCES_REPORTED:
        report.dropped.append(one)


def _is_known(db: Database, row: SessionRow) -> bool:
    """Whether the store has this session already, the same or longer, from this or another file."""
    held = sessions.held(db, row.id)
    return held is not None and held[2] == VERSION and held[:2] >= (row.messages, row.content_hash)


def _count(report: Report, row: SessionRow) -> None:
    report.sessions += 1
    report.messages += row.messages
    report.tool_calls += row.tool_calls
    report.errors += row.errors
    report.redactions += row.redactions


def write(db: Database, learned: Learned, saved: dict[str, str]) -> list[tuple[str, str, str]]:
    """Put what a session taught in place of what an earlier reading of it left. Called inside a transaction.

    Returns (rule, text, reason) of what is not worth keeping.
    `saved` has the project that this transaction last kept for a folder.
    """
    row = learned.row
    touched: set[str] = set()
    project = learned.project
    if project and saved.get(project.root) != project.id:
        touched |= projects.save(db, project)
        saved[project.root] = project.id
    if sessions.held(db, row.id):
        touched |= failures.of_source(db, row.id) | lessons.of_source(db, row.id)
        sessions.remove(db, row.id)
    sessions.add(db, row, learned.calls)
    visits.add(
        db,
        (TouchRow(row.id, *touch) for touch in learned.touched),
        (RanRow(row.id, *ran) for ran in learned.ran),
        learned.opened,
    )
    place = failures.Place(row.id, row.root, row.project, row.agent, row.started_at)
    tokens = {call.position: call.tokens for call in learned.calls}
    touched |= failures.save(db, place, learned.findings, tokens)
    dropped = []
    for draft in learned.drafts:
        admitted = trust.admit(draft)
        reason = draft.dropped or ("our own words" if admitted is None else shortcoming(draft, admitted.trust))
        if reason or admitted is None:
            dropped.append((draft.rule, draft.text, reason))
            continue
        id = lessons.save(db, draft, admitted, project=row.project, agent=row.agent, at=row.started_at, version=VERSION)
        quoted = draft.source
        cited = Cited(id, row.id, quoted.message_index, row.root, row.started_at, quoted.quote, quoted.origin)
        lessons.cite(db, [cited])
        touched.add(id)
    attempts.replace_of_session(db, row.id, attempt_rows(row, learned.attempts))
    stale.mark(db, touched)
    if row.project:
        stale.mark_for_rules(db, [row.project])
    return dropped


def look_over(db: Database) -> None:
    """Apply the rules over the store to every project that has new sessions; to all, when the rules are new.

    What a rule finds is compared with what it found the last time: what is new is added, what is gone is taken back,
    and nothing is written when nothing changed.
    """
    if meta.rules_version(db) != catalogue.VERSION:
        with db.transaction():
            stale.mark_for_rules(db, [row[0] for row in db.query("SELECT id FROM project ORDER BY id")])
            meta.remember_rules(db, catalogue.VERSION)
    for project in stale.for_rules(db):
        with db.transaction():
            forgotten = deletion.load_tombstones(db)
            _apply(db, project, [one for one in catalogue.of_project(db, project) if not _gone(one, forgotten)])
        stale.recount(db)
        with db.transaction():
            put_in_order(db, project)
            close_answered(db, project)
            stale.rules_done(db, project)
            stale.mark(db, [project])  # what its next session is told may be another


def _gone(found: Found, forgotten: Forgotten) -> bool:
    return bool(forgotten) and is_forgotten_lesson(found.draft, forgotten)


def _apply(db: Database, project: str, found: list[Found]) -> None:
    held = _sources_held(db, project)
    wanted: dict[str, set[Cited]] = {}
    for one in found:
        admitted = trust.admit(one.draft)
        if admitted is None:
            continue
        at = min(source.at for source in one.cited)
        id = lessons.save(db, one.draft, admitted, project=project, agent="", at=at, version=VERSION)
        wanted.setdefault(id, set()).update(source._replace(lesson=id) for source in one.cited)
    for id in sorted({*held, *wanted}):
        before, after = held.get(id, set()), wanted.get(id, set())
        if before != after:
            db.bulk(
                "DELETE FROM lesson_source WHERE lesson = ? AND source = ? AND message_index = ?",
                [source[:3] for source in sorted(before - after)],
            )
            lessons.cite(db, sorted(after))
            stale.mark(db, [id])


def _sources_held(db: Database, project: str) -> dict[str, set[Cited]]:
    """The sources of every lesson that these rules left in the project."""
    names = sorted(catalogue.OVER_STORE)
    found: dict[str, set[Cited]] = {
        row[0]: set()
        for row in db.query(
            f"SELECT id FROM lesson WHERE project = ? AND kept = 0 AND rule IN ({marks(names)})", (project, *names)
        )
    }
    columns = ", ".join(f"o.{name}" for name in Cited._fields)
    for row in db.query(
        f"SELECT {columns} FROM lesson_source o JOIN lesson l ON l.id = o.lesson "
        f"WHERE l.project = ? AND l.rule IN ({marks(names)})",
        (project, *names),
    ):
        found.setdefault(row[0], set()).add(Cited(*row))
    return found


def close_answered(db: Database, project: str) -> None:
    """Close the questions of a project that a later session took up. Called inside a transaction.

    What a person decided on stays as it is.
    """
    open_ones = [
        one
        for one in lessons.listed(db, project=project, kind="question")
        if one.status in ("active", "candidate") and one.project == project and not one.kept
    ]
    if not open_ones:
        return
    tasks = db.query(
        "SELECT started_at, task FROM session WHERE project = ? AND messages > user_messages UNION ALL "
        "SELECT started_at, task FROM attempt WHERE project = ? ORDER BY 1 DESC LIMIT ?",
        (project, project, _TASKS_SEARCHED_FOR_ANSWERS),
    )
    later = [(at, set(terms(task))) for at, task in reversed(tasks)]
    for question in open_ones:
        wanted = set(terms(question.text))
        answered = [at for at, about in later if at > question.last_confirmed and _same(wanted, about)]
        if answered:
            lessons.settle(
                db, question.id, why="a later session took it up", status="superseded", valid_until=answered[0]
            )


def _same(wanted: set[str], about: set[str]) -> bool:
    return bool(wanted) and len(wanted & about) >= _SHARED_WITH_AN_ANSWER * len(wanted)
