"""Times: now, as agents write them, and as the API gives them.

Microseconds since 1970 in the store and below the API, datetimes in UTC in what the API takes and gives.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

# Every clock that transcripts use, as microseconds since 1970 UTC.

_EARLIEST = 946_684_800_000_000  # 2000-01-01
_LATEST = 4_102_444_800_000_000  # 2100-01-01
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def now() -> int:
    return time.time_ns() // 1000


def microseconds(value: object) -> int | None:
    """Read ISO-8601 with or without a zone, or epoch seconds, milliseconds or microseconds."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            return _plausible(int(moment.timestamp() * 1_000_000))
        except (OverflowError, ValueError):
            return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return None
        for scale in (1_000_000, 1_000, 1):
            stamp = number * scale
            if _EARLIEST <= stamp <= _LATEST:
                return int(stamp)
    return None


class Period:
    """The earliest and the latest of the times it is told."""

    def __init__(self) -> None:
        self.first: int | None = None
        self.last: int | None = None

    def add(self, value: object) -> int | None:
        """Take a time in, whatever its form, and give it back in microseconds."""
        at = microseconds(value)
        if at is not None:
            self.first = at if self.first is None or at < self.first else self.first
            self.last = at if self.last is None or at > self.last else self.last
        return at


def iso(stamp: int | None) -> str | None:
    """The ISO-8601 form shown at every interface."""
    if stamp is None:
        return None
    moment = datetime.fromtimestamp(stamp / 1_000_000, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _plausible(stamp: int) -> int | None:
    return stamp if _EARLIEST <= stamp <= _LATEST else None


# As the API takes and gives them.


def moment(stamp: int) -> datetime:
    """A time of the store."""
    return _EPOCH + stamp * _MICROSECOND


def to_microseconds(when: datetime | None) -> int:
    """A time as the store counts it; without a zone it is taken for UTC. None is the beginning of time."""
    if when is None:
        return 0
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND
