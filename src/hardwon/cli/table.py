"""Columns of text that fit a terminal: cells wrap between words, and columns that can be spared give way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from unicodedata import combining, east_asian_width

from hardwon.text.shown import REPLACES, fitted, one_line

_GAP = "  "
_NARROWEST = 24
"""No column of free text gets narrower, as long as another column can be spared."""
_MAIN = 40
"""Nor does the one with the longest text get narrower than this."""
_FREE_TEXT = 20
"""A column with a longer cell than this is free text, which may wrap."""
_SHORTEST_FREE_TEXT = 10
"""Where there is no other way, cells longer than this wrap, too."""
_COLUMN = re.compile(r"(?:^ +| {2,}|^\W )(?=\S)")
_IN_BACKQUOTES = re.compile(r"`[^`\n]{1,60}`")
_UNBROKEN = "\u00a0"
_STEPS_OF_A_PATH = re.compile(r"[^/\\]*[/\\]*")
_PARTS_OF_A_LONG_WORD = re.compile(r"[^/\\._:=,&?-]*[/\\._:=,&?-]*")


def as_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    room: int,
    right: Sequence[int] = (),
    spare: Sequence[int] = (),
    most_lines: int = 0,
    emphasis: Callable[[str], str] = str,
    paint: Callable[[int, int], Callable[[str], str]] = lambda _row, _column: str,
) -> str:
    """Lines of at most `room` characters.

    `right` are columns of numbers, `spare` those to leave out where there is no room, the first one first, `most_lines`
    what a row may take before its cells are cut at a word (one that begins with an empty cell goes on with the row
    above, and may take one more), `emphasis` is given to the headings, and `paint` says what is given to a cell.
    """
    cells = [[one_line(str(cell)) for cell in row] for row in rows]
    for columns, heading_words, free_from in _concessions(len(headings), spare):
        natural = {
            at: max(map(width, [*(headings[at].split() if heading_words else [headings[at]]), *(r[at] for r in cells)]))
            for at in columns
        }
        free = [at for at in columns if at not in right and natural[at] > free_from]
        widths, fits = _widths(natural, free, room)
        if fits:
            break
    head = map(emphasis, _lines(headings, widths, right))
    most = [most_lines + 1 if most_lines and not row[0] else most_lines for row in cells]
    body = (
        line
        for number, (row, lines) in enumerate(zip(cells, most, strict=True))
        for line in _lines(row, widths, right, lines, partial(paint, number))
    )
    return "\n".join([*head, *body])


def _concessions(columns: int, spare: Sequence[int]) -> Iterator[tuple[list[int], bool, int]]:
    """What is given up to fit, one thing after the other: headings of one line, columns, short cells of one line.

    (the columns left, whether headings wrap, the longest cell that never does).
    """
    yield list(range(columns)), False, _FREE_TEXT
    for gone in range(len(spare) + 1):
        yield [at for at in range(columns) if at not in spare[:gone]], True, _FREE_TEXT
    yield [at for at in range(columns) if at not in spare], True, _SHORTEST_FREE_TEXT


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


def cut_in_code(text: str, room: int) -> str:
    """A text in one line, cut at a word; of a command in backticks that has to be cut the beginning is shown as one.

    Of two commands of which one replaces the other what differs is kept; empty where it cannot be.
    """
    text = fitted(text, room)
    pair = REPLACES.search(text)
    if pair and width(text) > room and pair.end() > room - 2:
        return ""
    short = cut(text, room)
    if not short.count("`") % 2:
        return short
    before = short[: short.rfind("`")].rstrip(" :")
    return f"{before} …" if width(before) > room // 2 else f"{cut(text, room - 1)}`"


def cut(text: str, room: int) -> str:
    """A text in one line: whole, or up to where a word ends; into a long word where little else would be left."""
    if len(wrapped(text, room)) == 1:
        return text
    kept = wrapped(text, room - 2)[0]
    if width(kept) < room // 2:
        between = " "
        for part in _parts(text[len(kept) :].lstrip().split(" ")[0], room):
            if width(kept + between + part) > room - 2:
                break
            kept, between = kept + between + part, ""
    return f"{kept} …"


def hung(line: str, room: int) -> list[str]:
    """A line for a person, broken between words and not within a command in backquotes; what is broken off hangs under
    the column that it began in."""
    if width(line) <= room:
        return [line]
    column = max((found.end() for found in _COLUMN.finditer(line) if found.end() <= room // 2), default=0)
    first, *rest = _wrapped_around_commands(line[column:], room - column)
    return [line[:column] + first, *(" " * column + more for more in rest)]


def _wrapped_around_commands(text: str, room: int) -> list[str]:
    """Lines broken between words, and not within a command in backquotes that a line can hold."""
    whole = _IN_BACKQUOTES.sub(
        lambda found: found[0].replace(" ", _UNBROKEN) if width(found[0]) <= room else found[0], text
    )
    return [part.replace(_UNBROKEN, " ") for part in wrapped(whole, room)]


def _parts(word: str, room: int) -> Iterator[str]:
    """Of a path the folders, where they fit; of a folder or any other word what its punctuation parts."""
    steps = _STEPS_OF_A_PATH.findall(word)
    for part in chain.from_iterable(
        [step] if width(step) <= room else _PARTS_OF_A_LONG_WORD.findall(step) for step in steps
    ):
        piece = ""
        for sign in part:
            if width(piece + sign) > room:
                yield piece
                piece = ""
            piece += sign
        if piece:
            yield piece


def _widths(natural: dict[int, int], free: Sequence[int], room: int) -> tuple[dict[int, int], bool]:
    """What each column gets, and whether free text has room enough."""
    left = room - len(_GAP) * (len(natural) - 1) - sum(wide for at, wide in natural.items() if at not in free)
    widths = dict(natural)
    fits = left >= 0
    by_need = sorted(free, key=natural.__getitem__)
    for done, at in enumerate(by_need):  # what a short column does not need is for the longer ones
        widths[at] = min(natural[at], max(1, left // (len(by_need) - done)))
        left -= widths[at]
        fits = fits and widths[at] >= min(natural[at], _MAIN if at == by_need[-1] else _NARROWEST)
    return widths, fits


def _lines(
    row: Sequence[str],
    widths: dict[int, int],
    right: Sequence[int],
    most: int = 0,
    paint: Callable[[int], Callable[[str], str]] = lambda _column: str,
) -> Iterator[str]:
    columns = [
        _wrapped_around_commands(row[at], wide) if width(row[at]) > wide else [row[at]] for at, wide in widths.items()
    ]
    if most:
        columns = [_first_lines(lines, most, wide) for lines, wide in zip(columns, widths.values(), strict=True)]
    for number in range(max(map(len, columns))):
        line, after = "", ""
        for (at, wide), column in zip(widths.items(), columns, strict=True):
            cell = column[number] if number < len(column) else ""
            blank = " " * (wide - width(cell))
            if cell:
                line += after + (blank if at in right else "") + paint(at)(cell)
                after = ""
            after += ("" if cell and at in right else blank) + _GAP
        yield line


def _first_lines(lines: list[str], most: int, wide: int) -> list[str]:
    return [*lines[: most - 1], cut(" ".join(lines[most - 1 : most + 1]), wide)] if len(lines) > most else lines
