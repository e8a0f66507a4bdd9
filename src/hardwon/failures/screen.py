"""Lines that a terminal broke at its edge, whole again."""

from __future__ import annotations

import itertools
import re

# Where a blank stood at the edge it is gone: two pieces that are words by themselves were two.
_WHOLE = (
    r"an?|and|are|as|at|be|by|can|cannot|contains?|could|does|file|for|from|has|have|in|invalid|is|its?|must|not|of|on"
    r"|or|process|should|that|the|this|to|was|which|will|with"
)
_GOES_ON = r" ?-?[a-z][\w-]{0,24}(?:[\s,()'\"<>]|\.\w{0,4}(?:\s|$)|$)"
_MIN_WORD = 4
_MIN_WIDTH = 60
_MAX_LINES_JOINED = 4
_MAX_CHARACTERS = 1_000


def joined(before: str, after: str, edge: int) -> str:
    """Two pieces of a line as one; `edge` is the column at which it was broken."""
    last, first = before.rpartition(" ")[2], after.partition(" ")[0].rstrip(".,;:)")
    words = re.fullmatch(_WHOLE, last) or (len(first) >= _MIN_WORD and re.fullmatch(_WHOLE, first))
    in_a_word = len(before) >= edge and not words
    return f"{before}{'' if in_a_word or after.startswith(' ') else ' '}{after}"


def unwrapped(line: str, text: str) -> str:
    """A line of a text, with what follows it where it ends at the edge, in the middle of a sentence."""
    at = text.find(line) if len(line) >= _MIN_WIDTH else -1
    if at < 0:
        return line
    start = text.rfind("\n", 0, at) + 1
    pieces = text[start : start + _MAX_CHARACTERS].split("\n")[:_MAX_LINES_JOINED]
    edge = max(map(len, text.split("\n")))
    if not pieces[0].endswith(line):
        return line
    whole = pieces[0]
    for before, after in itertools.pairwise(pieces):
        if len(before) < edge - 1 or not re.search(r"[\w,-]$", before) or not re.match(_GOES_ON, after):
            break
        whole = joined(whole, after.rstrip(), edge if len(before) == edge else len(whole) + 1)
    return line + whole[len(pieces[0]) :]
