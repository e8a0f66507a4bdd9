"""Contradictions in a terminal: one a screen, one key a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardwon.cli.output import day, shown
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.review import Conflict
    from hardwon.cli.keys import Keys
    from hardwon.cli.page import Page

_MOST_KEPT = 9


class ConflictScreen:
    """Goes through conflicts; what is decided is written at once."""

    def __init__(self, memory: Hardwon, pending: list[Conflict], page: Page, keys: Keys) -> None:
        self._memory = memory
        self._pending = pending
        self._page = page
        self._keys = keys
        self._at = 0
        self._done: list[int] = []
        """Places of what was decided, for undo."""

    def run(self) -> bool:
        """False when the person had enough."""
        while self._at < len(self._pending):
            conflict = self._pending[self._at]
            self._show(conflict)
            pressed = self._keys.key()
            if pressed in ("q", "\x03", "\x04"):
                return False
            try:
                self._act(pressed, conflict)
            except HardwonError as error:
                self._page.tell(str(error))
        return True

    @property
    def decided(self) -> int:
        return len(self._done)

    @property
    def left(self) -> int:
        return len(self._pending) - self._at

    def _act(self, pressed: str, conflict: Conflict) -> None:
        if pressed.isdigit() and 1 <= int(pressed) <= min(len(conflict.lessons), _MOST_KEPT):
            kept = conflict.lessons[int(pressed) - 1]
            self._memory.review.settle(conflict.id, kept.id)
            self._decided(f"{kept.id[:9]} holds, the rest is history; u takes it back")
        elif pressed == "b":
            self._memory.review.settle(conflict.id)
            self._decided("all of them are told again; u takes it back")
        elif pressed == "s":
            self._at += 1
        elif pressed == "u" and self._done:
            self._at = self._done.pop()
            self._memory.review.reopen(self._pending[self._at].id)
            self._page.tell("taken back")
        elif pressed == "u":
            self._page.tell("nothing to take back")

    def _decided(self, what: str) -> None:
        self._done.append(self._at)
        self._at += 1
        self._page.tell(what)

    def _show(self, conflict: Conflict) -> None:
        self._page.rule()
        self._page.say(f"contradiction {self._at + 1} of {len(self._pending)}   since {day(conflict.since)}", "dim")
        for number, lesson in enumerate(conflict.lessons, start=1):
            self._page.say(f"{number}. {shown(lesson.text)}", "bold")
            for source in self._memory.lessons.get(lesson.id).sources[-1:]:
                self._page.say(f"   {source.origin} said, {day(source.at)}: “{shown(source.quote, 200)}”")
            self._page.say(f"   {lesson.kind}, {lesson.trust}, {lesson.source_count} sessions, {lesson.id[:9]}", "dim")
        self._page.say("  neither is told until one is kept, or both are found to stand")
        numbers = "/".join(str(number) for number in range(1, min(len(conflict.lessons), _MOST_KEPT) + 1))
        self._page.say(f"{numbers} keep that one   b both stand   s skip   u undo   q quit", "dim")
