"""One key at a time from the terminal, without waiting for the end of a line."""

from __future__ import annotations

import os
import select
import sys
from types import TracebackType

if sys.platform != "win32":
    import termios
    import tty


_REST = 0.05
"""Seconds within which a terminal sends the rest of a key."""


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
            self._skip_sequence()
            return ""
        return first.decode(errors="ignore").lower() if first else "q"

    def _skip_sequence(self) -> None:
        """`ESC O x`, or `ESC [` and what stands before the first letter or `~`."""
        kind = self._rest()
        while kind in (b"[", b"O"):
            byte = self._rest()
            if kind == b"O" or not byte or byte.isalpha() or byte == b"~":
                return

    def _rest(self) -> bytes:
        """The next byte of a key; nothing when there is none."""
        return os.read(self._terminal, 1) if select.select([self._terminal], [], [], _REST)[0] else b""

    def line(self, prompt: str, before: str) -> str:
        """A line that starts out as `before` and can be edited."""
        self.__exit__(None, None, None)
        try:
            return _edited(prompt, before)
        finally:
            self.__enter__()


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
