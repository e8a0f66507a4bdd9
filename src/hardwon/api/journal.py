"""What was tried, and what came of it: `memory.journal`."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from msgspec import Struct

from hardwon.api.connection import Part, need_switched_on
from hardwon.capture import attempts as intake
from hardwon.capture import crash as crash_file
from hardwon.capture import past_failures, record, reflections
from hardwon.capture import verify as verified
from hardwon.capture.attempts import AGAINST_WORD, MEASURED, kept, spellings
from hardwon.capture.past_failures import PastFailures
from hardwon.capture.run import Ran
from hardwon.capture.verify import Verified
from hardwon.clock import now, to_microseconds
from hardwon.errors import NotAllowed, NotFound
from hardwon.home import failure_memory_off
from hardwon.model.attempt import Attempt, AttemptId, Outcome, Outcomes, Similar, outcomes_meant
from hardwon.model.metric import Rate, rate
from hardwon.model.nouns import each_name
from hardwon.recall.similar_attempts import Alike, similar
from hardwon.scrub.scrubber import Scrubber
from hardwon.store import attempts, integrity, meta, projects
from hardwon.store.attempts import AttemptRow, AttemptTally
from hardwon.store.database import Database
from hardwon.store.integrity import Happened
from hardwon.store.meta import scrubber
from hardwon.text.normalise import base_name

# How attempts went: shares with their counts and intervals.

_DAY_SECONDS = 86_400
T = TypeVar("T")
_OWN = "journal"
_FOUND_BY_MEANING = 50
_LEAST_NEAR_IN_MEANING = 0.35
"""The cosine of a task and an attempt that are about the same thing in other words."""


class Group(Struct, frozen=True, kw_only=True):
    """How the attempts of one group went. The rate is of those whose outcome is known."""

    name: str
    attempts: int
    measured: int
    """Whose outcome rests on more than somebody's word."""
    outcomes: dict[str, int]
    success_rate: Rate


class Stats(Struct, frozen=True, kw_only=True):
    overall: Group
    project: list[Group]
    agent: list[Group]
    phase: list[Group]
    month: list[Group]


def stats(db: Database | None, project: str | None, since: int) -> Stats:
    """Without a store, that of an empty one."""

    def tallies(by: str) -> list[AttemptTally]:
        return attempts.tallies(db, by, project=project, since=since) if db else []

    names = projects.names(db) if db else {}
    return Stats(
        overall=group("", tallies("")),
        project=_groups([tally._replace(group=names.get(tally.group, "")) for tally in tallies("project")]),
        agent=_groups(tallies("agent")),
        phase=_groups(tallies("phase")),
        month=_groups([tally._replace(group=_month(tally.group)) for tally in tallies("day")]),
    )


def group(name: str, tallies: Sequence[AttemptTally]) -> Group:
    outcomes: Counter[str] = Counter({outcome.value: 0 for outcome in Outcome})
    for tally in tallies:
        outcomes[tally.outcome] += tally.attempts
    total = sum(outcomes.values())
    return Group(
        name=name,
        attempts=total,
        measured=sum(tally.attempts for tally in tallies if tally.evidence.removesuffix(AGAINST_WORD) in MEASURED),
        outcomes=dict(outcomes),
        success_rate=rate(outcomes["success"], total - outcomes["unknown"]),
    )


def _groups(tallies: Sequence[AttemptTally]) -> list[Group]:
    by_name: dict[str, list[AttemptTally]] = {}
    for tally in tallies:
        by_name.setdefault(tally.group, []).append(tally)
    return [group(name, some) for name, some in by_name.items()]


def _month(day: str) -> str:
    return datetime.fromtimestamp(int(day) * _DAY_SECONDS, UTC).strftime("%Y-%m")


class Captured(Struct, frozen=True, kw_only=True):
    """What became of a failure that was handed over."""

    attempt: int | None
    """The number of the attempt that was written; None with `HARDWON_FAILURE_MEMORY=0`."""
    error: str
    """The failure in a line."""
    unknown_keys: int = 0
    """How many keys of a crash file were dropped because nobody knows them."""
    refused: tuple[str, ...] = ()
    """The keys whose values were not what they should be."""


class Journal(Part):
    """Attempts: logged, found again, counted."""

    def log(self, attempt: Attempt) -> int:
        """Write an attempt into the journal; returns its number.

        Raises `NotAllowed` for an attempt without a task, or one that repeats an unknown attempt.
        """
        need_switched_on()
        db = self._memory.writing()
        meta.need_room(db)
        row = intake.stored(attempt, None, scrubber(db), _key_of(db, attempt.retry_of))
        row = row._replace(project=self._memory.project_to_keep(attempt.project) or None)
        before = attempts.by_id(db, [row.retry_of]).get(row.retry_of)
        with db.transaction(row.project if before is None or before.project == row.project else None):
            number = record.logged(db, row, actor=self._actor(_OWN))
            self._tell(db, [number])
        return number

    def log_all(self, attempts: Iterable[Attempt]) -> list[int]:
        """Write many attempts, all or none; returns their numbers. Raises `NotAllowed` as `log` does."""
        need_switched_on()
        db = self._memory.writing()
        meta.need_room(db)
        scrub = scrubber(db)
        with db.transaction():
            numbers = [_logged(db, attempt, scrub, self._actor(_OWN)) for attempt in attempts]
            self._tell(db, numbers)
        return numbers

    def _tell(self, db: Database, numbers: Sequence[int]) -> None:
        """What others log is on record with their name."""
        if self._actor(_OWN) == _OWN:
            return
        rows = [row for number in numbers if (row := attempts.get(db, number))]
        logged = [Happened("log", row.id, {}, {"outcome": row.outcome}) for row in rows]
        integrity.record_events(db, self._actor(), now(), logged)

    def get(self, number: AttemptId) -> Attempt:
        """An attempt in full, by its number or its id. Raises `NotFound`."""
        db = self._reading()
        row = attempts.get(db, number) if db else None
        if db is None or row is None:
            raise NotFound(f"no attempt {number}: `hardwon journal similar` and `hardwon journal failures` find them")
        return _given(db, [row])[0]

    def reflect(self, number: AttemptId, reflection: str) -> None:
        """Write down what was learned from an attempt (its number or its id); what stood there stays in the history.

        It is proposed as a lesson, too. Raises `NotFound`.
        """
        need_switched_on()
        found = self.get(number)
        db = self._memory.writing()
        with db.transaction():
            words = intake.reflection_text(reflection, scrubber(db))
            attempts.update_reflection(db, found.id or 0, words, actor=self._actor(_OWN))
            if row := attempts.get(db, found.key):
                reflections.propose(db, row, actor=self._actor(_OWN))

    def similar(
        self,
        task: str,
        *,
        files: str | Sequence[str] = (),
        outcomes: Outcomes = None,
        project: str | None = None,
        limit: int = 5,
    ) -> list[Similar]:
        """The attempts most like a task, of all there are, the most alike first, each with the words that both have.

        Where there are vectors, also those that mean the same in other words. Raises `NotFound` for an unknown
        project, `NotAllowed` for an unknown outcome.
        """
        db, wanted = self._reading(), outcomes_meant(outcomes)
        if db is None:
            return []
        paths = [intake.file_path(path) for path in each_name(files)]
        named = self._memory.project(project)
        alike = similar(db, task, files=paths, outcomes=wanted, project=named, limit=limit)
        alike += self._by_meaning(task, named, limit, {entry.id for entry in alike})
        rows = attempts.by_id(db, [entry.id for entry in alike])
        given = {one.key: one for one in _given(db, rows.values()) if wanted is None or one.outcome in wanted}
        found = [
            Similar(attempt=given[one.id], score=one.score, matched=one.matched) for one in alike if one.id in given
        ]
        return sorted(found, key=lambda one: -one.score)[: max(0, limit)]

    def _by_meaning(self, task: str, project: str | None, limit: int, known: set[str]) -> builtins.list[Alike]:
        """Attempts that share no words with the task, or too few; nothing where there is no model."""
        if limit <= 0 or self._memory.embedder.embedder is None:
            return []
        hits = self._memory.search(task, type="attempt", project=project, limit=_FOUND_BY_MEANING).hits
        near = [(hit.id, hit.parts.get("vector") or 0.0) for hit in hits if hit.id not in known]
        return [Alike(id, round(score, 2), ()) for id, score in near if score >= _LEAST_NEAR_IN_MEANING]

    def for_file(self, path: str, *, project: str | None = None, limit: int = 10) -> list[Attempt]:
        """Attempts that touched a file, or a file below a folder, the newest first.

        The path is absolute, or relative to the root of the repository. Raises `NotFound` for an unknown project.
        """
        db = self._reading()
        if db is None:
            return []
        asked = spellings(intake.file_path(path))
        return _given(db, attempts.of_file(db, asked, project=self._memory.project(project), limit=limit))

    def files_called(self, path: str) -> builtins.list[str]:
        """The files that attempts touched and that have the same last name, wherever they lie."""
        db = self._reading()
        return attempts.files_called(db, base_name(intake.file_path(path))) if db else []

    def stats(self, *, project: str | None = None, since: datetime | None = None) -> Stats:
        """How attempts went, overall and by project, agent, phase and month, each with its interval.

        Raises `NotFound` for an unknown project.
        """
        db = self._reading()
        return stats(db, self._memory.project(project) if db else None, to_microseconds(since))

    def past_failures(
        self, *, run: str = "", project: str | None = None, task: str = "", only_here: bool = False
    ) -> PastFailures:
        """What a next try should avoid: this run's newest failures, then the likeliest from before.

        Its text is empty when there is nothing to say, and when failure memory is switched off. `only_here` tells
        nothing of other projects. Raises `NotFound` for an unknown project.
        """
        db = None if failure_memory_off() else self._reading()
        if db is None:
            return past_failures.NOTHING
        named = self._memory.project(project)
        root = intake.run_name(run)
        return past_failures.block(
            db, self._memory.config, now(), run=root, project=named, task=task, only_here=only_here
        )

    def verify(self, run: str, *, project: str | None = None) -> Verified:
        """Whether "done" is backed by evidence: the run's last test report or exit code, and what still fails.

        Raises `NotFound` for an unknown project.
        """
        db = self._reading()
        if db is None:
            return verified.NOTHING
        return verified.verify(db, intake.run_name(run), now(), project=self._memory.project(project))

    def capture_command(
        self, line: Sequence[str], ran: Ran, *, task: str = "", phase: str = "", run: str = "", project: str = "."
    ) -> int | None:
        """Record a command that failed, or that was somebody's task; returns the attempt's number.

        None, and nothing is recorded, with `HARDWON_FAILURE_MEMORY=0`.
        """
        return self._captured(
            lambda db, holder: record.command(db, line, ran, task=task, phase=phase, run=run, project=holder), project
        )

    def capture_crash(
        self, content: bytes, *, at: datetime | None = None, task: str = "", run: str = "", project: str = "."
    ) -> Captured:
        """Record a crash file; `at` is the time of one that does not tell it.

        Raises `NotAllowed` for what is no crash file.
        """
        found = crash_file.read(content)
        when = found.captured_at or (to_microseconds(at) if at else None)
        number = self._captured(  # alone: whoever else finds the same file must find this
            lambda db, _: record.crash(db, found, at=when, evidence="crash-file", task=task, run=run, project=project)
        )
        return Captured(attempt=number, error=found.shown, unknown_keys=found.unknown, refused=found.refused)

    def capture_failure(
        self, *, phase: str = "", exit_code: int | None = None, task: str = "", run: str = "", project: str = "."
    ) -> Captured:
        """Record that something failed of which no more is known."""
        found = crash_file.plain(phase, exit_code)
        evidence = "exit-code" if exit_code else "stated"
        number = self._captured(
            lambda db, holder: record.crash(db, found, at=None, evidence=evidence, task=task, run=run, project=holder),
            project,
        )
        return Captured(attempt=number, error=found.shown)

    def _captured(self, step: Callable[[Database, str], T], project: str = "") -> T | None:
        if failure_memory_off():
            return None
        db = self._memory.writing()
        holder = self._memory.project_to_keep(project)
        with db.transaction(holder):
            return step(db, holder)

    def _reading(self) -> Database | None:
        """None while there is no store: the journal is then empty."""
        return self._memory.reading() if self._memory.exists else None

    def list(
        self, *, outcomes: Outcomes = None, project: str | None = None, run: str | None = None, limit: int = 10
    ) -> list[Attempt]:
        """Attempts, the newest first. Raises `NotFound` for an unknown project, `NotAllowed` for an unknown outcome."""
        db, wanted = self._reading(), outcomes_meant(outcomes)
        if db is None:
            return []
        named = self._memory.project(project)
        root = intake.run_name(run) if run is not None else None
        return _given(db, attempts.listed(db, outcomes=wanted, project=named, root=root, limit=limit))


def _logged(db: Database, attempt: Attempt, scrub: Scrubber, actor: str) -> int:
    row = intake.stored(attempt, kept(db, attempt.project), scrub, _key_of(db, attempt.retry_of))
    return record.logged(db, row, actor=actor)


def _key_of(db: Database, number: AttemptId | None) -> str:
    if number is None:
        return ""
    row = attempts.get(db, number)
    if row is None:
        raise NotAllowed(f"retry_of names attempt {number}, which is not in the journal")
    return row.id


def _given(db: Database, rows: Iterable[AttemptRow]) -> list[Attempt]:
    found = list(rows)
    tried_before = attempts.numbers(db, [row.retry_of for row in found if row.retry_of])
    return [intake.attempt(row, tried_before.get(row.retry_of)) for row in found]
