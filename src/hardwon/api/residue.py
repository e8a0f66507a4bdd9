"""Proof that a text is gone: every byte of every file is looked at.

A text is looked for in any case, and as JSON writes it. In a database its beginning, middle and end are looked
for one by one, for SQLite cuts a long text at the end of a page.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hardwon.store import sqlite

SHORTEST = 12
"""What is shorter than this is found in too many places to prove anything."""

_STRETCH = 24
_FEW = 50
"""So many are looked for one by one faster than all at once."""
_WINDOWS = (12, 6)
_CHUNK = 16 * 1024 * 1024
_SQLITE = b"SQLite format 3\0"


class Needles:
    """Texts made ready to be looked for, however many there are; what is found is told as lower-case bytes."""

    def __init__(self, texts: Iterable[str], *, cut: bool) -> None:
        forms = {form for text in texts for form in _forms(text)}
        self._prepare({piece for form in forms for piece in _stretches(form)} if cut else forms)

    def _prepare(self, needles: set[bytes]) -> None:
        self._needles = needles
        self._longest = max(map(len, needles), default=1)
        self._one_by_one = needles
        self._windows: list[tuple[int, dict[bytes, list[tuple[int, bytes]]]]] = []
        if len(needles) <= _FEW:
            return
        for width in _WINDOWS:
            fit = [needle for needle in self._one_by_one if len(needle) >= 2 * width - 1]
            self._one_by_one = self._one_by_one.difference(fit)
            windows: dict[bytes, list[tuple[int, bytes]]] = {}
            # Wherever it stands, one window at a multiple of the width lies wholly inside it.
            for needle in fit:
                for offset in range(width):
                    windows.setdefault(needle[offset : offset + width], []).append((offset, needle))
            self._windows.append((width, windows))

    def __len__(self) -> int:
        return len(self._needles)

    def leave_out(self, needles: set[bytes]) -> None:
        if needles:
            self._prepare(self._needles - needles)

    def found_in(self, path: Path) -> set[bytes]:
        return {needle for data in self._chunks(path) for needle in self.found(data)}

    def said(self, texts: Iterable[str]) -> set[bytes]:
        return self.found("\n".join(texts).encode("utf-8", "surrogatepass").lower())

    def found(self, data: bytes) -> set[bytes]:
        """The needles that stand in lower-case bytes."""
        found = {needle for needle in self._one_by_one if needle in data}
        for width, windows in self._windows:
            for at in range(0, len(data) - width + 1, width) if windows else ():
                if (window := data[at : at + width]) in windows:
                    for offset, needle in windows[window]:
                        if needle not in found and at >= offset and data.startswith(needle, at - offset):
                            found.add(needle)
        return found

    def _chunks(self, path: Path) -> Iterator[bytes]:
        kept = b""
        for data in sqlite.file_pieces(path, _CHUNK):
            yield (kept + data).lower()
            kept = (kept + data)[-self._longest :]


def files_below(folders: Iterable[Path]) -> list[Path]:
    """Every regular file, links left out."""
    found = {
        Path(folder, name)
        for top in folders
        for folder, _, names in os.walk(top)
        for name in names
        if not os.path.islink(os.path.join(folder, name)) and os.path.isfile(os.path.join(folder, name))
    }
    return sorted(found | {top for top in folders if top.is_file()})


def is_database(path: Path) -> bool:
    try:
        return sqlite.file_beginning(path, len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def belongs_to_database(path: Path) -> bool:
    """Its journals hold pages of it."""
    return path.name.endswith(("-wal", "-shm", "-journal")) or is_database(path)


def _forms(text: str) -> set[bytes]:
    cases = {text} if text.isascii() else {text, text.lower(), text.upper(), text.title()}
    escaped = {json.dumps(case, ensure_ascii=ascii)[1:-1] for case in cases for ascii in (True, False)}
    return {form.encode("utf-8", "surrogatepass").lower() for form in cases | escaped}


def _stretches(needle: bytes) -> Iterator[bytes]:
    if len(needle) <= _STRETCH:
        yield needle
        return
    middle = len(needle) // 2
    yield from (needle[:_STRETCH], needle[middle : middle + _STRETCH], needle[-_STRETCH:])
