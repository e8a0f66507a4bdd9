"""The harvest walk: files → sessions → scrub → failures and rules → trust → store, then rules over whole projects."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

from hardwon.clock import now
from hardwon.harvest import trust
from hardwon.harvest.attempts import attempt_rows
from hardwon.harvest.learn import VERSION, Learned, is_forgotten_lesson, of_another, remembered, without_copy
from hardwon.harvest.pipeline import FileHead, FileResult, SessionResult, Stamp, Workers, stamp_of
from hardwon.harvest.rules import Found, catalogue
from hardwon.harvest.trust import shortcoming
from hardwon.harvest.upkeep import put_in_order
from hardwon.model.lesson import DISTILLED
from hardwon.scrub.scrubber import Scrubber, Scrubbing
from hardwon.sessions.project import Project, identify, remote_key
from hardwon.store import attempts, failures, lessons, meta, projects, sessions
from hardwon.store.database import Database, marks
from hardwon.store.deletion import Removal
from hardwon.store.lessons import Cited
from hardwon.store.meta import Forgotten
from hardwon.store.projects import RanRow, TouchRow
from hardwon.store.sessions import CallRow, SessionRow, copied
from hardwon.text.normalise import base_name, tilde

if TYPE_CHECKING:
    from concurrent.futures import Executor

_SESSIONS_PER_TRANSACTION = 32
"""Sessions that are written in one transaction: a hook that must write waits no longer than for these."""
_SECONDS_PER_TRANSACTION = 1.0
"""Seconds of work that are lost at the most when a harvest is killed."""

_DROPPED_SENTENCES_REPORTED = 2_000

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done, and how much there is."""


_NOT_THE_AGENTS_OWN = ("specstory",)
"""Formats of those who watch an agent: of two copies of a session, the agent's own tells more."""


_CLONE = re.compile(r"\bgit clone (?:-\S+ (?:\d+ )?)*(?P<remote>[^\s'\"]+)(?: (?P<folder>[^\s;&|'\"-][^\s;&|'\"]*))?")


_OF_PATHS = b"paths"
"""Makes marks of values, so that two folders or files named by two people or tokens stay two."""


@lru_cache(maxsize=4096)
def _stored_name(path: Path) -> str:
    return f"{_stored_folder(str(path.parent))}{Scrubber(key=_OF_PATHS).scrub(path.name)}"


@lru_cache(maxsize=4096)
def _stored_folder(folder: str) -> str:
    """Agents name folders by projects, whose names may hold a token; clouds name theirs by people."""
    return tilde(Scrubber(key=_OF_PATHS).scrub(os.path.join(folder, "")))


class Log(NamedTuple):
    """A file of sessions: where it is read, what the store calls it, and whose it is."""

    path: Path
    owner: Literal["own", "foreign"] = "own"
    folder: str = ""
    """The repository it lies in, whose sessions these are; without one, they say themselves where they ran."""
    remote: str = ""
    """Of that repository."""
    kept_as: str = ""
    """Its name in the store, where it is read from a copy."""
    kept_stamp: Stamp | None = None

    @property
    def name(self) -> str:
        return self.kept_as or _stored_name(self.path)

    @property
    def stamp(self) -> Stamp:
        return self.kept_stamp or stamp_of(self.path)


class Dropped(Struct, frozen=True):
    """A sentence that a rule looked at and did not keep."""

    rule: str
    text: str
    reason: str


class Report(Struct):
    """What a harvest did. `sessions` are those newly harvested; `skipped` counts unchanged files."""

    sessions: int = 0
    subagents: int = 0
    """Those of them that a sub-agent had on behalf of another."""
    foreign: int = 0
    """Those of them that were taken as somebody else's: what they say waits for a person."""
    skipped: int = 0
    refused: int = 0
    copies: int = 0
    """Sessions that another file has, too: the better copy was kept."""
    moved: int = 0
    """Sessions that went to another project: the fuller copy lies there."""
    empty: int = 0
    """Files of an agent in which there is no session."""
    left_for_later: int = 0
    commits: int = 0
    """Commits that sessions are now known to have made."""
    notes: list[str] = []
    """What could not be read of a repository, and why."""
    waiting: int = 0
    """Sessions of which nothing was stored, for scrubbing them took too long; they are tried again next time."""
    messages: int = 0
    unsure: int = 0
    """Messages in the user's name that are not shown to be typed: what they say waits for a person."""
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
    db: Database,
    paths: Iterable[Path | Log],
    progress: Progress | None = None,
    scrubbing: Scrubbing | None = None,
    executor: Executor | None = None,
) -> Report:
    """Harvest every new or changed transcript among `paths`, oldest first; a mere path is one's own."""
    with Workers(scrubbing or Scrubbing(meta.scrub_key(db)), executor) as workers:
        return harvest_by(workers, db, paths, progress)


def harvest_by(workers: Workers, db: Database, paths: Iterable[Path | Log], progress: Progress | None = None) -> Report:
    """The same by workers that are still there when it is done; they draw the maps of what is new."""
    began = time.perf_counter()
    told = progress or (lambda *_: None)
    report = Report()
    before, kinds, statuses = _counts(db), lessons.counted(db, "kind"), lessons.counted(db, "status")
    wanted = [one if isinstance(one, Log) else Log(one) for one in paths]
    fresh = {str(log.path): log for log in unread(db, wanted)}
    report.skipped = len(wanted) - len(fresh)
    workers.start(sum(log.stamp[0] for log in fresh.values()))
    entries = _look(db, workers, fresh, report, told)
    entries.sort(key=lambda entry: (entry.started_at or 0, entry.path))
    declared = _declared_roots([one for one in entries if not fresh[one.path].folder])
    results = workers.results([Path(entry.path) for entry in entries], _known_contents(db, entries, fresh))
    _keep(_Kept(db, declared, fresh, report), results, lambda done: told("harvesting", done, len(entries)), report)
    told("adding up", len(entries), len(entries))
    workers.begin_maps(db, meta.stale_for_rules(db))
    touched = meta.recount_stale(db)
    look_over(db)
    touched |= meta.recount_stale(db)
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


def unread(db: Database, logs: Iterable[Log]) -> list[Log]:
    """The files that are new, have changed or turn out to be one's own since they were harvested, but for forgotten
    ones."""
    known, foreign = sessions.known_files(db, VERSION), sessions.foreign_files(db)
    fresh = [
        log
        for log in logs
        if known.get(log.name) != log.stamp or (log.owner == "own" and foreign and log.name in foreign)
    ]
    forgotten = meta.load_tombstones(db)
    return [log for log in fresh if not is_forgotten(log, forgotten)] if forgotten else fresh


def is_forgotten(log: Log, forgotten: Forgotten) -> bool:
    """A file that must not even be known by its name, or has nothing in it that may be known."""
    return forgotten.says(log.name) or forgotten.holds("file", log.name, *map(str, log.stamp))


def _look(db: Database, workers: Workers, logs: dict[str, Log], report: Report, told: Progress) -> list[FileHead]:
    """The beginning of each file; those that are no sessions are noted as such."""
    entries: list[FileHead] = []
    refused: list[FileHead] = []
    for done, head in enumerate(workers.heads([log.path for log in logs.values()])):
        told("looking", done, len(logs))
        if head.refused:
            refused.append(head)
        elif head.is_there:  # it was, a moment ago
            entries.append(head)
    report.refused = len(refused)
    if refused:
        with db.transaction():
            for head in refused:
                log = logs[head.path]
                stamp = log.kept_stamp or head.stamp
                sessions.save_file(db, log.name, stamp, refused=head.refused, harvester_version=VERSION)
    return entries


def _declared_roots(entries: list[FileHead]) -> dict[str, str]:
    """Folders whose remote some session names, so that sessions that do not name it join them."""
    declared = (identify(entry.cwd, entry.remote) for entry in entries if entry.remote)
    return {project.root: project.key for project in declared if project and project.root}


def _known_contents(db: Database, entries: list[FileHead], logs: dict[str, Log]) -> dict[str, list[str]]:
    """Path → hashes of the sessions in the store: of a file that changed, most may be as they were."""
    columns = "path, owner, content_hash"
    rows = db.query(f"SELECT {columns} FROM session WHERE harvester_version = ?", (VERSION,)) if entries else []
    by_name: dict[tuple[str, str], list[str]] = {}
    for name, owner, content in rows:
        by_name.setdefault((name, owner), []).append(content)
    called = {entry.path: (logs[entry.path].name, logs[entry.path].owner) for entry in entries}
    return {path: by_name[name] for path, name in called.items() if name in by_name}


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


Taught = tuple[FileResult, Learned | None]
"""What a session of a file taught; None is the end of the file."""


class _Kept:
    """Puts into the store what files taught, but for what was forgotten."""

    def __init__(self, db: Database, declared: dict[str, str], logs: dict[str, Log], report: Report) -> None:
        self._db = db
        self._confirmed = projects.known_roots(db)
        self._roots = self._confirmed | declared
        self._keys = frozenset(projects.keys(db))
        self._logs = logs
        self._report = report
        self._forgotten = meta.load_tombstones(db)
        self._projects: dict[tuple[str, str], Project | None] = {}
        self._scrub = meta.scrubber(db).scrub
        self._keeps_passages = sessions.passages_are_kept(db)
        self._saved: dict[str, str] = {}
        self._left_out: Counter[str] = Counter()
        self._settled: set[tuple[str, str]] = set()
        self._last_lane: str | None = None
        self.files = 0
        """How many have been written whole."""

    def write(self, waiting: list[tuple[FileResult, SessionResult | None]]) -> None:
        """One transaction, or one for each project where several can write at once; `None` is the end of a file."""
        taught = [(file, self._learned(file, session) if session else None) for file, session in waiting]
        for project, some in self._in_lanes(taught):
            with self._db.transaction(project):
                meta.need_room(self._db, [learned.row.id for _, learned in some if learned])
                # Somebody may have forgotten just now.
                self._forgotten = meta.current_tombstones(self._db, self._forgotten)
                self._saved = {}
                if project:
                    self._db.share_failures(self._failures_of(learned for _, learned in some if learned))
                for file, learned in some:
                    if learned is None:
                        self._done(file)
                    else:
                        self._keep(file, learned)
            self.files += sum(learned is None for _, learned in some)

    def _learned(self, file: FileResult, session: SessionResult) -> Learned:
        log = self._logs[file.path]
        learned = session.learned.of(self._project_of(log, session))
        learned = learned._replace(row=learned.row._replace(path=log.name))
        if not self._keeps_passages:
            learned = learned._replace(passages=[])
        if log.owner == "foreign":
            return of_another(learned)
        self._confirm_clones(session.cwd, learned.calls)
        return learned

    def _in_lanes(self, taught: list[Taught]) -> Iterator[tuple[str | None, list[Taught]]]:
        """In the same order; None for the whole store, which a file of SQLite always is to whoever writes."""
        if self._db.engine == "sqlite":
            yield from [(None, taught)] if taught else []
            return
        part: list[Taught] = []
        for file, learned in taught:
            lane = self._lane(learned) if learned else self._last_lane  # the end of a file goes with what was in it
            if part and lane != self._last_lane:
                yield self._last_lane, part
                part = []
            self._last_lane = lane
            part.append((file, learned))
        if part:
            yield self._last_lane, part

    def _lane(self, learned: Learned) -> str | None:
        """The project that is written to, if nothing of another is: it and its folder are known, the session is its."""
        project, id = learned.project, learned.row.id
        if not project or any(draft.scope != "project" for draft in learned.drafts):
            return None
        if (project.id, project.root) not in self._settled and not projects.is_settled(self._db, project):
            return None
        self._settled.add((project.id, project.root))
        held = self._db.query("SELECT 1 FROM session WHERE id = ? AND coalesce(project, '') <> ?", (id, project.id))
        return None if held else project.id

    def _failures_of(self, taught: Iterable[Learned]) -> set[str]:
        met: set[str] = set()
        for one in taught:
            found = one.findings
            met.update(each.fingerprint for each in found.occurrences)
            met.update(each.fingerprint for each in found.tried)
            met.update(fix.occurrence.fingerprint for fix in found.fixes)
            met |= failures.of_source(self._db, one.row.id)
        return met

    def _keep(self, file: FileResult, learned: Learned) -> None:
        held = sessions.held(self._db, learned.row.id)
        if held and held.path != learned.row.path and not learned.row.subagent:
            self._report.copies += os.path.exists(os.path.expanduser(held.path))  # else it was moved
        if _is_known(learned.row, held):
            return
        left = remembered(learned, self._forgotten)
        if left is None:
            self._left_out[file.path] += 1
            return
        self._report.moved += bool(held and _is_of_two_projects(held, left.row) and not left.row.subagent)
        new = without_copy(left, copied(self._db, left.row, left.trail))
        for one in write(self._db, new, self._saved):
            _drop(self._report, Dropped(*one))
        _count(self._report, new.row)
        self._report.unsure += new.unsure

    def _project_of(self, log: Log, session: SessionResult) -> Project | None:
        """What lies in a repository is of its project; a stranger's word for a folder of theirs is no word for ours."""
        if log.folder:
            return self._project(log.folder, log.remote)
        found = self._project(session.cwd, session.remote)
        return Project(found.key, "") if found and log.owner == "foreign" else found

    def _project(self, cwd: str, remote: str) -> Project | None:
        """Many sessions share a folder, and looking at the disk is slow."""
        if (cwd, remote) not in self._projects:
            found = identify(cwd, remote, self._roots)
            self._projects[cwd, remote] = found and found.scrubbed(self._scrub).settled(self._confirmed, self._keys)
        return self._projects[cwd, remote]

    def _confirm_clones(self, cwd: str, calls: list[CallRow]) -> None:
        """A folder that a session of this user cloned is what its remote says."""
        for call in calls:
            cloned = _CLONE.search(call.subject) if call.outcome == "ok" and "git clone" in call.subject else None
            if cloned and (key := remote_key(cloned["remote"])):
                folder = cloned["folder"] or base_name(key)
                self._confirmed.setdefault(tilde(os.path.normpath(os.path.join(cwd, folder))), key)

    def _done(self, file: FileResult) -> None:
        if file.waiting:
            return  # the next harvest tries again
        log = self._logs[file.path]
        name, stamp = log.name, log.kept_stamp or file.stamp
        left_out = self._left_out.pop(file.path, 0)
        self._leave(name)
        self._report.empty += not file.sessions and not sessions.of_file(self._db, name)
        if left_out and left_out == len(file.sessions) and not sessions.of_file(self._db, name):
            # A file that holds nothing else is known by a keyed hash alone.
            meta.add_tombstones(self._db, [meta.file_stone(meta.forget_key(self._db), name, *stamp)], now())
            return
        sessions.save_file(self._db, name, stamp, damaged=file.damaged, harvester_version=VERSION)

    def _leave(self, name: str) -> None:
        """What an older Hardwon took for a session of this file is the one that another holds, too."""
        gone = [id for id, version in sessions.of_history(self._db, name) if version != VERSION]
        if gone:
            removal = Removal(self._db)
            removal.sessions(gone)
            removal.finish()


def _drop(report: Report, one: Dropped) -> None:
    report.dropped_by_reason[one.reason] = report.dropped_by_reason.get(one.reason, 0) + 1
    if len(report.dropped) < _DROPPED_SENTENCES_REPORTED:
        report.dropped.append(one)


def _is_known(row: SessionRow, held: sessions.Held | None) -> bool:
    """Whether the store has this session already, the same or a better copy of it, from this or another file.

    One's own is better than a stranger's, which may say anything; then the agent's own than a watcher's; then the
    longer; of two as long that lie in two projects the one that is known, so that sessions stay where they are.
    """
    if held is None:
        return False
    if held.owner == "own" and row.owner == "foreign":
        return held.path != row.path  # whose a file is, is decided anew with each harvest of it
    if held.owner != row.owner:
        return False
    if (held.format, held.messages) == (row.format, row.messages) and _is_of_two_projects(held, row):
        return True
    if held.harvester_version != VERSION:
        return False
    return held.content_hash == row.content_hash or is_better(held, row)


def _is_of_two_projects(held: sessions.Held, row: SessionRow) -> bool:
    """Whether another file has it, too, in another project."""
    other = held.project and row.project and held.project != row.project and held.path != row.path
    return bool(other) and os.path.exists(os.path.expanduser(held.path))


def is_better(held: sessions.Held, row: SessionRow, copied: int = 0) -> bool:
    """Whether the copy that is held tells more than another one, which does not count so many messages of its own."""
    mine = (row.format not in _NOT_THE_AGENTS_OWN, row.messages + copied, row.content_hash)
    return (held.format not in _NOT_THE_AGENTS_OWN, held.messages, held.content_hash) > mine


def _count(report: Report, row: SessionRow) -> None:
    report.sessions += 1
    report.subagents += bool(row.subagent)
    report.foreign += row.owner == "foreign"
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
    if held := sessions.held(db, row.id):
        touched |= failures.of_source(db, row.id) | lessons.of_source(db, row.id)
        # What a model read out of it stays, as long as it is said by the same people.
        sessions.remove(db, row.id, but_lessons_of=DISTILLED if held.owner == row.owner else "")
    sessions.add(db, row, learned.calls, learned.trail)
    projects.add_visits(
        db,
        (TouchRow(row.id, *touch[:-1]) for touch in learned.touched),
        (RanRow(row.id, *ran[:-1]) for ran in learned.ran),
        learned.opened,
    )
    sessions.add_statements(db, row.id, learned.said)
    sessions.add_passages(db, row.id, learned.passages, row.started_at)
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
    meta.mark_stale(db, touched)
    if row.project:
        meta.mark_for_rules(db, [row.project])
    return dropped


def look_over(db: Database, only: str = "") -> None:
    """Apply the rules over the store to every project that has new sessions, or to one; to all, when the rules are new.

    What a rule finds is compared with what it found the last time: what is new is added, what is gone is taken back,
    and nothing is written when nothing changed.
    """
    if meta.rules_version(db) != catalogue.VERSION:
        with db.transaction():
            meta.mark_for_rules(db, [row[0] for row in db.query("SELECT id FROM project ORDER BY id")])
            meta.remember_rules(db, catalogue.VERSION)
    for project in meta.stale_for_rules(db):
        if only not in ("", project):
            continue
        with db.transaction(project):
            forgotten = meta.load_tombstones(db)
            _apply(db, project, [one for one in catalogue.of_project(db, project) if not _gone(one, forgotten)])
        meta.recount_stale(db)
        with db.transaction(project):
            put_in_order(db, project)
            meta.rules_done(db, project)
            meta.mark_stale(db, [project])  # what its next session is told may be another


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
        if id not in wanted:  # of whatever sessions came first
            lessons.settle(db, id, why="counted again", failure=one.draft.failure)
        wanted.setdefault(id, set()).update(source._replace(lesson=id) for source in one.cited)
    for id in sorted({*held, *wanted}):
        before, after = held.get(id, set()), wanted.get(id, set())
        if before != after:
            db.bulk(
                "DELETE FROM lesson_source WHERE lesson = ? AND source = ? AND message_index = ?",
                [source[:3] for source in sorted(before - after)],
            )
            lessons.cite(db, sorted(after))
            meta.mark_stale(db, [id])


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
