"""The review in a terminal: one lesson or contradiction a screen, one key a decision."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hardwon.cli.app import count, day, short, shown
from hardwon.cli.review import SAID_SHOWN
from hardwon.cli.table import wrapped
from hardwon.cli.why import learned_from, who_said
from hardwon.errors import HardwonError
from hardwon.store.sessions import words_around
from hardwon.text.normalise import normalised
from hardwon.text.shown import said_status

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.review import Conflict, Considered, SimilarLesson, Waiting


# One key at a time from the terminal, without waiting for the end of a line.

if sys.platform != "win32":
    import termios
    import tty


_REST = 0.05
"""Seconds within which a terminal sends the rest of a key."""
_MAX_KEPT_BY_KEY = 9
_MARKS_OF_A_SENTENCE = 2
"""Characters that a message may have more than its only sentence."""
_KEYS = "y approve  n reject  w why not  e edit  m merge  s skip  u undo  q quit  ? help"
_HELP = (
    "y: sessions will be told.  n: they will not; w: the same, and it asks why.  e: change the words first.  m: make "
    "it one with a lesson listed as like it.  s: leave it for later.  u: take the last decision back.  q: stop, and "
    "keep them."
)
_HELP_WITH_CONFLICTS = (
    "A number keeps that lesson and retires the others.  b: sessions are told both.  s: leave it for later.  "
    "u: take the last decision back.  q: stop, and keep them."
)
_WHY = "why (Enter when done, Escape to go back): "
_ENTER, _BACKSPACE, _CLEAR = b"\r\n", b"\x7f\b", b"\x15"
_MAX_SOURCES_SHOWN = 3


class Keys:
    """To be used in a `with`: inside it the terminal hands over every key at once, and loses none."""

    def __enter__(self) -> Keys:
        if sys.platform != "win32":
            self._terminal = sys.stdin.fileno()
            self._before = termios.tcgetattr(self._terminal)
            tty.setcbreak(self._terminal, termios.TCSANOW)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if sys.platform != "win32":
            termios.tcsetattr(self._terminal, termios.TCSANOW, self._before)

    def key(self) -> str:
        """The next key; `q` when the input has ended, nothing for one that is no letter, as an arrow."""
        if sys.platform == "win32":
            import msvcrt

            return msvcrt.getwch().lower()
        first = os.read(self._terminal, 1)
        if first == b"\x1b":  # the letters that follow were not typed
            self._is_alone()
            return ""
        return first.decode(errors="ignore").lower() if first else "q"

    def _is_alone(self) -> bool:
        """Whether Escape was pressed; else the rest of a key is skipped.

        `ESC O x`, or `ESC [` and what stands before the first letter or `~`.
        """
        kind = self._rest()
        while kind in (b"[", b"O"):
            byte = self._rest()
            if kind == b"O" or not byte or byte.isalpha() or byte == b"~":
                break
        return not kind

    def _rest(self) -> bytes:
        """The next byte of a key; nothing when there is none."""
        return os.read(self._terminal, 1) if select.select([self._terminal], [], [], _REST)[0] else b""

    def line(self, prompt: str, before: str) -> str:
        """A line that starts out as `before` and can be edited; empty where Ctrl-C leaves it."""
        self.__exit__(None, None, None)
        try:
            return _edited(prompt, before)
        except (KeyboardInterrupt, EOFError):
            return ""
        finally:
            self.__enter__()

    def typed(self, prompt: str) -> str | None:
        """A new line; None where Escape or Ctrl-C leaves it."""
        if sys.platform == "win32":
            return self.line(prompt, "")
        out = sys.stdout
        line = b""
        try:
            while True:
                said = line.decode(errors="ignore")
                out.write(f"\r\x1b[K{prompt}{said[len(prompt) - Console().width + 1 :]}")
                out.flush()
                byte = os.read(self._terminal, 1)
                if byte == b"\x1b":
                    if self._is_alone():
                        return None
                elif not byte or byte in _ENTER:
                    return said
                elif byte in _BACKSPACE:
                    line = said[:-1].encode()
                elif byte == _CLEAR:
                    line = b""
                elif byte >= b" ":
                    line += byte
        except KeyboardInterrupt:
            return None
        finally:
            out.write("\n")


def _edited(prompt: str, before: str) -> str:
    try:
        import readline
    except ImportError:
        return input(prompt) or before
    readline.set_startup_hook(lambda: readline.insert_text(before))
    try:
        return input(prompt)
    finally:
        readline.set_startup_hook(None)


# Lines on a terminal, wrapped under their own beginning.


class ReviewPage:
    def __init__(self) -> None:
        self._console = Console(highlight=False)

    def rule(self) -> None:
        self._console.rule()

    def say(self, text: str, style: str = "") -> None:
        bare = text.lstrip()
        left = " " * (len(text) - len(bare))
        for line in wrapped(bare, self._console.width - len(left)):
            self._console.print(Text(left + line, style=style), soft_wrap=True)

    def tell(self, text: str) -> None:
        """What came of a key."""
        self.say(f"→ {text}", "bold green")


# Contradictions in a terminal: one a screen, one key a decision.


class ConflictScreen:
    """Goes through conflicts; what is decided is written at once."""

    def __init__(self, memory: Hardwon, pending: list[Conflict], page: ReviewPage, keys: Keys) -> None:
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
    def all(self) -> int:
        return len(self._pending)

    def _act(self, pressed: str, conflict: Conflict) -> None:
        if pressed.isdigit() and 1 <= int(pressed) <= min(len(conflict.lessons), _MAX_KEPT_BY_KEY):
            kept = conflict.lessons[int(pressed) - 1]
            self._memory.review.settle(conflict.id, kept.id)
            self._decided(f"{short(self._memory, kept.id)} kept; the others are retired (u to undo)")
        elif pressed == "b":
            self._memory.review.settle(conflict.id)
            self._decided("both kept (u to undo)")
        elif pressed == "s":
            self._at += 1
        elif pressed == "u" and self._done:
            self._at = self._done.pop()
            self._memory.review.reopen(self._pending[self._at].id)
            self._page.tell("undone")
        else:
            self._page.tell("nothing to undo" if pressed == "u" else _HELP_WITH_CONFLICTS)

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
                said = who_said(source.origin, lesson.rule)
                self._page.say(f"   {said}, {day(source.at)}: “{shown(source.quote, 200)}”")
            parts = (lesson.kind, learned_from(lesson.rule, lesson.trust), count(lesson.source_count, "session"))
            self._page.say(f"   {', '.join(parts)}, {short(self._memory, lesson.id)}", "dim")
        self._page.say("  sessions are told neither until you keep one of them, or both")
        numbers = "/".join(str(number) for number in range(1, min(len(conflict.lessons), _MAX_KEPT_BY_KEY) + 1))
        self._page.say(f"{numbers} keep that one   b keep both   s skip   u undo   q quit", "dim")


# The review in a terminal: one lesson a screen, one key a decision.


class Screen:
    """Goes through lessons; what is decided is written at once."""

    def __init__(self, memory: Hardwon, ids: list[str], conflicts: list[Conflict]) -> None:
        self._memory = memory
        self._ids = ids
        self._at = 0
        self._done: list[tuple[int, int, bool]] = []
        """(place in the queue, event, whether it decided on the lesson) of each change, for undo."""
        self._page = ReviewPage()
        self._keys = Keys()
        self._conflicts = ConflictScreen(memory, conflicts, self._page, self._keys)

    def run(self) -> None:
        with self._keys, suppress(KeyboardInterrupt):  # what was decided is kept
            if self._conflicts.run():
                self._go_through()
        decided = sum(decides for _, _, decides in self._done) + self._conflicts.decided
        left = len(self._ids) + self._conflicts.all - decided
        self._page.say(f"{decided} decided, {left} left.")

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
        self._page.say("that was the last one: u to undo, any other key to quit", "dim")
        if self._keys.key() != "u":
            return False
        self._undo()
        return True

    def _act(self, pressed: str, considered: Considered) -> None:
        id = considered.lesson.id
        try:
            if pressed == "y":
                self._decided(self._memory.review.promote(id), "approved")
            elif pressed in ("n", "w"):
                why = self._keys.typed(_WHY) if pressed == "w" else ""
                if why is not None:
                    self._decided(self._memory.review.reject(id, why=why), "rejected")
            elif pressed == "e":
                self._edit(considered)
            elif pressed == "m":
                self._merge(considered)
            elif pressed == "s":
                self._at += 1
            elif pressed == "u":
                self._undo()
            else:
                self._page.tell(_HELP)
        except HardwonError as error:
            self._page.tell(str(error))

    def _decided(self, event: int, what: str) -> None:
        self._done.append((self._at, event, True))
        self._at += 1
        self._page.tell(f"{what} (u to undo)")

    def _edit(self, considered: Considered) -> None:
        words = self._keys.line("> ", considered.lesson.text).strip()
        if words and words != considered.lesson.text:
            self._done.append((self._at, self._memory.review.edit(considered.lesson.id, text=words), False))
            self._page.tell("changed (y to approve it, u to undo)")

    def _merge(self, considered: Considered) -> None:
        if not considered.similar:
            self._page.tell("no similar lesson")
            return
        self._page.say("merge into which number? any other key to cancel")
        pressed = self._keys.key()
        if pressed.isdigit() and 1 <= int(pressed) <= len(considered.similar):
            into = considered.similar[int(pressed) - 1].id
            self._decided(
                self._memory.review.merge(considered.lesson.id, into), f"merged into {short(self._memory, into)}"
            )

    def _undo(self) -> None:
        if not self._done:
            self._page.tell("nothing to undo")
            return
        at, event, _ = self._done[-1]
        self._memory.review.undo(event)
        self._done.pop()
        self._at = at
        self._page.tell("undone")

    def _show(self, considered: Considered) -> None:
        lesson = considered.lesson
        self._page.rule()
        place = f"{self._at + 1} of {len(self._ids)}"
        self._page.say(f"{place}   {lesson.kind}   {short(self._memory, lesson.id)}", style="dim")
        self._page.say(shown(lesson.text), style="bold")
        self._page.say(f"  learned from: {learned_from(lesson.rule, lesson.trust)}")
        for source in considered.sources[:_MAX_SOURCES_SHOWN]:
            where = f"{source.agent}, {day(source.at)}"
            if source.path and source.source.startswith("S"):
                session = short(self._memory, source.source)
                where += f"; to read it: hardwon inspect {session} --message {source.message_index}"
            said = who_said(source.origin, lesson.rule)
            alike = normalised(source.quote).rstrip(".") == normalised(lesson.text).rstrip(".")
            self._page.say(f"  {said} in these very words" if alike else f"  {said}: “{shown(source.quote, 200)}”")
            self._page.say(f"    {where}", style="dim")
        for number, other in enumerate(considered.similar, start=1):
            self._page.say(
                f"  like {number}. {_how_alike(other)}, {said_status(other.status)}: {shown(other.text, 100)}"
            )
        for id in considered.contradicts:
            self._page.say(
                f"  contradicts {short(self._memory, id)}: {shown(self._memory.lessons.get(id).lesson.text, 100)}"
            )
        self._page.say(f"  {considered.effect}")
        self._page.say(_KEYS, style="dim")


# Sentences that somebody typed: one a screen, the same keys.

_KEYS_OF_SAID = "y approve   n reject   w why not   e edit   s skip   u undo   q quit   ? help"
_HELP_OF_SAID = (
    "y: it is a rule, sessions will be told.  n: it is none; w: the same, and it asks why.  e: change the words, and "
    "approve them.  s: leave it for later, after all others.  u: take the last decision back.  q: stop, and keep "
    "them."
)
_CHARACTERS_BEFORE, _CHARACTERS_AROUND = 200, 300


class SaidScreen:
    """Goes through sentences, the best first; what is decided is written at once."""

    def __init__(self, memory: Hardwon, waiting: list[Waiting]) -> None:
        self._memory = memory
        self._waiting = waiting
        self._at = 0
        self._done: list[tuple[int, list[int]]] = []
        """(place, events) of what was decided, for undo."""
        self._asked = SAID_SHOWN
        """How many are shown before it asks whether to go on."""
        self._page, self._keys = ReviewPage(), Keys()

    def run(self) -> None:
        with self._keys, suppress(KeyboardInterrupt):  # what was decided is kept
            while self._goes_on():
                self._show(self._waiting[self._at])
                pressed = self._keys.key()
                if pressed in ("q", "\x03", "\x04"):
                    break
                try:
                    self._act(pressed, self._waiting[self._at])
                except HardwonError as error:
                    self._page.tell(str(error))
        self._page.say(f"{len(self._done)} decided, {len(self._waiting) - len(self._done)} left.")

    def _goes_on(self) -> bool:
        """Whether there is one to look at; after some of them only if the person wants more."""
        if self._at < min(self._asked, len(self._waiting)):
            return True
        if self._at >= len(self._waiting):
            return self._takes_the_last_back()
        left = len(self._waiting) - self._at
        self._page.say(f"{left:,} less likely ones are left: g to go on, u to undo, any other key to quit", "dim")
        pressed = self._keys.key()
        if pressed == "g":
            self._asked += SAID_SHOWN
        elif pressed == "u":
            self._undo()
        return pressed in ("g", "u") and self._goes_on()

    def _takes_the_last_back(self) -> bool:
        if not self._done:
            return False
        self._page.say("that was the last one: u to undo, any other key to quit", "dim")
        if self._keys.key() != "u":
            return False
        self._undo()
        return True

    def _act(self, pressed: str, one: Waiting) -> None:
        review = self._memory.review
        if pressed == "y":
            self._decided(lambda: review.keep_said(one.id), "approved")
        elif pressed in ("n", "w"):
            why = self._keys.typed(_WHY) if pressed == "w" else ""
            if why is not None:
                self._decided(lambda: review.drop_said(one.id, why=why), "rejected")
        elif pressed == "e":
            if (words := self._keys.line("> ", one.text).strip()) and words != one.text:
                self._decided(lambda: review.edit(review.keep_said(one.id), text=words), "approved in these words")
        elif pressed == "s":
            review.skip_said(one.id)
            self._at += 1
        elif pressed == "u":
            self._undo()
        else:
            self._page.tell(_HELP_OF_SAID)

    def _decided(self, decide: Callable[[], object], what: str) -> None:
        review = self._memory.review
        last = max((event.number for event in review.history(limit=1)), default=0)
        decide()
        self._done.append((self._at, [event.number for event in review.history() if event.number > last]))
        self._at += 1
        self._page.tell(f"{what} (u to undo)")

    def _undo(self) -> None:
        if not self._done:
            self._page.tell("nothing to undo")
            return
        self._at, events = self._done.pop()
        for event in events:  # the newest first
            self._memory.review.undo(event)
        self._page.tell("undone")

    def _show(self, one: Waiting) -> None:
        source, _, place = one.id.partition("/")
        session = self._memory.sessions.get(source).session
        project = next((each.name for each in self._memory.store.projects() if each.id == session.project), "")
        self._page.rule()
        shown_now = min(self._asked, len(self._waiting))
        later = f", then {len(self._waiting) - shown_now:,} less likely ones" if shown_now < len(self._waiting) else ""
        number = f"{self._at + 1} of {shown_now}{later}"
        self._page.say(f"{number}   {short(self._memory, source)}/{place}", style="dim")
        self._page.say(shown(one.text), style="bold")
        if normalised(one.quote).rstrip(".") != normalised(one.text).rstrip("."):
            self._page.say(f"  the user said: “{shown(one.quote, 200)}”")
        before, whole = words_around(self._memory.reading(), source, one.quote)
        if before:
            self._page.say(f"  the agent had said: “{shown(before[-_CHARACTERS_BEFORE:])}”")
        if len(whole) > len(one.quote) + _MARKS_OF_A_SENTENCE:
            at = max(0, whole.find(one.quote[:_CHARACTERS_BEFORE]) - _CHARACTERS_AROUND // 3)
            self._page.say(f"  in: “{'…' if at else ''}{shown(whole[at:], _CHARACTERS_AROUND)}”")
        where = f"sessions of {shown(project)}" if project else "every session"
        self._page.say(f"  once approved, it will be told to {where}")
        message = place.partition("/")[0]
        read = f"hardwon inspect {short(self._memory, source)} --message {message}"
        self._page.say(f"    {session.agent}, {day(session.started_at)}; to read it: {read}", style="dim")
        self._page.say(_KEYS_OF_SAID, style="dim")


def _how_alike(other: SimilarLesson) -> str:
    if other.relation in ("opposite", "other value"):
        return "the opposite" if other.relation == "opposite" else "another value"
    words = f"{other.share:.0%} of the words"
    return f"{words}, {other.meaning:.0%} in meaning" if other.meaning else words
