"""The harvest walk: files → sessions → scrub → failures and rules → gate → store."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from hardwon.clock import now
from hardwon.harvest.forgotten import remembered
from hardwon.harvest.learn import VERSION
from hardwon.harvest.overview import look_over
from hardwon.harvest.study import Glimpse, Lecture, Students, Studied, stamp_of
from hardwon.harvest.write import write
from hardwon.scrub.forgotten import Forgotten
from hardwon.scrub.scrubber import Scrubbing
from hardwon.sessions.project import Project, identify
from hardwon.store import failures, lessons, meta, projects, sessions, sources, stale, tombstones
from hardwon.store.database import Database
from hardwon.store.sessions import SessionRow
from hardwon.text.paths import tilde

_MOST_AT_ONCE = 32
"""Sessions that are written in one transaction: a hook that must write waits no longer than for these."""
_LONGEST_WAIT = 1.0
"""Seconds of work that are lost at the most when a harvest is killed."""

_MOST_DROPPED = 2_000

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
    with Students(size, scrubbing or Scrubbing(meta.scrub_key(db))) as students:
        entries = _look(db, students, fresh, report, told)
        entries.sort(key=lambda entry: (entry.started_at or 0, entry.path))
        roots = projects.known_roots(db) | _declared_roots(entries)
        studies = students.studied([Path(entry.path) for entry in entries], _known_contents(db, entries))
        _keep(_Kept(db, roots, report), studies, lambda done: told("harvesting", done, len(entries)), report)
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
    known = sources.known(db, VERSION)
    fresh = [path for path in paths if known.get(tilde(str(path))) != stamp_of(path)]
    forgotten = tombstones.load(db)
    return [path for path in fresh if not is_forgotten(path, forgotten)] if forgotten else fresh


def is_forgotten(path: Path | str, forgotten: Forgotten) -> bool:
    """A file that must not even be known by its name, or has nothing in it that may be known."""
    name = tilde(str(path))
    return forgotten.says(name) or forgotten.holds("file", name, *map(str, stamp_of(path)))


def _look(db: Database, students: Students, paths: list[Path], report: Report, told: Progress) -> list[Glimpse]:
    """The beginning of each file; those that are no sessions are noted as such."""
    entries: list[Glimpse] = []
    refused: list[Glimpse] = []
    for done, glimpse in enumerate(students.glimpses(paths)):
        told("looking", done, len(paths))
        if glimpse.refused:
            refused.append(glimpse)
        elif glimpse.is_there:  # it was, a moment ago
            entries.append(glimpse)
    report.refused = len(refused)
    if refused:
        with db.transaction():
            for glimpse in refused:
                name = tilde(glimpse.path)
                sources.save(db, name, glimpse.stamp, refused=glimpse.refused, harvester_version=VERSION)
    return entries


def _declared_roots(entries: list[Glimpse]) -> dict[str, str]:
    """Folders whose remote some session names, so that sessions that do not name it join them."""
    declared = (identify(entry.cwd, entry.remote) for entry in entries if entry.remote)
    return {project.root: project.key for project in declared if project and project.root}


def _known_contents(db: Database, entries: list[Glimpse]) -> dict[str, list[str]]:
    """Path → hashes of the sessions in the store: of a file that changed, most may be as they were."""
    rows = db.query("SELECT path, content_hash FROM session WHERE harvester_version = ?", (VERSION,)) if entries else []
    by_name: dict[str, list[str]] = {}
    for name, content in rows:
        by_name.setdefault(name, []).append(content)
    return {entry.path: by_name[name] for entry in entries if (name := tilde(entry.path)) in by_name}


def _keep(kept: _Kept, studies: Iterator[Studied], told: Callable[[int], None], report: Report) -> None:
    """Write what was learned in short transactions of some sessions; a file's last one marks it as done.

    A file is told as done when that is on the disk, and not before.
    """
    waiting: list[tuple[Studied, Lecture | None]] = []
    since = time.monotonic()
    told(0)
    for studied in studies:
        if not studied.is_read:
            report.refused += 1
            continue
        report.damaged += studied.damaged
        report.waiting += studied.waiting
        for lecture in [*studied.lectures, None]:
            waiting.append((studied, lecture))
            if len(waiting) >= _MOST_AT_ONCE or time.monotonic() - since > _LONGEST_WAIT:
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
        self._forgotten = tombstones.load(db)
        self._projects: dict[tuple[str, str], Project | None] = {}
        self._saved: dict[str, str] = {}
        self._left_out: Counter[str] = Counter()
        self.files = 0
        """How many have been written whole."""

    def write(self, waiting: list[tuple[Studied, Lecture | None]]) -> None:
        """One transaction; `None` stands for the end of a file."""
        if not waiting:
            return
        with self._db.transaction():
            self._forgotten = tombstones.current(self._db, self._forgotten)  # somebody may have forgotten just now
            self._saved = {}
            for studied, lecture in waiting:
                if lecture is None:
                    self._done(studied)
                elif not _held(self._db, lecture.learned.row):
                    self._learn(studied, lecture)
        self.files += sum(lecture is None for _, lecture in waiting)

    def _learn(self, studied: Studied, lecture: Lecture) -> None:
        project = self._project(lecture.cwd, lecture.remote)
        learned = remembered(lecture.learned.of(project), self._forgotten)
        if learned is None:
            self._left_out[studied.path] += 1
            return
        for one in write(self._db, learned, self._saved):
            _drop(self._report, Dropped(*one))
        _count(self._report, learned.row)

    def _project(self, cwd: str, remote: str) -> Project | None:
        """Many sessions share a folder, and looking at the disk is slow."""
        if (cwd, remote) not in self._projects:
            self._projects[cwd, remote] = identify(cwd, remote, self._roots)
        return self._projects[cwd, remote]

    def _done(self, studied: Studied) -> None:
        if studied.waiting:
            return  # the next harvest tries again
        name = tilde(studied.path)
        left_out = self._left_out.pop(studied.path, 0)
        if left_out and left_out == len(studied.lectures) and not sessions.of_file(self._db, name):
            # A file that holds nothing else is known by a keyed hash alone.
            tombstones.add(self._db, [tombstones.file(meta.forget_key(self._db), name, *studied.stamp)], now())
            return
        sources.save(self._db, name, studied.stamp, damaged=studied.damaged, harvester_version=VERSION)


def _drop(report: Report, one: Dropped) -> None:
    report.dropped_by_reason[one.reason] = report.dropped_by_reason.get(one.reason, 0) + 1
    if len(report.dropped) < _MOST_DROPPED:
        report.dropped.append(one)


def _held(db: Database, row: SessionRow) -> bool:
    """Whether the store has this session already, the same or longer, from this or another file."""
    held = sessions.held(db, row.id)
    return held is not None and held[2] == VERSION and held[:2] >= (row.messages, row.content_hash)


def _count(report: Report, row: SessionRow) -> None:
    report.sessions += 1
    report.messages += row.messages
    report.tool_calls += row.tool_calls
    report.errors += row.errors
    report.redactions += row.redactions
