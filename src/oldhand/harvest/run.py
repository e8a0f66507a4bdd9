"""The harvest walk: files → sessions → scrub → failures and rules → gate → store."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from oldhand.errors import NotASession, NotFound
from oldhand.failures.ledger import Findings, Turn, examine, turns
from oldhand.harvest import gate, sampler
from oldhand.harvest.clean import scrubbed
from oldhand.harvest.rules import fixes as fix_rule
from oldhand.harvest.rules import user as user_rule
from oldhand.model.lesson import Draft
from oldhand.model.session import Session, Transcript
from oldhand.scrub.scrubber import Scrubber
from oldhand.sessions.project import Project, identify
from oldhand.sessions.reader import peek, read
from oldhand.store import failures, lessons, projects, sessions, sources
from oldhand.store.sqlite import Database
from oldhand.text.paths import tilde

VERSION = 1
LONGEST_SUBJECT = 500

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done, and how much there is."""


class Report(Struct):
    """What a harvest did. `sessions` are those newly harvested; `skipped` counts unchanged files."""

    sessions: int = 0
    skipped: int = 0
    refused: int = 0
    left_for_later: int = 0
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


def harvest(
    db: Database, paths: Iterable[Path], *, most: int | None = None, progress: Progress | None = None
) -> Report:
    """Harvest every new or changed transcript among `paths`, oldest first; `most` limits how many."""
    began = time.perf_counter()
    told = progress or (lambda *_: None)
    report = Report()
    before = _counts(db)
    known = sources.known(db, VERSION)
    fresh = [path for path in paths if not _unchanged(path, known, report)]
    entries = _look(db, fresh, report, told)
    if most is not None:
        report.left_for_later = max(0, len(entries) - most)
        entries = sampler.best(entries, most, time.time_ns() // 1000)
    entries.sort(key=lambda entry: (entry.session.started_at or 0, str(entry.path)))
    roots = projects.known_roots(db) | _declared_roots(entries)
    touched: set[str] = set()
    for done, entry in enumerate(entries):
        told("harvesting", done, len(entries))
        touched |= _harvest_file(db, entry.path, roots, report)
    told("harvesting", len(entries), len(entries))
    after = _counts(db)
    report.lessons, report.failures, report.fixes = (new - old for new, old in zip(after, before, strict=True))
    report.projects = sorted(touched)
    report.seconds = round(time.perf_counter() - began, 3)
    return report


def _counts(db: Database) -> tuple[int, int, int]:
    found = failures.totals(db)
    return lessons.count(db), found["failures"], found["fixes"]


def _unchanged(path: Path, known: dict[str, tuple[int, int]], report: Report) -> bool:
    same = known.get(tilde(str(path))) == _stamp(path)
    report.skipped += same
    return same


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns // 1000


def _look(db: Database, paths: list[Path], report: Report, told: Progress) -> list[sampler.Entry]:
    """The beginning of each file: what it is, when and where it ran."""
    entries = []
    for done, path in enumerate(paths):
        told("looking", done, len(paths))
        stamp = _stamp(path)
        try:
            session = peek(path)
        except NotFound:
            continue  # it was there a moment ago
        except NotASession as error:
            report.refused += 1
            with db.transaction():
                reason = str(error).partition("is not a session: ")[2] or "not readable"
                sources.save(db, tilde(str(path)), stamp, refused=reason, harvester_version=VERSION)
            continue
        if session is None:
            session = Session(external_id=path.stem, agent="", format="")
        project = identify(session.cwd, session.remote)
        entries.append(sampler.Entry(path, session, project.key if project else ""))
    return entries


def _declared_roots(entries: list[sampler.Entry]) -> dict[str, str]:
    """Folders whose remote some session names, so that sessions that do not name it join them."""
    declared = (identify(entry.session.cwd, entry.session.remote) for entry in entries if entry.session.remote)
    return {project.root: project.key for project in declared if project and project.root}


def _harvest_file(db: Database, path: Path, roots: dict[str, str], report: Report) -> set[str]:
    stamp = _stamp(path)
    try:
        transcript = read(path)
    except (NotFound, NotASession, OSError):
        report.refused += 1
        return set()
    report.damaged += len(transcript.damaged)
    touched = set()
    for session in transcript.sessions:
        project = identify(session.cwd, session.remote, roots)
        if _store(db, session, project, transcript, stamp, report) and project:
            touched.add(project.id)
    with db.transaction():
        sources.save(
            db,
            tilde(str(path)),
            stamp,
            content_hash=transcript.content_hash,
            damaged=len(transcript.damaged),
            harvester_version=VERSION,
        )
    return touched


def _store(
    db: Database,
    raw: Session,
    project: Project | None,
    transcript: Transcript,
    stamp: tuple[int, int],
    report: Report,
) -> bool:
    """Learn from one session and write it in one transaction; False when the store has it already."""
    id = sessions.session_id(raw)
    held = sessions.held(db, id)
    if held is not None and held[2] == VERSION and held[:2] >= (len(raw.messages), transcript.content_hash):
        return False  # the same, or a longer copy of it, is in another file
    scrubber = Scrubber()
    session = scrubbed(raw, scrubber)
    findings = examine(session)
    drafts = fix_rule.drafts(findings.fixes) + user_rule.drafts(session)
    calls = turns(session)
    started = session.started_at or stamp[1]
    row = sessions.SessionRow(
        id=id,
        agent=session.agent,
        external_id=session.external_id,
        subagent=session.subagent,
        project=project.id if project else None,
        format=session.format,
        version=session.version,
        path=tilde(transcript.path),
        branch=session.branch,
        started_at=started,
        ended_at=session.ended_at or started,
        messages=len(session.messages),
        user_messages=session.user_messages,
        tool_calls=len(calls),
        errors=sum(turn.failed for turn in calls),
        unknown_records=session.unknown_records,
        redactions=scrubber.redactions,
        content_hash=transcript.content_hash,
        harvester_version=VERSION,
    )
    with db.transaction():
        _write(db, row, project, calls, findings, drafts)
    report.sessions += 1
    report.messages += row.messages
    report.tool_calls += row.tool_calls
    report.errors += row.errors
    report.redactions += row.redactions
    return True


def _write(
    db: Database,
    row: sessions.SessionRow,
    project: Project | None,
    calls: list[Turn],
    findings: Findings,
    drafts: list[Draft],
) -> None:
    touched_lessons = projects.save(db, project) if project else set()
    touched_failures = failures.of_session(db, row.id)
    touched_lessons |= lessons.of_session(db, row.id)
    sessions.replace(db, row, (_call_row(row.id, turn) for turn in calls))
    touched_failures |= failures.save(db, row.id, row.project, findings.occurrences, findings.fixes, row.started_at)
    for draft in drafts:
        status, trust = gate.admit(draft)
        touched_lessons.add(
            lessons.save(
                db,
                draft,
                session=row.id,
                project=row.project,
                agent=row.agent,
                status=status,
                trust=trust,
                at=row.started_at,
                harvester_version=VERSION,
            )
        )
    failures.refresh(db, touched_failures)
    lessons.refresh(db, touched_lessons)


def _call_row(session: str, turn: Turn) -> sessions.CallRow:
    result = turn.result
    return sessions.CallRow(
        session=session,
        position=turn.position,
        message_index=turn.message_index,
        at=turn.at,
        tool=turn.call.name,
        action=turn.call.action,
        subject=(turn.call.command or turn.call.target)[:LONGEST_SUBJECT],
        outcome=result.outcome if result else "unknown",
        evidence=result.evidence if result else "none",
        exit_code=result.exit_code if result else None,
    )
