"""The review in a terminal: one lesson, fix or contradiction a screen, one key a decision."""

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

from hardwon.cli.app import count, short, shown
from hardwon.cli.failures import error_of
from hardwon.cli.review import SAID_SHOWN
from hardwon.cli.table import wrapped
from hardwon.cli.why import age, both_ends, learned_from, newest_ends, who_said
from hardwon.errors import HardwonError
from hardwon.store.sessions import words_around
from hardwon.text.normalise import normalised
from hardwon.text.shown import said_status

if TYPE_CHECKING:
    from hardwon.api import Hardwon
    from hardwon.api.review import Conflict, Considered, SimilarLesson, Waiting
    from hardwon.store.failures import FailureRow, FixRow


# One key at a time from the terminal, without waiting for the end of a line.

if sys.platform != "win32":
    import fcntl
    import termios
    import tty

_KEYS_AT_ONCE = 4
"""So many were not pressed one after the other, but pasted."""

_REST = 0.05
"""Seconds within which a terminal sends the rest of a key."""
_MAX_KEPT_BY_KEY = 9
_MARKS_OF_A_SENTENCE = 2
"""Characters that a message may have more than its only sentence."""
_KEYS = {
    "y": ("approve", "sessions will be told"),
    "n": ("reject", "they will not"),
    "w": ("why not", "the same as n, and it asks why"),
    "e": ("edit", "change the words first"),
    "m": ("merge", "make it one with a lesson listed as like it"),
    "s": ("skip", "leave it for later"),
    "u": ("undo", "take the last decision back"),
    "q": ("quit", "stop, and keep what was decided"),
}
"""Key → (what it does in a word, and in a sentence)."""
_KEYS_OF_SAID = {
    **{key: told for key, told in _KEYS.items() if key != "m"},
    "y": ("approve", "it is a rule, sessions will be told"),
    "n": ("reject", "it is none"),
    "e": ("edit", "change the words, and approve them"),
    "s": ("skip", "leave it for later, after all others"),
}
_KEYS_OF_CONFLICTS = {
    "b": ("keep both", "sessions are told both"),
    **{key: _KEYS[key] for key in "suq"},
}
_WHY = "why (Enter when done, Escape to go back): "
_QUITS = ("\x03", "\x04")
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
        """The next key; `q` when the input has ended, nothing for one that is no letter, as an arrow, or was pasted."""
        if sys.platform == "win32":
            import msvcrt

            return msvcrt.getwch().lower()
        first = os.read(self._terminal, 1)
        if first == b"\x1b":  # the letters that follow were not typed
            self._is_alone()
            return ""
        waiting = int.from_bytes(fcntl.ioctl(self._terminal, termios.FIONREAD, bytes(4)), sys.byteorder)
        if waiting >= _KEYS_AT_ONCE:
            os.read(self._terminal, waiting)
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
            sys.stdout.write("\n")
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
        self._console.rule(style="dim")

    def asked(self, keys: dict[str, tuple[str, str]], pressed: Keys) -> str:
        """The key that somebody presses; one that does nothing here tells what each does, and is asked for again."""
        while True:
            self.say("  ".join([*(f"{key} {does}" for key, (does, _) in keys.items()), "? help"]))
            key = pressed.key()
            if key in keys or key in _QUITS:
                return "q" if key in _QUITS else key
            for each, (_, does) in keys.items():
                self.say(f"  {each}: {does}")

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
            numbers = [str(number) for number in range(1, min(len(conflict.lessons), _MAX_KEPT_BY_KEY) + 1)]
            keys = dict.fromkeys(numbers, ("keep", "keep that lesson and retire the others"))
            pressed = self._page.asked({**keys, **_KEYS_OF_CONFLICTS}, self._keys)
            if pressed == "q":
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
        if pressed.isdigit():
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
            self._page.tell("nothing to undo")

    def _decided(self, what: str) -> None:
        self._done.append(self._at)
        self._at += 1
        self._page.tell(what)

    def _show(self, conflict: Conflict) -> None:
        self._page.rule()
        self._page.say(f"contradiction {self._at + 1} of {len(self._pending)}   found {age(conflict.since)}", "dim")
        for number, lesson in enumerate(conflict.lessons, start=1):
            self._page.say(f"{number}. {shown(lesson.text)}", "bold")
            for source in self._memory.lessons.get(lesson.id).sources[-1:]:
                said = who_said(source.origin, lesson.rule)
                self._page.say(f"   {said}, {age(source.at)}: “{shown(source.quote, 200)}”")
            parts = (lesson.kind, learned_from(lesson.rule, lesson.trust), count(lesson.source_count, "session"))
            self._page.say(f"   {', '.join(parts)}, {short(self._memory, lesson.id)}", "dim")
        self._page.say("  sessions are told neither until you keep one of them, or both")


# The review in a terminal: one lesson or fix a screen, one key a decision.


class Screen:
    """Goes through lessons, then fixes; what is decided is written at once."""

    def __init__(
        self, memory: Hardwon, ids: list[str], conflicts: list[Conflict], fixes: list[tuple[FailureRow, FixRow]]
    ) -> None:
        self._memory = memory
        self._failures = {fix.id: row.id for row, fix in fixes}
        self._ids = [*ids, *self._failures]
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
            id = self._ids[self._at]
            considered = None if id in self._failures else self._memory.review.consider(id)
            if considered:
                self._show(considered)
            else:
                self._show_fix(id)
            lacks = "em" if not considered else "" if considered.similar else "m"
            pressed = self._page.asked({key: does for key, does in _KEYS.items() if key not in lacks}, self._keys)
            if pressed == "q":
                return
            self._act(pressed, id, considered)

    def _takes_the_last_back(self) -> bool:
        if not self._done:
            return False
        self._page.say("that was the last one: u to undo, any other key to quit", "dim")
        if self._keys.key() != "u":
            return False
        self._undo()
        return True

    def _act(self, pressed: str, id: str, considered: Considered | None) -> None:
        try:
            if pressed == "y":
                self._decided(self._memory.review.promote(id), "approved")
            elif pressed in ("n", "w"):
                why = self._keys.typed(_WHY) if pressed == "w" else ""
                if why is not None:
                    self._decided(self._memory.review.reject(id, why=why), "rejected")
            elif pressed == "e" and considered:
                self._edit(considered)
            elif pressed == "m" and considered:
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
        self._page.tell(f"{what} (u to undo)")

    def _edit(self, considered: Considered) -> None:
        words = self._keys.line("> ", considered.lesson.text).strip()
        if words and words != considered.lesson.text:
            self._done.append((self._at, self._memory.review.edit(considered.lesson.id, text=words), False))
            self._page.tell("changed (y to approve it, u to undo)")

    def _merge(self, considered: Considered) -> None:
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

    def _head(self, what: str, id: str) -> None:
        self._page.rule()
        self._page.say(f"{self._at + 1} of {len(self._ids)}   {what}   {short(self._memory, id)}", style="dim")

    def _show_fix(self, id: str) -> None:
        failure = self._memory.failures.get(self._failures[id]).failure
        fix = next(one for one in failure.fixes if one.id == id)
        self._head("fix", id)
        self._page.say(shown(error_of(failure)), style="bold")
        self._page.say(f"  may have helped: {shown(fix.text)}", style="green")
        self._page.say(f"  not told because: {fix.untrusted}")
        for ends in newest_ends(fix, 1):
            for line in both_ends(self._memory, fix, ends):
                self._page.say(f"    {line}")
        met = f"{count(failure.occurrences, 'time')} in {count(failure.sessions, 'session')}"
        self._page.say(f"    the error came {met}; all of it: hardwon why {short(self._memory, id)}", style="dim")
        self._page.say("  y: tell it where this error is known")

    def _show(self, considered: Considered) -> None:
        lesson = considered.lesson
        self._head(lesson.kind, lesson.id)
        self._page.say(shown(lesson.text), style="bold")
        self._page.say(f"  learned from: {learned_from(lesson.rule, lesson.trust)}")
        for source in considered.sources[:_MAX_SOURCES_SHOWN]:
            where = f"{source.agent}, {age(source.at)}"
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


# Sentences that somebody typed: one a screen, the same keys.

_CHARACTERS_BEFORE = 200


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
                pressed = self._page.asked(_KEYS_OF_SAID, self._keys)
                if pressed == "q":
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
        self._page.say(f"{self._at + 1} of {shown_now}{later}", style="dim")
        self._page.say(shown(one.text), style="bold")
        if normalised(one.quote).rstrip(".") != normalised(one.text).rstrip("."):
            self._page.say(f"  the user said: “{shown(one.quote, 200)}”")
        before, whole = words_around(self._memory.reading(), source, one.quote)
        if before:
            self._page.say(f"  the agent had said: “{shown(before[-_CHARACTERS_BEFORE:])}”")
        if len(whole) > len(one.quote) + _MARKS_OF_A_SENTENCE:
            quote = " ".join(one.quote.split())
            lead, found, after = whole.partition(quote[:_CHARACTERS_BEFORE])
            led_in = lead if len(lead) <= _CHARACTERS_BEFORE else f"…{lead[-_CHARACTERS_BEFORE:].partition(' ')[2]}"
            text = f"{led_in}[…]{after.removeprefix(quote[_CHARACTERS_BEFORE:])}" if found else whole
            self._page.say(f"  in: “{shown(text, 2 * _CHARACTERS_BEFORE)}”")
        where = f"sessions of {shown(project)}" if project else "every session"
        self._page.say(f"  y: keep it as a preference and tell it to {where}")
        message = place.partition("/")[0]
        read = f"hardwon inspect {short(self._memory, source)} --message {message}"
        self._page.say(f"    {session.agent}, {age(session.started_at)}; to read it: {read}", style="dim")


def _how_alike(other: SimilarLesson) -> str:
    if other.relation in ("opposite", "other value"):
        return "the opposite" if other.relation == "opposite" else "another value"
    words = f"{other.share:.0%} of the words"
    return f"{words}, {other.meaning:.0%} in meaning" if other.meaning else words
