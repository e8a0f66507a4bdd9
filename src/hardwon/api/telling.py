"""Stored words handed to an agent: `memory.telling`. All of it is fenced as data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hardwon.store import meta
from hardwon.text.fence import one_line, render

if TYPE_CHECKING:
    from hardwon.api.hardwon import Hardwon

_LONGEST = 600


class Telling:
    def __init__(self, memory: Hardwon) -> None:
        self._memory = memory

    def fenced(self, heading: str, lines: Iterable[str]) -> str:
        """A block that says it is data, with a mark that its content cannot know; empty without lines."""
        if not self._memory.exists:
            return ""
        shown = [line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in map(one_line, lines) if line]
        return render({heading: shown}, meta.fence_key(self._memory.reading()))
