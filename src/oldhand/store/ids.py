"""Ids of harvested rows come from what the rows say, so that the same files give the same rows."""

from __future__ import annotations

from oldhand.text.digest import digest


def derived(prefix: str, *parts: str) -> str:
    """`S…`, `L…`, `X…`: a letter for the noun and a hash of its natural key."""
    return prefix + digest(*parts)
