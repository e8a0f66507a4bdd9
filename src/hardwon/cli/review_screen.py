"""The review in a terminal: one lesson a screen, one key a decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardwon.cli.conflict_screen import ConflictScreen
from hardwon.cli.keys import Keys
from hardwon.cli.output import iso, shown
from hardwon.cli.page import Page
from hardwon.errors import HardwonError
from hardwon.text.digest import normalised

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.review import Conflict, Considered, SimilarLesson

_KEYS = "y promote   n reject   e edit   m merge   s skip   u undo   q quit"
_MOST_SOURCES = 3


class Screen:
    """Goes through lessons; what is decided is written at once."""

    def __init__(self, memory: Hardwon, ids: list[str], conflicts: list[Conflict]) -> None:
        self._memory = memory
        self._ids = ids
        self._at = 0
        self._done: list[tuple[int, int, bool]] = []
        """(place in the queue, event, whether it decided on the lesson) of each change, for undo."""
        self._page = Page()
        self._keys = Keys()
        self._conflicts = ConflictScreen(memory, conflicts, self._page, self._keys)

    def run(self) -> None:
        with self._keys:
            if self._conflicts.run():
                self._go_through()
        decided = sum(decides for _, _, decides in self._done) + self._conflicts.decided
        left = len(self._ids) - self._at + self._conflicts.left
        self._page.say(f"{decided} decided, {left} left." if decided + left + self._at else "Nothing waits for review.")

    def _go_through(self) -> None:
        while self._at < len(self._ids) or self._takes_the_last_back():
            considered = self._memory.review.consider(self._ids[self._at])
            self._show(considered)
            pressed = self._keys.key()
            if pressed in ("q", "\x03", "\x04"):
                return
            self._act(pressed, considered)

    def _takes_the_last_back(self) -> bool:
        if not self._done:
            return False
        self._page.say("that was the last one: u takes it back, any other key ends", "dim")
        if self._keys.key() != "u":
            return False
        self._undo()
        return True

    def _act(self, pressed: str, considered: Considered) -> None:
        id = considered.lesson.id
        try:
            if pressed == "y":
                self._decided(self._memory.review.promote(id), "promoted")
            elif pressed == "n":
                self._decided(
                    self._memory.review.reject(id, why=self._keys.line("why (may be empty): ", "")), "rejected"
                )
            elif pressed == "e":
                self._edit(considered)
            elif pressed == "m":
                self._merge(considered)
            elif pressed == "s":
                self._at += 1
            elif pressed == "u":
                self._undo()
        except HardwonError as error:
            self._page.tell(str(error))

    def _decided(self, event: int, what: str) -> None:
        self._done.append((self._at, event, True))
        self._at += 1
        self._page.tell(f"{what}; u takes it back")

    def _edit(self, considered: Considered) -> None:
        words = self._keys.line("> ", considered.lesson.text).strip()
        if words and words != considered.lesson.text:
            self._done.append((self._at, self._memory.review.edit(considered.lesson.id, text=words), False))
            self._page.tell("changed; y promotes it so, u takes it back")

    def _merge(self, considered: Considered) -> None:
        if not considered.similar:
            self._page.tell("there is none like it")
            return
        self._page.say("merge into which number? any other key leaves it")
        pressed = self._keys.key()
        if pressed.isdigit() and 1 <= int(pressed) <= len(considered.similar):
            into = considered.similar[int(pressed) - 1].id
            self._decided(self._memory.review.merge(considered.lesson.id, into), f"merged into {into[:9]}")

    def _undo(self) -> None:
        if not self._done:
            self._page.tell("nothing to take back")
            return
        at, event, _ = self._done[-1]
        self._memory.review.undo(event)
        self._done.pop()
        self._at = at
        self._page.tell("taken back")

    def _show(self, considered: Considered) -> None:
        lesson = considered.lesson
        self._page.rule()
        place = f"{self._at + 1} of {len(self._ids)}"
        head = (
            f"{place}   {lesson.kind}   {lesson.trust}   score {considered.score:.2f}   {lesson.rule}   {lesson.id[:9]}"
        )
        self._page.say(head, style="dim")
        self._page.say(shown(lesson.text), style="bold")
        for source in considered.sources[:_MOST_SOURCES]:
            where = f"{source.agent} {shown(source.path, 60)} message {source.message_index}"
            said = f"{source.origin} said, {iso(source.at)}"
            alike = normalised(source.quote).rstrip(".") == normalised(lesson.text).rstrip(".")
            self._page.say(f"  {said}, in these words" if alike else f"  {said}: “{shown(source.quote, 200)}”")
            self._page.say(f"    {where}", style="dim")
        for number, other in enumerate(considered.similar, start=1):
            self._page.say(f"  like {number}. {_how_alike(other)}, {other.status}: {shown(other.text, 100)}")
        for id in considered.contradicts:
            self._page.say(f"  contradicts {id[:9]}: {shown(self._memory.lessons.get(id).lesson.text, 100)}")
        self._page.say(f"  {considered.effect}")
        self._page.say(_KEYS, style="dim")


def _how_alike(other: SimilarLesson) -> str:
    if other.relation in ("opposite", "other value"):
        return "the opposite" if other.relation == "opposite" else "another value"
    words = f"{other.share:.0%} of the words"
    return f"{words}, {other.meaning:.0%} in meaning" if other.meaning else words
