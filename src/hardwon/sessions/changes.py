"""What edits took out and put in, as a diff: kept only where a session is read for people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_MAX_CHARACTERS = 20_000
"""Of either side of one edit; comparing takes longer than reading."""
_LINES_AROUND = 2
_KEPT: ContextVar[bool] = ContextVar("changes are kept", default=False)


@contextmanager
def kept() -> Iterator[None]:
    """Sessions that are read meanwhile have the change of every edit."""
    before = _KEPT.set(True)
    try:
        yield
    finally:
        _KEPT.reset(before)


def wanted() -> bool:
    return _KEPT.get()


def as_diff(old: str, new: str) -> str:
    """The lines that went and came, with a few around them."""
    from difflib import unified_diff  # noqa: PLC0415 - nobody but who reads a session here pays for it

    before, after = (text[:_MAX_CHARACTERS].splitlines() for text in (old, new))
    told = [*unified_diff(before, after, lineterm="", n=_LINES_AROUND)][2:]
    return "\n".join(told if old else told[1:])
