"""Hashes and ids: the same content has the same id on every machine."""

from __future__ import annotations

import os

try:
    from _blake2 import blake2b  # hashlib would load OpenSSL, which costs the hook as much as apsw
except ImportError:  # another Python than CPython
    from hashlib import blake2b


def digest(*parts: str, size: int = 8, key: bytes = b"") -> str:
    """Hexadecimal digits of a hash over the parts."""
    joined = "\x1f".join(parts).encode("utf-8", "replace")
    return str(blake2b(joined, digest_size=size, key=key[:64]).hexdigest())


# Ids: of harvested rows from what they say, so that the same files give the same rows; of all else by chance, so that
# the few characters that people type tell apart even what was made in the same second.


def derived(prefix: str, *parts: str) -> str:
    """`S…`, `L…`, `X…`: a letter for the noun and a hash of its natural key."""
    return prefix + digest(*parts)


def made(prefix: str) -> str:
    """A letter for the noun and as many digits as `derived` gives, unlike any other."""
    return prefix + os.urandom(8).hex()


def normalised(text: str) -> str:
    """Two sentences that differ only in case and spaces are one."""
    return " ".join(text.casefold().split())


def text_hash(text: str) -> str:
    return digest(normalised(text))
