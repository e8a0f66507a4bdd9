"""How a secret is told from other text, and the mark that stands in its place; what was forgotten, known again."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from hardwon.text.normalise import digest

PERSONAL = ("email", "phone", "ip", "card", "url")
"""Kinds that are no secrets but tell of a person: their marks have no `secret:` before the kind."""
SOLID_RUN_CHARACTERS = 20
TOKEN_REACH_CHARACTERS = 32
"""How far before such a run the keyword of a token may begin."""
NAME_REACH_CHARACTERS = 128
"""The same for the name that a key is given to; there the run has a digit."""
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


class Span(NamedTuple):
    """A stretch of text to replace by a mark with this label."""

    start: int
    end: int
    label: str


class Candidate(NamedTuple):
    """What a pattern matched, before the rule's last word on it."""

    value: str
    """The secret as the text has it; the match may have been made on a lowercase copy."""
    match: re.Match[str]
    text: str

    def group(self, name: str) -> str:
        """The text of a group; empty if the pattern has none of that name or it took no part."""
        try:
            start, end = self.match.span(name)
        except IndexError:
            return ""
        return self.text[start:end]


Accepts = Callable[[Candidate], bool]


def always(_candidate: Candidate) -> bool:
    return True


Places = Callable[[str], Iterator[int]]


class Rule(NamedTuple):
    """One kind of secret.

    `pattern` runs only over a text that holds one of `keywords`. Its group `secret`, or else the
    whole match, is replaced, with `before` characters that a look-behind has checked. With
    `any_case` it runs over a lowercase copy of the text, so it and its keywords are written in
    lowercase. `accepts` has the last word, where a pattern alone would hit ordinary code.

    To be fast a pattern begins with a literal; what must stand before it is looked at after. To
    be linear it may fail only after a bounded look ahead: it ends in an open repetition, or it
    cannot begin inside its own run.
    """

    kind: str
    about: str
    """Whose secret it is, for people."""
    source: str
    """The pattern as text: it is compiled when a text first needs it, and most are never needed."""
    keywords: tuple[str, ...]
    accepts: Accepts = always
    any_case: bool = False
    before: int = 0
    solid: bool = False
    """Every match holds a run of `SOLID_RUN_CHARACTERS` letters, digits, `_` and `-`, a digit or capital among them,
    and a keyword in that run or shortly before it."""
    base64: bool = False
    """The run may also hold `+`, `/` and `=`."""
    shaped: bool = False
    """The keywords are shapes of numbers: `0` in them stands for any digit."""
    whole: bool = False
    """What `accepts` refuses is passed over whole: no part of it is another candidate."""
    places: Places | None = None
    """Where the pattern can match at all, found faster than by a search for it."""
    probe: str = ""
    """A simpler pattern for hyperscan that matches at least wherever `pattern` does; else it is derived."""

    @property
    def pattern(self) -> re.Pattern[str]:
        return compiled(self.source)

    @property
    def label(self) -> str:
        return self.kind if self.kind in PERSONAL else f"secret:{self.kind}"

    @property
    def group(self) -> str | int:
        """What to replace: the part named `secret`, or all of it."""
        return "secret" if "(?P<secret>" in self.source else 0


@cache
def compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.ASCII | re.MULTILINE)


# What stands in a text where a secret stood: typed, and the same wherever the same value stood.


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


# What was forgotten on purpose, known again when it comes by, from keyed hashes alone.
#
# A text is forgotten as a sequence of words: case, spaces and punctuation do not matter, so the same words are found
# again wherever they are quoted. Nothing here holds the words themselves.

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
