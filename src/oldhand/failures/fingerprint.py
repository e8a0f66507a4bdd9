"""The same error has the same fingerprint on any machine, and depends on the output's text alone."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import NamedTuple

from oldhand.failures.families import FAMILIES
from oldhand.text.normalise import identity
from oldhand.text.terminal import plain

VERSION = 1

_LONGEST = 64 * 1024
_LONGEST_LINE = 2_000
_LONGEST_EXCERPT = 1_000
_ENVELOPE = re.compile(
    r"\A(?:Error: )?Exit code:? -?\d+\n(?:Wall time: [^\n]*\n)?(?:Output:\n)?"
    r"|\A(?:Chunk ID: [^\n]*\n)?(?:Wall time: [^\n]*\n)?Process exited with code -?\d+\n(?:[^\n]*\n)?Output:\n"
)


class Fingerprint(NamedTuple):
    id: str
    family: str
    error_type: str
    message: str
    """Normalised: the identity, with what varies masked."""
    frame: str
    excerpt: str


def fingerprint(output: str) -> Fingerprint | None:
    """Recognise the error in a failed call's output; None when it says nothing to go by."""
    text = _bounded(_ENVELOPE.sub("", plain(_cut(output)), count=1))
    for find in FAMILIES:
        span = find(text)
        if span is None:
            continue
        message = identity(span.message)
        frame = identity(span.frame) if "<" not in span.frame else span.frame
        parts = (str(VERSION), span.family, span.error_type, message, frame)
        digest = blake2b("\x1f".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()
        return Fingerprint("F" + digest, span.family, span.error_type, message, frame, span.excerpt[:_LONGEST_EXCERPT])
    return None


def _cut(output: str) -> str:
    if len(output) <= _LONGEST:
        return output
    half = _LONGEST // 2
    return output[:half] + "\n" + output[-half:]


def _bounded(text: str) -> str:
    if all(len(line) <= _LONGEST_LINE for line in text.split("\n")):
        return text
    return "\n".join(line[:_LONGEST_LINE] for line in text.split("\n"))
