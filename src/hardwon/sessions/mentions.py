"""Which of the agents' own files say some words: a plain search of their bytes, whatever reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from hardwon.sessions.discover import ROOTS
from hardwon.sessions.lines import opened

_CHUNK = 16 * 1024 * 1024
_OVERLAP = 16 * 1024
_APART = rb"(?:\\+[nrt]|\\+u00a0|\\+u20[0-6].|[^0-9a-z\x80-\xff]|\xc2\xa0|\xe2\x80.|\xe3\x80[\x80-\x82]){%d,40}"
"""What stands between two words, in JSON too."""
_BESIDE = {
    "claude-code": ("history.jsonl", "file-history", "paste-cache", "plans", "tasks", "todos"),
    "codex": ("history.jsonl",),
}
"""What agents keep of the same sessions beside the folder that they are read from."""


class Found(NamedTuple):
    """`looked_at` counts the files that were searched; `unreadable` names those that could not be."""

    holding: set[str]
    looked_at: int
    unreadable: list[str]


def files_of_agents(environment: Mapping[str, str], home: Path) -> Iterator[str]:
    """Every regular file in the agents' folders, sessions or not."""
    for name, roots in ROOTS.items():
        for place in roots(environment, home):
            for top in (place, *(place.parent / one for one in _BESIDE.get(name, ()))):
                if top.is_file():
                    yield str(top)
                for folder, _, names in os.walk(top):
                    yield from (os.path.join(folder, one) for one in names)


def saying(words: Sequence[str], paths: Iterable[str]) -> Found:
    """The files in which the words stand one after the other, in any case, as parts of longer ones too."""
    found = Found(set(), 0, [])
    pattern = _pattern(words)
    plain = max((word.encode() for word in words if word.isascii()), key=len, default=b"")
    looked_at = 0
    for path in sorted(set(paths)):
        if os.path.islink(path) or not os.path.isfile(path):
            continue
        try:
            if any(plain in data and pattern.search(data) for data in _pieces(path)):
                found.holding.add(path)
            looked_at += 1
        except (OSError, ImportError):
            found.unreadable.append(path)
    return found._replace(looked_at=looked_at)


def _pieces(path: str) -> Iterator[bytes]:
    """In lower case, each with the end of the one before."""
    kept = b""
    with opened(path) as file:
        while data := file.read(_CHUNK):
            yield (kept + data).lower()
            kept = data[-_OVERLAP:]


def _pattern(words: Sequence[str]) -> re.Pattern[bytes]:
    parts = [_spelled(words[0])] if words else []
    for before, word in pairwise(words):
        parts += [_APART % (before[-1].isascii() and word[0].isascii()), _spelled(word)]
    return re.compile(b"".join(parts), re.DOTALL)


def _spelled(word: str) -> bytes:
    return b"".join(map(_letter, word))


def _letter(letter: str) -> bytes:
    """In either case, as it is and as JSON may write it."""
    if letter.isascii():
        return re.escape(letter.lower().encode())
    ways = set()
    for one in (letter, letter.lower(), letter.upper()):
        units = one.encode("utf-16-be", "surrogatepass")
        ways.add(re.escape(one.encode("utf-8", "surrogatepass").lower()))
        ways.add(b"".join(rb"\\+u" + units[at : at + 2].hex().encode() for at in range(0, len(units), 2)))
    return b"(?:" + b"|".join(sorted(ways)) + b")"
