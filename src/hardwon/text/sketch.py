"""A few numbers that tell how much of one text is in another, without keeping either."""

from __future__ import annotations

from hashlib import blake2b

_NUMBERS_PER_SKETCH = 32
_EMPTY = "0" * (4 * _NUMBERS_PER_SKETCH)


def sketch(text: str) -> str:
    """Of the set of its lines: for each of some hash functions the smallest value, 16 bits of it in hexadecimal."""
    lines = {line.strip() for line in text.splitlines()} - {""}
    if not lines:
        return _EMPTY
    hashes = [
        blake2b(line.encode("utf-8", "surrogatepass"), digest_size=2 * _NUMBERS_PER_SKETCH).digest() for line in lines
    ]
    return "".join(min(found[at : at + 2] for found in hashes).hex() for at in range(0, 2 * _NUMBERS_PER_SKETCH, 2))


def likeness(one: str, other: str) -> float:
    """About the share of all lines of two texts that both have."""
    pairs = [(one[at : at + 4], other[at : at + 4]) for at in range(0, 4 * _NUMBERS_PER_SKETCH, 4)]
    return sum(a == b for a, b in pairs) / _NUMBERS_PER_SKETCH
