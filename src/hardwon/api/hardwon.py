"""The facade: what every surface is made of."""

from __future__ import annotations

import os
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hardwon.api.connection import AnyPath, Connection, Paths, each_path, need_switched_on, session_files, session_names
from hardwon.clock import moment, now, to_microseconds
from hardwon.errors import HardwonError, NotFound
from hardwon.failures.fingerprint import FAMILIES
from hardwon.home import switched_off
from hardwon.model.attempt import Outcome
from hardwon.model.lesson import KINDS, STATUSES, need_known
from hardwon.model.nouns import Bootstrap, Habit, Map, Resumption, SearchResults, Visitor
from hardwon.sessions.project import within_checkout
from hardwon.store import meta, projects
from hardwon.store.database import WAIT_MILLISECONDS, Database
from hardwon.store.pages import agents

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from hardwon.api.documents import Documents
    from hardwon.api.failures import Failures
    from hardwon.api.interactions import Interactions
    from hardwon.api.journal import Journal
    from hardwon.api.lessons import Lessons
    from hardwon.api.review import Review
    from hardwon.api.sessions import Sessions
    from hardwon.api.store import Store
    from hardwon.api.team import Team
    from hardwon.harvest.sampler import Score, Value
    from hardwon.harvest.walk import Log, Progress, Report
    from hardwon.measure.experiment import Experiment
    from hardwon.measure.metrics import Metrics
    from hardwon.measure.report import Report as ReplayReport
    from hardwon.model.session import Transcript
    from hardwon.recall.search import SearchFilter, SearchSettings

_ALL = 1_000_000_000
_DAY = 24 * 3600 * 1_000_000


class Sample(Struct, frozen=True, kw_only=True):
    """One file of sessions and what harvesting it is worth."""

    path: str
    score: Score | Value
    messages: int
    tool_calls: int
    errors: int
    projects: tuple[str, ...]
    failed: bool
    started_at: datetime | None
    ended_at: datetime
    format: str


class Hardwon(Connection):
    """A store, and everything you can do with it.

    >>> with Hardwon() as memory:
    ...     memory.harvest(memory.discover())
    ...     print(memory.bootstrap("my-project").text)

    `home` is the folder of the store, its settings (`config`) and backups; by default `HARDWON_HOME`, else one in the
    user's own. `exists` tells whether there is a store yet; the first write makes it.
    """

    def __init__(self, home: AnyPath | None = None, *, wait: int = WAIT_MILLISECONDS) -> None:
        """`wait` is how many milliseconds another writer is waited for."""
        super().__init__(Path(home) if home is not None else None, wait=wait)

    @cached_property
    def lessons(self) -> Lessons:
        from hardwon.api.lessons import Lessons

        return Lessons(self)

    @cached_property
    def failures(self) -> Failures:
        from hardwon.api.failures import Failures

        return Failures(self)

    @cached_property
    def sessions(self) -> Sessions:
        from hardwon.api.sessions import Sessions

        return Sessions(self)

    @cached_property
    def journal(self) -> Journal:
        from hardwon.api.journal import Journal

        return Journal(self)

    @cached_property
    def interactions(self) -> Interactions:
        from hardwon.api.interactions import Interactions

        return Interactions(self)

    @cached_property
    def documents(self) -> Documents:
        from hardwon.api.documents import Documents

        return Documents(self)

    @cached_property
    def review(self) -> Review:
        from hardwon.api.review import Review

        return Review(self)

    @cached_property
    def store(self) -> Store:
        from hardwon.api.store import Store

        return Store(self)

    @cached_property
    def team(self) -> Team:
        from hardwon.api.team import Team

        return Team(self)

    def __enter__(self) -> Hardwon:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def discover(self) -> list[Path]:
        """The session files of all supported agents on this machine."""
        from hardwon.sessions import discover

        return discover.installed(os.environ, Path.home())

    def inspect(self, path: AnyPath) -> Transcript:
        """Read one file without storing anything: its sessions with their messages, calls and results.

        `suspected_loss` is set if clearly less was read than the file seems to contain.

        Raises `NotFound` for a path that does not exist, `NotASession` for a file of no known agent.
        """
        from hardwon.failures.ledger import inspected

        file = Path(path)
        if not file.exists():
            raise NotFound(f"no such file or folder: {file}")
        return inspected(file)

    def harvest(
        self,
        paths: Paths,
        *,
        most: int | None = None,
        mine: bool = False,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> Report:
        """Learn from new and changed session files, or folders of them; unchanged files are skipped.

        What lies neither in an agent's own folder nor in one of the setting `own_folders` is somebody else's: what is
        said there waits for a person, unless it is `mine`. `most` takes only the most valuable of what is new. Files
        are read by processes of our own or by any `executor` of `concurrent.futures` whose workers see them; the store
        is the same. Returns what was learned. Raises `NotFound` for a path that does not exist.
        """
        need_switched_on()
        db = self.writing()
        wanted = self.logs(session_files(paths), mine=mine)
        chosen = self._most_valuable(db, wanted, most, progress) if most is not None else wanted
        done = self.take_in(chosen, progress, executor)
        done.left_for_later = len(wanted) - len(chosen)
        return done

    def _most_valuable(self, db: Database, logs: list[Log], most: int, progress: Progress | None) -> list[Log]:
        """The best of what is new, and all that costs nothing: what is read already, what is no session."""
        from hardwon.harvest.walk import unread

        fresh = unread(db, logs)
        if len(fresh) <= most:
            return logs
        left = {Path(sample.path) for sample in self.sample((log.path for log in fresh), progress=progress)[most:]}
        return [log for log in logs if log.path not in left]

    def sample(
        self,
        paths: Paths,
        *,
        project: str = "",
        since: datetime | None = None,
        by_value: bool = False,
        progress: Progress | None = None,
    ) -> list[Sample]:
        """The session files among `paths`, the most valuable first.

        `by_value` reads them all to rank by what each adds to what is known. Raises `NotFound` for a path that does not
        exist.
        """
        from hardwon.api.forget import nameable, without_forgotten
        from hardwon.harvest.sampler import Holds, best_first, contents, known, ranked
        from hardwon.sessions.scan import CACHE, scan

        seen = session_names(paths)
        scanned = without_forgotten(self, scan(nameable(self, seen), self.home / CACHE, progress, seen))
        found = ranked(scanned, now(), project=project, since=to_microseconds(since))
        if by_value:
            already = known(self.reading()) if self.exists else Holds()
            by_path = {Path(entry.path): entry for entry in found}
            order = best_first({path: contents(path) for path in by_path}, already)
            found = [by_path[path]._replace(score=value) for path, value in order]
        return [_sample(*entry) for entry in found]

    def search(
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
        sessions: bool = False,
    ) -> SearchResults:
        """The best results for a query, by words and by meaning.

        With `sessions`, or of the type `passage`, also where it was said or done in past sessions, by words alone: for
        a person, not to be handed to agents; without a type, what is worth less than half of a good best result is
        then left out.

        Raises `NotFound` for an unknown project, `NotAllowed` for an unknown type, kind or status.
        """
        from hardwon.recall.search import SearchFilter, SearchSettings, search, without_weak
        from hardwon.store.fulltext import TYPES

        need_known("type", type or None, TYPES)
        if kind and kind not in agents(self.reading()):  # which are not told: they may be those of other projects
            need_known("kind", kind, (*KINDS, *(family for family, _ in FAMILIES), "hook"))
        status = "invalid" if status == "rejected" else status
        need_known("status", status or None, (*STATUSES, *Outcome))
        wanted = SearchFilter(
            types=(type,) if type else (),
            kind=kind or "",
            project=self.project(project) or "",
            agent=agent or "",
            status=status or "",
            since=to_microseconds(since),
            until=to_microseconds(until),
            file=file or "",
        )
        settings = SearchSettings(
            embedder=self.embedder.embedder,
            weight=self.config.fusion_weight,
            half_life_days=self.config.half_life_days,
            now=now(),
            notice=self.embedder.notice,
        )
        db = self.reading()
        if type == "passage" or (sessions and type in (None, "session")):
            found = self._with_passages(db, query, wanted, settings, limit)
        else:
            found = search(db, query, wanted, settings, limit)
        return without_weak(found) if sessions and not type else found

    def _with_passages(
        self, db: Database, query: str, wanted: SearchFilter, settings: SearchSettings, limit: int
    ) -> SearchResults:
        from hardwon.api.resuming import opened
        from hardwon.recall.search import passages, search
        from hardwon.text.words import as_typed

        said = passages(db, query, wanted, settings, limit) if self.config.search_sessions == "on" else []
        said = opened(db, said)
        if wanted.types == ("passage",):
            return SearchResults([], passages=said)
        known = search(db, query, wanted, settings, limit)
        shown = {hit.session for hit in said}
        hits = [hit for hit in known.hits if hit.id not in shown]
        if (word := as_typed(query)) and any(word.search(hit.text) for hit in said):
            hits = [hit for hit in hits if word.search(hit.text)]  # not what has the stem, or another pair
        return SearchResults(hits, known.notice, said)

    def bootstrap(
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
        from hardwon.briefing.compose import Recipient, compose, expose, with_map, with_who_says_it
        from hardwon.briefing.rank import Request, candidates
        from hardwon.map.draw import known_of
        from hardwon.map.known import at_start
        from hardwon.map.wording import for_task

        found = self.project(project)
        budget = self.config.budget if budget is None else budget
        if switched_off() or found is None:
            return Bootstrap(text="", tokens=0, budget=budget, lines=(), left_out=())
        db = self.writing() if session else self.reading()
        request = Request(project=found, agent=agent, task=task, only_here=only_here)
        lines = candidates(db, request, self.config, now())
        key = meta.fence_key(db)
        whole = with_who_says_it(db, compose(lines, budget, key))
        if session and whole.lines:
            wanted = experiment and self.config.experiment == "on"
            whole = expose(db, lines, whole, Recipient(found, agent, session, task), experiment=wanted)
            if not whole.lines:
                return whole  # held out: it is told nothing at all
        known = known_of(db, found, for_a_task=bool(task))
        folder = _folder(project)
        leads = for_task(known, task, folder=folder) if task else None
        return with_map(whole, at_start(known, folder=folder), leads, key)

    def map(self, project: str, *, task: str = "", limit: int = 10) -> Map:
        """The files and commands that a task will probably need, judging by earlier sessions.

        For a project that is named by a folder below its top, what lies and ran there comes first.
        Raises `NotFound` for an unknown project.
        """
        from hardwon.api import whereabouts

        found = self.project(project)
        if switched_off() or found is None:
            return Map(files=(), commands=(), tokens=0)
        return whereabouts.map_of(self.reading(), found, task, limit, _folder(project))

    def picture(self, project: str) -> str:
        """The project as an SVG: folders sized by sessions, coloured by age, with failures marked.

        Raises `NotFound` for an unknown project.
        """
        from hardwon.map.draw import known_of
        from hardwon.map.picture import svg

        found = self.project(project) or ""
        db = self.reading()
        return svg(known_of(db, found), projects.names(db).get(found, ""))

    def blame(self, path: str, *, project: str, limit: int = 20) -> list[Visitor]:
        """The sessions that touched a file or folder (relative to the project's root), and how they ended.

        Raises `NotFound` for an unknown project.
        """
        from hardwon.api import whereabouts

        found = self.project(project)
        return whereabouts.visitors(self.reading(), found, path, limit) if found else []

    def how(self, words: str, *, project: str, limit: int = 10) -> list[Habit]:
        """The commands that worked in a project; those that match the words come first.

        Raises `NotFound` for an unknown project.
        """
        from hardwon.api import whereabouts

        found = self.project(project)
        return whereabouts.how(self.reading(), found, words, limit) if found else []

    def resume(self, id: str) -> Resumption:
        """The command that resumes a session in its agent, by the beginning of the session's id.

        Raises `NotFound`, or `HardwonError` where the agent has no such command.
        """
        from hardwon.api.resuming import resumption

        return resumption(self.reading(), id)

    def replay(
        self,
        paths: Paths = (),
        *,
        project: str | None = None,
        budget: int | None = None,
        failure_budget: int | None = None,
        progress: Progress | None = None,
    ) -> ReplayReport:
        """Brief every session from the earlier ones only, and compare with the errors it then had.

        With `paths`, over these sessions in a store made for the purpose and thrown away; else over one's own.
        Raises `NotFound` for an unknown project or a path that does not exist.
        """
        from hardwon.map.draw import trips
        from hardwon.measure import replay, report
        from hardwon.text.shown import day

        if named := each_path(paths):
            import tempfile

            files = session_files(named)
            with tempfile.TemporaryDirectory() as folder, type(self)(folder) as other:
                other.harvest(files, mine=True, progress=progress)
                return other.replay(project=project, budget=budget, failure_budget=failure_budget, progress=progress)
        db = self.reading()
        settings = replay.ReplaySettings(self.config, self.config.budget if budget is None else budget, failure_budget)
        names = projects.names(db)
        steps, maps = replay.walked(
            db, self.project(project), settings, progress, lambda id: (names[id], trips(db, id, _ALL))
        )
        maps.sort(key=lambda one: -one.sessions)
        return replace(report.summarise(steps, names, day), maps=maps)

    def measure(self, *, project: str | None = None, since: datetime | None = None, days: int = 0) -> Metrics:
        """The numbers of all that was harvested; of a project; since a moment, or for some days.

        Raises `NotFound` for an unknown project.
        """
        from hardwon.measure.metrics import collect
        from hardwon.measure.tallies import Window

        until = now()
        begin = to_microseconds(since) or (until - days * _DAY if days else 0)
        return collect(self.reading(), Window(begin, until, self.project(project) or ""))

    def experiment(self, *, project: str | None = None, since: datetime | None = None) -> Experiment:
        """Whether briefing lines help, measured by withholding some of them at random.

        Raises `NotFound` for an unknown project, `HardwonError` where the extra `measure` is not installed.
        """
        from hardwon.measure import outcomes

        try:
            from hardwon.measure.experiment import analyse
        except ModuleNotFoundError as missing:
            raise HardwonError(f"the experiment needs {missing.name}: `hardwon extras add measure`") from None
        db = self.reading()
        found = outcomes.load(db, project=self.project(project), since=to_microseconds(since))
        return analyse(found, meta.fence_key(db))


def _sample(
    path: str,
    score: Score | Value,
    messages: int,
    tool_calls: int,
    errors: int,
    projects: tuple[str, ...],
    failed: bool,
    started_at: int | None,
    ended_at: int,
    format: str,
) -> Sample:
    return Sample(
        path=path,
        score=score,
        messages=messages,
        tool_calls=tool_calls,
        errors=errors,
        projects=projects,
        failed=failed,
        started_at=None if started_at is None else moment(started_at),
        ended_at=moment(ended_at),
        format=format,
    )


def _folder(project: str | None) -> str:
    """Where a project that is named by a folder is entered, below its top."""
    by_folder = project is not None and (project == "." or os.path.isabs(project))
    return within_checkout(os.path.abspath(project)) if project and by_folder else ""
