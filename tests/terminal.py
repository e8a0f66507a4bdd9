"""The real command on a real terminal of a size."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
import termios
from pathlib import Path

from tests.forked import COMMANDS

COMMAND = Path(sys.executable).with_name("hardwon")


def on_a_terminal(
    *arguments: str, columns: int = 80, lines: int = 24, typed: str = "", path: str = "", into: Path | None = None
) -> str:
    """What a person sees who types this; without what the terminal makes of it.

    `into` is where a pipe leads that the answer goes into; messages stand on the terminal then.
    """
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    found = f"{COMMAND.parent}{os.pathsep}{path or os.environ['PATH']}"
    environment = {**os.environ, "NO_COLOR": "1", "PATH": found}
    for name in ("COLUMNS", "LINES", "TERMINAL_WIDTH"):
        environment.pop(name, None)
    terminal = os.ttyname(theirs)
    streams = (terminal, into, terminal) if into else (terminal, terminal, os.devnull)
    process = COMMANDS.start(*arguments, streams=streams, env=environment)
    os.close(theirs)
    os.write(ours, typed.encode())
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    COMMANDS.ended(process)
    return said.decode().replace("\r\n", "\n")
