"""Scrubber: the one door a text passes before it may be stored."""

from __future__ import annotations

from oldhand.scrub.finder import Finder
from oldhand.scrub.marks import Marks
from oldhand.scrub.personal import find_emails
from oldhand.scrub.rule import Span
from oldhand.scrub.secrets import RULES
from oldhand.text.paths import tilde
from oldhand.text.visible import clean

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
            # Homes first: a shortened path is then judged as it will be when scrubbed again.
            text = tilde(text)
            secrets = _FINDER.find(text)
            redacted = self._replace(text, secrets)
            emails = find_emails(redacted)
            glued = _glued(text, secrets) or _glued(redacted, emails)
            text = self._replace(redacted, emails)
            if not glued:
                break
        return text

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


def _glued(text: str, spans: list[Span]) -> bool:
    """Whether a secret touched other text: its mark cuts there, and may lay another one bare."""
    for start, end, _ in spans:
        if text[start - 1 : start] not in _APART_BEFORE or text[end : end + 1] not in _APART_AFTER:
            return True
    return False
