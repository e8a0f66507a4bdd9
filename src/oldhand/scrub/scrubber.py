"""Scrubber: the one door a text passes before it may be stored."""

from __future__ import annotations

from oldhand.scrub.finder import Finder
from oldhand.scrub.hostile import clean
from oldhand.scrub.marks import Marks
from oldhand.scrub.personal import find_emails, shorten_homes
from oldhand.scrub.rule import Span
from oldhand.scrub.secrets import RULES

_FINDER = Finder(RULES)
_MOST_PASSES = 5
_APART_BEFORE = " \t\n\"'`<("
_APART_AFTER = " \t\n\"'`>),;"


class Scrubber:
    """Replaces what must not be stored; one Scrubber gives equal values equal marks."""

    def __init__(self) -> None:
        self.redactions = 0
        """How many secrets and addresses were replaced so far."""
        self._marks = Marks()

    def scrub(self, text: str) -> str:
        text = clean(text)
        for _ in range(_MOST_PASSES):
            secrets = _FINDER.find(text)
            redacted = self._replace(text, secrets)
            emails = find_emails(redacted)
            laid_open = _lays_open(text, secrets) or _lays_open(redacted, emails)
            text = self._replace(redacted, emails)
            if not laid_open:
                break
        return shorten_homes(text)

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


def _lays_open(text: str, spans: list[Span]) -> bool:
    """Whether a secret was glued to something: its mark cuts there, and may bare another one."""
    return any(
        text[start - 1 : start] not in _APART_BEFORE or text[end : end + 1] not in _APART_AFTER
        for start, end, _ in spans
    )
