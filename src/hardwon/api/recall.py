"""Finding what is known: `memory.recall`."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from hardwon.errors import HardwonError, NoModel
from hardwon.home import switched_off
from hardwon.recall.embedder import Chosen, Embedded, Progress, choose, embed
from hardwon.recall.items import Wanted
from hardwon.recall.search import Results, Settings, search
from hardwon.store import fulltext
from hardwon.store.fulltext import TYPES

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon


class Reindexed(Struct, frozen=True):
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


class Recall:
    """Search by words and by meaning, and the index that it needs."""

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def search(
        self,
        query: str,
        *,
        type: str | None = None,
        kind: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        status: str | None = None,
        since: int = 0,
        until: int = 0,
        file: str | None = None,
        limit: int = 10,
    ) -> Results:
        """What fits a question best, of everything that is as wanted."""
        if type and type not in TYPES:
            raise HardwonError(f"no type '{type}': known are {', '.join(TYPES)}")
        wanted = Wanted(
            types=(type,) if type else (),
            kind=kind or "",
            project=self._memory.project(project) or "",
            agent=agent or "",
            status=status or "",
            since=since,
            until=until,
            file=file or "",
        )
        config = self._memory.config
        settings = Settings(
            embedder=self._chosen.embedder,
            weight=config.fusion_weight,
            half_life_days=config.half_life_days,
            now=time.time_ns() // 1000,
            notice=self._chosen.notice,
        )
        return search(self._memory.reading(), query, wanted, settings, limit)

    def reindex(self, *, rebuild: bool = False, progress: Progress | None = None) -> Reindexed:
        """Mend the full-text index, or build it anew, and give every item its vector."""
        db = self._memory.writing()
        mended = 0 if rebuild else fulltext.mend(db)
        if rebuild:
            fulltext.rebuild(db)
        items = int(db.query("SELECT count(*) FROM search_item")[0][0])
        made = self._embed(float("inf"), progress)
        return Reindexed(items, mended, made.done, made.left, self._chosen.notice)

    def embed(self, *, seconds: float, progress: Progress | None = None) -> Embedded:
        """Make missing vectors for a while, where there is a model; a model that fails is no reason to fail."""
        if switched_off():
            return Embedded(0, 0)
        try:
            return self._embed(seconds, progress)
        except NoModel:
            return Embedded(0, 0)

    def _embed(self, seconds: float, progress: Progress | None) -> Embedded:
        if self._chosen.embedder is None:
            return Embedded(0, 0)
        return embed(self._memory.writing(), self._chosen.embedder, seconds=seconds, progress=progress)

    @cached_property
    def _chosen(self) -> Chosen:
        return choose(self._memory.config)
