"""The numbered scripts; a store at schema N has run the first N."""

from __future__ import annotations

from functools import cache
from importlib import resources

from hardwon.errors import StoreTooNew


@cache
def scripts() -> tuple[str, ...]:
    """Oldest first."""
    entries = (entry for entry in resources.files(__name__).iterdir() if entry.name.endswith(".sql"))
    return tuple(entry.read_text(encoding="utf-8") for entry in sorted(entries, key=lambda entry: entry.name))


def newest() -> int:
    return len(scripts())


def pending(current: int, place: str) -> tuple[str, ...]:
    """What a store at schema `current` has still to run."""
    if current > newest():
        raise StoreTooNew(
            f"{place} was written by a newer Hardwon (schema {current}, this one knows {newest()}): upgrade Hardwon"
        )
    return scripts()[current:]
