"""The files and folders that a text names."""

from __future__ import annotations

import re

_FILE = re.compile(
    r"(?<![\w/.-])(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,7}\b|(?<![\w/.-])(?:[\w.@+-]+/)+[\w.@+-]+"
)


def named_in(text: str) -> list[str]:
    """Each once, in the order they come."""
    return list(dict.fromkeys(found for found in _FILE.findall(text) if len(found) > len("e.g")))
