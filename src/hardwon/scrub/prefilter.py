"""Which rules a text can match at all: most texts match none, and to know that must cost little."""

from __future__ import annotations

import hashlib
import os
import re
import string
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol

from hardwon.home import private, private_folder
from hardwon.scrub.rule import (
    NAME_REACH_CHARACTERS,
    SOLID_RUN_CHARACTERS,
    TOKEN_REACH_CHARACTERS,
    Rule,
)
from hardwon.text import patterns
from hardwon.text.normalise import HOME_PROBE, HOME_WORDS, MARK_ENDS, blank, is_homeless, lazy_pattern
from hardwon.text.shown import HIDDEN_PROBE, is_plain

# Which of many keywords a text holds.

_BEGINNING_CHARACTERS = 3
_RUN_SIGNS = string.ascii_letters + string.digits + "_-+/="
_RUN = bytes(ord("a") if chr(byte) in _RUN_SIGNS else ord(" ") for byte in range(256))
_SHAPE = bytes(ord("0") if chr(byte) in string.digits else byte for byte in range(256))
_LONG_RUN = b"a" * SOLID_RUN_CHARACTERS
_CHANCE = re.compile(rb"[A-Z0-9]")
_DIGIT = re.compile(rb"[0-9]")
_PIECE = re.compile(rb"[A-Za-z0-9_-]{%d,}" % SOLID_RUN_CHARACTERS)
_COMMON_SHAPES = ("0.0", "0000")
_COMMON_WORDS = (
    *("my ", "our ", " me ", " us ", "office", "message", "арол", "密", "log", "denti", "ord", "rase", "sql"),
    *("sec", "san", "gan", "p:", "ken", "esl", "lozink", "paro", "acce", "creden", " with", "when ", "wenn ", "quand"),
    *("proteg", "entr", "contra", "connect", "exec", "clave", " code", "sign", "prompt", "pw", "passw"),
)
_COMMON_SIGNS = ("$", "ecret")
"""What hashes of passwords and the manifests of secrets have in common."""
_POSSESSIVE = re.compile(r"(?<!\\)([*+?}])\+")
_BUT_MARKS = re.compile(rf"(\[\^(?:\\.|[^\]\\{MARK_ENDS}])*){MARK_ENDS}")
_GROUP_NAME = re.compile(r"\?P<\w+>")
_REPETITION = re.compile(r"\{(\d+),(\d+)\}")
_MAX_REPETITIONS = 16
_ATOM = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\x\{\w+\}|\\.|.", re.S)
_OPEN_END = re.compile(r"[*+]|\{\d+,\}")
_SPECIAL = (HOME_PROBE, HIDDEN_PROBE)
_FOREIGN = lazy_pattern("[\u0080-\u1fff\u3040-\ufaff]")
"""Letters beyond ASCII; not the signs, lines and pictures that many an English text has."""
_NONE: AbstractSet[int] = frozenset()
_CHARACTERS_UNTIL_SCANNED = 100_000


class Keywords:
    """A few keywords to look for in many texts, one after the other.

    One that holds a shorter one is looked for only where that one was found; `common` adds such
    shorter ones.
    """

    def __init__(self, keywords: Iterable[str], common: Iterable[str] = ()) -> None:
        self._wanted = frozenset(keywords)
        known = sorted({*self._wanted, *common}, key=lambda keyword: (len(keyword), keyword))
        roots: list[str] = []
        self._longer: dict[str, list[str]] = {}
        for place, keyword in enumerate(known):
            inside = next((shorter for shorter in known[:place] if shorter in keyword), None)
            (roots if inside is None else self._longer.setdefault(inside, [])).append(keyword)
        self._roots = [keyword for keyword in roots if not _FOREIGN.search(keyword)]
        self._foreign_roots = [keyword for keyword in roots if _FOREIGN.search(keyword)]

    def present(self, text: str) -> list[str]:
        """Those of the keywords that the text holds."""
        found = [keyword for keyword in self._roots if keyword in text]
        if self._foreign_roots and not text.isascii() and _FOREIGN.search(text):
            found += [keyword for keyword in self._foreign_roots if keyword in text]
        for keyword in found:  # grows while it is walked through
            if keyword in self._longer:
                found += [longer for longer in self._longer[keyword] if longer in text]
        return [keyword for keyword in found if keyword in self._wanted]


class ScannedKeywords:
    """Any number of keywords, all found in one pass by hyperscan, which compiles words without patterns at once."""

    def __init__(self, keywords: Iterable[str], any_case: range = range(0)) -> None:
        """`any_case` are the places of keywords for which the case of ASCII letters does not matter."""
        import hyperscan

        self._keywords = list(keywords)
        flags = [hyperscan.HS_FLAG_SINGLEMATCH] * len(self._keywords)
        for place in any_case:
            flags[place] |= hyperscan.HS_FLAG_CASELESS
        database = _of_words(self._keywords, flags)
        database.scratch = hyperscan.Scratch(database)
        self._database = database
        self._scan = database.scan
        self._lock = Lock()  # a scratch space serves one scan at a time
        self._found: list[int] = []
        self._note = lambda number, *_: self._found.append(number)

    def present(self, text: str) -> list[str]:
        """Those of the keywords that the text holds."""
        return self.present_in(text.encode("utf-8", "surrogatepass"))

    def present_in(self, data: bytes) -> list[str]:
        """The same of a text in UTF-8."""
        return [self._keywords[place] for place in self.places(data)]

    def places(self, data: bytes) -> Sequence[int]:
        """The same as places in the list of keywords."""
        with self._lock:
            self._scan(data, self._note)
            if not self._found:
                return ()
            found, self._found = self._found, []
        return found


def _of_words(words: Sequence[str], flags: Sequence[int]) -> Any:
    """As it is kept from before, or made now, which takes hundreds of times as long."""
    import hyperscan

    asked = repr((getattr(hyperscan, "__version__", ""), words, list(map(int, flags)))).encode()
    name = f"hyperscan {hashlib.blake2b(asked, digest_size=16).hexdigest()}"
    if made := patterns.known(name):
        with suppress(hyperscan.error):  # of another processor
            return hyperscan.loadb(made, hyperscan.HS_MODE_BLOCK)
    database = hyperscan.Database()
    database.compile(
        expressions=[word.encode() for word in words], ids=list(range(len(words))), flags=list(flags), literal=True
    )
    patterns.note(name, hyperscan.dumpb(database))
    return database


@cache
def scanned(keywords: tuple[str, ...]) -> ScannedKeywords | None:
    """None where hyperscan is not installed."""
    return ScannedKeywords(keywords) if installed() else None


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


class CasedText:
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
        self._as_is = _Group(as_is, Keywords(as_is, _COMMON_SIGNS))
        self._any_case = _Group(any_case, Keywords(any_case, _COMMON_WORDS))
        self._shaped = _Group(shaped, Keywords(shaped, _COMMON_SHAPES))
        self._base64 = _Group(base64, Keywords(base64))
        self._tokens = _Group(tokens, ManyKeywords(tokens))
        self._named = _Group(named, ManyKeywords(named))
        self._left = _CHARACTERS_UNTIL_SCANNED if installed() else sys.maxsize
        self._scan: _OneScan | None = None

    def _scan_from_now_on(self) -> None:
        """As much text as this process has is worth loading hyperscan for."""
        self._left = sys.maxsize
        solid = {**self._base64.numbers, **self._tokens.numbers}, self._named.numbers
        self._scan = _OneScan(self._as_is.numbers, self._any_case.numbers, self._shaped.numbers, *solid)

    def hits(self, text: str, settled: Settled = "") -> Hits:
        if self._scan is not None:
            return self._hits_of_one_scan(self._scan, text, settled)
        self._left -= len(text)
        if self._left < 0:
            self._scan_from_now_on()
        if settled != "all" and not is_plain(text):
            return Hits(hidden=True)
        if not settled and not is_homeless(text):
            return Hits(homes=True)
        lowered = CasedText(text).lowered
        found = self._as_is.of(text) | self._any_case.of(lowered)
        data = text.encode("latin-1", "replace")  # one byte a character, so places are the same
        found |= self._shaped.of(data.translate(_SHAPE).decode("latin-1"))
        return self._with_tokens(text, data, found)

    def _hits_of_one_scan(self, scan: _OneScan, text: str, settled: Settled) -> Hits:
        """The same in four passes over the bytes; most texts are short and hold nothing."""
        data = text.encode("utf-8", "surrogatepass")
        if settled != "all" and not is_plain(text, data):
            return Hits(hidden=True)
        found, homes = scan.of(data)
        if homes and not settled:
            return Hits(homes=True)
        if found and MARK_ENDS[0] in text:  # words inside our own marks are none
            found = self._as_is.of(text) | self._any_case.of(CasedText(text).lowered)
        found = found | scan.of_numbers(data)
        return self._with_tokens(text, data if len(data) == len(text) else text.encode("latin-1", "replace"), found)

    def _with_tokens(self, text: str, data: bytes, found: AbstractSet[int]) -> Hits:
        """What long runs of letters and digits may be, as well; `data` has a byte for each character."""
        runs = _long_runs(data)
        held = self._scan.in_tokens(data) if runs and self._scan is not None else None
        if runs and held != []:
            found = found | self._base64.of("\n".join(_before(text, runs, TOKEN_REACH_CHARACTERS)), held)
            pieces = [piece.span() for start, end in runs for piece in _PIECE.finditer(data, start, end)]
            found |= self._tokens.of("\n".join(_before(text, pieces, TOKEN_REACH_CHARACTERS)), held)
            pieces = [(start, end) for start, end in pieces if _DIGIT.search(data, start, end)]
            found |= self._named.of("\n".join(_before(CasedText(text).lowered, pieces, NAME_REACH_CHARACTERS)), held)
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

    def __init__(self, numbers: Numbers, keywords: Keywords | ManyKeywords | ScannedKeywords) -> None:
        self.numbers = numbers
        self.keywords = keywords

    def of(self, haystack: str, held: Sequence[str] | None = None) -> set[int]:
        """`held` are all keywords that the text holds anywhere, where they are known."""
        if held is None:
            present = self.keywords.present(haystack)
        else:
            present = [keyword for keyword in held if keyword in self.numbers and keyword in haystack]
        return {number for keyword in present for number in self.numbers[keyword]}


class _OneScan:
    """The keywords of all rules that look at a text as it is or in any case, and home folders, found in one pass."""

    def __init__(
        self, as_is: Numbers, any_case: Numbers, shaped: Numbers, solid: Collection[str], named: Collection[str]
    ) -> None:
        # One with a capital never stands in a lowercase text.
        cased = [(keyword, numbers) for keyword, numbers in any_case.items() if _lower(keyword) == keyword]
        self._numbers = [*as_is.values(), *(numbers for _, numbers in cased)]
        self._homes = len(self._numbers)
        words = (*as_is, *(keyword for keyword, _ in cased), *HOME_WORDS)
        self._keywords = ScannedKeywords(words, any_case=range(len(as_is), self._homes))
        self._shaped = list(shaped.values())
        self._shapes = ScannedKeywords(shaped)
        self._solid = ScannedKeywords((*solid, *named), any_case=range(len(solid), len(solid) + len(named)))

    def of(self, data: bytes) -> tuple[AbstractSet[int], bool]:
        """(the rules that it may match, whether it may name a home folder)."""
        found = self._keywords.places(data)
        if not found:
            return _NONE, False
        numbers = {number for place in found if place < self._homes for number in self._numbers[place]}
        return numbers, max(found) >= self._homes

    def of_numbers(self, data: bytes) -> AbstractSet[int]:
        """The rules that look for shapes of numbers."""
        shape = data.translate(_SHAPE)
        found = self._shapes.places(shape) if b"0" in shape else ()
        return {number for place in found for number in self._shaped[place]} if found else _NONE

    def in_tokens(self, data: bytes) -> list[str]:
        """The words in it that may stand in or before a token; often none, for most long runs are paths."""
        return self._solid.present_in(data)


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


# The prefilter by hyperscan: one pass tells which rules a text can match, however many rules there are.
# Hyperscan is given a simpler form of each pattern, which matches at least wherever the pattern does; the spans are
# found by the pattern itself. So the results are those of the keyword prefilter, which is used where hyperscan is
# not installed.

_ONLY_EMAILS = Hits(emails=True)
_HIDDEN, _HOMES = Hits(hidden=True), Hits(homes=True)


def probe(rule: Rule) -> str:
    """The rule's pattern, made simpler and wider for hyperscan."""
    if rule.probe:
        return rule.probe
    wider = _POSSESSIVE.sub(r"\1", rule.source)
    wider = wider.replace("(?!(?P=quote))", "").replace("(?P=quote)", "[\"'`]").replace("(?(quote)", "(?:")
    wider = wider.replace("(?(1)", "(?:").replace(r"\Z", "$")
    wider = _BUT_MARKS.sub(r"\1", _GROUP_NAME.sub("", wider))
    return _REPETITION.sub(_open_ended, wider)


def _open_ended(found: re.Match[str]) -> str:
    return found[0] if int(found[2]) <= _MAX_REPETITIONS else f"{{{found[1]},}}"


@cache
def installed() -> bool:
    """Whether there is a hyperscan: an extra, and not every machine has a wheel of it."""
    return find_spec("hyperscan") is not None


def file_name(rules: Sequence[Rule]) -> str:
    """What the compiled patterns of these very rules are called in a cache."""
    return f"scrub-{hashlib.blake2b(repr(_expressions(rules)).encode(), digest_size=8).hexdigest()}.hs"


class HyperscanPrefilter:
    """Compiles the patterns (seconds), or loads them from `kept_in` (milliseconds), where they are then kept."""

    def __init__(self, rules: Sequence[Rule], kept_in: Path | None = None) -> None:
        import hyperscan

        self._homes, self._hidden = len(rules), len(rules) + 1
        self._database = _database(rules, kept_in / file_name(rules) if kept_in else None)
        self._database.scratch = hyperscan.Scratch(self._database)
        self._lock = Lock()  # a scratch space serves one scan at a time
        self._found: set[int] = set()
        # Most texts are short, and to look these up for each of them takes as long as to scan a hundred bytes.
        self._scan = self._database.scan
        self._notes = {"": self._note_until_unsettled, "homes": self._note_until_hidden, "all": self._note}
        self._stopped: type[Exception] = hyperscan.ScanTerminated

    def hits(self, text: str, settled: Settled = "") -> Hits:
        try:
            data = text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair
            return _HIDDEN
        found = _NONE
        with self._lock:
            try:
                self._scan(data, self._notes[settled])
            except self._stopped:
                found, self._found = self._found, set()
                return _HIDDEN if self._hidden in found else _HOMES
            if self._found:
                found, self._found = self._found, set()
        emails = "@" in text
        if not found:
            return _ONLY_EMAILS if emails else NOTHING
        return Hits(sorted(number for number in found if number < self._homes), emails)

    def _note(self, number: int, *_: object) -> None:
        self._found.add(number)

    def _note_until_unsettled(self, number: int, *_: object) -> bool:
        """True stops the scan: what is to be cleaned first is scanned again anyway."""
        self._found.add(number)
        return number >= self._homes

    def _note_until_hidden(self, number: int, *_: object) -> bool:
        self._found.add(number)
        return number == self._hidden


Expressions = tuple[tuple[str, bool], ...]


def _expressions(rules: Sequence[Rule]) -> Expressions:
    """(pattern, whether case does not matter) of every rule, and of what is no rule."""
    return (*((probe(rule), rule.any_case) for rule in rules), *((pattern, False) for pattern in _SPECIAL))


def _database(rules: Sequence[Rule], stored: Path | None) -> Any:
    import hyperscan

    if stored and stored.exists():
        try:
            return hyperscan.loadb(stored.read_bytes(), hyperscan.HS_MODE_BLOCK)
        except (hyperscan.error, OSError):  # of another version, processor or user, or damaged
            stored.unlink(missing_ok=True)
    database = _compiled(_expressions(rules))
    if stored:
        _keep(stored, hyperscan.dumpb(database))
    return database


def _compiled(expressions: Sequence[tuple[str, bool]]) -> Any:
    import hyperscan

    flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_MULTILINE
    database = hyperscan.Database()
    database.compile(
        expressions=[pattern.encode() for pattern, _ in expressions],
        ids=list(range(len(expressions))),
        flags=[
            flags
            | (hyperscan.HS_FLAG_CASELESS if any_case else 0)
            | (0 if _reads_bytes(pattern) else hyperscan.HS_FLAG_UTF8)
            for pattern, any_case in expressions
        ],
    )
    return database


def _reads_bytes(pattern: str) -> bool:
    """Whether in bytes it matches at least what it matches in characters; then hyperscan is nearly twice as fast.

    So it does if what can match beyond ASCII may be repeated without end: such a character is several bytes.
    """
    return all(
        not _is_beyond_ascii(atom[0]) or _OPEN_END.match(pattern, atom.end()) for atom in _ATOM.finditer(pattern)
    )


def _is_beyond_ascii(atom: str) -> bool:
    return not atom.isascii() or atom == "." or atom.startswith("[^") or bool(re.search(r"\\[SWDx]", atom))


def _keep(path: Path, data: bytes) -> None:
    """All of it or nothing, whoever else is writing the same; without a place for it, nothing."""
    part = path.with_suffix(f".{os.getpid()}")
    try:
        private_folder(path.parent)
        with open(part, "wb", opener=private) as file:
            file.write(data)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
