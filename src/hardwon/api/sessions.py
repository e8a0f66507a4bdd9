"""The sessions that were harvested: `memory.sessions`; and the projects that they are of, a part of `memory.store`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hardwon.api import convert
from hardwon.api.connection import AnyPath, Part, Paths, each_path, need_switched_on, session_files
from hardwon.api.from_git import FromGit, GitHarvest
from hardwon.clock import now
from hardwon.errors import HardwonError, NotFound
from hardwon.harvest.pipeline import stamp_of
from hardwon.harvest.walk import Progress, Report, look_over, unread
from hardwon.model.nouns import Project, ProjectParts, SessionDetails, SessionRecord
from hardwon.scrub.scrubber import Scrubber
from hardwon.sessions.checkpoints import keeps_checkpoints
from hardwon.sessions.git_objects import Repository
from hardwon.store import events, pages, projects, sessions, stale
from hardwon.store.database import Database
from hardwon.store.events import Happened
from hardwon.text.fence import one_line
from hardwon.text.paths import tilde

if TYPE_CHECKING:
    from hardwon.harvest.distil.claims import Distilled
    from hardwon.harvest.distil.distil import Estimate

T = TypeVar("T")
_ALL = 1_000_000_000
_DAY = 86_400_000_000


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
        if not self._memory.exists:
            return set()
        logs = self._memory.logs(each_path(paths))
        return {log.path for log in logs} - {log.path for log in unread(self._memory.reading(), logs)}

    def retained(self, paths: Paths) -> list[Path]:
        """The files that are still there and not older than the setting `retain_days`; where that is 0, of any age."""
        days = self._memory.config.retain_days
        oldest = now() - days * _DAY if days else 0
        return [path for path in each_path(paths) if stamp_of(path)[1] >= oldest]

    def harvest_git(
        self,
        repository: AnyPath,
        *,
        refs: Iterable[str] = (),
        mine: bool = False,
        folders: bool = True,
        progress: Progress | None = None,
    ) -> Report:
        """Learn from the sessions that a git repository keeps, without a checkout; read only if a ref has moved since.

        These are checkpoints of agents' logs and, with `folders`, what any commit has below `.specstory/history`,
        `.claude` and `.codex`; of all refs, or of those named. They are somebody else's unless they are `mine`. Raises
        `NotFound` for a folder or ref that does not exist, `HardwonError` for a repository that cannot be read.
        """
        need_switched_on()
        db = self._memory.writing()
        told = progress or (lambda *_: None)
        with Repository(Path(repository)) as opened:
            reading = FromGit(db, opened, list(refs), mine=mine, folders=folders)
            return reading.harvest(lambda logs: self._memory.take_in(logs, progress), told)

    def kept_in_git(
        self, repository: AnyPath, *, refs: Iterable[str] = (), mine: bool = False, folders: bool = True
    ) -> GitHarvest:
        """What `harvest_git` would read; nothing is stored. Raises as that does."""
        with Repository(Path(repository)) as opened:
            return FromGit(self._memory.writing(), opened, list(refs), mine=mine, folders=folders).news()

    def repositories(self) -> list[Path]:
        """The repositories on this machine that keep checkpoints, among those that harvested sessions ran in."""
        if not self._memory.exists:
            return []
        places = map(os.path.expanduser, projects.roots(self._memory.reading()))
        return [Path(place) for place in sorted(places) if os.path.isabs(place) and keeps_checkpoints(place)]

    def distil_cost(self, paths: Paths) -> Estimate:
        """What `distil` would read and cost; nothing is sent. Raises `NotFound` for a path that does not exist."""
        from hardwon.harvest.distil.distil import estimated  # noqa: PLC0415 - few ask a model
        from hardwon.harvest.distil.model import Spend  # noqa: PLC0415

        files, db = session_files(paths), self._memory.writing()
        return estimated(db, files, self._memory.scrubbing(files), Spend(db, self._memory.config))

    def distil(self, paths: Paths, *, pause: Callable[[float], None] = time.sleep) -> Distilled:
        """What the model of the settings reads out of sessions that were harvested; every claim is checked.

        Raises `NotFound` for a path that does not exist, `BadConfig` without a model.
        """
        need_switched_on()
        from hardwon.harvest.distil.distil import distil  # noqa: PLC0415
        from hardwon.harvest.distil.model import Spend, chosen  # noqa: PLC0415

        config, files, db = self._memory.config, session_files(paths), self._memory.writing()
        done = distil(db, files, chosen(config), self._memory.scrubbing(files), Spend(db, config), pause)
        self._memory.refresh_standing()
        look_over(db)
        self._memory.refresh_standing()
        return done

    def list(self, *, project: str | None = None, agent: str | None = None) -> list[SessionRecord]:
        """Sessions, the newest first. Raises `NotFound` for an unknown project."""
        db = self._memory.reading()
        rows = pages.of_sessions(db, project=self._memory.project(project), agent=agent, after=None, limit=_ALL)
        made = sessions.commits_of(db, (row.external_id for row in rows))
        return [convert.session(row, made) for row in rows]


class Projects(Part):
    """Projects as a person sees them."""

    def projects(self) -> list[Project]:
        """Every project, the one with the most sessions first."""
        db = self._memory.reading()
        known = {row.id: row for row in pages.of_projects(db, only=(), after=None, limit=_ALL)}
        busiest = [row[0] for row in projects.by_activity(db)]
        return [Project(**known[id]._asdict()) for id in dict.fromkeys([*busiest, *known])]

    def claims(self) -> dict[str, str]:
        """Folder → the remote it names, where another project has that remote and nobody has said that it is one."""
        return dict(projects.claims(self._memory.reading())) if self._memory.exists else {}

    def confirm(self, folder: str, *, yes: bool) -> None:
        """A person's word whether a folder is a clone of what it claims: then it is part of that project.

        Raises `NotFound` for a folder that claims nothing.
        """
        db = self._memory.writing()
        with db.transaction():
            stale.mark(db, projects.answer(db, folder, yes=yes))
            stale.mark_projects(db, [None])
        self._memory.refresh_standing()

    def project_parts(self, project: str) -> ProjectParts:
        """The folders of a project, and the other names that find it. Raises `NotFound`."""
        return ProjectParts(*projects.parts(self._memory.reading(), self._named(project)))

    def rename_project(self, project: str, name: str) -> None:
        """Call a project otherwise; the name that it had still finds it. Raises `NotFound`, `HardwonError`."""
        id, clean = self._named(project), one_line(Scrubber().scrub(name))
        if not clean:
            raise HardwonError("a project needs a name")
        if any(found != id for found, _, _ in projects.find(self._memory.reading(), clean)):
            raise HardwonError(f"another project is called '{clean}': join them with `hardwon projects merge`")
        self._decide(id, "rename", {"name": clean}, lambda db: projects.rename(db, id, clean))

    def describe_project(self, project: str, text: str) -> None:
        """Say what a project is. Raises `NotFound`."""
        id, clean = self._named(project), one_line(Scrubber().scrub(text))
        self._decide(id, "describe", {"description": clean}, lambda db: projects.describe(db, id, clean))

    def merge_projects(self, project: str, into: str) -> None:
        """Make a project part of another, for its later sessions as well. Raises `NotFound`, `HardwonError`."""
        id, target = self._named(project), self._named(into)
        if id == target:
            raise HardwonError("these are one project already")
        self._decide(id, "merge", {"into": target}, lambda db: stale.mark(db, projects.merge(db, id, target)))
        self._memory.refresh_standing()

    def split_project(self, project: str, part: str) -> int:
        """Make a folder or remote of a project one of its own again, by the next harvest.

        Returns how many files that reads anew. Raises `NotFound` for what is no part of the project.
        """
        id = self._named(project)
        roots, aliases = projects.parts(self._memory.reading(), id)
        wanted = next((one for one in (part, tilde(part)) if one in (*roots, *aliases)), "")
        if not wanted:
            raise NotFound(f"'{part}' is no part of it: `hardwon projects show` lists them")
        return self._decide(id, "split", {"part": wanted}, lambda db: projects.split(db, id, wanted))

    def _named(self, project: str) -> str:
        found = self._memory.project(project)
        if found is None:
            raise NotFound(f"no project '{project}'")
        return found

    def _decide(self, id: str, action: str, after: dict[str, Any], change: Callable[[Database], T]) -> T:
        db = self._memory.writing()
        with db.transaction():
            done = change(db)
            events.record(db, self._actor(), now(), [Happened(action, id, {}, after)])
        return done
