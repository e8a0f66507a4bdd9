"""The same, awaitable: every call runs in one worker thread of its own, so that the event loop never waits.

>>> async with AsyncHardwon() as memory:
...     await memory.journal.log(Attempt("add a lock to the store"))
...     print(await memory.search("lock"))

Each method has the signature of the facade's own (`_awaitable`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from hardwon.api.connection import AnyPath
from hardwon.api.documents import Documents
from hardwon.api.failures import Failures
from hardwon.api.hardwon import Hardwon
from hardwon.api.interactions import Interactions
from hardwon.api.journal import Journal
from hardwon.api.lessons import Lessons
from hardwon.api.review import Review
from hardwon.api.sessions import Sessions
from hardwon.api.store import Store
from hardwon.api.team import Team
from hardwon.config import Config

P = ParamSpec("P")
T = TypeVar("T")
Awaitable = Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]


def _awaitable(method: Callable[Concatenate[Any, P], T]) -> Awaitable[P, T]:
    """A method of the facade, with its signature, that runs in the worker of whose it is."""

    @wraps(method)
    async def awaited(self: Any, /, *values: P.args, **named: P.kwargs) -> T:
        call = partial(method, self._subject, *values, **named)
        return await asyncio.get_running_loop().run_in_executor(self._worker, call)

    return awaited


class _AsyncPart:
    """A noun of the awaitable API."""

    def __init__(self, subject: object, worker: ThreadPoolExecutor) -> None:
        self._subject = subject
        self._worker = worker


class AsyncLessons(_AsyncPart):
    """What was learned: listed, added, proposed. `memory.review` decides on what is proposed."""

    get = _awaitable(Lessons.get)
    add = _awaitable(Lessons.add)
    propose = _awaitable(Lessons.propose)
    reinforce = _awaitable(Lessons.reinforce)
    feedback = _awaitable(Lessons.feedback)
    section = _awaitable(Lessons.section)
    list = _awaitable(Lessons.list)


class AsyncFailures(_AsyncPart):
    """What keeps failing, and what fixed it."""

    get = _awaitable(Failures.get)
    recall = _awaitable(Failures.recall)
    costs = _awaitable(Failures.costs)
    mute = _awaitable(Failures.mute)
    outdated = _awaitable(Failures.outdated)
    refingerprint = _awaitable(Failures.refingerprint)
    list = _awaitable(Failures.list)


class AsyncSessions(_AsyncPart):
    """The sessions that were harvested, and which files have been."""

    get = _awaitable(Sessions.get)
    harvested = _awaitable(Sessions.harvested)
    retained = _awaitable(Sessions.retained)
    harvest_git = _awaitable(Sessions.harvest_git)
    kept_in_git = _awaitable(Sessions.kept_in_git)
    repositories = _awaitable(Sessions.repositories)
    distil_cost = _awaitable(Sessions.distil_cost)
    distil = _awaitable(Sessions.distil)
    distil_if_wanted = _awaitable(Sessions.distil_if_wanted)
    list = _awaitable(Sessions.list)


class AsyncJournal(_AsyncPart):
    """Attempts: logged, found again, counted."""

    log = _awaitable(Journal.log)
    log_all = _awaitable(Journal.log_all)
    get = _awaitable(Journal.get)
    reflect = _awaitable(Journal.reflect)
    similar = _awaitable(Journal.similar)
    for_file = _awaitable(Journal.for_file)
    files_called = _awaitable(Journal.files_called)
    stats = _awaitable(Journal.stats)
    past_failures = _awaitable(Journal.past_failures)
    verify = _awaitable(Journal.verify)
    capture_command = _awaitable(Journal.capture_command)
    capture_crash = _awaitable(Journal.capture_crash)
    capture_failure = _awaitable(Journal.capture_failure)
    list = _awaitable(Journal.list)


class AsyncInteractions(_AsyncPart):
    """What was asked and answered, and which lessons the answers made use of."""

    record = _awaitable(Interactions.record)
    get = _awaitable(Interactions.get)
    reinforce = _awaitable(Interactions.reinforce)
    reinforced = _awaitable(Interactions.reinforced)
    extract = _awaitable(Interactions.extract)
    list = _awaitable(Interactions.list)


class AsyncDocuments(_AsyncPart):
    """Texts taken in for reference: found by search, told when they fit a task."""

    ingest = _awaitable(Documents.ingest)
    add = _awaitable(Documents.add)
    get = _awaitable(Documents.get)
    remove = _awaitable(Documents.remove)
    list = _awaitable(Documents.list)


class AsyncReview(_AsyncPart):
    """Candidates, contradictions and what was decided. Every decision returns its event, which `undo` takes."""

    queue = _awaitable(Review.queue)
    said = _awaitable(Review.said)
    count_said = _awaitable(Review.count_said)
    keep_said = _awaitable(Review.keep_said)
    drop_said = _awaitable(Review.drop_said)
    skip_said = _awaitable(Review.skip_said)
    count = _awaitable(Review.count)
    counts = _awaitable(Review.counts)
    notice = _awaitable(Review.notice)
    consider = _awaitable(Review.consider)
    promote = _awaitable(Review.promote)
    reject = _awaitable(Review.reject)
    invalidate = _awaitable(Review.invalidate)
    archive = _awaitable(Review.archive)
    restore = _awaitable(Review.restore)
    merge = _awaitable(Review.merge)
    supersede = _awaitable(Review.supersede)
    edit = _awaitable(Review.edit)
    link = _awaitable(Review.link)
    undo = _awaitable(Review.undo)
    history = _awaitable(Review.history)
    conflicts = _awaitable(Review.conflicts)
    open_conflict = _awaitable(Review.open_conflict)
    settle = _awaitable(Review.settle)
    keep = _awaitable(Review.keep)
    both_stand = _awaitable(Review.both_stand)
    reopen = _awaitable(Review.reopen)


class AsyncTeam(_AsyncPart):
    """What the machines of a team push to this store, and what they pull from it."""

    take = _awaitable(Team.take)
    withdraw = _awaitable(Team.withdraw)
    settle = _awaitable(Team.settle)
    known = _awaitable(Team.known)


class AsyncStore(_AsyncPart):
    """The store as a whole: what it holds, copies, repairs, forgetting, who may use the service."""

    tokens = _awaitable(Store.tokens)
    make_token = _awaitable(Store.make_token)
    revoke_token = _awaitable(Store.revoke_token)
    forget = _awaitable(Store.forget)
    purge = _awaitable(Store.purge)
    export = _awaitable(Store.export)
    import_tree = _awaitable(Store.import_tree)
    import_from = _awaitable(Store.import_from)
    dump = _awaitable(Store.dump)
    load = _awaitable(Store.load)
    migrate = _awaitable(Store.migrate)
    check = _awaitable(Store.check)
    healthy = _awaitable(Store.healthy)
    last_runs = _awaitable(Store.last_runs)
    repair = _awaitable(Store.repair)
    backup = _awaitable(Store.backup)
    restore = _awaitable(Store.restore)
    totals = _awaitable(Store.totals)
    projects = _awaitable(Store.projects)
    project_parts = _awaitable(Store.project_parts)
    add_project = _awaitable(Store.add_project)
    alias_project = _awaitable(Store.alias_project)
    archive_project = _awaitable(Store.archive_project)
    rename_project = _awaitable(Store.rename_project)
    describe_project = _awaitable(Store.describe_project)
    merge_projects = _awaitable(Store.merge_projects)
    split_project = _awaitable(Store.split_project)
    claims = _awaitable(Store.claims)
    confirm = _awaitable(Store.confirm)
    resolve = _awaitable(Store.resolve)
    reindex = _awaitable(Store.reindex)
    embed = _awaitable(Store.embed)
    audit = _awaitable(Store.audit)
    keep_metrics = _awaitable(Store.keep_metrics)
    keep_daily_metrics = _awaitable(Store.keep_daily_metrics)
    write_metrics = _awaitable(Store.write_metrics)


class AsyncHardwon:
    """`Hardwon` with every method awaitable."""

    def __init__(self, home: AnyPath | None = None) -> None:
        self._subject = Hardwon(home)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="hardwon")
        """One thread, in which alone the store is opened, used and closed."""
        self.lessons = AsyncLessons(self._subject.lessons, self._worker)
        self.failures = AsyncFailures(self._subject.failures, self._worker)
        self.sessions = AsyncSessions(self._subject.sessions, self._worker)
        self.journal = AsyncJournal(self._subject.journal, self._worker)
        self.interactions = AsyncInteractions(self._subject.interactions, self._worker)
        self.documents = AsyncDocuments(self._subject.documents, self._worker)
        self.review = AsyncReview(self._subject.review, self._worker)
        self.store = AsyncStore(self._subject.store, self._worker)
        self.team = AsyncTeam(self._subject.team, self._worker)

    @property
    def home(self) -> Path:
        return self._subject.home

    @property
    def config(self) -> Config:
        return self._subject.config

    async def __aenter__(self) -> AsyncHardwon:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store and end the worker."""
        await asyncio.get_running_loop().run_in_executor(self._worker, self._subject.close)
        self._worker.shutdown(wait=False)

    discover = _awaitable(Hardwon.discover)
    inspect = _awaitable(Hardwon.inspect)
    harvest = _awaitable(Hardwon.harvest)
    sample = _awaitable(Hardwon.sample)
    search = _awaitable(Hardwon.search)
    bootstrap = _awaitable(Hardwon.bootstrap)
    map = _awaitable(Hardwon.map)
    picture = _awaitable(Hardwon.picture)
    blame = _awaitable(Hardwon.blame)
    how = _awaitable(Hardwon.how)
    resume = _awaitable(Hardwon.resume)
    replay = _awaitable(Hardwon.replay)
    measure = _awaitable(Hardwon.measure)
    experiment = _awaitable(Hardwon.experiment)
