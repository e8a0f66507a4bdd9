"""How it goes: `memory.metrics`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.clock import now
from hardwon.measure.metrics import Metrics, collect, snapshot
from hardwon.measure.tallies import Window
from hardwon.store import meta, projects

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

_DAY = 24 * 3600 * 1_000_000


class MetricsOf:
    """The numbers, their snapshots and the page made of them."""

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def collect(self, *, project: str | None = None, since: int = 0, days: int = 0) -> Metrics:
        """Of all that was harvested; of a project; since a moment (microseconds) or for some days."""
        until = now()
        begin = since or (until - days * _DAY if days else 0)
        return collect(self._memory.reading(), Window(begin, until, self._memory.project(project) or ""))

    def snapshot(self, found: Metrics) -> None:
        """Keep the numbers, so that later ones can be compared."""
        db = self._memory.writing()
        with db.transaction():
            snapshot(db, found)

    def keep_daily(self, changed: Sequence[str] = ()) -> int:
        """Once a day, a snapshot of all and of each project (id) that changed: trends need no one to think of them."""
        db = self._memory.writing()
        until = now()
        due = [scope for scope in ("", *changed) if meta.latest_snapshot(db, scope) < until - until % _DAY]
        taken = [collect(db, Window(0, until, scope)) for scope in due]
        if taken:
            with db.transaction():
                for found in taken:
                    snapshot(db, found)
        return len(taken)

    def write(self, found: Metrics, path: Path) -> list[Path]:
        """A page of Markdown with its charts beside it; returns what was written."""
        from hardwon.measure.dashboard import write  # noqa: PLC0415 - only who wants the page

        db = self._memory.reading()
        return write(found, path, projects.names(db).get(found.project, ""))
