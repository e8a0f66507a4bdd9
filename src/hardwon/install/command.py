"""The command that agents are told to run: this Python, by its full path, and nothing that a repository could name."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.install.where import Where

MARK = "-m hardwon.hook "
"""What tells our commands from those of others."""
# -E: no variable, -P: no current folder may say where modules are.
_FLAGS = ("-E", "-P", "-m", "hardwon.hook")
_PLAIN = re.compile(r"[\w.:/~+@%=,-]+")


def command(event: str, agent: str, where: Where) -> str:
    """One line that every shell of the system takes for the same words."""
    words = [where.python, *_FLAGS, event, "--agent", agent, *home_option(where)]
    if not where.windows:
        return shlex.join(words)
    # sh, cmd and PowerShell agree on words without anything to quote, and on forward slashes.
    plain = [_short(word).replace("\\", "/") for word in words]
    for word in plain:
        if not _PLAIN.fullmatch(word):
            raise HardwonError(
                f"{word} has a space or a sign in its path that the shells of Windows read differently: "
                "install Hardwon into a folder without them"
            )
    return " ".join(plain)


def home_option(where: Where) -> list[str]:
    """Where the store is, when it was moved: an agent may be started without the variable that says so."""
    moved = moved_home(where)
    return ["--home", moved] if moved else []


def moved_home(where: Where) -> str:
    """Where the store is, if not in its usual place."""
    moved = where.environment.get("HARDWON_HOME")
    return os.path.abspath(os.path.expanduser(moved)) if moved else ""


def is_ours(line: object) -> bool:
    return isinstance(line, str) and MARK in line


def interpreter(line: str) -> str:
    """The Python that one of our commands names."""
    head = line.partition(" -E -P -m hardwon")[0]
    try:
        return (shlex.split(head) or [""])[0]
    except ValueError:
        return head


def event_of(line: str) -> str:
    """Which of our events it calls for; of the MCP server, `mcp`."""
    return line.partition(" -E -P -m hardwon")[2].partition(" ")[2].split(" ", 1)[0]


def _short(path: str) -> str:
    """The name without spaces that Windows has for most paths."""
    if sys.platform != "win32" or _PLAIN.fullmatch(path.replace("\\", "/")):
        return path
    import ctypes  # noqa: PLC0415

    room = ctypes.create_unicode_buffer(1024)
    return room.value if ctypes.windll.kernel32.GetShortPathNameW(path, room, 1024) else path
