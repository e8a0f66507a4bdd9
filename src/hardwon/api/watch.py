"""Sessions harvested as they finish, for agents that have no hooks: looked for again and again, read once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from hardwon.api.hardwon import Hardwon
from hardwon.harvest.pipeline import stamp_of
from hardwon.harvest.walk import Report

QUIET = 60.0
"""Seconds without a change after which a session counts as finished."""


class Watch:
    """What was seen so far; each look costs no more than the names and stamps of the files."""

    def __init__(self, quiet: float = QUIET, home: Path | None = None) -> None:
        self._quiet = quiet
        self._home = home
        self._done: dict[Path, tuple[int, int]] = {}

    def look(self, now: Callable[[], float] = time.time) -> Report | None:
        """Harvest what has finished since the last look; None if nothing has."""
        before = (now() - self._quiet) * 1_000_000
        with Hardwon(self._home) as memory:
            stamps = {path: stamp_of(path) for path in memory.discover()}
            fresh = [path for path, stamp in stamps.items() if stamp[1] <= before and self._done.get(path) != stamp]
            if not fresh:
                return None
            report = memory.harvest(memory.sessions.retained(fresh), most=memory.config.sample)
            memory.store.keep_daily_metrics(report.projects)
        # As they were before: what changed meanwhile is seen at the next look.
        self._done.update((path, stamps[path]) for path in fresh)
        return report if report.sessions else None
