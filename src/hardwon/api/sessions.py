"""The sessions that were harvested: `memory.sessions`; and the projects that they are of, a part of `memory.store`."""

from __future__ import annotations

import builtins
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hardwon.api import convert
from hardwon.api.connection import AnyPath, Part, Paths, each_path, need_switched_on, session_files
from hardwon.clock import now
from hardwon.errors import HardwonError, NotAllowed, NotFound
from hardwon.model.nouns import Project, ProjectParts, SessionDetails, SessionRecord, each_name
from hardwon.store import integrity, lifecycle, meta, pages, projects, sessions
from hardwon.store.database import Database
from hardwon.store.integrity import Happened
from hardwon.text.normalise import tilde
from hardwon.text.shown import one_line

if TYPE_CHECKING:
    from hardwon.api.from_git import GitHarvest
    from hardwon.harvest.distil.asking import Distilled, Estimate, Reading
    from hardwon.harvest.distil.model import Model
    from hardwon.harvest.walk import Progress, Report

T = TypeVar("T")
_ALL = 1_000_000_000
_DAY = 86_400_000_000
_LEAST_CHARACTERS_BY_ITSELF = 6_000
"""Of extracts, for which a model is asked unbidden: a question costs as much for one short session as for ten."""


class Sessions(Part):
    """The sessions that were harvested, and which files have been."""

    def get(self, id: str) -> SessionDetails:
        """A session and its calls. Raises `NotFound`."""
        db = self._memory.reading()
        found = pages.session(db, id)
        if found is None:
            raise NotFound(f"no session {id}")
        row, calls = found
        shown = convert.session(row, sessions.commits_of(db, [row.external_id]))
        return SessionDetails(session=shown, calls=[*map(convert.call, calls)])

    def harvested(self, paths: Paths) -> set[Path]:
        """Those of the files that have been harvested and not changed since."""
        from hardwon.harvest.walk import unread

        if not self._memory.exists:
            return set()
        logs = self._memory.logs(each_path(paths))
        return {log.path for log in logs} - {log.path for log in unread(self._memory.reading(), logs)}

    def retained(self, paths: Paths) -> list[Path]:
        """The files that are still there and not older than the setting `retain_days`; where that is 0, of any age."""
        from hardwon.harvest.pipeline import stamp_of

        days = self._memory.retain_days
        oldest = now() - days * _DAY if days else 0
        return [path for path in each_path(paths) if stamp_of(path)[1] >= oldest]

    def harvest_git(
        self,
        repository: AnyPath,
        *,
        refs: str | Iterable[str] = (),
        mine: bool = False,
        folders: bool = True,
        progress: Progress | None = None,
    ) -> Report:
        """Learn from the sessions that a git repository keeps, without a checkout; read only if a ref has moved since.

        These are checkpoints of agents' logs and, with `folders`, what any commit has below `.specstory/history`,
        `.claude` and `.codex`; of all refs, or of those named. They are somebody else's unless they are `mine`. Raises
        `NotFound` for a folder or ref that does not exist, `HardwonError` for a repository that cannot be read.
        """
        from hardwon.api.from_git import FromGit
        from hardwon.sessions.git_objects import Repository

        need_switched_on()
        db = self._memory.writing()
        told = progress or (lambda *_: None)
        with Repository(Path(repository)) as opened:
            reading = FromGit(db, opened, each_name(refs), mine=mine, folders=folders)
            return reading.harvest(lambda logs: self._memory.take_in(logs, progress), told)

    def kept_in_git(
        self, repository: AnyPath, *, refs: str | Iterable[str] = (), mine: bool = False, folders: bool = True
    ) -> GitHarvest:
        """What `harvest_git` would read; nothing is stored. Raises as that does."""
        from hardwon.api.from_git import FromGit
        from hardwon.sessions.git_objects import Repository

        with Repository(Path(repository)) as opened:
            return FromGit(self._memory.writing(), opened, each_name(refs), mine=mine, folders=folders).news()

    def repositories(self) -> list[Path]:
        """The repositories on this machine that keep checkpoints, among those that harvested sessions ran in."""
        from hardwon.sessions.checkpoints import keeps_checkpoints

        if not self._memory.exists:
            return []
        places = map(os.path.expanduser, projects.roots(self._memory.reading()))
        return [Path(place) for place in sorted(places) if os.path.isabs(place) and keeps_checkpoints(place)]

    def distil_cost(
        self, paths: Paths | None = None, *, project: str | None = None, room: int = 0, depth: int = 0
    ) -> Estimate:
        """What `distil` would read and cost; nothing is sent. `room`: characters of a question, as the model has it.

        Raises `NotFound` for a path that does not exist or an unknown project.
        """
        from hardwon.harvest.distil.asking import estimated
        from hardwon.harvest.distil.model import ROOM

        names = self._stored_names(paths)
        return estimated(self._reading(depth), room or ROOM, project=self._memory.project(project), paths=names)

    def distil(
        self,
        paths: Paths | None = None,
        *,
        project: str | None = None,
        using: str | Model = "",
        least: int = 0,
        depth: int = 0,
        progress: Progress | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> Distilled:
        """What a model reads out of one's own sessions that were harvested; every claim is held to its quotes.

        `using` is a model or its name (an agent on this machine, `ollama`, `llama.cpp`, an address); by default that of
        the settings. It is shown `depth` times as much of a session's work (1 to 5; 0: as the settings say); what was
        read less deep is read again. `least` leaves projects for later that have fewer characters to show. Raises
        `NotFound` for a path that does not exist or an unknown project, `BadConfig` without a model, `NoModel` where it
        is not there.
        """
        need_switched_on()
        from hardwon.harvest.distil.asking import distil
        from hardwon.harvest.distil.chosen import chosen
        from hardwon.harvest.walk import look_over

        memory, names = self._memory, self._stored_names(paths)
        model = chosen(memory.config, memory.home, using) if isinstance(using, str) else using
        found, db = self._memory.project(project), memory.writing()
        try:
            return distil(
                self._reading(depth),
                model,
                project=found,
                paths=names,
                least=least,
                progress=progress,
                pause=pause,
            )
        finally:
            memory.refresh_standing()
            look_over(db)
            memory.refresh_standing()

    def distil_if_wanted(self) -> Distilled | None:
        """What `distil` does where the setting of that name says so, once a project has enough to ask about."""
        wanted = self._memory.config.distil != "off"
        return self.distil(least=_LEAST_CHARACTERS_BY_ITSELF) if wanted else None

    def _stored_names(self, paths: Paths | None) -> builtins.list[str] | None:
        """Files as the store names them."""
        return None if paths is None else [log.name for log in self._memory.logs(session_files(paths))]

    def _reading(self, depth: int) -> Reading:
        from hardwon.harvest.distil.asking import Reading
        from hardwon.harvest.distil.model import Spend

        db = self._memory.writing()
        config = self._memory.config
        return Reading(db, self._memory.scrubbing(), Spend(db, config), depth or config.distil_depth)

    def list(self, *, project: str | None = None, agent: str | None = None) -> list[SessionRecord]:
        """Sessions, the newest first. Raises `NotFound` for an unknown project."""
        db = self._memory.reading()
        rows = pages.of_sessions(db, project=self._memory.project(project), agent=agent, after=None, limit=_ALL)
        made = sessions.commits_of(db, (row.external_id for row in rows))
        return [convert.session(row, made) for row in rows]


class Projects(Part):
    """Projects as a person sees them."""

    def projects(self) -> list[Project]:
        """Every project, the one with the most sessions first, archived ones last."""
        db = self._memory.reading()
        known = {row.id: row for row in pages.of_projects(db, only=(), after=None, limit=_ALL)}
        busiest = [row[0] for row in projects.by_activity(db)]
        found = [Project(**known[id]._asdict()) for id in dict.fromkeys([*busiest, *known])]
        return sorted(found, key=lambda one: one.status == "archived")

    def claims(self) -> dict[str, str]:
        """Folder → the remote it names, where another project has that remote and nobody has said that it is one."""
        return dict(projects.claims(self._memory.reading())) if self._memory.exists else {}

    def confirm(self, folder: str, *, yes: bool) -> None:
        """A person's word whether a folder is a clone of what it claims: then it is part of that project.

        Raises `NotFound` for a folder that claims nothing.
        """
        db = self._memory.writing()
        with db.transaction():
            meta.mark_stale(db, projects.answer(db, folder, yes=yes))
            meta.mark_projects_stale(db, [None])
        self._memory.refresh_standing()

    def project_parts(self, project: str) -> ProjectParts:
        """The folders of a project, and the other names that find it. Raises `NotFound`."""
        return ProjectParts(*projects.parts(self._memory.reading(), self._named(project)))

    def add_project(self, name: str, *, description: str = "") -> str:
        """Make a project known by its name, git remote or folder, before anything is written to it; returns its id.

        One that is known stays as it is. Raises `NotAllowed` without a name, `NotFound` where several are meant.
        """
        clean = one_line(name)
        if not clean:
            raise NotAllowed("a project needs a name")
        before = {one.id for one in self.projects()} if self._memory.exists else set()
        id = self._memory.project_to_keep(clean, folders=not self._given_actor)
        if not id:
            raise NotAllowed(f"'{clean}' is no project: a home folder is not, nor is one that was deleted")
        if id not in before:
            self._decide(id, "add", {"name": clean}, lambda _: None)
        if description:
            self.describe_project(id, description)
        return id

    def alias_project(self, project: str, name: str) -> None:
        """Another name by which a project is found. Raises `NotFound`, `NotAllowed` for the name of another project."""
        id, clean = self._named(project), self._free_name(project, name)
        self._decide(id, "alias", {"name": clean}, lambda db: projects.call_also(db, id, clean))

    def archive_project(self, project: str, *, archived: bool = True) -> None:
        """Put a project away: it is not listed any more, and all that is known of it stays. Raises `NotFound`."""
        id = self._named(project)
        self._change_project(id, "archive", {"status": "archived" if archived else "active"})

    def rename_project(self, project: str, name: str) -> None:
        """Call a project otherwise; the name that it had still finds it. Raises `NotFound`, `NotAllowed`."""
        id, clean = self._named(project), self._free_name(project, name)
        self._decide(id, "rename", {"name": clean}, lambda db: projects.rename(db, id, clean))

    def describe_project(self, project: str, text: str) -> None:
        """Say what a project is. Raises `NotFound`."""
        from hardwon.scrub.scrubber import Scrubber

        id, clean = self._named(project), one_line(Scrubber().scrub(text))
        self._change_project(id, "describe", {"description": clean})

    def merge_projects(self, project: str, into: str) -> None:
        """Make a project part of another, for its later sessions as well. Raises `NotFound`, `HardwonError`."""
        id, target = self._named(project), self._named(into)
        if id == target:
            raise HardwonError("these are already one project")
        self._decide(id, "merge", {"into": target}, lambda db: meta.mark_stale(db, projects.merge(db, id, target)))
        self._memory.refresh_standing()

    def split_project(self, project: str, part: str) -> int:
        """Make a folder or remote of a project one of its own again, by the next harvest.

        Returns how many files that reads anew. Raises `NotFound` for what is no part of the project.
        """
        id = self._named(project)
        roots, aliases = projects.parts(self._memory.reading(), id)
        wanted = next((one for one in (part, tilde(part)) if one in (*roots, *aliases)), "")
        if not wanted:
            raise NotFound(f"'{part}' is not a folder or remote of this project: see `hardwon projects show`")
        return self._decide(id, "split", {"part": wanted}, lambda db: projects.split(db, id, wanted))

    def _free_name(self, project: str, name: str) -> str:
        from hardwon.scrub.scrubber import Scrubber

        clean = one_line(Scrubber().scrub(name))
        if not clean:
            raise NotAllowed("a project needs a name")
        id = self._named(project)
        if any(found != id for found, _, _ in projects.find(self._memory.reading(), clean)):
            raise NotAllowed(f"another project is called '{clean}': join them with `hardwon projects merge`")
        return clean

    def _named(self, project: str) -> str:
        found = self._memory.project(project)
        if found is None:
            raise NotFound(f"no project '{project}'")
        return found

    def _change_project(self, id: str, action: str, changes: dict[str, Any]) -> None:
        """What `review.undo` can take back."""
        db = self._memory.writing()
        with db.transaction():
            lifecycle.change_besides(db, "project", id, changes, Happened(action, id, {}, {}), self._actor())

    def _decide(self, id: str, action: str, after: dict[str, Any], change: Callable[[Database], T]) -> T:
        db = self._memory.writing()
        with db.transaction():
            done = change(db)
            integrity.record_events(db, self._actor(), now(), [Happened(action, id, {}, after)])
        return done
