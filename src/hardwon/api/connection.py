"""What every part of the API stands on: home folder, settings, the connections of the store, paths a caller names.

Here and in `hardwon.py`, what only some methods need is imported in them: a command starts with what it uses.
"""

from __future__ import annotations

import ntpath
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, TypeVar

import apsw

from hardwon import config as settings
from hardwon.clock import now
from hardwon.config import Config
from hardwon.errors import HardwonError, NotFound, StoreError
from hardwon.home import DATABASE, FORMER_NAME, home_directory, move_former_home, switched_off, usual_home
from hardwon.sessions.project import folders_above, repository_of
from hardwon.store import hook_data, lessons, meta, projects, sessions
from hardwon.store.database import WAIT_MILLISECONDS, Database, address_of, asked_together, connect
from hardwon.store.sqlite import make_home
from hardwon.text.normalise import tilde
from hardwon.text.shown import one_line

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from hardwon.api.hardwon import Hardwon
    from hardwon.harvest.pipeline import Workers
    from hardwon.harvest.walk import Log, Progress, Report
    from hardwon.recall.embedder import Chosen
    from hardwon.scrub.scrubber import Scrubber, Scrubbing


SCRUB_CACHE = "cache"
PULLED = "team.json"
"""What a team knows of this machine's projects, as it was pulled last."""
T = TypeVar("T")


class Connection:
    """A home folder and the store that belongs to it, opened when it is first needed."""

    def __init__(self, home: Path | str | None = None, *, wait: int = WAIT_MILLISECONDS) -> None:
        """`wait` is how many milliseconds another writer is waited for."""
        self._wait = wait
        self.home = Path(home) if home is not None else Path(home_directory())
        self._move_over()
        self.config: Config = settings.load(self.home).config
        self._reader: Database | None = None
        self._writer: Database | None = None
        self._had_one = False
        """A store that was there and is gone is not made anew behind the back of who goes on."""

    def _move_over(self) -> None:
        """A home or store of the project's former name becomes this one's, once."""
        try:
            stamp = datetime.now(UTC).isoformat(timespec="seconds")
            move_former_home(str(self.home), usual_home(), DATABASE, stamp)
        except (OSError, apsw.Error) as error:
            raise StoreError(f"what {FORMER_NAME} kept cannot be moved over: {error}") from error

    def close(self) -> None:
        for database in (self._reader, self._writer):
            if database is not None:
                database.close()
        self._reader = self._writer = None

    @property
    def database(self) -> Path | str:
        """Where the store is: a file, or the address of a server."""
        return address_of(self.config.database, self.config.workspace) or self.home / DATABASE

    @property
    def _longest(self) -> int:
        return round(self.config.statement_seconds * 1000)

    @property
    def retain_days(self) -> int:
        """How long sessions are kept: as the workspace says, else the settings; 0 for any time."""
        return (meta.limits(self.reading()).retain_days if self.exists else 0) or self.config.retain_days

    @property
    def exists(self) -> bool:
        """Whether there is a store to read, or was: one that is gone is no empty one. A server is taken to have one."""
        return isinstance(self.database, str) or self._had_one or self.database.exists()

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever kept here; a store that was moved away is missed, not empty."""
        return not self.exists and not self._had_one

    def reading(self) -> Database:
        """A connection that cannot write, or the writing one where there is one; to what is at the place now.

        Raises `StoreError` where nothing is.
        """
        self._leave_what_was_moved()
        if self._writer is not None:
            return self._writer
        if self._reader is None:
            self._reader = connect(self.database, create=not self._had_one, wait=self._wait, longest=self._longest)
            self._had_one = True
        return self._reader

    def _leave_what_was_moved(self) -> None:
        if any(database is not None and not database.is_current() for database in (self._reader, self._writer)):
            self.close()

    def writing(self) -> Database:
        """The connection that writes; it makes the store if there was none, and brings an old one up to date.

        Raises `StoreError` where there was one and is no more.
        """
        self._leave_what_was_moved()
        if self._writer is None:
            if not self._had_one:
                make_home(self.home)
            self._writer = connect(
                self.database, write=True, create=not self._had_one, wait=self._wait, longest=self._longest
            )
            self._had_one = True
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
            here = projects.of_folder(db, os.path.abspath(name))
            found = projects.find(db, here.key) if here else []
        elif not found and (os.path.isabs(name) or ntpath.splitdrive(name)[0]):  # a folder that is gone, or elsewhere
            found = next(filter(None, (projects.find(db, folder) for folder in folders_above(name))), [])
        if len(found) == 1:
            return found[0][0]
        if found:
            raise NotFound(f"several projects are named '{name}': choose one of {projects.told(found)}")
        called = projects.called(db)
        known = [called[row[0]] for row in projects.by_activity(db)]
        names = ", ".join(known[:8]) + (f" and {len(known) - 8} more (`hardwon projects`)" if len(known) > 8 else "")
        what = f"{os.path.abspath(name)} belongs to no project" if os.path.isdir(name) else f"no project '{name}'"
        if os.path.isdir(name):
            from hardwon.sessions.checkpoints import how_to_read

            command, files = how_to_read(name)
            if files:
                raise NotFound(
                    f"{what} yet: `{command}` learns from the {files:,} session{'s' * (files > 1)} that lie in it"
                )
        one = "one of these with --project:" if os.path.isdir(name) else "one of"
        raise NotFound(
            f"{what}; choose {one} {names}" if names else f"{what}: no sessions have been read yet, run `hardwon up`"
        )

    def project_to_keep(self, name: str, *, folders: bool = True) -> str:
        """The id of a project that something is written to: it exists from then on. Empty without a name.

        Without `folders`, a name is never that of a folder of this machine. Raises `NotFound` where several are meant.
        """
        from hardwon.capture.attempts import kept

        db = self.writing()
        if (known := projects.find(db, name)) and len(known) == 1:
            return str(known[0][0])
        with db.transaction():
            return kept(db, name, folders=folders) or ""

    def refresh_standing(self, workers: Workers | None = None) -> None:
        """Keep ready what the hook hands out, by the ranking that `bootstrap` runs live."""
        from hardwon.briefing.rank import Request, prepared_lines
        from hardwon.map import draw

        db = self.writing()
        self._follow_settings()
        hook_data.mark_if_prepared_otherwise(db, self.config.half_life_days)
        meta.recount_stale(db)
        for project in meta.stale_projects(db):
            requests = [Request(project=project, agent=agent) for agent in ["", *projects.agents(db, project)]]
            with asked_together(db):
                lines = {one.agent: prepared_lines(db, one, self.config.half_life_days, now()) for one in requests}
            with db.transaction(project):
                for agent, chosen in lines.items():
                    hook_data.replace_standing(db, project, agent, chosen)
                draw.refresh(db, project, workers.map_of if workers else None)
                meta.clear_stale(db, [project])
        self.mirror_for_hooks()

    def _follow_settings(self) -> None:
        sessions.follow_passage_setting(self.writing(), wanted=self.config.search_sessions == "on")

    def mirror_for_hooks(self) -> None:
        """Of a store on a server, and of what a team knows, hooks read a file on this machine: write it anew."""
        pulled = self.home / PULLED
        if isinstance(self.database, str) or (self.config.team_url and pulled.exists()):
            hook_data.mirror_for_hooks(self.writing(), self.home, self._add_pulled)

    def _add_pulled(self, copy: Database) -> None:
        """What the team knows, as it was pulled last."""
        import msgspec

        from hardwon.exchange.pulled import Knowledge, add_known

        path = self.home / PULLED
        if not self.config.team_url or not path.exists():
            return
        try:
            known = msgspec.json.decode(path.read_bytes(), type=dict[str, Knowledge])
        except (msgspec.DecodeError, RecursionError):
            return  # the next pull writes it anew
        here = {row[0] for row in copy.query("SELECT id FROM project")}
        for project, told in known.items():
            if project in here:
                add_known(copy, self.reading(), told, project)

    def logs(self, files: Sequence[Path], *, mine: bool = False) -> list[Log]:
        """Files of sessions with whose they are: the one place where that is decided.

        What lies in a repository came with it, and may be anybody's. A file that a person names elsewhere is that
        person's, as are those in the agents' own folders.
        """
        from hardwon.harvest.walk import Log
        from hardwon.sessions.discover import OwnFolders

        own = OwnFolders(os.environ, Path.home(), self.config.own_folders)
        folders = {file: os.path.dirname(os.path.realpath(file)) for file in files}
        repositories = {folder: repository_of(folder) for folder in set(folders.values())}
        return [
            Log(file)
            if mine or own.hold(file) or not (repository := repositories[folder])
            else Log(file, owner="foreign", folder=repository)
            for file, folder in folders.items()
        ]

    def take_in(self, logs: list[Log], progress: Progress | None, executor: Executor | None = None) -> Report:
        """Learn from files of sessions, and bring all that follows from it up to date."""
        from hardwon.harvest.pipeline import Workers
        from hardwon.harvest.upkeep import archive_idle, compare_fresh, tie
        from hardwon.harvest.walk import harvest_by

        db = self.writing()
        with db.unhurried(), Workers(self.scrubbing(), executor) as workers:
            self._follow_settings()
            done = harvest_by(workers, db, logs, progress)
            with db.transaction():
                archive_idle(db, now(), self.config.half_life_days)
                compare_fresh(db, "")  # what belongs to no project
            tie(db, done.projects)
            self.refresh_standing(workers)
            hook_data.settle_exposures(db, now())
        return done

    def settle(self, only: str = "") -> None:
        """Bring up to date all that follows from sessions that were pushed here, or what does in one project."""
        from hardwon.exchange import team
        from hardwon.harvest.upkeep import archive_idle

        db = self.writing()
        with db.unhurried():
            team.settle(db, only)
            with db.transaction():
                archive_idle(db, now(), self.config.half_life_days)
            self.refresh_standing()

    def scrubber(self, *, personal: bool = False) -> Scrubber:
        """Gives the same secret the same mark as in everything this store holds."""
        from hardwon.scrub.scrubber import Scrubber

        return Scrubber(key=self._scrub_key(), cache=self._scrub_cache(), personal=personal)

    def scrubbing(self) -> Scrubbing:
        """What scrubbing the texts of this store needs."""
        from hardwon.scrub.scrubber import Scrubbing

        return Scrubbing(key=self._scrub_key(), cache=str(self._scrub_cache()))

    def _scrub_cache(self) -> Path:
        from hardwon.scrub.scrubber import kept_in

        return kept_in(self.home / SCRUB_CACHE)

    def _scrub_key(self) -> bytes | None:
        return meta.scrub_key(self.reading()) if self.exists else None

    @cached_property
    def embedder(self) -> Chosen:
        """What turns text into vectors, or why nothing does."""
        from hardwon.recall.embedder import choose

        return choose(self.config)


def full_id(memory: Connection, id: str, *, sessions: bool = False) -> str:
    """What `Hardwon.store.resolve` gives, for commands that need no more of it; `sessions` may be meant, too,
    by the agent's own id as well, and a number is that of an attempt."""
    db = memory.reading()
    matches = meta.attempt_numbered(db, int(id)) if id.isdecimal() else meta.ids_like(db, id, sessions=sessions)
    if sessions and not matches:
        matches = meta.sessions_of_agents(db, id)
    if len(matches) > 1:
        words = meta.words_of_ids(db, matches)
        said = {one: f" ({one_line(told)})" for one in matches if (told := words.get(one))}
        some = "; ".join(f"{meta.short_id(db, one)}{said.get(one, '')}" for one in matches)
        raise NotFound(f"several ids begin with '{id}', such as {some}")
    if not matches:
        raise NotFound(
            f"no lesson, failure, fix, attempt or session begins with '{id}': `hardwon lessons` and `hardwon failures` "
            "list them"
        )
    return matches[0]


class Part:
    """A noun of the API: what can be done with one sort of thing in the store."""

    def __init__(self, memory: Hardwon, actor: str = "") -> None:
        """`actor` is on record with what is done; without one, who usually does it."""
        self._memory = memory
        self._given_actor = actor

    def _change(self, step: Callable[[Database], T], project: str | None = None) -> T:
        """One transaction, and then what the hooks hand out is brought up to date.

        With a project, nothing of others may be concerned.
        """
        db = self._memory.writing()
        with db.transaction(project):
            done = step(db)
        self._memory.refresh_standing()
        return done

    def _change_lesson(self, lesson: str, step: Callable[[Database], T]) -> T:
        """A change of one lesson alone."""
        db = self._memory.writing()
        project = lessons.project_of(db, lesson)
        with db.transaction(project):
            if lessons.project_of(db, lesson) != project:
                raise StoreError(f"{lesson} was just moved to another project: try again")
            done = step(db)
        self._memory.refresh_standing()
        return done

    def _actor(self, usual: str = "reviewer") -> str:
        return self._given_actor or usual


def need_switched_on() -> None:
    if switched_off():
        raise HardwonError("HARDWON_OFF is set, so nothing is written: unset it to continue")


# What a caller may name where the API takes files: one or many, as text or as a path, a folder for all in it.

AnyPath = str | PathLike[str]
Paths = AnyPath | Iterable[AnyPath]
"""A path, or any number of them."""


def each_path(paths: Paths) -> list[Path]:
    return [Path(paths)] if isinstance(paths, str | PathLike) else [Path(path) for path in paths]


def session_names(paths: Paths) -> dict[str, os.stat_result | None]:
    """The files that are meant, as text, with what was seen of those that were looked at; NotFound for one that does
    not exist."""
    from hardwon.sessions.discover import names_below

    found: dict[str, os.stat_result | None] = {}
    for path in (paths,) if isinstance(paths, str | PathLike) else paths:
        name = os.fspath(path)  # of many thousand files, a Path each takes longer than all the rest
        if not os.path.isabs(name):  # what is kept of it must lead there from any folder
            name = os.path.abspath(name)
        try:
            status = os.stat(name)
        except (OSError, ValueError):
            status = None
        if status is not None and S_ISREG(status.st_mode):
            found[name] = status
        else:
            for one in names_below(Path(name)):
                found.setdefault(one, None)
    return found


def session_files(paths: Paths) -> list[Path]:
    """The files that are meant, each once; NotFound for one that does not exist."""
    return [Path(name) for name in session_names(paths)]
