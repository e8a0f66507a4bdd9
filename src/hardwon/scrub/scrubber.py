"""Scrubber: the one door a text passes before it may be stored."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.util import cache_from_source
from operator import is_
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

from hardwon.errors import ScrubTimeout
from hardwon.model.session import Message, Session, ToolCall, ToolResult
from hardwon.scrub import prefilter
from hardwon.scrub.prefilter import NOTHING, CasedText, Hits, KeywordPrefilter, Prefilter
from hardwon.scrub.rule import (
    LOOSE_RULES,
    PERSONAL,
    PERSONAL_RULES,
    Candidate,
    Marks,
    Rule,
    Span,
    cover,
    find_emails,
)
from hardwon.scrub.rules.general import ASSIGNMENTS, GENERAL, VENDOR_NAMES, VENDORS
from hardwon.scrub.rules.places import PLACES
from hardwon.scrub.rules.products import PRODUCTS, SERVICES
from hardwon.scrub.rules.published import CLOUD, CODE, MESSAGES, MODELS, MONEY
from hardwon.scrub.rules.told_passwords import TOLD
from hardwon.scrub.shapes import is_name, is_stand_in
from hardwon.text.normalise import MARK_ENDS, without_homes
from hardwon.text.shown import clean

# Every rule there is, in the order in which they name what several of them find.

TOKENS: tuple[Rule, ...] = (*CLOUD, *CODE, *MODELS, *MESSAGES, *MONEY, *PRODUCTS, *SERVICES)
SECRETS: tuple[Rule, ...] = (*TOKENS, *PLACES, *ASSIGNMENTS, *GENERAL, *TOLD)


# The rules run over a text: which stretches of it are secrets.

_MAX_CHARACTERS_SEARCHED_AGAIN = 400
"""Of what a rule refused, for a match inside it."""
_MAX_CANDIDATES_JUDGED = 5_000
"""Candidates for a secret in one text that a rule judges one by one; whatever else its pattern finds there, goes. So a
text of nothing but candidates does not take seconds, and what was meant to wear the judge out is not kept."""
Clock = Callable[[], None]
"""Called between rules; raises when the time is up."""
RULES: tuple[Rule, ...] = (*SECRETS, *PERSONAL_RULES)
_MAX_PASSES = 5
_APART_BEFORE = " \t\n\"'`<("
_APART_AFTER = " \t\n\"'`>),;"
_EMAIL = ("email", "E-mail address", "anywhere")
_HOME = ("~", "Home folder and the user's name in it", "paths")
_HIDDEN = ("(removed)", "Direction, zero-width, tag and control characters, terminal sequences", "anywhere")
_SECRET = "secret:"
_MAX_VALUES = 200
"""That are looked for in every later text: more than a session has, and few enough for one that was made to hurt."""
_MIN_KNOWN_CHARACTERS = 6
_CHARACTERS_PER_BUDGET = 10_000_000
_PARTS = re.compile(r"[=;&\s/@:,|\"'`]+")
_DIGIT = re.compile(r"\d", re.A)
_LETTER = re.compile(r"[A-Za-z]")
_BYTES_PER_READ = 4 << 20
_BINARY = b"\0"
_PRINTED = re.compile(rb"[\t\n\x20-\x7e\x80-\xff]{6,}")


def find(rules: Sequence[Rule], numbers: Iterable[int], page: CasedText, clock: Clock) -> list[Span]:
    """Disjoint spans in order; where rules overlap, the longest names the whole stretch."""
    return merge(find_each(rules, numbers, page, clock))


def find_each(rules: Sequence[Rule], numbers: Iterable[int], page: CasedText, clock: Clock) -> list[Span]:
    """What each rule finds, one rule after the other."""
    found: list[Span] = []
    for number in numbers:
        rule = rules[number]
        found += _matches(rule, page.lowered if rule.any_case else page.text, page.text)
        clock()
    return found


def _matches(rule: Rule, haystack: str, text: str) -> Iterator[Span]:
    search = _search(rule, haystack)
    match = search(0)
    if match is None:  # in most texts
        return
    accepts, label, group, before, whole = rule.accepts, rule.label, rule.group, rule.before, rule.whole
    left = _MAX_CANDIDATES_JUDGED if rule.kind not in PERSONAL else sys.maxsize
    while match:
        start, end = match.span(group)
        start -= before
        left -= 1
        if left < 0 or accepts(Candidate(text[start:end], match, text)):
            yield Span(start, end, label)
            match = search(end)
        else:
            start, end = match.span()
            # Looking for more inside a long one again and again would take quadratic time.
            match = search(end if whole or end - start > _MAX_CHARACTERS_SEARCHED_AGAIN else start + 1)


def _search(rule: Rule, haystack: str) -> Callable[[int], re.Match[str] | None]:
    """Finds the first match from a place on; to be asked for places one after the other."""
    if rule.places is None:
        return partial(rule.pattern.search, haystack)
    places, match_at = rule.places(haystack), rule.pattern.match

    def search(start: int) -> re.Match[str] | None:
        return next((match for place in places if place >= start and (match := match_at(haystack, place))), None)

    return search


def merge(spans: list[Span]) -> list[Span]:
    """Disjoint spans in order; what overlaps becomes one, with the label of the longest."""
    merged: list[Span] = []
    longest = 0
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        length = span.end - span.start
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            longest = length
            continue
        last = merged[-1]
        label = span.label if length > longest else last.label
        longest = max(longest, length)
        merged[-1] = Span(last.start, max(last.end, span.end), label)
    return merged


class Scrubber:
    """Replaces what must not be stored; one Scrubber gives equal values equal marks.

    `key` makes the marks those of a store. `seconds` is how long all its work may take: every rule is linear, so
    that looking at the clock between rules is enough. `personal` also takes what only a text about people must not
    keep. `hyperscan` says whether to use its prefilter; by default where `cache` has it ready.
    """

    def __init__(
        self,
        *,
        key: bytes | None = None,
        seconds: float | None = None,
        personal: bool = False,
        hyperscan: bool | None = None,
        cache: Path | None = None,
    ) -> None:
        self.redactions = 0
        """How many secrets and addresses were replaced so far."""
        self._marks = Marks(key)
        self._rules = _rules(personal)
        self._prefilter = _prefilter(personal, hyperscan, cache)
        self._seconds = seconds
        self._spent = 0.0
        self._began = 0.0
        self._values: dict[str, str] = {}

    @property
    def remembers(self) -> int:
        """How many values it would know again without what told them."""
        return len(self._values)

    def scrub(self, text: str) -> str:
        """The text with marks in place of what must not be stored. Raises ScrubTimeout when the time is used up."""
        self._began = time.perf_counter()
        try:
            hits = self._prefilter.hits(text)
            self._check()
            if hits is not NOTHING:  # nothing, as of most texts
                text = self._scrubbed(text, hits)
            return self.without_known(text) if self._values else text
        finally:
            self._spent += time.perf_counter() - self._began

    def without_known(self, text: str) -> str:
        """The text without the values that were secrets in an earlier one, wherever they stand."""
        for value, label in self._values.items():
            if value in text:
                spans = [Span(*found.span(), label) for found in _alone(value).finditer(text)]
                text = self._replace(text, spans)
        return text

    def find(self, text: str) -> list[Span]:
        """What `scrub` would replace, by place in the text without its hidden characters."""
        self._began = time.perf_counter()
        found: list[Span] = []
        text = clean(text)
        for _ in range(_MAX_PASSES):
            hits = self._prefilter.hits(text, "all")
            spans = find(self._rules, hits.rules, CasedText(text), self._check)
            spans = merge([*spans, *(find_emails(text) if hits.emails else ())])
            if not spans:
                break
            found += spans
            text = cover(text, spans)
        return sorted(found)

    def _scrubbed(self, text: str, hits: Hits) -> str:
        for _ in range(_MAX_PASSES):
            self._check()
            if hits.hidden or hits.homes:
                text, hits = self._settled(text, hits)
            each = find_each(self._rules, hits.rules, CasedText(text), self._check) if hits.rules else []
            secrets = merge(each)
            self._remember_inner(text, each, secrets)
            redacted = self._replace(text, secrets)
            emails = find_emails(redacted) if hits.emails else []
            if not secrets and not emails:
                break
            glued = _glued(text, secrets) or _glued(redacted, emails)
            text = self._replace(redacted, emails)
            if not glued:
                break
            hits = self._prefilter.hits(text)
        return text

    def _settled(self, text: str, hits: Hits) -> tuple[str, Hits]:
        """Homes are shortened before anything is judged, as they will be when the text is scrubbed again."""
        if hits.homes:
            shorter = without_homes(text)
            hits = self._prefilter.hits(shorter, "homes")
            if not hits.hidden:
                return shorter, hits
        text = without_homes(clean(text))
        return text, self._prefilter.hits(text, "all")

    def _check(self) -> None:
        if self._seconds is not None and self._spent + time.perf_counter() - self._began > self._seconds:
            raise ScrubTimeout(f"scrubbing took more than {self._seconds:g} s: nothing of this text was stored")

    def _replace(self, text: str, spans: list[Span]) -> str:
        if not spans:
            return text
        self.redactions += len(spans)
        pieces: list[str] = []
        done = 0
        for start, end, label in spans:
            value = text[start:end]
            pieces += (text[done:start], self._marks.of(label, value))
            if label.startswith(_SECRET):
                self._remember(value, label)
            done = end
        return "".join(pieces) + text[done:]

    def _remember_inner(self, text: str, each: list[Span], merged: list[Span]) -> None:
        """What a rule found within, or partly within, what another found: by itself it is a value, too."""
        if len(each) > len(merged):
            whole = frozenset(merged)
            for span in each:
                if span not in whole and span.label.startswith(_SECRET):
                    self._remember(text[span.start : span.end], span.label)

    def _remember(self, value: str, label: str) -> None:
        """And what a cookie or an address has in it."""
        for one in dict.fromkeys((value, *_PARTS.split(value))):
            if len(self._values) < _MAX_VALUES and _is_known_again(one):
                self._values[one] = label


class Scrubbing(NamedTuple):
    """How the texts of a store are scrubbed: what a process needs to make a Scrubber of its own."""

    key: bytes | None = None
    cache: str = ""
    seconds: float = 60.0
    """For all texts of a session together; an ordinary one takes a hundredth of a second. A long one has as much for
    every ten million characters."""

    def scrubber(self, characters: int = 0) -> Scrubber:
        """For the texts of a session that has so many characters."""
        seconds = self.seconds * max(1.0, characters / _CHARACTERS_PER_BUDGET)
        return Scrubber(key=self.key, cache=Path(self.cache) if self.cache else None, seconds=seconds)


def kept_in(cache: Path) -> Path:
    """Where hyperscan's patterns are kept: beside Python's bytecode, for all homes; in `cache` where nothing may be."""
    beside = Path(cache_from_source(prefilter.__file__)).parent
    kept = os.access(beside, os.W_OK) and not sys.dont_write_bytecode
    return beside if kept or os.access(beside / _file_name(False), os.R_OK) else cache


def prepare(cache: Path) -> None:
    """Compile hyperscan's patterns for every Scrubber with this cache, if it is installed: worth it for much text."""
    if prefilter.installed():
        _hyperscan_prefilter(False, cache)


@lru_cache(maxsize=2)
def _rules(personal: bool) -> tuple[Rule, ...]:
    return (*RULES, *LOOSE_RULES) if personal else RULES


def _prefilter(personal: bool, hyperscan: bool | None, cache: Path | None) -> Prefilter:
    if hyperscan is None:
        if personal in _ready:
            return _ready[personal]
        hyperscan = cache is not None and os.access(cache / _file_name(personal), os.R_OK) and prefilter.installed()
    return _hyperscan_prefilter(personal, cache) if hyperscan else _keyword_prefilter(personal)


@lru_cache(maxsize=2)
def _file_name(personal: bool) -> str:
    return prefilter.file_name(_rules(personal))


@lru_cache(maxsize=2)
def _keyword_prefilter(personal: bool) -> Prefilter:
    return KeywordPrefilter(_rules(personal))


@lru_cache(maxsize=4)
def _hyperscan_prefilter(personal: bool, cache: Path | None) -> Prefilter:
    return _ready.setdefault(personal, prefilter.HyperscanPrefilter(_rules(personal), cache))


_ready: dict[bool, Prefilter] = {}
"""Those by hyperscan that this process has, whether for personal data or not: they find the same, only faster."""


def _is_known_again(value: str) -> bool:
    """Whether it is a secret wherever it stands: `postgres` or `123456` may be one in an address alone."""
    return (
        len(value) >= _MIN_KNOWN_CHARACTERS
        and value.isprintable()
        and MARK_ENDS[0] not in value
        and bool(_DIGIT.search(value) and _LETTER.search(value))
        and not is_stand_in(value)
        and not is_name(value)
    )


@lru_cache(maxsize=512)
def _alone(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])")


def _glued(text: str, spans: list[Span]) -> bool:
    """Whether a secret touched other text: its mark cuts there, and may lay another one bare."""
    for start, end, _ in spans:
        if text[start - 1 : start] not in _APART_BEFORE or text[end : end + 1] not in _APART_AFTER:
            return True
    return False


# The rules as a person reads them.


def listed() -> list[tuple[str, str, str]]:
    """(mark, what it stands for, where it is looked for) of every kind of rule, in the order of the tables."""
    found = list(dict.fromkeys((rule.label, rule.about, _where(rule)) for rule in RULES))
    found += [(rule.label, rule.about, "only with --personal") for rule in LOOSE_RULES]
    return [*found, _EMAIL, _HOME, _HIDDEN]


def _where(rule: Rule) -> str:
    if rule in ASSIGNMENTS:
        return "assignments"
    if rule in PLACES:
        return "its place"
    if rule in TOLD:
        return "sentences"
    if rule in VENDORS:
        return f"after the name of one of {len(VENDOR_NAMES)} services"
    if rule in SECRETS:
        return "after the name " + " or ".join(rule.keywords) if rule.any_case else "anywhere"
    return "anywhere"


# What the present rules would still take out of texts and files; told by kind and place, never by value.


class Leak(Struct, frozen=True):
    """Something that should have been scrubbed, and where it is."""

    place: str
    """A file below the home directory, or a table of the store."""
    row: str
    """The row's key; of a file, the line."""
    column: str
    kind: str
    count: int


def kinds(scrubber: Scrubber, text: str) -> Counter[str]:
    """How much of each kind is left in a text; nothing when scrubbing would leave it as it is."""
    found = Counter(span.label for span in scrubber.find(text))
    if without_homes(text) != text:
        found["home"] += 1
    if clean(text) != text:
        found["hidden"] += 1
    return found


def in_file(scrubber: Scrubber, path: Path, name: str) -> Iterator[Leak]:
    """Of what is no text, the printed parts are looked at, without a line."""
    with path.open("rb") as file:
        line = 1
        while piece := file.read(_BYTES_PER_READ) + file.readline():
            if _BINARY in piece:
                found = kinds(scrubber, clean(_printed(piece)))
                yield from (Leak(name, "", "", kind, count) for kind, count in found.items())
            else:
                yield from _in_lines(scrubber, piece.decode("utf-8", "replace"), name, line)
            line += piece.count(b"\n")


def _printed(data: bytes) -> str:
    return b"\n".join(_PRINTED.findall(data)).decode("utf-8", "replace")  # what is left out would join its neighbours


def _in_lines(scrubber: Scrubber, text: str, name: str, first: int) -> Iterator[Leak]:
    text = clean(text.replace("\r\n", "\n"))
    counted = Counter((first + text.count("\n", 0, span.start), span.label) for span in scrubber.find(text))
    if without_homes(text) != text:
        counted.update(
            (first + number, "home") for number, line in enumerate(text.split("\n")) if without_homes(line) != line
        )
    for (line, kind), count in sorted(counted.items()):
        yield Leak(name, str(line), "", kind, count)


# Scrub a session before anything is learned from it.

MAX_NAME_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 20_000
MAX_OUTPUT_CHARACTERS = 60_000
_ID_OR_WORD = re.compile(r"[A-Z]?[0-9a-f]{0,32}|[A-Za-z_-]{0,20}")
"""Ids and words of our own."""


def scrubbed(session: Session, scrubber: Scrubber, short: Short | None = None) -> Session:
    """The session with everything scrubbed that can reach the store, also where a secret stands before it is told.

    The output of calls that worked stays as it is: rules only compare against it and keep none of it. What `short` has
    seen here it need not look at again.
    """
    clean = _scrubbed(session, scrubber, (short or Short(scrubber)).scrub)
    return stored(clean, scrubber.without_known) if scrubber.remembers else clean


T = TypeVar("T")


def stored(value: T, scrub: Callable[[str], str]) -> T:
    """What is kept, with every text in it scrubbed as it is kept: lines that were joined or cut may tell a secret."""
    found: Any = value
    if isinstance(found, str):
        found = found if _is_id_or_word(found) else scrub(found)
    elif found is None or isinstance(found, (int, float)):
        pass  # most of what there is
    elif isinstance(found, Struct):
        changed = {name: new for name, old in _fields(found) if (new := stored(old, scrub)) is not old}
        found = replace(found, **changed) if changed else found
    elif isinstance(found, (list, tuple)):
        # Numbers are most of what there is, and words the most of the rest.
        parts: list[Any] = [
            part
            if part is None or isinstance(part, (int, float)) or (isinstance(part, str) and _is_id_or_word(part))
            else stored(part, scrub)
            for part in found
        ]
        if not all(map(is_, parts, found)):
            found = type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    return cast(T, found)


@lru_cache(maxsize=1 << 12)  # every row of a session has the same few
def _is_id_or_word(text: str) -> bool:
    return _ID_OR_WORD.fullmatch(text) is not None


def _fields(value: Struct) -> Iterator[tuple[str, Any]]:
    return ((name, getattr(value, name)) for name in value.__struct_fields__)


def _scrubbed(session: Session, scrubber: Scrubber, scrub: Callable[[str], str]) -> Session:
    return replace(
        session,
        external_id=scrub(session.external_id[:MAX_NAME_CHARACTERS]),
        subagent=scrub(session.subagent[:MAX_NAME_CHARACTERS]),
        version=scrub(session.version[:MAX_NAME_CHARACTERS]),
        cwd=scrub(session.cwd),
        remote=scrub(session.remote),
        branch=scrub(session.branch),
        messages=tuple([_scrubbed_message(message, scrubber, scrub) for message in session.messages]),
    )


class Short:
    """Scrubs names, commands and paths, which a session repeats; what has no secret in it is scrubbed once."""

    def __init__(self, scrubber: Scrubber) -> None:
        self._scrubber = scrubber
        self._harmless: dict[str, str] = {"": ""}
        self._remembered = 0

    def scrub(self, text: str) -> str:
        if self._scrubber.remembers != self._remembered:  # a value that is a secret now may stand in any of them
            self._remembered = self._scrubber.remembers
            self._harmless = {"": ""}
        known = self._harmless.get(text)
        if known is not None:
            return known
        before = self._scrubber.redactions
        clean = self._scrubber.scrub(text)
        if self._scrubber.redactions == before:
            self._harmless[text] = clean
        return clean


def _scrubbed_message(message: Message, scrubber: Scrubber, scrub: Callable[[str], str]) -> Message:
    if not (message.is_sent or message.calls or message.results):
        return message
    return replace(
        message,
        text=scrubber.scrub(ends(message.text, MAX_TEXT_CHARACTERS)) if message.is_sent else message.text,
        calls=tuple([_scrubbed_call(call, scrub) for call in message.calls]),
        results=tuple([_scrubbed_result(result, scrubber) for result in message.results]),
    )


def _scrubbed_call(call: ToolCall, scrub: Callable[[str], str]) -> ToolCall:
    return replace(
        call,
        name=scrub(call.name[:MAX_NAME_CHARACTERS]),
        command=scrub(call.command),
        target=scrub(call.target),
        detail=scrub(call.detail),
        others=tuple(map(scrub, call.others)),
        gone=tuple(map(scrub, call.gone)),
    )


def _scrubbed_result(result: ToolResult, scrubber: Scrubber) -> ToolResult:
    if result.outcome != "error":
        return result
    return replace(result, text=scrubber.scrub(ends(result.text, MAX_OUTPUT_CHARACTERS)))


def ends(text: str, longest: int) -> str:
    """The beginning and end of a long text, cut at line ends so that no secret is cut in two."""
    if len(text) <= longest:
        return text
    half = longest // 2
    head = text[:half].rpartition("\n")[0]
    tail = text[-half:].partition("\n")[2]
    return f"{head}\n…\n{tail}"
