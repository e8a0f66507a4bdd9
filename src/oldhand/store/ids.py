"""Ids of harvested rows come from what the rows say, so that the same files give the same rows."""

from __future__ import annotations

from hashlib import blake2b


def derived(prefix: str, *parts: str) -> str:
    """`S…`, `L…`, `X…`: a letter for the noun and a hash of its natural key."""
    return prefix + blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()
