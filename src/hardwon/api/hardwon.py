"""A store and everything that can be done with it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import apsw

from hardwon import config as settings
from hardwon import former
from hardwon.api.answers import Answers
from hardwon.api.browse import Browse
from hardwon.api.capture import Capture
from hardwon.api.care import Care
from hardwon.api.conflicts import Conflicts
from hardwon.api.distil import Distil
from hardwon.api.documents import Documents
from hardwon.api.exchange import Exchange
from hardwon.api.forget import Forgetting
from hardwon.api.interactions import Interactions
from hardwon.api.journal import Journal
from hardwon.api.metrics import MetricsOf
from hardwon.api.proof import Proof
from hardwon.api.proposals import Proposals
from hardwon.api.queue import Queue
from hardwon.api.recall import Recall
from hardwon.api.review import Review
from hardwon.api.scrub import Scrub
from hardwon.api.telling import Telling
from hardwon.api.tokens import Tokens
from hardwon.briefing.compose import compose
from hardwon.briefing.exposure import Recipient, expose, prepared_lines
from hardwon.briefing.rank import Request, candidates
from hardwon.clock import now
from hardwon.config import Config
from hardwon.errors import HardwonError, NotFound, StoreError
from hardwon.harvest.anchor import tie
from hardwon.harvest.sampler import Holds, Sample, best_first, contents, known, ranked
from hardwon.harvest.walk import Progress, Report, harvest, unread
from hardwon.home import DATABASE, home_directory, switched_off, usual_home
from hardwon.measure.outcomes import settle
from hardwon.model.bootstrap import Bootstrap
from hardwon.model.lesson import Lesson
from hardwon.model.session import Transcript
from hardwon.recall.known_failure import Recalled, recall
from hardwon.recall.search import Hit
from hardwon.sessions import discover
from hardwon.sessions.project import identify
from hardwon.sessions.reader import read
from hardwon.sessions.scan import CACHE, scan
from hardwon.store import failures, hook_data, lessons, lifecycle, meta, projects, sessions, stale
from hardwon.store.database import WAIT_MILLISECONDS, Check, Database, connect
from hardwon.store.failures import Cost, FailureRow, FixRow, OccurrenceRow
from hardwon.store.hook_data import mirror_for_hooks
from hardwon.store.lessons import SourceRow
from hardwon.store.refingerprint import Regrouped, refingerprint
from hardwon.text.paths import tilde

if TYPE_CHECKING:
    from hardwon.api.remote import Remote


class Hardwon:
    """A store and everything that can be done with it.

    >>> with Hardwon() as memory:
    ...     memory.harvest(memory.discover())
    ...     print(memory.bootstrap("my-project").text)
    """

    def __init__(self, home: Path | str | None = None, *, wait: int = WAIT_MILLISECONDS) -> None:
        """`wait` is how many milliseconds another writer is waited for."""
        self._wait = wait
        self.home = Path(home) if home is not None else Path(home_directory())
        self._move_over()
        self.config: Config = settings.load(self.home).config
        self.proof = Proof(self)
        self.metrics = MetricsOf(self)
        self.care = Care(self)
        self.recall = Recall(self)
        self.review = Review(self)
        self.queue = Queue(self)
        self.conflicts = Conflicts(self)
        self.distil = Distil(self)
        self.exchange = Exchange(self)
        self.journal = Journal(self)
        self.capture = Capture(self)
        self.forget = Forgetting(self)
        self.scrub = Scrub(self)
        self.interactions = Interactions(self)
        self.documents = Documents(self)
        self.browse = Browse(self)
        self.proposals = Proposals(self)
        self.tokens = Tokens(self)
        self.telling = Telling(self)
        self.answers = Answers(self)
        self._reader: Database | None = None
        self._writer: Database | None = None

    @staticmethod
    def connect(url: str, token: str) -> Remote:
        """A store on a service (`hardwon serve`), with the same verbs for what the service offers."""
        from hardwon.api.remote import Remote  # noqa: PLC0415 - few need http

        return Remote(url, token)

    def _move_over(self) -> None:
        """A home or store of the project's former name becomes this one's, once."""
        try:
            stamp = datetime.now(UTC).isoformat(timespec="seconds")
            former.move_home(str(self.home), usual_home(), DATABASE, stamp)
        except (OSError, apsw.Error) as error:
            raise StoreError(f"what {former.NAME} kept cannot be moved over: {error}") from error

    def __enter__(self) -> Hardwon:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for database in (self._reader, self._writer):
            if database is not None:
                database.close()
        self._reader = self._writer = None

    @property
    def database(self) -> Path | str:
        """Where the store is: a file, or the address of a server."""
        return self.config.database or self.home / DATABASE

    @property
    def exists(self) -> bool:
        """Whether there is a store to read; a server is taken to have one."""
        return isinstance(self.database, str) or self.database.exists()

    def discover(self) -> list[Path]:
        """Every transcript that the known agents keep on this machine."""
        return discover.installed(os.environ, Path.home())

    def inspect(self, path: Path) -> Transcript:
        """Read one file without storing anything."""
        return read(path)

    def harvest(self, paths: Iterable[Path], *, most: int | None = None, progress: Progress | None = None) -> Report:
        """Learn from new and changed transcripts; unchanged ones are skipped unread."""
        if switched_off():
            raise HardwonError("HARDWON_OFF is set: nothing is harvested; unset it to go on")
        db = self.writing()
        wanted = list(paths)
        chosen = self._most_valuable(db, wanted, most, progress) if most is not None else wanted
        report = harvest(db, chosen, progress, self.scrub.for_harvest(chosen))
        report.left_for_later = len(wanted) - len(chosen)
        with db.transaction():
            lifecycle.archive_idle(db, now(), self.config.half_life_days)
        tie(db, report.projects)
        self.refresh_standing()
        settle(db, now())
        return report

    def sample(
        self,
        paths: Iterable[Path | str],
        *,
        project: str = "",
        since: int = 0,
        by_value: bool = False,
        progress: Progress | None = None,
    ) -> list[Sample]:
        """The files among `paths` that hold sessions, the most valuable first.

        `by_value` reads them all to rank by what each adds to what is known.
        """
        scanned = self.forget.without_forgotten(scan(self.forget.nameable(paths), self.home / CACHE, progress))
        found = ranked(scanned, time.time_ns() // 1000, project=project, since=since)
        if not by_value:
            return found
        already = known(self.reading()) if self.exists else Holds()
        by_path = {Path(sample.path): sample for sample in found}
        order = best_first({path: contents(path) for path in by_path}, already)
        return [by_path[path]._replace(score=value) for path, value in order]

    def harvested(self, paths: Iterable[Path]) -> set[Path]:
        """Those of the files that have been harvested and not changed since."""
        wanted = set(paths)
        return wanted - set(unread(self.reading(), wanted)) if self.exists else set()

    def _most_valuable(self, db: Database, paths: list[Path], most: int, progress: Progress | None) -> list[Path]:
        """The best of what is new, and all that costs nothing: what is read already, what is no session."""
        fresh = unread(db, paths)
        if len(fresh) <= most:
            return paths
        left = {Path(sample.path) for sample in self.sample(fresh, progress=progress)[most:]}
        return [path for path in paths if path not in left]

    def search(self, query: str, *, project: str | None = None, limit: int = 10) -> list[Hit]:
        """The best matches; `recall.search` has more to choose from."""
        return self.recall.search(query, project=project, limit=limit).hits

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
        `only_here` tells no fix that only other projects have seen.
        """
        found = self.project(project)
        budget = self.config.budget if budget is None else budget
        if switched_off() or found is None:
            return Bootstrap(text="", tokens=0, budget=budget, lines=(), left_out=())
        db = self.writing() if session else self.reading()
        request = Request(project=found, agent=agent, task=task, only_here=only_here)
        lines = candidates(db, request, self.config, time.time_ns() // 1000)
        whole = compose(lines, budget, meta.fence_key(db))
        if not session or not whole.lines:
            return whole
        wanted = experiment and self.config.experiment == "on"
        return expose(db, lines, whole, Recipient(found, agent, session, task), experiment=wanted)

    def failures(
        self, *, project: str | None = None, since: int = 0, only_open: bool = False
    ) -> list[tuple[FailureRow, list[FixRow]]]:
        """What keeps failing, the most widespread first, each with what fixed it."""
        db = self.reading()
        rows = failures.listed(db, self.project(project), since, only_open=only_open)
        fixes = failures.fixes(db, [row.id for row in rows])
        return [(row, fixes[row.id]) for row in rows]

    def failure(self, id: str) -> tuple[FailureRow, list[FixRow], list[OccurrenceRow]]:
        db = self.reading()
        row = failures.get(db, id)
        if row is None:
            raise NotFound(f"no failure {id}: `hardwon failures` lists them")
        return row, failures.fixes(db, [id])[id], failures.occurrences(db, id)

    def cost_of_failures(self, ids: Sequence[str], *, since: int = 0) -> dict[str, Cost]:
        return failures.costs(self.reading(), ids, since)

    def recall_failure(
        self, text: str, *, command: str = "", project: str | None = None, only_here: bool = False
    ) -> Recalled:
        """What is known of a failure, from the output of what failed; `only_here`, to the project alone."""
        if switched_off() or not self.exists:
            return Recalled(known=False)
        return recall(self.reading(), text, command, self.project(project), only_here=only_here)

    def outdated_failures(self) -> int:
        """How many failures were recognised by an older version of the fingerprint."""
        return failures.outdated(self.reading())

    def refingerprint(self) -> Regrouped:
        """Recognise failures of an older version anew, from the error text that was kept of each."""
        done = refingerprint(self.writing())
        self.refresh_standing()
        return done

    def lessons(
        self, *, project: str | None = None, kind: str | None = None, status: str | None = None
    ) -> list[Lesson]:
        return lessons.listed(self.reading(), project=self.project(project), kind=kind, status=status)

    def lesson(self, id: str) -> tuple[Lesson, list[SourceRow]]:
        db = self.reading()
        lesson = lessons.get(db, id)
        if lesson is None:
            raise NotFound(f"no lesson {id}: `hardwon lessons` lists them")
        return lesson, lessons.sources(db, id)

    def resolve(self, id: str) -> str:
        """The full id that a beginning of it stands for."""
        matches = meta.ids_like(self.reading(), id)
        if len(matches) != 1:
            what = "several ids begin" if matches else "no lesson or failure begins"
            raise NotFound(f"{what} with '{id}': `hardwon lessons` and `hardwon failures` list them")
        return matches[0]

    def projects(self) -> list[tuple[str, str, int]]:
        """(id, name, sessions), the busiest first."""
        return projects.by_activity(self.reading())

    def totals(self) -> dict[str, int]:
        """What the store holds."""
        db = self.reading()
        errors, before = failures.seen_before(db)
        files, refused, damaged = sessions.file_totals(db)
        return {
            **sessions.totals(db),
            **failures.totals(db),
            "lessons": lessons.count(db),
            "distinct_errors": errors,
            "seen_before": before,
            "files": files,
            "refused": refused,
            "damaged": damaged,
        }

    def check(self) -> list[Check]:
        """What `hardwon doctor` shows."""
        return self.care.check()

    def reading(self) -> Database:
        """A connection that cannot write, or the writing one where there is one."""
        if self._writer is not None:
            return self._writer
        if self._reader is None:
            self._reader = connect(self.database, wait=self._wait)
        return self._reader

    def writing(self) -> Database:
        """The connection that writes; it makes the store if there is none, and brings an old one up to date."""
        if self._writer is None:
            self._writer = connect(self.database, write=True, wait=self._wait)
            meta.prepare(self._writer)
            hook_data.drain_runs(self._writer, str(self.home))
            hook_data.drain_exposures(self._writer, str(self.home))
        return self._writer

    def project(self, name: str | None) -> str | None:
        """A project's id from whatever a person calls it."""
        if name is None:
            return None
        db = self.reading()
        found = projects.find(db, name) or projects.find(db, tilde(name))
        if not found and os.path.isdir(name):
            here = identify(os.path.abspath(name))
            found = projects.find(db, here.key) if here else []
        if len(found) == 1:
            return found[0][0]
        if found:
            raise NotFound(f"several projects are called '{name}': say which of {', '.join(row[1] for row in found)}")
        names = ", ".join(row[1] for row in projects.by_activity(db)[:8])
        raise NotFound(f"no project '{name}'" + (f"; known: {names}" if names else ": nothing is harvested yet"))

    def refresh_standing(self) -> None:
        """Keep ready what hooks hand out, by the ranking that `bootstrap` runs live."""
        db = self.writing()
        hook_data.mark_if_older(db)
        stale.recount(db)
        for project in stale.projects(db):
            requests = [Request(project=project, agent=agent) for agent in ["", *projects.agents(db, project)]]
            moment, half_life = time.time_ns() // 1000, self.config.half_life_days
            lines = {request.agent: prepared_lines(db, request, half_life, moment) for request in requests}
            with db.transaction():
                for agent, chosen in lines.items():
                    hook_data.replace(db, project, agent, chosen)
                stale.clear(db, [project])
        if isinstance(self.database, str):
            mirror_for_hooks(db, self.home)
