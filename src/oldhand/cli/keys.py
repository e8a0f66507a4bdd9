"""One key at a time from the terminal, without waiting for the end of a line."""

from __future__ import annotations

import sys


def key() -> str:
    """The next key; `q` when the input has ended."""
    if sys.platform == "win32":
        import msvcrt

        return msvcrt.getwch().lower()
    import os
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal)
        pressed = os.read(terminal, 1)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    return pressed.decode(errors="ignore").lower() or "q"


def line(prompt: str, before: str) -> str:
    """A line that starts out as `before` and can be edited; empty keeps it."""
    try:
        import readline
    except ImportError:
        return input(prompt) or before
    readline.set_startup_hook(lambda: readline.insert_text(before))
    try:
        return input(prompt)
    finally:
        readline.set_startup_hook(None)
