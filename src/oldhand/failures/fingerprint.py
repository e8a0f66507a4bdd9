"""The same error has the same fingerprint on any machine, and depends on the output's text alone."""

from __future__ import annotations

import re

from oldhand.failures.families import find
from oldhand.text.digest import digest
from oldhand.text.normalise import identity
from oldhand.text.visible import clean

VERSION = 1

_LONGEST = 64 * 1024
_LONGEST_LINE = 2_000
_LONGEST_EXCERPT = 1_000
_ENVELOPE = re.compile(
    r"(?:Error: )?Exit code:? -?\d+\n(?:Wall time: [^\n]*\n)?(?:Output:\n)?"
    r"|(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process exited with code -?\d+\n(?:[^\n]*\n)?Output:\n"
)


class Fingerprint:
    """An error's identity: the id, and what it was made from."""

    __slots__ = ("error_type", "excerpt", "family", "frame", "id", "message")

    def __init__(self, family: str, error_type: str, message: str, frame: str, excerpt: str) -> None:
        self.family = family
        self.error_type = error_type
        self.message = message
        """Normalised: what varies is masked."""
        self.frame = frame
        self.excerpt = excerpt
        self.id = "F" + digest(str(VERSION), family, error_type, message, frame)


def fingerprint(output: str) -> Fingerprint | None:
    """Recognise the error in a failed call's output; None when it says nothing to go by."""
    text = clean(_cut(output))
    envelope = _ENVELOPE.match(text)
    span = find(_bounded(text[envelope.end() :] if envelope else text))
    if span is None:
        return None
    return Fingerprint(
        span.family, span.error_type, identity(span.message), identity(span.frame), span.excerpt[:_LONGEST_EXCERPT]
    )


def _cut(output: str) -> str:
    if len(output) <= _LONGEST:
        return output
    half = _LONGEST // 2
    return output[:half] + "\n" + output[-half:]


def _bounded(text: str) -> str:
    if all(len(line) <= _LONGEST_LINE for line in text.split("\n")):
        return text
    return "\n".join(line[:_LONGEST_LINE] for line in text.split("\n"))
