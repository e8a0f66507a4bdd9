"""The sessions that were harvested: `memory.sessions`."""

from __future__ import annotations

import builtins
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
    from hardwon.harvest.distil.asking import Distilled, Estimate, Reading
    from hardwon.harvest.distil.model import Model

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

    def distil_cost(self, paths: Paths | None = None, *, project: str | None = None, room: int = 0) -> Estimate:
        """What `distil` would read and cost; nothing is sent. `room`: characters of a question, as the model has it.

        Raises `NotFound` for a path that does not exist or an unknown project.
        """
        from hardwon.harvest.distil.asking import estimated  # noqa: PLC0415 - few ask a model
        from hardwon.harvest.distil.model import ROOM  # noqa: PLC0415

        names = self._stored_names(paths)
        return estimated(self._reading(names), room or ROOM, project=self._memory.project(project), paths=names)

    def distil(
        self,
        paths: Paths | None = None,
        *,
        project: str | None = None,
        using: str | Model = "",
        least: int = 0,
        progress: Progress | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> Distilled:
        """What a model reads out of one's own sessions that were harvested; every claim is held to its quotes.

        `using` is a model or its name (an agent on this machine, `ollama`, `llama.cpp`, an address); by default that of
        the settings. `least` leaves projects for later that have fewer characters to show. Raises `NotFound` for a path
        that does not exist or an unknown project, `BadConfig` without a model, `NoModel` where it is not there.
        """
        need_switched_on()
        from hardwon.harvest.distil.asking import distil  # noqa: PLC0415
        from hardwon.harvest.distil.chosen import chosen  # noqa: PLC0415 - few ask a model

        memory, names = self._memory, self._stored_names(paths)
        model = chosen(memory.config, memory.home, using) if isinstance(using, str) else using
        found, db = self._memory.project(project), memory.writing()
        try:
            return distil(
                self._reading(names), model, project=found, paths=names, least=least, progress=progress, pause=pause
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

    def _reading(self, names: builtins.list[str] | None) -> Reading:
        from hardwon.harvest.distil.asking import Reading  # noqa: PLC0415
        from hardwon.harvest.distil.model import Spend  # noqa: PLC0415

        db = self._memory.writing()
        files = map(Path, names) if names is not None else ()
        return Reading(db, self._memory.scrubbing(files), Spend(db, self._memory.config))

    def list(self, *, project: str | None = None, agent: str | None = None) -> list[SessionRecord]:
        """Sessions, the newest first. Raises `NotFound` for an unknown project."""
        db = self._memory.reading()
        rows = pages.of_sessions(db, project=self._memory.project(project), agent=agent, after=None, limit=_ALL)
        made = sessions.commits_of(db, (row.external_id for row in rows))
        return [convert.session(row, made) for row in rows]
