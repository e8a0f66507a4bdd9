"""Columns of text that fit a terminal: cells wrap between words, and columns that can be spared give way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width

from hardwon.text.shown import one_line

_GAP = "  "
_NARROWEST = 24
"""No column of free text gets narrower, as long as another column can be spared."""
_FREE_TEXT = 20
"""A column with a longer cell than this is free text, which may wrap."""
_PARTS_OF_A_LONG_WORD = re.compile(r"[^/\\._:=,&?-]*[/\\._:=,&?-]*")


def as_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    room: int,
    right: Sequence[int] = (),
    spare: Sequence[int] = (),
) -> str:
    """Lines of at most `room` characters.

    `right` are columns of numbers, `spare` those to leave out where there is no room, the first one first.
    """
    cells = [[one_line(str(cell)) for cell in row] for row in rows]
    columns = list(range(len(headings)))
    to_spare = list(spare)
    while True:
        natural = {at: max(map(width, [headings[at], *(row[at] for row in cells)])) for at in columns}
        widths, fits = _widths(natural, [at for at in columns if at not in right], room)
        if fits or not to_spare:
            break
        columns.remove(to_spare.pop(0))
    lines = [line for row in [list(headings), *cells] for line in _lines(row, widths, right)]
    return "\n".join(lines)


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def wrapped(text: str, room: int) -> list[str]:
    """Lines broken between words; a word that is longer than a line is broken at its punctuation, or else anywhere."""
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width(joined) <= room:
            lines[-1] = joined
        elif width(word) <= room:
            lines.append(word)
        else:
            if lines[-1]:
                lines[-1] += " " if width(lines[-1]) < room else ""
            for part in _parts(word, room):
                if width(lines[-1] + part) > room:
                    lines[-1] = lines[-1].rstrip()
                    lines.append("")
                lines[-1] += part
    return [line for line in lines if line] or [""]


def _parts(word: str, room: int) -> Iterator[str]:
    for part in _PARTS_OF_A_LONG_WORD.findall(word):
        piece = ""
        for sign in part:
            if width(piece + sign) > room:
                yield piece
                piece = ""
            piece += sign
        if piece:
            yield piece


def _widths(natural: dict[int, int], may_wrap: Sequence[int], room: int) -> tuple[dict[int, int], bool]:
    """What each column gets, and whether free text has room enough."""
    free = [at for at in may_wrap if natural[at] > _FREE_TEXT]
    left = room - len(_GAP) * (len(natural) - 1) - sum(wide for at, wide in natural.items() if at not in free)
    widths = dict(natural)
    fits = left >= 0
    by_need = sorted(free, key=natural.__getitem__)
    for done, at in enumerate(by_need):  # what a short column does not need is for the longer ones
        widths[at] = min(natural[at], max(1, left // (len(by_need) - done)))
        left -= widths[at]
        fits = fits and widths[at] >= min(natural[at], _NARROWEST)
    return widths, fits


def _lines(row: Sequence[str], widths: dict[int, int], right: Sequence[int]) -> Iterator[str]:
    columns = [wrapped(row[at], wide) if width(row[at]) > wide else [row[at]] for at, wide in widths.items()]
    for number in range(max(map(len, columns))):
        parts = []
        for (at, wide), column in zip(widths.items(), columns, strict=True):
            cell = column[number] if number < len(column) else ""
            blank = " " * (wide - width(cell))
            parts.append(blank + cell if at in right else cell + blank)
        yield _GAP.join(parts).rstrip()
