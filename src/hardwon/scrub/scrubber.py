"""Scrubber: the one door a text passes before it may be stored."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from hardwon.errors import ScrubTimeout
from hardwon.scrub import hypergate
from hardwon.scrub.finder import find, merge
from hardwon.scrub.gate import NOTHING, Gate, Hits, KeywordGate, Page
from hardwon.scrub.marks import Marks, cover
from hardwon.scrub.personal import LOOSE_RULES, PERSONAL_RULES, find_emails
from hardwon.scrub.registry import SECRETS
from hardwon.scrub.rule import Rule, Span
from hardwon.text.paths import tilde
from hardwon.text.visible import clean

RULES: tuple[Rule, ...] = (*SECRETS, *PERSONAL_RULES)
_MOST_PASSES = 5
_APART_BEFORE = " \t\n\"'`<("
_APART_AFTER = " \t\n\"'`>),;"


class Scrubber:
    """Replaces what must not be stored; one Scrubber gives equal values equal marks.

    `key` makes the marks those of a store. `seconds` is how long all its work may take: every rule is linear, so
    that looking at the clock between rules is enough. `personal` also takes what only a text about people must not
    keep. `hyperscan` says whether to use its gate; by default where `cache` has it ready.
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
        self._gate = _gate(personal, hyperscan, cache)
        self._seconds = seconds
        self._spent = 0.0
        self._began = 0.0

    def scrub(self, text: str) -> str:
        self._began = time.perf_counter()
        try:
            hits = self._gate.hits(text)
            return text if hits is NOTHING else self._scrubbed(text, hits)  # nothing, as of most texts
        finally:
            self._spent += time.perf_counter() - self._began

    def find(self, text: str) -> list[Span]:
        """What `scrub` would replace, by place in the text without its hidden characters."""
        self._began = time.perf_counter()
        found: list[Span] = []
        text = clean(text)
        for _ in range(_MOST_PASSES):
            hits = self._gate.hits(text, "all")
            spans = find(self._rules, hits.rules, Page(text), self._check)
            spans = merge([*spans, *(find_emails(text) if hits.emails else ())])
            if not spans:
                break
            found += spans
            text = cover(text, spans)
        return sorted(found)

    def _scrubbed(self, text: str, hits: Hits) -> str:
        for _ in range(_MOST_PASSES):
            self._check()
            if hits.hidden or hits.homes:
                text, hits = self._settled(text, hits)
            secrets = find(self._rules, hits.rules, Page(text), self._check) if hits.rules else []
            redacted = self._replace(text, secrets)
            emails = find_emails(redacted) if hits.emails else []
            if not secrets and not emails:
                break
            glued = _glued(text, secrets) or _glued(redacted, emails)
            text = self._replace(redacted, emails)
            if not glued:
                break
            hits = self._gate.hits(text)
        return text

    def _settled(self, text: str, hits: Hits) -> tuple[str, Hits]:
        """Homes are shortened before anything is judged, as they will be when the text is scrubbed again."""
        if hits.homes:
            shorter = tilde(text)
            hits = self._gate.hits(shorter, "homes")
            if not hits.hidden:
                return shorter, hits
        text = tilde(clean(text))
        return text, self._gate.hits(text, "all")

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
            pieces += (text[done:start], self._marks.of(label, text[start:end]))
            done = end
        return "".join(pieces) + text[done:]


class Scrubbing(NamedTuple):
    """How the texts of a store are scrubbed: what a process needs to make a Scrubber of its own."""

    key: bytes | None = None
    cache: str = ""
    seconds: float = 60.0
    """For all texts of a session together; an ordinary one takes a hundredth of a second."""

    def scrubber(self) -> Scrubber:
        return Scrubber(key=self.key, cache=Path(self.cache) if self.cache else None, seconds=self.seconds)


def prepare(cache: Path) -> None:
    """Compile hyperscan's patterns for every Scrubber with this cache, if it is installed: worth it for much text."""
    if hypergate.installed():
        _hyperscan_gate(False, cache)


@lru_cache(maxsize=2)
def _rules(personal: bool) -> tuple[Rule, ...]:
    return (*RULES, *LOOSE_RULES) if personal else RULES


def _gate(personal: bool, hyperscan: bool | None, cache: Path | None) -> Gate:
    if hyperscan is None:
        hyperscan = cache is not None and (cache / _file_name(personal)).exists() and hypergate.installed()
    return _hyperscan_gate(personal, cache) if hyperscan else _keyword_gate(personal)


@lru_cache(maxsize=2)
def _file_name(personal: bool) -> str:
    return hypergate.file_name(_rules(personal))


@lru_cache(maxsize=2)
def _keyword_gate(personal: bool) -> Gate:
    return KeywordGate(_rules(personal))


@lru_cache(maxsize=4)
def _hyperscan_gate(personal: bool, cache: Path | None) -> Gate:
    return hypergate.HyperscanGate(_rules(personal), cache)


def _glued(text: str, spans: list[Span]) -> bool:
    """Whether a secret touched other text: its mark cuts there, and may lay another one bare."""
    for start, end, _ in spans:
        if text[start - 1 : start] not in _APART_BEFORE or text[end : end + 1] not in _APART_AFTER:
            return True
    return False
