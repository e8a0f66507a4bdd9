"""The harvest walk: files → sessions → scrub → failures and rules → gate → store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from oldhand.errors import NotASession, NotFound, ScrubTimeout
from oldhand.harvest.learn import VERSION, content_hash, learn
from oldhand.harvest.write import write
from oldhand.model.session import Session, Transcript
from oldhand.scrub.scrubber import Scrubbing
from oldhand.sessions.project import identify
from oldhand.sessions.reader import peek, read
from oldhand.store import failures, lessons, projects, sessions, sources, stale
from oldhand.store.database import Database
from oldhand.text.paths import tilde

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done, and how much there is."""


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
    seconds: float = 0.0
    projects: list[str] = []
    """Ids of the projects that something was learned about."""


class Entry(NamedTuple):
    """A file that will be harvested, and what its beginning tells."""

    path: Path
    session: Session


def harvest(
    db: Database, paths: Iterable[Path], progress: Progress | None = None, scrubbing: Scrubbing | None = None
) -> Report:
    """Harvest every new or changed transcript among `paths`, oldest first."""
    scrubbing = scrubbing or Scrubbing()
    began = time.perf_counter()
    told = progress or (lambda *_: None)
    report = Report()
    before = _counts(db)
    wanted = list(paths)
    fresh = unread(db, wanted)
    report.skipped = len(wanted) - len(fresh)
    entries = _look(db, fresh, report, told)
    entries.sort(key=lambda entry: (entry.session.started_at or 0, str(entry.path)))
    roots = projects.known_roots(db) | _declared_roots(entries)
    for done, entry in enumerate(entries):
        told("harvesting", done, len(entries))
        _harvest_file(db, entry.path, roots, report, scrubbing)
    told("counting", len(entries), len(entries))
    touched = stale.recount(db)
    after = _counts(db)
    report.lessons, report.failures, report.fixes = (new - old for new, old in zip(after, before, strict=True))
    report.projects = sorted(touched)
    report.seconds = round(time.perf_counter() - began, 3)
    return report


def _counts(db: Database) -> tuple[int, int, int]:
    found = failures.totals(db)
    return lessons.count(db), found["failures"], found["fixes"]


def unread(db: Database, paths: Iterable[Path]) -> list[Path]:
    """The files that are new or have changed since they were harvested."""
    known = sources.known(db, VERSION)
    return [path for path in paths if known.get(tilde(str(path))) != _stamp(path)]


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns // 1000


def _look(db: Database, paths: list[Path], report: Report, told: Progress) -> list[Entry]:
    """The beginning of each file: what it is, when and where it ran."""
    entries: list[Entry] = []
    refused: list[tuple[str, tuple[int, int], str]] = []
    for done, path in enumerate(paths):
        told("looking", done, len(paths))
        stamp = _stamp(path)
        try:
            session = peek(path)
        except NotFound:
            continue  # it was there a moment ago
        except NotASession as error:
            reason = str(error).partition("is not a session: ")[2] or "not readable"
            refused.append((tilde(str(path)), stamp, reason))
            continue
        entries.append(Entry(path, session or Session(external_id=path.stem, agent="", format="")))
    report.refused = len(refused)
    if refused:
        with db.transaction():
            for name, stamp, reason in refused:
                sources.save(db, name, stamp, refused=reason, harvester_version=VERSION)
    return entries


def _declared_roots(entries: list[Entry]) -> dict[str, str]:
    """Folders whose remote some session names, so that sessions that do not name it join them."""
    declared = (identify(entry.session.cwd, entry.session.remote) for entry in entries if entry.session.remote)
    return {project.root: project.key for project in declared if project and project.root}


def _harvest_file(db: Database, path: Path, roots: dict[str, str], report: Report, scrubbing: Scrubbing) -> None:
    """One transaction a session; the last one also marks the file as done."""
    stamp = _stamp(path)
    try:
        transcript = read(path)
    except (NotFound, NotASession):
        report.refused += 1
        return
    report.damaged += len(transcript.damaged)
    wanted = [session for session in transcript.sessions if not _held(db, session)]
    waiting = 0
    for number, session in enumerate(wanted, start=1):
        project = identify(session.cwd, session.remote, roots)
        try:
            learned = learn(session, project, transcript, stamp[1], scrubbing)
        except ScrubTimeout:
            waiting += 1
            continue
        with db.transaction():
            write(db, learned)
            if number == len(wanted) and not waiting:
                _done(db, transcript, stamp)
        report.sessions += 1
        report.messages += learned.row.messages
        report.tool_calls += learned.row.tool_calls
        report.errors += learned.row.errors
        report.redactions += learned.row.redactions
    report.waiting += waiting
    if not wanted:
        with db.transaction():
            _done(db, transcript, stamp)


def _held(db: Database, session: Session) -> bool:
    """Whether the store has this session already, the same or longer, from this or another file."""
    held = sessions.held(db, sessions.session_id(session))
    return held is not None and held[2] == VERSION and held[:2] >= (len(session.messages), content_hash(session))


def _done(db: Database, transcript: Transcript, stamp: tuple[int, int]) -> None:
    sources.save(
        db,
        tilde(transcript.path),
        stamp,
        damaged=len(transcript.damaged),
        harvester_version=VERSION,
    )
