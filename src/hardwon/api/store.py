"""The store as a whole: `memory.store`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from hardwon.api.exchange import Exchange
from hardwon.api.forget import Forgetting
from hardwon.api.maintenance import Maintenance
from hardwon.api.paths import AnyPath
from hardwon.api.tokens import Tokens
from hardwon.clock import now
from hardwon.errors import NoModel, NotFound
from hardwon.harvest.walk import Progress
from hardwon.home import DATABASE, switched_off
from hardwon.measure.metrics import Metrics, collect, snapshot
from hardwon.measure.tallies import Window
from hardwon.model.nouns import Project
from hardwon.recall.embedder import Embedded, embed
from hardwon.scrub.scrubber import Leak, Scrubber, in_file, kinds
from hardwon.store import failures, fulltext, lessons, meta, pages, projects, sessions
from hardwon.store.database import stored_texts

_ALL = 1_000_000_000
_DAY = 24 * 3600 * 1_000_000
_LONGEST_KEY = 40
_OWN_FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")


class Reindexed(Struct, frozen=True):
    """What bringing the search index up to date did."""

    items: int
    """In the full-text index."""
    mended: int
    """Entries that were missing or had no item any more."""
    vectors: int
    """Made now."""
    left: int
    """Items that still have none."""
    notice: str
    """Why no vectors were made, if none were."""


class Store(Maintenance, Exchange, Forgetting, Tokens):
    """The store as a whole: what it holds, copies, repairs, forgetting, who may use the service."""

    def totals(self) -> dict[str, int]:
        """How many sessions, failures, lessons, … the store holds."""
        db = self._memory.reading()
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

    def projects(self) -> list[Project]:
        """Every project, the one with the most sessions first."""
        db = self._memory.reading()
        known = {row.id: row for row in pages.of_projects(db, only=(), after=None, limit=_ALL)}
        busiest = [row[0] for row in projects.by_activity(db)]
        return [Project(**known[id]._asdict()) for id in dict.fromkeys([*busiest, *known])]

    def resolve(self, id: str) -> str:
        """The full id that a beginning of it stands for. Raises `NotFound` where none or several do."""
        matches = meta.ids_like(self._memory.reading(), id)
        if len(matches) != 1:
            what = "several ids begin" if matches else "no lesson or failure begins"
            raise NotFound(f"{what} with '{id}': `hardwon lessons` and `hardwon failures` list them")
        return matches[0]

    def reindex(self, *, rebuild: bool = False, progress: Progress | None = None) -> Reindexed:
        """Mend the full-text index, or build it anew, and give every item its vector.

        Raises `NoModel` if what makes vectors cannot be reached.
        """
        db = self._memory.writing()
        mended = 0 if rebuild else fulltext.mend(db)
        if rebuild:
            fulltext.rebuild(db)
        items = int(db.query("SELECT count(*) FROM search_item")[0][0])
        made = self._embed(float("inf"), progress)
        return Reindexed(items, mended, made.done, made.left, self._memory.embedder.notice)

    def embed(self, *, seconds: float, progress: Progress | None = None) -> Embedded:
        """Make missing vectors for a while, where there is a model; returns how many are done and left.

        A model that fails is no reason to fail.
        """
        if switched_off():
            return Embedded(0, 0)
        try:
            return self._embed(seconds, progress)
        except NoModel:
            return Embedded(0, 0)

    def _embed(self, seconds: float, progress: Progress | None) -> Embedded:
        embedder = self._memory.embedder.embedder
        if embedder is None:
            return Embedded(0, 0)
        return embed(self._memory.writing(), embedder, seconds=seconds, progress=progress)

    def audit(self) -> list[Leak]:
        """Everything in the home directory and in the store that the present scrubbing rules would redact."""
        scrubber = self._memory.scrubber()
        return [*self._in_files(scrubber), *(self._in_rows(scrubber) if self._memory.exists else ())]

    def _in_rows(self, scrubber: Scrubber) -> Iterator[Leak]:
        for table, row, column, text in stored_texts(self._memory.reading()):
            if found := kinds(scrubber, text):
                key = scrubber.scrub(row)[:_LONGEST_KEY]
                yield from (Leak(table, key, column, kind, count) for kind, count in found.items())

    def _in_files(self, scrubber: Scrubber) -> Iterator[Leak]:
        home = self._memory.home
        for path in sorted(home.rglob("*")):
            name = path.relative_to(home).as_posix()
            if path.is_file() and name not in _OWN_FILES and path.suffix != ".hs":
                yield from in_file(scrubber, path, name)

    def keep_metrics(self, found: Metrics) -> None:
        """Keep the numbers that `memory.measure` gave, so that later ones can be compared."""
        db = self._memory.writing()
        with db.transaction():
            snapshot(db, found)

    def keep_daily_metrics(self, changed: Sequence[str] = ()) -> int:
        """Once a day, the numbers of all and of each project (id) that changed; returns how many were kept."""
        db = self._memory.writing()
        until = now()
        due = [scope for scope in ("", *changed) if meta.latest_snapshot(db, scope) < until - until % _DAY]
        taken = [collect(db, Window(0, until, scope)) for scope in due]
        if taken:
            with db.transaction():
                for found in taken:
                    snapshot(db, found)
        return len(taken)

    def write_metrics(self, found: Metrics, path: AnyPath) -> list[Path]:
        """A page of Markdown with its charts beside it; returns what was written."""
        from hardwon.measure.dashboard import write  # noqa: PLC0415 - only who wants the page

        return write(found, Path(path), projects.names(self._memory.reading()).get(found.project, ""))
