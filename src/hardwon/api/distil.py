"""Lessons drawn by a model: `memory.distil`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hardwon.errors import HardwonError
from hardwon.harvest.walk import look_over
from hardwon.home import switched_off

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon
    from hardwon.harvest.distil.claims import Distilled
    from hardwon.harvest.distil.distil import Estimate


class Distil:
    """What a model of the user's choice reads out of sessions that were harvested; every claim is checked."""

    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def estimate(self, paths: Sequence[Path]) -> Estimate:
        """What `run` would read and cost; nothing is sent."""
        from hardwon.harvest.distil.distil import estimated  # noqa: PLC0415 - http is slow to load
        from hardwon.harvest.distil.model import Spend  # noqa: PLC0415

        db = self._memory.writing()
        return estimated(db, paths, self._memory.scrub.for_harvest(paths), Spend(db, self._memory.config))

    def run(self, paths: Sequence[Path], *, pause: Callable[[float], None] = time.sleep) -> Distilled:
        if switched_off():
            raise HardwonError("HARDWON_OFF is set: nothing is harvested; unset it to go on")
        from hardwon.harvest.distil.distil import distil  # noqa: PLC0415
        from hardwon.harvest.distil.model import Spend, chosen  # noqa: PLC0415

        config, db = self._memory.config, self._memory.writing()
        model = chosen(config)
        done = distil(db, paths, model, self._memory.scrub.for_harvest(paths), Spend(db, config), pause)
        self._memory.refresh_standing()
        look_over(db)
        self._memory.refresh_standing()
        return done
