"""Short hashes for ids and marks."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # hashlib would load OpenSSL, which costs the hook as much as apsw
except ImportError:  # another Python than CPython
    from hashlib import blake2b


def digest(*parts: str, size: int = 8, key: bytes = b"") -> str:
    """Hexadecimal digits of a hash over the parts."""
    joined = "\x1f".join(parts).encode("utf-8", "replace")
    return str(blake2b(joined, digest_size=size, key=key[:64]).hexdigest())
