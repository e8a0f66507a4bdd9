"""Which folders and repositories are one project, and what it is called: a part of `memory.store`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hardwon.api.connection import Part
from hardwon.clock import now
from hardwon.errors import HardwonError, NotFound
from hardwon.model.nouns import Project, ProjectParts
from hardwon.scrub.scrubber import Scrubber
from hardwon.store import events, pages, projects, stale
from hardwon.store.database import Database
from hardwon.store.events import Happened
from hardwon.text.fence import one_line
from hardwon.text.paths import tilde

T = TypeVar("T")
_ALL = 1_000_000_000


class Projects(Part):
    """Projects as a person sees them."""

    def projects(self) -> list[Project]:
        """Every project, the one with the most sessions first."""
        db = self._memory.reading()
        known = {row.id: row for row in pages.of_projects(db, only=(), after=None, limit=_ALL)}
        busiest = [row[0] for row in projects.by_activity(db)]
        return [Project(**known[id]._asdict()) for id in dict.fromkeys([*busiest, *known])]

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
