"""The command that agents are told to run: this Python, by its full path, and nothing that a repository could name."""

from __future__ import annotations

import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

from hardwon import former
from hardwon.errors import HardwonError

if TYPE_CHECKING:
    from hardwon.install.where import Where

_MODULE = re.compile(rf" -m (?P<package>hardwon|{former.NAME})\.hook ")
"""What tells our commands from those of others."""
_HEAD = re.compile(rf" -E -P -m (?:hardwon|{former.NAME})\S*")
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
                f"{word} has a space or a special character in its path, which the shells of Windows read differently: "
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
    """Whether a command of somebody's settings calls our hook, by its present or its former name."""
    return isinstance(line, str) and _MODULE.search(line) is not None


def is_former(line: str) -> bool:
    """Whether it is one of ours that calls us by our former name."""
    return f" -m {former.NAME}" in line


def interpreter(line: str) -> str:
    """The Python that one of our commands names."""
    head = _HEAD.split(line, maxsplit=1)[0]
    try:
        return (shlex.split(head) or [""])[0]
    except ValueError:
        return head


def event_of(line: str) -> str:
    """Which of our events it calls for; of the MCP server, `mcp`."""
    return _HEAD.split(line + " ", maxsplit=1)[-1].strip().split(" ", 1)[0] if _HEAD.search(line) else ""


def _short(path: str) -> str:
    """The name without spaces that Windows has for most paths."""
    if sys.platform != "win32" or _PLAIN.fullmatch(path.replace("\\", "/")):
        return path
    import ctypes  # noqa: PLC0415

    room = ctypes.create_unicode_buffer(1024)
    return room.value if ctypes.windll.kernel32.GetShortPathNameW(path, room, 1024) else path
