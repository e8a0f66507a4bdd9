"""What was forgotten on purpose, known again when it comes by, from keyed hashes alone.

A text is forgotten as a sequence of words: case, spaces and punctuation do not matter, so the same words are
found again wherever they are quoted. Nothing here holds the words themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hardwon.scrub.rule import FORGOTTEN, blank
from hardwon.text.normalise import digest

# Scripts without spaces: each character counts as a word, so that a part of a sentence is found in it.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
# A mark counts as a word, too: what stands before and after it is no sequence.
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+|\u2039+")
_MAX_WORDS_CACHED = 200_000


class Stone(NamedTuple):
    """A tombstone. `hint` says how many words a text has, and two bytes about its first word."""

    kind: str
    hash: str
    hint: int = 0


def words(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return [word.casefold() for word in _WORD.findall(blank(text))]


def covering(text: str, start: int, end: int) -> list[str]:
    """The whole words that a stretch of a text touches."""
    return [found[0].casefold() for found in _WORD.finditer(text) if found.end() > start and found.start() < end]


def stone(key: bytes, kind: str, *parts: str) -> Stone:
    """What is kept of something forgotten: a keyed hash of it."""
    return Stone(kind, digest(kind, *parts, size=16, key=key))


def text_stone(key: bytes, sequence: Sequence[str]) -> Stone:
    """The same for words in a row; its hint tells how many they are, and a little of the first."""
    return stone(key, "text", *sequence)._replace(hint=len(sequence) | _first_bits(key, sequence[0]) << 16)


def _first_bits(key: bytes, word: str) -> int:
    return int(digest("first word", word, size=2, key=key), 16)


class Forgotten:
    """Answers whether something is forgotten. Empty, and false, where nothing is."""

    def __init__(self, key: bytes = b"", stones: Iterable[Stone] = ()) -> None:
        self._key = key
        self._hashes: set[tuple[str, str]] = set()
        self._lengths: dict[int, set[int]] = {}
        self._begins: dict[str, tuple[int, ...]] = {}
        for kind, hash, hint in stones:
            self._hashes.add((kind, hash))
            if kind == "text":
                self._lengths.setdefault(hint >> 16, set()).add(hint & 0xFFFF)

    def __len__(self) -> int:
        return len(self._hashes)

    def holds(self, kind: str, *parts: str) -> bool:
        """Whether the thing with this natural key is forgotten."""
        return bool(self._hashes) and stone(self._key, kind, *parts)[:2] in self._hashes

    def says(self, text: str) -> bool:
        """Whether a text has forgotten words in it."""
        return bool(self._lengths) and next(self._found(words(text)), None) is not None

    def masked(self, text: str) -> str:
        """The text with a mark in place of forgotten words."""
        pieces: list[str] = []
        done = 0
        for start, end in self.stretches(text):
            pieces += (text[done:start], FORGOTTEN)
            done = end
        return "".join(pieces) + text[done:]

    def stretches(self, text: str) -> list[tuple[int, int]]:
        """Where the forgotten words stand: (start, end), in order and apart."""
        if not self.says(text):
            return []
        places = list(_WORD.finditer(blank(text)))
        stretches: list[tuple[int, int]] = []
        for first, count in self._found([place[0].casefold() for place in places]):
            start, end = places[first].start(), places[first + count - 1].end()
            if stretches and start < stretches[-1][1]:
                start, end = stretches[-1][0], max(end, stretches.pop()[1])
            stretches.append((start, end))
        return stretches

    def _found(self, sequence: Sequence[str]) -> Iterator[tuple[int, int]]:
        """(where it begins, how many words), in order."""
        for first, word in enumerate(sequence):
            for count in self._may_begin(word):
                if first + count <= len(sequence) and self.holds("text", *sequence[first : first + count]):
                    yield first, count

    def _may_begin(self, word: str) -> tuple[int, ...]:
        """How long the forgotten texts are that may begin with a word; mostly none."""
        known = self._begins.get(word)
        if known is None:
            if len(self._begins) >= _MAX_WORDS_CACHED:
                self._begins.clear()
            known = tuple(sorted(self._lengths.get(_first_bits(self._key, word), ())))
            self._begins[word] = known
        return known
