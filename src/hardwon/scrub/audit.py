"""What the present rules would still take out of texts and files; told by kind and place, never by value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from hardwon.scrub.scrubber import Scrubber
from hardwon.text.paths import tilde
from hardwon.text.visible import clean

_BYTES_PER_READ = 4 << 20
_BINARY = b"\0"
_PRINTED = re.compile(rb"[\t\n\x20-\x7e\x80-\xff]{6,}")


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
    if tilde(text) != text:
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
    return b"\n".join(_PRINTED.findall(data)).decode("utf-8", "ignore")


def _in_lines(scrubber: Scrubber, text: str, name: str, first: int) -> Iterator[Leak]:
    text = clean(text.replace("\r\n", "\n"))
    counted = Counter((first + text.count("\n", 0, span.start), span.label) for span in scrubber.find(text))
    if tilde(text) != text:
        counted.update((first + number, "home") for number, line in enumerate(text.split("\n")) if tilde(line) != line)
    for (line, kind), count in sorted(counted.items()):
        yield Leak(name, str(line), "", kind, count)
