"""Which rules a text can match at all: most texts match none, and to know that must cost little."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from hardwon.scrub.marks import blank
from hardwon.scrub.rule import NAME_REACH_CHARACTERS, SOLID_RUN_CHARACTERS, TOKEN_REACH_CHARACTERS, Rule
from hardwon.text.paths import is_homeless
from hardwon.text.visible import is_plain

# Which of many keywords a text holds.

_BEGINNING_CHARACTERS = 3


class Keywords:
    """A few keywords to look for in many texts, one after the other.

    One that holds a shorter one is looked for only where that one was found; `common` adds such
    shorter ones.
    """

    def __init__(self, keywords: Iterable[str], common: Iterable[str] = ()) -> None:
        self._wanted = frozenset(keywords)
        known = sorted({*self._wanted, *common}, key=lambda keyword: (len(keyword), keyword))
        self._roots: list[str] = []
        self._longer: dict[str, list[str]] = {}
        for place, keyword in enumerate(known):
            inside = next((shorter for shorter in known[:place] if shorter in keyword), None)
            (self._roots if inside is None else self._longer.setdefault(inside, [])).append(keyword)

    def present(self, text: str) -> list[str]:
        """Those of the keywords that the text holds."""
        found = [keyword for keyword in self._roots if keyword in text]
        for keyword in found:  # grows while it is walked through
            if keyword in self._longer:
                found += [longer for longer in self._longer[keyword] if longer in text]
        return [keyword for keyword in found if keyword in self._wanted]


class ManyKeywords:
    """Hundreds of keywords to look for in short texts, by the three characters they begin with."""

    def __init__(self, keywords: Iterable[str]) -> None:
        self._short: list[str] = []
        self._by_beginning: dict[tuple[str, ...], list[str]] = {}
        for keyword in dict.fromkeys(keywords):
            if len(keyword) < _BEGINNING_CHARACTERS:
                self._short.append(keyword)
            else:
                self._by_beginning.setdefault(tuple(keyword[:_BEGINNING_CHARACTERS]), []).append(keyword)

    def present(self, text: str) -> list[str]:
        """Those of the keywords that the text holds."""
        found = [keyword for keyword in self._short if keyword in text]
        for beginning in self._by_beginning.keys() & set(zip(text, text[1:], text[2:], strict=False)):
            found += [keyword for keyword in self._by_beginning[beginning] if keyword in text]
        return found


# Which rules a text may match, by their keywords.

_RUN_SIGNS = string.ascii_letters + string.digits + "_-+/="
_RUN = bytes(ord("a") if chr(byte) in _RUN_SIGNS else ord(" ") for byte in range(256))
_SHAPE = bytes(ord("0") if chr(byte) in string.digits else byte for byte in range(256))
_LONG_RUN = b"a" * SOLID_RUN_CHARACTERS
_CHANCE = re.compile(rb"[A-Z0-9]")
_DIGIT = re.compile(rb"[0-9]")
_PIECE = re.compile(rb"[A-Za-z0-9_-]{%d,}" % SOLID_RUN_CHARACTERS)
_COMMON_SHAPES = ("0.0", "0000")


class Page:
    """A text, and its lowercase copy once somebody needs it."""

    __slots__ = ("_lowered", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._lowered: str | None = None

    @property
    def lowered(self) -> str:
        """As long as the text, and without the words inside our own marks: they are no names of a value."""
        if self._lowered is None:
            self._lowered = blank(_lower(self.text))
        return self._lowered


class Hits(NamedTuple):
    """What a text may hold; what is not named here it does not hold.

    Hidden characters and home folders must go before anything else is looked for, so where there may be one of the
    two, nothing else is told.
    """

    rules: Sequence[int] = ()
    emails: bool = False
    hidden: bool = False
    homes: bool = False


NOTHING = Hits()

Settled = Literal["", "homes", "all"]
"""What is gone from a text already, so far as it goes: homes, or hidden characters, too."""


class Prefilter(Protocol):
    def hits(self, text: str, settled: Settled = "") -> Hits:
        """What the text may hold; `NOTHING` for most."""


class KeywordPrefilter:
    """By the literal beginnings that the rules name."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        as_is = _numbers(rules, lambda rule: not (rule.any_case or rule.solid or rule.shaped))
        any_case = _numbers(rules, lambda rule: rule.any_case and not (rule.solid or rule.shaped))
        shaped = _numbers(rules, lambda rule: rule.shaped)
        base64 = _numbers(rules, lambda rule: rule.solid and rule.base64 and not rule.any_case)
        tokens = _numbers(rules, lambda rule: rule.solid and not rule.base64 and not rule.any_case)
        named = _numbers(rules, lambda rule: rule.solid and rule.any_case)
        self._as_is = _Group(as_is, Keywords(as_is))
        self._any_case = _Group(any_case, Keywords(any_case))
        self._shaped = _Group(shaped, Keywords(shaped, _COMMON_SHAPES))
        self._base64 = _Group(base64, Keywords(base64))
        self._tokens = _Group(tokens, ManyKeywords(tokens))
        self._named = _Group(named, ManyKeywords(named))

    def hits(self, text: str, settled: Settled = "") -> Hits:
        if settled != "all" and not is_plain(text):
            return Hits(hidden=True)
        if not settled and not is_homeless(text):
            return Hits(homes=True)
        lowered = Page(text).lowered
        found = self._as_is.of(text) | self._any_case.of(lowered)
        data = text.encode("latin-1", "replace")  # one byte a character, so places are the same
        found |= self._shaped.of(data.translate(_SHAPE).decode("latin-1"))
        if runs := _long_runs(data):
            found |= self._base64.of("\n".join(_before(text, runs, TOKEN_REACH_CHARACTERS)))
            pieces = [piece.span() for start, end in runs for piece in _PIECE.finditer(data, start, end)]
            found |= self._tokens.of("\n".join(_before(text, pieces, TOKEN_REACH_CHARACTERS)))
            pieces = [(start, end) for start, end in pieces if _DIGIT.search(data, start, end)]
            found |= self._named.of("\n".join(_before(lowered, pieces, NAME_REACH_CHARACTERS)))
        emails = "@" in text
        return Hits(sorted(found), emails) if found or emails else NOTHING


Numbers = dict[str, list[int]]


def _numbers(rules: Sequence[Rule], wanted: Callable[[Rule], bool]) -> Numbers:
    """Keyword → the rules that have it."""
    numbers: Numbers = {}
    for number, rule in enumerate(rules):
        if wanted(rule):
            for keyword in rule.keywords:
                numbers.setdefault(keyword, []).append(number)
    return numbers


class _Group:
    """Rules whose keywords are looked for in the same copy of a text."""

    def __init__(self, numbers: Numbers, keywords: Keywords | ManyKeywords) -> None:
        self._numbers = numbers
        self._keywords = keywords

    def of(self, haystack: str) -> set[int]:
        return {number for keyword in self._keywords.present(haystack) for number in self._numbers[keyword]}


def _long_runs(data: bytes) -> list[tuple[int, int]]:
    """Where a long run of token characters stands; in most texts, nowhere."""
    runs = data.translate(_RUN)
    found: list[tuple[int, int]] = []
    start = runs.find(_LONG_RUN)
    while start >= 0:
        end = runs.find(b" ", start + SOLID_RUN_CHARACTERS)
        if end < 0:
            end = len(runs)
        if _CHANCE.search(data, start, end):
            found.append((start, end))
        start = runs.find(_LONG_RUN, end)
    return found


def _before(text: str, runs: list[tuple[int, int]], reach: int) -> Iterator[str]:
    """The runs with what stands before them; those that touch are left in one piece."""
    begin = done = 0
    for start, end in runs:
        if start - reach > done:
            yield text[begin:done]
            begin = start - reach
        done = end
    yield text[begin:done]


def _lower(text: str) -> str:
    if text.isascii():
        return text.lower()
    # By bytes, for str.lower() is slow here and makes one letter longer, shifting what follows.
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
