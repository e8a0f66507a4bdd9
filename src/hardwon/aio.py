"""The same, awaitable: every call runs in one worker thread of its own, so that the event loop never waits.

>>> async with AsyncHardwon() as memory:
...     await memory.journal.log(Attempt("add a lock to the store"))
...     print(await memory.search("lock"))

Written by `make generated` from the methods of `hardwon.api`; do not change it by hand.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from hardwon.api import Hardwon
from hardwon.config import Config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import BinaryIO

    from hardwon.api.access import NewToken, Token
    from hardwon.api.connection import AnyPath, Paths
    from hardwon.api.documents import Documents
    from hardwon.api.exchange import System
    from hardwon.api.failures import Failures
    from hardwon.api.forget import Forgot
    from hardwon.api.hardwon import Sample
    from hardwon.api.interactions import Interactions
    from hardwon.api.journal import Captured, Journal, Outcomes, Stats
    from hardwon.api.lessons import Lessons
    from hardwon.api.review import Conflict, Considered, Pending, Review
    from hardwon.api.sessions import Sessions
    from hardwon.api.store import Backup, Reindexed, Restored, Store
    from hardwon.capture.documents import Ingested
    from hardwon.capture.past_failures import PastFailures
    from hardwon.capture.run import Ran
    from hardwon.exchange.dump import Header, Loaded, Migrated
    from hardwon.exchange.intake import Taken
    from hardwon.exchange.markdown import Exported
    from hardwon.exchange.markdown_import import Merged
    from hardwon.harvest.distil.claims import Distilled
    from hardwon.harvest.distil.distil import Estimate
    from hardwon.harvest.walk import Progress, Report
    from hardwon.measure import report
    from hardwon.measure.experiment import Experiment
    from hardwon.measure.metrics import Metrics
    from hardwon.model.attempt import Attempt, Similar
    from hardwon.model.lesson import Kind, Relation, Scope
    from hardwon.model.nouns import (
        Bootstrap,
        Document,
        DocumentDetails,
        Event,
        Failure,
        FailureCost,
        FailureDetails,
        Habit,
        Interaction,
        InteractionPage,
        KnownFailure,
        Lesson,
        LessonDetails,
        Map,
        Project,
        Reinforced,
        Resumption,
        SearchResults,
        SessionDetails,
        SessionRecord,
        Visitor,
    )
    from hardwon.model.session import Transcript
    from hardwon.recall.embedder import Embedded
    from hardwon.scrub.scrubber import Leak
    from hardwon.store.database import Check
    from hardwon.store.forget import What
    from hardwon.store.refingerprint import Regrouped
    from hardwon.store.repair import Repaired

P = ParamSpec("P")
T = TypeVar("T")


class _Worker:
    """One thread, in which alone the store is opened, used and closed."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="hardwon")

    async def run(self, call: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, partial(call, *values, **named))

    def stop(self) -> None:
        self._executor.shutdown(wait=False)


class AsyncHardwon:
    """`Hardwon` with every method awaitable."""

    def __init__(self, home: AnyPath | None = None) -> None:
        self._memory = Hardwon(home)
        self._worker = _Worker()
        self.lessons = AsyncLessons(self._memory.lessons, self._worker)
        self.failures = AsyncFailures(self._memory.failures, self._worker)
        self.sessions = AsyncSessions(self._memory.sessions, self._worker)
        self.journal = AsyncJournal(self._memory.journal, self._worker)
        self.interactions = AsyncInteractions(self._memory.interactions, self._worker)
        self.documents = AsyncDocuments(self._memory.documents, self._worker)
        self.review = AsyncReview(self._memory.review, self._worker)
        self.store = AsyncStore(self._memory.store, self._worker)

    @property
    def home(self) -> Path:
        return self._memory.home

    @property
    def config(self) -> Config:
        return self._memory.config

    async def __aenter__(self) -> AsyncHardwon:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the store and end the worker."""
        await self._worker.run(self._memory.close)
        self._worker.stop()

    async def discover(self) -> list[Path]:
        """Every transcript that the known agents keep on this machine."""
        return await self._worker.run(self._memory.discover)

    async def inspect(self, path: AnyPath) -> Transcript:
        """Read one file without storing anything: its sessions with their messages, calls and results.

        Raises `NotFound` for a path that does not exist, `NotASession` for a file of no known agent.
        """
        return await self._worker.run(self._memory.inspect, path)

    async def harvest(self, paths: Paths, *, most: int | None = None, progress: Progress | None = None) -> Report:
        """Learn from new and changed transcripts: files, or folders of them; unchanged ones are skipped unread.

        `most` takes only the most valuable of what is new. Returns what was learned. Raises `NotFound` for a path that
        does not exist.
        """
        return await self._worker.run(self._memory.harvest, paths, most=most, progress=progress)

    async def sample(
        self,
        paths: Paths,
        *,
        project: str = "",
        since: datetime | None = None,
        by_value: bool = False,
        progress: Progress | None = None,
    ) -> list[Sample]:
        """The files among `paths` that hold sessions, the most valuable first.

        `by_value` reads them all to rank by what each adds to what is known. Raises `NotFound` for a path that does not
        exist.
        """
        return await self._worker.run(
            self._memory.sample, paths, project=project, since=since, by_value=by_value, progress=progress
        )

    async def search(
        self,
        query: str,
        *,
        type: str | None = None,
        kind: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        file: str | None = None,
        limit: int = 10,
    ) -> SearchResults:
        """What fits a question best, by words and by meaning, of everything that is as wanted.

        Raises `NotFound` for an unknown project, `NotAllowed` for an unknown type.
        """
        return await self._worker.run(
            self._memory.search,
            query,
            type=type,
            kind=kind,
            project=project,
            agent=agent,
            status=status,
            since=since,
            until=until,
            file=file,
            limit=limit,
        )

    async def bootstrap(
        self,
        project: str,
        *,
        agent: str = "",
        task: str = "",
        budget: int | None = None,
        session: str = "",
        experiment: bool = True,
        only_here: bool = False,
    ) -> Bootstrap:
        """The briefing for a session of `project` (name, remote, folder or id).

        A client that hands it to an agent gives the agent's own id of the `session`: what is shown goes on record, and
        some of it is withheld at random, unless `experiment` is False or switched off in the settings.
        `only_here` tells no fix that only other projects have seen. Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(
            self._memory.bootstrap,
            project,
            agent=agent,
            task=task,
            budget=budget,
            session=session,
            experiment=experiment,
            only_here=only_here,
        )

    async def map(self, project: str, *, task: str = "", limit: int = 10) -> Map:
        """The files and commands that a task will most likely need, by where earlier sessions went: candidates.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._memory.map, project, task=task, limit=limit)

    async def picture(self, project: str) -> str:
        """The project as SVG: folders by how many sessions touched them, coloured by age, failures marked.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._memory.picture, project)

    async def blame(self, path: str, *, project: str, limit: int = 20) -> list[Visitor]:
        """The sessions that touched a file or folder (relative to the project's root), and what came of it.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._memory.blame, path, project=project, limit=limit)

    async def how(self, words: str, *, project: str, limit: int = 10) -> list[Habit]:
        """The commands that ran in a project and worked, those that fit the words first.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._memory.how, words, project=project, limit=limit)

    async def resume(self, id: str) -> Resumption:
        """The command by which the agent goes on with a session, by the beginning of its id.

        Raises `NotFound`, or `HardwonError` where the agent has no such command.
        """
        return await self._worker.run(self._memory.resume, id)

    async def replay(
        self,
        paths: Paths = (),
        *,
        project: str | None = None,
        budget: int | None = None,
        failure_budget: int | None = None,
        progress: Progress | None = None,
    ) -> report.Report:
        """Brief every session from the earlier ones alone and tell what it then met.

        With `paths`, over these sessions in a store made for the purpose and thrown away; else over one's own.
        Raises `NotFound` for an unknown project or a path that does not exist.
        """
        return await self._worker.run(
            self._memory.replay, paths, project=project, budget=budget, failure_budget=failure_budget, progress=progress
        )

    async def measure(self, *, project: str | None = None, since: datetime | None = None, days: int = 0) -> Metrics:
        """The numbers of all that was harvested; of a project; since a moment, or for some days.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._memory.measure, project=project, since=since, days=days)

    async def experiment(self, *, project: str | None = None, since: datetime | None = None) -> Experiment:
        """Whether the lines that sessions are shown help them, by the coins that decided who was shown what.

        Raises `NotFound` for an unknown project, `HardwonError` where the extra `measure` is not installed.
        """
        return await self._worker.run(self._memory.experiment, project=project, since=since)


class AsyncLessons:
    """What was learned: listed, added, proposed. `memory.review` decides on what is proposed."""

    def __init__(self, subject: Lessons, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    async def get(self, id: str) -> LessonDetails:
        """A lesson and where it comes from. Raises `NotFound`."""
        return await self._worker.run(self._subject.get, id)

    async def add(
        self,
        text: str,
        *,
        kind: Kind = "fact",
        scope: Scope = "project",
        project: str = "",
        agent: str = "",
        confidence: float = 1.0,
        why: str = "",
    ) -> str:
        """A lesson in a person's own words, active at once; returns its id.

        Raises `NotAllowed` for an empty text, an unknown kind, or a scope that does not fit the project.
        """
        return await self._worker.run(
            self._subject.add,
            text,
            kind=kind,
            scope=scope,
            project=project,
            agent=agent,
            confidence=confidence,
            why=why,
        )

    async def propose(
        self, text: str, *, kind: Kind = "fact", project: str = "", agent: str = "", session: str = "", why: str = ""
    ) -> str:
        """A sentence worth keeping, as a candidate until a person or a second session agrees; returns its id.

        Raises `NotAllowed` for an empty text or an unknown kind.
        """
        return await self._worker.run(
            self._subject.propose, text, kind=kind, project=project, agent=agent, session=session, why=why
        )

    async def feedback(self, id: str, *, helped: bool, why: str = "") -> None:
        """This lesson or failure helped, or was wrong. Counted for the review; it changes nothing by itself.

        Raises `NotFound`.
        """
        return await self._worker.run(self._subject.feedback, id, helped=helped, why=why)

    async def list(
        self, *, project: str | None = None, kind: str | None = None, status: str | None = None
    ) -> list[Lesson]:
        """Lessons, the best known first; with a project, also the global ones.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._subject.list, project=project, kind=kind, status=status)


class AsyncFailures:
    """What keeps failing, and what fixed it."""

    def __init__(self, subject: Failures, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    async def get(self, id: str, *, project: str | None = None) -> FailureDetails:
        """A failure, what fixed it and where it was met; with a project, only what that project has seen of it.

        Raises `NotFound`.
        """
        return await self._worker.run(self._subject.get, id, project=project)

    async def recall(
        self, text: str, *, command: str = "", project: str | None = None, only_here: bool = False
    ) -> KnownFailure:
        """What is known of an error, from the output of what failed; with `only_here`, by the project alone.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._subject.recall, text, command=command, project=project, only_here=only_here)

    async def costs(self, ids: Sequence[str], *, since: datetime | None = None) -> dict[str, FailureCost]:
        """Failure id → when it happened and what its calls cost."""
        return await self._worker.run(self._subject.costs, ids, since=since)

    async def outdated(self) -> int:
        """How many failures were recognised by an older version of the fingerprint."""
        return await self._worker.run(self._subject.outdated)

    async def refingerprint(self) -> Regrouped:
        """Recognise failures of an older version anew, from the error text that was kept of each."""
        return await self._worker.run(self._subject.refingerprint)

    async def list(
        self,
        *,
        project: str | None = None,
        since: datetime | None = None,
        only_open: bool = False,
        only_here: bool = False,
    ) -> list[Failure]:
        """At most 1000 failures with their fixes, the most widespread first.

        `only_open` leaves out what a fix is known for; `only_here` tells no fix that only other projects have seen.
        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(
            self._subject.list, project=project, since=since, only_open=only_open, only_here=only_here
        )


class AsyncSessions:
    """The sessions that were harvested, and which files have been."""

    def __init__(self, subject: Sessions, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    async def get(self, id: str) -> SessionDetails:
        """A session and its calls. Raises `NotFound`."""
        return await self._worker.run(self._subject.get, id)

    async def harvested(self, paths: Paths) -> set[Path]:
        """Those of the files that have been harvested and not changed since."""
        return await self._worker.run(self._subject.harvested, paths)

    async def retained(self, paths: Paths) -> list[Path]:
        """The files that are still there and not older than the setting `retain_days`; where that is 0, of any age."""
        return await self._worker.run(self._subject.retained, paths)

    async def distil_cost(self, paths: Paths) -> Estimate:
        """What `distil` would read and cost; nothing is sent. Raises `NotFound` for a path that does not exist."""
        return await self._worker.run(self._subject.distil_cost, paths)

    async def distil(self, paths: Paths, *, pause: Callable[[float], None] = time.sleep) -> Distilled:
        """What the model of the settings reads out of sessions that were harvested; every claim is checked.

        Raises `NotFound` for a path that does not exist, `BadConfig` without a model.
        """
        return await self._worker.run(self._subject.distil, paths, pause=pause)

    async def list(self, *, project: str | None = None, agent: str | None = None) -> list[SessionRecord]:
        """Sessions, the newest first. Raises `NotFound` for an unknown project."""
        return await self._worker.run(self._subject.list, project=project, agent=agent)


class AsyncJournal:
    """Attempts: logged, found again, counted."""

    def __init__(self, subject: Journal, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    async def log(self, attempt: Attempt) -> int:
        """Write an attempt into the journal; returns its number.

        Raises `NotAllowed` for an attempt without a task, or one that repeats an unknown attempt.
        """
        return await self._worker.run(self._subject.log, attempt)

    async def log_all(self, attempts: Iterable[Attempt]) -> list[int]:
        """Write many attempts, all or none; returns their numbers. Raises `NotAllowed` as `log` does."""
        return await self._worker.run(self._subject.log_all, attempts)

    async def get(self, number: int) -> Attempt:
        """An attempt in full. Raises `NotFound`."""
        return await self._worker.run(self._subject.get, number)

    async def reflect(self, number: int, reflection: str) -> None:
        """Write down what was learned from an attempt; what stood there stays in the history. Raises `NotFound`."""
        return await self._worker.run(self._subject.reflect, number, reflection)

    async def similar(
        self,
        task: str,
        *,
        files: Sequence[str] = (),
        outcomes: Outcomes = None,
        project: str | None = None,
        limit: int = 5,
    ) -> list[Similar]:
        """The attempts most like a task, of all there are, the most alike first, each with the words that both have.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(
            self._subject.similar, task, files=files, outcomes=outcomes, project=project, limit=limit
        )

    async def for_file(self, path: str, *, project: str | None = None, limit: int = 10) -> list[Attempt]:
        """Attempts that touched a file, or a file below a folder, the newest first.

        The path is absolute, or relative to the root of the repository. Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._subject.for_file, path, project=project, limit=limit)

    async def stats(self, *, project: str | None = None, since: datetime | None = None) -> Stats:
        """How attempts went, overall and by project, agent, phase and month, each with its interval.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._subject.stats, project=project, since=since)

    async def past_failures(
        self, *, run: str = "", project: str | None = None, task: str = "", only_here: bool = False
    ) -> PastFailures:
        """What a next try should avoid: this run's newest failures, then the likeliest from before.

        Its text is empty when there is nothing to say, and when failure memory is switched off. `only_here` tells
        nothing of other projects. Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(
            self._subject.past_failures, run=run, project=project, task=task, only_here=only_here
        )

    async def capture_command(
        self, line: Sequence[str], ran: Ran, *, task: str = "", phase: str = "", run: str = "", project: str = "."
    ) -> int | None:
        """Record a command that failed, or that was somebody's task; returns the attempt's number.

        None, and nothing is recorded, with `HARDWON_FAILURE_MEMORY=0`.
        """
        return await self._worker.run(
            self._subject.capture_command, line, ran, task=task, phase=phase, run=run, project=project
        )

    async def capture_crash(
        self, content: bytes, *, at: datetime | None = None, task: str = "", run: str = "", project: str = "."
    ) -> Captured:
        """Record a crash file; `at` is the time of one that does not tell it.

        Raises `NotAllowed` for what is no crash file.
        """
        return await self._worker.run(self._subject.capture_crash, content, at=at, task=task, run=run, project=project)

    async def capture_failure(
        self, *, phase: str = "", exit_code: int | None = None, task: str = "", run: str = "", project: str = "."
    ) -> Captured:
        """Record that something failed of which no more is known."""
        return await self._worker.run(
            self._subject.capture_failure, phase=phase, exit_code=exit_code, task=task, run=run, project=project
        )

    async def list(
        self, *, outcomes: Outcomes = None, project: str | None = None, run: str | None = None, limit: int = 10
    ) -> list[Attempt]:
        """Attempts, the newest first. Raises `NotFound` for an unknown project."""
        return await self._worker.run(self._subject.list, outcomes=outcomes, project=project, run=run, limit=limit)


class AsyncInteractions:
    """What was asked and answered, and which lessons the answers made use of."""

    def __init__(self, subject: Interactions, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    async def record(self, interaction: Interaction, *, reinforce: bool = True) -> str:
        """Keep an interaction; returns its id. Lessons that its answer makes use of gain confidence.

        What goes wrong with the lessons is left for `hardwon doctor`, and never in the way of recording. Raises
        `NotAllowed` without a prompt, or for a context that is too long.
        """
        return await self._worker.run(self._subject.record, interaction, reinforce=reinforce)

    async def get(self, id: str) -> Interaction:
        """An interaction in full. Raises `NotFound`."""
        return await self._worker.run(self._subject.get, id)

    async def reinforce(self, id: str) -> list[Reinforced]:
        """Do it for one that was recorded without, or again: what was done already is told and not done twice.

        Raises `NotFound`.
        """
        return await self._worker.run(self._subject.reinforce, id)

    async def extract(self, id: str) -> list[Lesson]:
        """Make candidates of the rules and decisions in the prompt; returns them. Raises `NotFound`."""
        return await self._worker.run(self._subject.extract, id)

    async def list(
        self,
        *,
        project: str | None = None,
        session: str = "",
        client: str = "",
        since: datetime | None = None,
        limit: int = 50,
        cursor: str = "",
    ) -> InteractionPage:
        """Summaries without bodies, the newest first; `cursor` is that of the page before.

        Raises `NotFound` for an unknown project, `NotAllowed` for a cursor that no page gave.
        """
        return await self._worker.run(
            self._subject.list, project=project, session=session, client=client, since=since, limit=limit, cursor=cursor
        )


class AsyncDocuments:
    """Texts taken in for reference: found by search, told when they fit a task."""

    def __init__(self, subject: Documents, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    async def ingest(self, paths: Paths, *, project: str = "") -> Ingested:
        """Take in files, or folders of them; returns what changed.

        Unchanged ones are left alone, and those that are gone from a folder go here, too. Raises `NotFound`.
        """
        return await self._worker.run(self._subject.ingest, paths, project=project)

    async def add(self, name: str, text: str, *, project: str = "") -> str:
        """Take in a text under a name; one of the same name and project gives way. Returns its id.

        Raises `NotAllowed` for an empty text, `NotFound` for an unknown project.
        """
        return await self._worker.run(self._subject.add, name, text, project=project)

    async def get(self, id: str) -> DocumentDetails:
        """A document with its parts. Raises `NotFound`."""
        return await self._worker.run(self._subject.get, id)

    async def remove(self, path: str) -> None:
        """Let a document go, by its path or id; lessons that cite it keep their quotes. Raises `NotFound`."""
        return await self._worker.run(self._subject.remove, path)

    async def list(self, *, project: str | None = None) -> list[Document]:
        """Documents by path; with a project, also those of none. Raises `NotFound` for an unknown project."""
        return await self._worker.run(self._subject.list, project=project)


class AsyncReview:
    """Candidates, contradictions and what was decided. Every decision returns its event, which `undo` takes."""

    def __init__(self, subject: Review, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    async def queue(
        self, *, project: str | None = None, kind: str | None = None, rule: str | None = None, trust: str | None = None
    ) -> list[Pending]:
        """Candidates in the order in which they are worth a look. Raises `NotFound` for an unknown project."""
        return await self._worker.run(self._subject.queue, project=project, kind=kind, rule=rule, trust=trust)

    async def count(self) -> int:
        """How many candidates wait."""
        return await self._worker.run(self._subject.count)

    async def notice(self) -> str:
        """A word when many wait, or lessons contradict each other; empty when few do."""
        return await self._worker.run(self._subject.notice)

    async def consider(self, id: str) -> Considered:
        """A candidate with its sources, similar lessons and what promoting it would change. Raises `NotFound`."""
        return await self._worker.run(self._subject.consider, id)

    async def promote(self, id: str, *, why: str = "") -> int:
        """Believe a lesson; if it contradicts one that is believed, neither is told until one of them is kept.

        Raises `NotFound`, and `NotAllowed` where the lesson is not a candidate.
        """
        return await self._worker.run(self._subject.promote, id, why=why)

    async def reject(self, id: str, *, why: str = "") -> int:
        """It is not so: a candidate becomes invalid. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.reject, id, why=why)

    async def invalidate(self, id: str, *, why: str = "") -> int:
        """It is not so any more: an active lesson becomes invalid. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.invalidate, id, why=why)

    async def archive(self, id: str, *, why: str = "") -> int:
        """It is of no use any more. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.archive, id, why=why)

    async def restore(self, id: str, *, why: str = "") -> int:
        """Back to what it was before it was rejected, superseded or archived. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.restore, id, why=why)

    async def merge(self, id: str, into: str, *, why: str = "") -> int:
        """It says the same as another, which gets its sources. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.merge, id, into, why=why)

    async def supersede(self, id: str, by: str, *, why: str = "") -> int:
        """A newer lesson takes its place. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.supersede, id, by, why=why)

    async def edit(
        self,
        id: str,
        *,
        text: str | None = None,
        kind: Kind | None = None,
        tags: Sequence[str] | None = None,
        confidence: float | None = None,
        pinned: bool | None = None,
        scope: Scope | None = None,
        agent: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        why: str = "",
    ) -> int:
        """Change a lesson's words or fields, those that are given; what they were stays in its history.

        Raises `NotFound`, and `NotAllowed` for an empty text.
        """
        return await self._worker.run(
            self._subject.edit,
            id,
            text=text,
            kind=kind,
            tags=tags,
            confidence=confidence,
            pinned=pinned,
            scope=scope,
            agent=agent,
            valid_from=valid_from,
            valid_until=valid_until,
            why=why,
        )

    async def link(self, id: str, relation: Relation, other: str, *, why: str = "") -> int:
        """Say how two lessons relate. Raises `NotFound`."""
        return await self._worker.run(self._subject.link, id, relation, other, why=why)

    async def undo(self, event: int, *, why: str = "") -> int:
        """Take an event back, if nothing has changed the same since. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.undo, event, why=why)

    async def history(self, id: str = "", *, limit: int = 50) -> list[Event]:
        """What happened to an item, oldest first; without one, what happened last, newest first."""
        return await self._worker.run(self._subject.history, id, limit=limit)

    async def conflicts(self, *, project: str | None = None) -> list[Conflict]:
        """Lessons that contradict each other, the oldest conflict first. Raises `NotFound` for an unknown project."""
        return await self._worker.run(self._subject.conflicts, project=project)

    async def open_conflict(self, ids: Sequence[str], *, why: str = "") -> str:
        """Say that lessons contradict each other; returns the conflict's id. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.open_conflict, ids, why=why)

    async def settle(self, conflict: str, keep: str = "", *, why: str = "") -> int:
        """Decide on one conflict: the lesson to keep, or none when all may stand. Raises `NotFound`, `NotAllowed`."""
        return await self._worker.run(self._subject.settle, conflict, keep, why=why)

    async def keep(self, lesson: str, *, why: str = "") -> list[str]:
        """This lesson holds: it supersedes all that it is in conflict with. Returns the conflicts settled so.

        Raises `NotFound` for a lesson in no conflict.
        """
        return await self._worker.run(self._subject.keep, lesson, why=why)

    async def both_stand(self, lesson: str, *, why: str = "") -> list[str]:
        """It contradicts none of those that it was held to contradict. Returns the conflicts settled so.

        Raises `NotFound` for a lesson in no conflict.
        """
        return await self._worker.run(self._subject.both_stand, lesson, why=why)

    async def reopen(self, conflict: str) -> None:
        """Take a decision on a conflict back: what was superseded by it is believed again, and in dispute."""
        return await self._worker.run(self._subject.reopen, conflict)


class AsyncStore:
    """The store as a whole: what it holds, copies, repairs, forgetting, who may use the service."""

    def __init__(self, subject: Store, worker: _Worker) -> None:
        self._subject = subject
        self._worker = worker

    async def tokens(self) -> list[Token]:
        """All that were made, never their secrets."""
        return await self._worker.run(self._subject.tokens)

    async def make_token(
        self, name: str, scopes: Sequence[str], *, projects: Sequence[str] = (), days: float | None = None
    ) -> NewToken:
        """A new token for the service, of some projects or all, for some days or until it is revoked.

        Raises `NotAllowed` for scopes or a name that cannot be, `NotFound` for an unknown project.
        """
        return await self._worker.run(self._subject.make_token, name, scopes, projects=projects, days=days)

    async def revoke_token(self, id: str) -> Token:
        """It no longer gives access; by id or by name. Raises `NotFound`."""
        return await self._worker.run(self._subject.revoke_token, id)

    async def forget(
        self, id: str = "", *, session: str = "", project: str = "", text: str = "", dry_run: bool = False
    ) -> Forgot:
        """Remove one thing from every table, index, copy and export; it does not come back with the next harvest.

        A lesson, failure, session, attempt, interaction or document by the beginning of its `id`; a `session` with
        its sub-agents by id or transcript; a `project`; a `text` in any case, wherever it stands. Raises `NotFound`,
        and `NotAllowed` unless one thing is named.
        """
        return await self._worker.run(
            self._subject.forget, id, session=session, project=project, text=text, dry_run=dry_run
        )

    async def purge(
        self, days: int, *, what: What = "all", project: str | None = None, dry_run: bool = False
    ) -> Forgot:
        """Drop what is older than some days; what a newer session confirms or a person decided on stays.

        Raises `NotFound` for an unknown project.
        """
        return await self._worker.run(self._subject.purge, days, what=what, project=project, dry_run=dry_run)

    async def export(self, folder: AnyPath, *, everything: bool = False, force: bool = False) -> Exported:
        """Write the lessons as a tree of files that people and git can work with; returns what was written.

        Raises `HardwonError` where the tree has changes that were not imported, unless `force` drops them, and for the
        tree of another store.
        """
        return await self._worker.run(self._subject.export, folder, everything=everything, force=force)

    async def import_tree(self, directory: AnyPath, *, theirs: bool = False, dry_run: bool = False) -> Merged | Taken:
        """Bring back what people changed in a tree; one that this store did not write is only proposed for review.

        Where everything could be settled, the tree is written anew: a line that was added has its id then.
        `theirs` lets the tree win where both changed. Raises `HardwonError` where there is no tree, or a damaged one.
        """
        return await self._worker.run(self._subject.import_tree, directory, theirs=theirs, dry_run=dry_run)

    async def import_from(
        self, system: System, path: AnyPath, *, trusted: bool = False, project: str | None = None, dry_run: bool = False
    ) -> Taken:
        """Import another system's memory, with its times; importing it again adds nothing.

        `trusted` is the word of the person who imports it that its lessons are true. Raises `NotFound` for a
        path that does not exist, `HardwonError` for what is damaged or not of that system.
        """
        return await self._worker.run(
            self._subject.import_from, system, path, trusted=trusted, project=project, dry_run=dry_run
        )

    async def dump(self, out: BinaryIO) -> Header:
        """Write every row of every table as JSON lines; returns what stands at their head."""
        return await self._worker.run(self._subject.dump, out)

    async def load(self, path: AnyPath, *, dry_run: bool = False) -> Loaded:
        """Read a dump into the store: as it was into an empty one, beside what is there into any other.

        Raises `NotFound`, and `HardwonError` for a dump that is cut off, changed or of another version.
        """
        return await self._worker.run(self._subject.load, path, dry_run=dry_run)

    async def migrate(self, to: AnyPath, *, force: bool = False, progress: Progress | None = None) -> Migrated:
        """Copy the store to a file (a path) or a server (`postgresql://…`); this one stays as it is.

        Raises `NotAllowed` for a place that is in use.
        """
        return await self._worker.run(self._subject.migrate, to, force=force, progress=progress)

    async def check(self) -> list[Check]:
        """What `hardwon doctor` shows, one entry for each thing that was looked at."""
        return await self._worker.run(self._subject.check)

    async def healthy(self) -> bool:
        """Whether there is nothing that `repair` could mend."""
        return await self._worker.run(self._subject.healthy)

    async def last_runs(self) -> dict[str, list[dict[str, object]]]:
        """Agent → the last run of each hook, and the last error of those in the last days."""
        return await self._worker.run(self._subject.last_runs)

    async def repair(self) -> Repaired:
        """Repair a copy of the store and put it in place; what cannot be kept goes into a file of its own.

        Raises `StoreError` if there is no store, `NotAllowed` for one on a server.
        """
        return await self._worker.run(self._subject.repair)

    async def backup(self, file: AnyPath | None = None, *, keep: int | None = None) -> Backup:
        """A verified copy, made while others work; `keep` removes all but the newest in the home folder.

        Raises `NotAllowed` for a store on a server.
        """
        return await self._worker.run(self._subject.backup, file, keep=keep)

    async def restore(self, file: AnyPath) -> Restored:
        """Put a backup in the store's place, if it is sound.

        Raises `NotFound` for a file that is not there, `StoreError` for one that is no sound backup.
        """
        return await self._worker.run(self._subject.restore, file)

    async def totals(self) -> dict[str, int]:
        """How many sessions, failures, lessons, … the store holds."""
        return await self._worker.run(self._subject.totals)

    async def projects(self) -> list[Project]:
        """Every project, the one with the most sessions first."""
        return await self._worker.run(self._subject.projects)

    async def resolve(self, id: str) -> str:
        """The full id that a beginning of it stands for. Raises `NotFound` where none or several do."""
        return await self._worker.run(self._subject.resolve, id)

    async def reindex(self, *, rebuild: bool = False, progress: Progress | None = None) -> Reindexed:
        """Mend the full-text index, or build it anew, and give every item its vector.

        Raises `NoModel` if what makes vectors cannot be reached.
        """
        return await self._worker.run(self._subject.reindex, rebuild=rebuild, progress=progress)

    async def embed(self, *, seconds: float, progress: Progress | None = None) -> Embedded:
        """Make missing vectors for a while, where there is a model; returns how many are done and left.

        A model that fails is no reason to fail.
        """
        return await self._worker.run(self._subject.embed, seconds=seconds, progress=progress)

    async def audit(self) -> list[Leak]:
        """Everything in the home directory and in the store that the present scrubbing rules would redact."""
        return await self._worker.run(self._subject.audit)

    async def keep_metrics(self, found: Metrics) -> None:
        """Keep the numbers that `memory.measure` gave, so that later ones can be compared."""
        return await self._worker.run(self._subject.keep_metrics, found)

    async def keep_daily_metrics(self, changed: Sequence[str] = ()) -> int:
        """Once a day, the numbers of all and of each project (id) that changed; returns how many were kept."""
        return await self._worker.run(self._subject.keep_daily_metrics, changed)

    async def write_metrics(self, found: Metrics, path: AnyPath) -> list[Path]:
        """A page of Markdown with its charts beside it; returns what was written."""
        return await self._worker.run(self._subject.write_metrics, found, path)
