"""Whether it helps: `memory.proof`."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.errors import HardwonError
from hardwon.failures.phrase import day
from hardwon.harvest.walk import Progress
from hardwon.measure import outcomes
from hardwon.measure.replay import Settings, load, walk
from hardwon.measure.report import Report, summarise
from hardwon.store import meta, projects

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon
    from hardwon.measure.experiment import Experiment


class Proof:
    """Replay over what happened, and the experiment on what happens."""

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def replay(
        self,
        paths: Sequence[Path] = (),
        *,
        project: str | None = None,
        budget: int | None = None,
        failure_budget: int | None = None,
        progress: Progress | None = None,
    ) -> Report:
        """Brief every session from the earlier ones alone and see what it then met.

        With `paths`, over these sessions in a store made for the purpose and thrown away; else over one's own.
        """
        if paths:
            with tempfile.TemporaryDirectory() as folder, type(self._memory)(folder) as other:
                other.harvest(paths, progress=progress)
                return other.proof.replay(
                    project=project, budget=budget, failure_budget=failure_budget, progress=progress
                )
        db = self._memory.reading()
        config = self._memory.config
        history = load(db, self._memory.project(project))
        settings = Settings(config, config.budget if budget is None else budget, failure_budget)
        steps = []
        for step in walk(db, history, settings):
            steps.append(step)
            if progress:
                progress("replaying", len(steps), len(history))
        return summarise(steps, projects.names(db), day)

    def experiment(self, *, project: str | None = None, since: int = 0) -> Experiment:
        """Whether the lines that sessions are shown help them, by the coins that decided who was shown what."""
        try:
            from hardwon.measure.experiment import analyse  # noqa: PLC0415 - numpy and scipy: an extra, and slow
        except ModuleNotFoundError as missing:
            raise HardwonError(
                f"the experiment needs {missing.name}: install it with `pip install 'hardwon[measure]'`"
            ) from None
        db = self._memory.reading()
        return analyse(outcomes.load(db, project=self._memory.project(project), since=since), meta.fence_key(db))
