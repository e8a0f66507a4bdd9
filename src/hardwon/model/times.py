"""Times: microseconds since 1970 in the store and below the API, datetimes in UTC in what the API takes and gives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def moment(stamp: int) -> datetime:
    """A time of the store."""
    return _EPOCH + stamp * _MICROSECOND


def microseconds(when: datetime | None) -> int:
    """A time as the store counts it; without a zone it is taken for UTC. None is the beginning of time."""
    if when is None:
        return 0
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND
