"""Hashes and ids: the same content has the same id on every machine."""

from __future__ import annotations

import os
import time

try:
    from _blake2 import blake2b  # hashlib would load OpenSSL, which costs the hook as much as apsw
except ImportError:  # another Python than CPython
    from hashlib import blake2b


def digest(*parts: str, size: int = 8, key: bytes = b"") -> str:
    """Hexadecimal digits of a hash over the parts."""
    joined = "\x1f".join(parts).encode("utf-8", "replace")
    return str(blake2b(joined, digest_size=size, key=key[:64]).hexdigest())


# Ids: of harvested rows from what they say, so that the same files give the same rows; of all else by time.

_RANDOM_BITS = 74


def derived(prefix: str, *parts: str) -> str:
    """`S…`, `L…`, `X…`: a letter for the noun and a hash of its natural key."""
    return prefix + digest(*parts)


def made(prefix: str) -> str:
    """A letter for the noun and a UUIDv7: unlike any other, and later ones sort later."""
    milliseconds = time.time_ns() // 1_000_000
    noise = int.from_bytes(os.urandom(10)) >> 80 - _RANDOM_BITS
    value = milliseconds << 80 | 0x7 << 76 | (noise >> 62) << 64 | 0x2 << 62 | noise & ((1 << 62) - 1)
    return f"{prefix}{value:032x}"


def normalised(text: str) -> str:
    """Two sentences that differ only in case and spaces are one."""
    return " ".join(text.casefold().split())


def text_hash(text: str) -> str:
    return digest(normalised(text))
