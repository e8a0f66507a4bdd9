"""Lists a page at a time: each begins behind `after`, the key of the last row that was seen.

Projects are named by id here; who may name them is the caller's affair.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from hardwon.api import Hardwon, convert, failures
from hardwon.api.review import score
from hardwon.briefing.foreseen import best_fix
from hardwon.briefing.tried import gives_orders, may_be_told, said_of
from hardwon.capture import attempts as intake
from hardwon.clock import moment, now, to_microseconds
from hardwon.errors import HardwonError, NotFound
from hardwon.model.attempt import Attempt
from hardwon.model.nouns import Document, Event, Failure, FixEvidence, Hit, Lesson, Occurrence, Project, SessionRecord
from hardwon.store import attempts, lessons, pages, projects, sessions
from hardwon.store import failures as stored
from hardwon.store.database import Database
from hardwon.store.pages import Key, Mark, Step
from hardwon.text.shown import one_line, remedy

if TYPE_CHECKING:
    from hardwon.measure.experiment import Experiment

T = TypeVar("T")


def project_named(memory: Hardwon, name: str) -> str:
    """The id of a known project by its id, remote, folder or name; nothing on the disk is looked at."""
    found = projects.find(memory.reading(), name)
    if len(found) != 1:
        raise NotFound("no such project" if not found else "several projects have this name: use the id")
    return found[0][0]


def of_projects(
    memory: Hardwon, *, only: Sequence[str] = (), after: Key | None = None, limit: int
) -> tuple[list[Project], list[Key]]:
    """The one with the most sessions first."""
    known = counted(memory, ("projects",), memory.store.projects)
    found = [one for one in known if not only or one.id in only]
    ids = [one.id for one in found]
    if after and after[0] not in ids:
        return [], []
    rest = found[ids.index(str(after[0])) + 1 :] if after else found
    return rest[:limit], [(one.id,) for one in rest[:limit]]


def of_lessons(
    memory: Hardwon, *, project: str | None, kind: str | None, status: str | None, after: Key | None, limit: int
) -> tuple[list[Lesson], list[Key]]:
    """The newest first."""
    rows = pages.of_lessons(memory.reading(), project=project, kind=kind, status=status, after=after, limit=limit)
    return [*map(convert.lesson, rows)], [(row.last_confirmed, row.id) for row in rows]


def count_of_lessons(memory: Hardwon, *, project: str | None, kind: str | None, status: str | None) -> int:
    what = ("lessons", project, kind, status)
    return counted(
        memory, what, lambda: pages.count_of_lessons(memory.reading(), project=project, kind=kind, status=status)
    )


def count_of_sessions(memory: Hardwon, *, project: str | None, agent: str | None) -> tuple[int, int]:
    """(sessions, sub-agents)."""
    what = ("sessions", project, agent)
    return counted(memory, what, lambda: pages.count_of_sessions(memory.reading(), project=project, agent=agent))


def of_failures(
    memory: Hardwon,
    *,
    project: str | None,
    since: int = 0,
    fixed: bool | None = None,
    only_here: bool = False,
    after: Key | None,
    limit: int,
) -> tuple[list[Failure], list[Key]]:
    """The most widespread first."""
    db = memory.reading()
    rows = failures.listed(db, project, since=since, fixed=fixed, after=after, limit=limit)
    return failures.with_fixes(db, rows, project if only_here else None), [*map(failures.key, rows)]


def with_all_evidence(memory: Hardwon, failure: Failure, project: str | None, limit: int) -> Failure:
    """With both ends of its fixes in every session in which they worked."""
    ends = stored.evidence(memory.reading(), [fix.id for fix in failure.fixes], project, limit)
    fixes = [replace(fix, evidence=[FixEvidence(**row._asdict()) for row in ends[fix.id]]) for fix in failure.fixes]
    return replace(failure, fixes=fixes)


def muted(memory: Hardwon, id: str) -> bool:
    """Whether a person wants to hear no more of a failure."""
    return bool(memory.reading().query("SELECT 1 FROM failure WHERE id = ? AND status = 'muted'", (id,)))


def when_met(
    memory: Hardwon, ids: Sequence[str], *, project: str | None, between: tuple[int, int]
) -> dict[str, list[tuple[int, int]]]:
    """Failure → (when, tokens) of each time that it was met between two moments."""
    found: dict[str, list[tuple[int, int]]] = {id: [] for id in ids}
    for id, at, tokens in pages.when_met(memory.reading(), ids, project, between):
        found[id].append((at, tokens))
    return found


def knows_failure(memory: Hardwon, id: str, project: str | None) -> bool:
    """Whether it was met, anywhere or in one project."""
    db = memory.reading()
    return stored.get(db, id) is not None if project is None else stored.in_project(db, id, project)


def occurrences(memory: Hardwon, id: str, project: str | None, limit: int) -> list[Occurrence]:
    """Where a failure was met, the newest first."""
    return [*map(convert.occurrence, stored.occurrences(memory.reading(), id, project, limit))]


def of_sessions(
    memory: Hardwon, *, project: str | None, agent: str | None, after: Key | None, limit: int
) -> tuple[list[SessionRecord], list[Key]]:
    """The newest first."""
    db = memory.reading()
    rows = pages.of_sessions(db, project=project, agent=agent, after=after, limit=limit)
    made = sessions.commits_of(db, (row.external_id for row in rows))
    return [convert.session(row, made) for row in rows], [(row.started_at, row.id) for row in rows]


_HEADING = re.compile(r"(?:^|\s)#{1,3} (?:(?:implementation )?plan(?: for)?:? )?(.+?)(?=\s#{1,6} |$)", re.IGNORECASE)
_CHARACTERS_OF_A_TITLE = 200


def titles(memory: Hardwon, sessions: Iterable[str]) -> dict[str, str]:
    """Session → what it was about: what a person asked for or, where it began with a plan, that."""
    found = pages.opened_with(memory.reading(), [*dict.fromkeys(sessions)])
    return {id: _title(*said) for id, said in found.items()}


def _title(task: str, opening: str) -> str:
    if not opening or (task and opening.startswith(task[:30])):
        return task
    heading = _HEADING.search(opening)
    return one_line((heading[1] if heading else opening)[:_CHARACTERS_OF_A_TITLE])


def of_attempts(
    memory: Hardwon,
    *,
    project: str | None,
    outcomes: Sequence[str] | None,
    run: str | None,
    after: Key | None,
    limit: int,
) -> tuple[list[Attempt], list[Key]]:
    """The newest first."""
    db = memory.reading()
    root = intake.run_name(run) if run is not None else None
    rows = pages.of_attempts(db, project=project, outcomes=outcomes, run=root, after=after, limit=limit)
    before = attempts.numbers(db, [row.retry_of for row in rows if row.retry_of])
    found = [intake.attempt(row, before.get(row.retry_of)) for row in rows]
    return found, [(row.started_at, row.number or 0) for row in rows]


def attempts_of_session(memory: Hardwon, session: str) -> list[Attempt]:
    """What a session tried, in its order."""
    return [*map(intake.attempt, pages.attempts_of_session(memory.reading(), session, 50))]


def of_documents(
    memory: Hardwon, *, project: str | None, after: Key | None, limit: int
) -> tuple[list[Document], list[Key]]:
    """The newest first."""
    found = memory.documents.list(project=project)
    return _behind(found, lambda one: (to_microseconds(one.updated_at), one.id), after, limit)


def of_events(memory: Hardwon, *, after: Key | None = None, limit: int) -> tuple[list[Event], list[Key]]:
    """The newest first."""
    rows = pages.of_events(memory.reading(), after=after, limit=limit)
    return [*map(convert.event, rows)], [(row.number,) for row in rows]


# What is counted over the whole store is counted once until something is written.

_Kept = dict[tuple[object, ...], tuple[Any, Any]]
_COUNTED: WeakKeyDictionary[Database, _Kept] = WeakKeyDictionary()
_MOST_COUNTED = 64
_HOUR = 3600 * 1_000_000


def counted(memory: Hardwon, what: tuple[object, ...], count: Callable[[], T]) -> T:
    """What `count` gives, or gave while nothing was written since and the hour is the same."""
    if memory.reading().engine != "sqlite":
        return count()
    kept, version, key = _kept(memory, what)
    if key not in kept:
        kept[key] = (version, count())
    return cast(T, kept[key][1])


def is_counted(memory: Hardwon, what: tuple[object, ...]) -> bool:
    """Whether `counted` has it already."""
    if memory.reading().engine != "sqlite":
        return False
    kept, _, key = _kept(memory, what)
    return key in kept


def _kept(memory: Hardwon, what: tuple[object, ...]) -> tuple[_Kept, tuple[int, int], tuple[object, ...]]:
    """(what still holds, the version of the store, the key of this)."""
    db = memory.reading()
    version = (db.query("PRAGMA data_version")[0][0], db.query("SELECT total_changes()")[0][0])  # others' and its own
    kept = _COUNTED.setdefault(db, {})
    if len(kept) >= _MOST_COUNTED or any(then != version for then, _ in kept.values()):
        kept.clear()
    return kept, version, (*what, now() // _HOUR, memory.config)


# What pages show at a glance.


class Exposure(NamedTuple):
    """A session that was to be told something."""

    session: str
    agent: str
    project: str
    at: datetime
    shown: bool
    used: bool | None
    met: int
    """Of a failure: how often the session met it afterwards."""
    item: str
    text: str


def has_begun(memory: Hardwon) -> bool:
    """The experiment."""
    return pages.takes_part(memory.reading())


def experiment(memory: Hardwon, *, project: str | None) -> Experiment | None:
    """What came of it; None where it never began, or where what it takes to count is not installed."""
    if not has_begun(memory):
        return None
    with suppress(HardwonError):  # numpy and scipy are an extra
        return counted(memory, ("experiment", project), lambda: memory.experiment(project=project))
    return None


def holds_nothing(memory: Hardwon) -> bool:
    return pages.holds_nothing(memory.reading())


def last_session(memory: Hardwon, *, project: str | None) -> int:
    return pages.last_session(memory.reading(), project)


def last_error(memory: Hardwon, *, project: str | None) -> int:
    return pages.last_error(memory.reading(), project)


def totals(memory: Hardwon, *, project: str | None) -> dict[str, int]:
    return pages.totals(memory.reading(), project)


def said_again(memory: Hardwon, *, project: str | None, limit: int) -> list[Lesson]:
    return [*map(convert.lesson, pages.said_again(memory.reading(), project, limit))]


def learned(memory: Hardwon, *, project: str | None, since: int, limit: int) -> tuple[int, list[Lesson]]:
    number, rows = pages.learned(memory.reading(), project, since, limit)
    return number, [*map(convert.lesson, rows)]


def of_queue(memory: Hardwon, *, project: str | None, rule: str = "", session: str = "", limit: int) -> list[Lesson]:
    """Candidates as they are worth a look, of the surest."""
    rows = pages.candidates(memory.reading(), project, rule, session, limit)
    return [*map(convert.lesson, sorted(rows, key=lambda one: (-score(one), one.id)))]


def waiting(memory: Hardwon, *, project: str | None, rule: str = "", session: str = "") -> int:
    """How many candidates wait."""
    return pages.waiting(memory.reading(), project, rule, session)


def candidates_by_rule(memory: Hardwon, *, project: str | None) -> list[tuple[str, int]]:
    return pages.candidates_by_rule(memory.reading(), project)


def lessons_named(memory: Hardwon, ids: Sequence[str]) -> list[Lesson]:
    """Those that there are, in the order in which they are named."""
    by_id = {one.id: one for one in lessons.named(memory.reading(), ids)}
    return [convert.lesson(by_id[id]) for id in ids if id in by_id]


def words_of(memory: Hardwon, ids: Sequence[str]) -> dict[str, str]:
    """Lesson or failure → its words."""
    found = {one.id: one.text for one in lessons_named(memory, ids)}
    failed = (stored.get(memory.reading(), id) for id in ids if id.startswith("F"))
    return found | {row.id: row.error for row in failed if row}


def lessons_of_failure(memory: Hardwon, id: str) -> list[Lesson]:
    return [*map(convert.lesson, pages.lessons_of_failure(memory.reading(), id, 20))]


def taught(memory: Hardwon, sessions: Sequence[str]) -> dict[str, int]:
    """Session → how many lessons and fixes were drawn from it."""
    return pages.taught(memory.reading(), sessions) if sessions else {}


def agents(memory: Hardwon) -> list[str]:
    """Those that sessions were harvested of."""
    return pages.agents(memory.reading())


def steps(memory: Hardwon, session: str) -> list[Step]:
    """The calls of a session in their order."""
    return pages.steps_of_session(memory.reading(), session, 1_000)


def marks(memory: Hardwon, session: str) -> list[Mark]:
    """What was met and learned in a session, and where."""
    return pages.marks_of_session(memory.reading(), session)


def came_back(memory: Hardwon, ids: Sequence[str]) -> dict[str, pages.Back]:
    """Failure that a fix is told for → what became of it after the fix had first worked."""
    return pages.came_back(memory.reading(), ids)


def exposures(memory: Hardwon, item: str) -> list[Exposure]:
    """Who was shown a lesson or a failure, the newest first."""
    return [*map(_exposure, pages.exposures(memory.reading(), item, 50))]


def _exposure(row: pages.ExposureRow) -> Exposure:
    used = None if row.used is None else bool(row.used)
    said = (row.item, row.text)
    return Exposure(row.session, row.agent, row.project, moment(row.at), bool(row.shown), used, row.met, *said)


def told(memory: Hardwon, *, project: str | None, which: str, limit: int) -> list[Exposure]:
    """What sessions were told, or were not, the newest first."""
    return [*map(_exposure, pages.told(memory.reading(), project, which, limit))]


def hook_runs(memory: Hardwon, *, failed: bool, limit: int) -> list[tuple[pages.HookRun, datetime]]:
    return [(run, moment(run.at)) for run in pages.hook_runs(memory.reading(), failed=failed, limit=limit)]


def _behind(found: list[T], key: Callable[[T], Key], after: Key | None, limit: int) -> tuple[list[T], list[Key]]:
    rest = sorted((one for one in found if after is None or key(one) < after), key=key, reverse=True)[:limit]
    return rest, [key(one) for one in rest]


def unconfirmed(memory: Hardwon, hits: Sequence[Hit]) -> dict[str, str]:
    """Id → why it is not vouched for, of those hits that are not."""
    db = memory.reading()
    found = {hit.id: "not confirmed by anybody" for hit in hits if hit.status == "candidate"}
    for hit in hits:
        if hit.type == "failure" and not stored.met_by_own(db, hit.id):
            found[hit.id] = "seen in somebody else's sessions only"
    tried = attempts.told(db, [hit.id for hit in hits if hit.type == "attempt"])
    ordering = [row.id for row in tried if row.of_stranger and gives_orders(f"to {row.task}. {row.approach}")]
    return found | dict.fromkeys(ordering, "it gives orders")


def what_worked(memory: Hardwon, hits: Sequence[Hit], project: str | None, *, only_here: bool) -> dict[str, str]:
    """Failure → what fixed it, as the end of a line."""
    ids = [hit.id for hit in hits if hit.type == "failure"]
    fixes = stored.fixes(memory.reading(), ids, project, only_here=only_here)
    found = {id: best_fix(fixes[id]) for id in ids}
    return {id: f"; worked: {remedy(fix.steps, fix.succeeded_as)}" for id, fix in found.items() if fix}


def attempts_told(memory: Hardwon, keys: Sequence[str]) -> list[tuple[str, str]]:
    """(key, line) of attempts, as a briefing tells them."""
    rows = {row.id: row for row in attempts.told(memory.reading(), keys)}
    return [(key, said_of(rows[key])) for key in keys if may_be_told(rows[key])]


_OWNERS = {"L": "lesson", "A": "attempt", "I": "interaction", "S": "session"}


def owner_of(memory: Hardwon, id: str) -> str | None:
    """The project of an item, empty for one that has none; None for what is not there."""
    db = memory.reading()
    if id.startswith("C"):
        rows = db.query(
            "SELECT coalesce(d.project, '') FROM chunk c JOIN document d ON d.id = c.document WHERE c.id = ?", (id,)
        )
    elif table := _OWNERS.get(id[:1]):
        rows = db.query(f"SELECT coalesce(project, '') FROM {table} WHERE id = ?", (id,))
    else:
        rows = []
    return str(rows[0][0]) if rows else None
