"""How often somebody may ask: so many a second on the average, and some more at once."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

_MOST_CALLERS = 10_000


class Rate:
    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def seconds_to_wait(self, caller: str) -> float:
        """0 if the caller may go on, which is then counted."""
        now = self._clock()
        left, then = self._left.pop(caller, (float(self._burst), now))
        left = min(float(self._burst), left + (now - then) * self._per_second)
        wait = 0.0 if left >= 1 else (1 - left) / self._per_second
        self._left[caller] = (left - 1 if wait == 0 else left, now)
        if len(self._left) > _MOST_CALLERS:
            self._left.popitem(last=False)
        return wait
