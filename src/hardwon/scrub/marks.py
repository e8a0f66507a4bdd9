"""What stands in a text where a secret stood: typed, and the same wherever the same value stood."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable

_OPEN = "\u2039"
_CLOSE = "\u203a"
MARK_ENDS = _OPEN + _CLOSE
"""What a value never holds, for a character class: a mark ends it."""

FORGOTTEN = f"{_OPEN}forgotten{_CLOSE}"
"""What stands where words were that a person wanted forgotten."""

_TAG_CHARACTERS = 4
MARK = re.compile(
    f"{_OPEN}(?:(?:secret:[a-z][a-z0-9-]{{1,31}}|email|phone|ip|card|url):(?:[0-9]{{1,9}}|[a-z2-7]{{{_TAG_CHARACTERS}}})|forgotten)"
    f"{_CLOSE}"
)


class Marks:
    """Gives every distinct value of a label a name of its own.

    With a store's key that name is a keyed hash, so that it is the same in every session and process,
    and nobody without the key can tell what stood there; without one, values are numbered as they come.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key
        self._names: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def of(self, label: str, value: str) -> str:
        """The mark that stands for a value: `‹secret:token:1›`."""
        name = self._names.get((label, value))
        if name is None:
            name = self._names[label, value] = self._hashed(label, value) if self._key else self._next(label)
        return f"{_OPEN}{label}:{name}{_CLOSE}"

    def _next(self, label: str) -> str:
        self._counts[label] = self._counts.get(label, 0) + 1
        return str(self._counts[label])

    def _hashed(self, label: str, value: str) -> str:
        """20 bits: enough to tell the secrets of a store apart, too few to prove a guess by."""
        said = f"{label}\0{value}".encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(said, key=self._key or b"", digest_size=5, person=b"scrub").digest()
        return base64.b32encode(digest).decode("ascii").lower()[:_TAG_CHARACTERS]


def blank(text: str) -> str:
    """The same text with every mark a run of its first character, so that no word is left in it."""
    if _OPEN not in text:
        return text
    return MARK.sub(lambda mark: _OPEN * len(mark[0]), text)


def cover(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """The same text with these stretches of it as `blank` would leave marks there."""
    pieces: list[str] = []
    done = 0
    for start, end, _ in spans:
        pieces += (text[done:start], _OPEN * (end - start))
        done = end
    return "".join(pieces) + text[done:]
