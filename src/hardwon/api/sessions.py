"""The sessions that were harvested: `memory.sessions`."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.api import convert
from hardwon.api.connection import AnyPath, Part, Paths, each_path, need_switched_on, session_files
from hardwon.api.from_git import FromGit, GitHarvest
from hardwon.clock import now
from hardwon.errors import NotFound
from hardwon.harvest.pipeline import stamp_of
from hardwon.harvest.walk import Progress, Report, look_over, unread
from hardwon.model.nouns import SessionDetails, SessionRecord
from hardwon.sessions.checkpoints import keeps_checkpoints
from hardwon.sessions.git_objects import Repository
from hardwon.store import pages, projects, sessions

if TYPE_CHECKING:
    from hardwon.harvest.distil.claims import Distilled
    from hardwon.harvest.distil.distil import Estimate

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
