"""What stands in a text where a secret stood, numbered so that equal values stay equal."""

from __future__ import annotations

import re

_OPEN = "\u2039"
_CLOSE = "\u203a"
MARK_ENDS = _OPEN + _CLOSE
"""What a value never holds, for a character class: a mark ends it."""

FORGOTTEN = f"{_OPEN}forgotten{_CLOSE}"
"""What stands where words were that a person wanted forgotten."""

MARK = re.compile(f"{_OPEN}(?:(?:secret:[a-z][a-z-]{{1,31}}|email):[0-9]{{1,9}}|forgotten){_CLOSE}")


class Marks:
    """Gives every distinct value of a label its own number, for as long as it lives."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def of(self, label: str, value: str) -> str:
        numbers = self._numbers.setdefault(label, {})
        return f"{_OPEN}{label}:{numbers.setdefault(value, len(numbers) + 1)}{_CLOSE}"


def blank(text: str) -> str:
    """The same text with every mark a run of its first character, so that no word is left in it."""
    if _OPEN not in text:
        return text
    return MARK.sub(lambda mark: _OPEN * len(mark[0]), text)
