"""How long ago, as a person would say it."""

from __future__ import annotations

_STEPS = ((60, "minute"), (60, "hour"), (24, "day"), (30, "month"), (12, "year"))


def ago(stamp: int, now: int) -> str:
    """`just now`, `5 minutes ago`, `2 days ago`; both times in microseconds."""
    amount, unit = max(0, now - stamp) // 1_000_000, ""
    for size, name in _STEPS:
        if amount < size:
            break
        amount, unit = amount // size, name
    if not unit:
        return "just now"
    return f"{amount} {unit}{'' if amount == 1 else 's'} ago"
